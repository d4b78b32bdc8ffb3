"""What owners may write of their systems has bounds: of rows, of words, of values a day."""

import json

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.metadata import MAX_REASON, change_values, values_of_entries, values_of_table
from leaderboard.models import AuditEntry, CellCount
from leaderboard.submissions.problems import QuotaError
from leaderboard.submissions.quotas import TOTAL, day_of
from ranking_engine.files.problems import KEPT_PROBLEMS, InputError
from tests.factories import owner_of
from tests.signing_in import signed_in

FIELDS = [{"key": f"f{i}", "name": f"F{i}", "kind": "number"} for i in range(24)]


@pytest.fixture
def benchmark(make):
    return make.benchmark({"A": [1.0], "B": [2.0]}, metadata_fields=FIELDS)


def trail_of(benchmark):
    rows = AuditEntry.objects.filter(benchmark=benchmark, subject="system").order_by("pk")
    return list(rows.values_list("of", "field", "before", "after"))


def a_program_of(user):
    _, secret = create_token(user, name="t", scopes=["read", "submit", "manage"], days=30)
    return Client(headers={"Authorization": f"Token {secret}"})


def test_a_table_of_all_fields_takes_one_row_of_the_trail_a_system(benchmark):
    path = reverse("manage_metadata", args=[benchmark.key])
    header, numbers = ",".join(one["key"] for one in FIELDS), ",".join("7" for _ in FIELDS)
    table = f"system,{header}\nA,{numbers}\nB,{numbers}\n"
    signed_in(owner_of(benchmark)).post(path, {"action": "apply", "text": table, "reason": "From the cards."})
    after = "; ".join(f"{key}: 7" for key in sorted(one["key"] for one in FIELDS))
    assert trail_of(benchmark) == [("a", "metadata", "", after), ("b", "metadata", "", after)]
    change_values(benchmark, {"a": {"f0": None, "f1": 8}, "b": {"f2": 9}}, author=owner_of(benchmark))
    assert trail_of(benchmark)[2:] == [
        ("a", "metadata", "f0: 7; f1: 7", "f1: 8"),
        ("b", "metadata.f2", "7", "9"),
    ]


def test_a_reason_has_so_many_characters_whatever_the_door(benchmark):
    owner, path = owner_of(benchmark), reverse("manage_metadata", args=[benchmark.key])
    form = {"action": "apply", "text": "system,f0\nA,7\n"}
    api, body = f"/api/v1/benchmarks/{benchmark.key}/metadata/", {"systems": {"b": {"f0": 7}}}
    codes, program = [], a_program_of(owner)
    for n in (MAX_REASON + 1, MAX_REASON):
        codes.append(signed_in(owner).post(path, form | {"reason": "x" * n}).status_code)
        sent = program.patch(api, json.dumps(body | {"reason": "x" * n}), content_type="application/json")
        codes.append(sent.status_code)
    assert codes == [400, 400, 302, 200]
    assert list(AuditEntry.objects.filter(subject="system").values_list("reason", flat=True)) == ["x" * MAX_REASON] * 2


def test_values_that_change_count_as_scores_of_the_day(benchmark, settings):
    owner, path = owner_of(benchmark), reverse("manage_metadata", args=[benchmark.key])
    CellCount.objects.filter(user=owner).delete()
    settings.CELLS_PER_DAY = 3
    change_values(benchmark, values_of_entries(benchmark, {"a": {"f0": 1, "f1": 2}}), author=owner)
    change_values(benchmark, values_of_entries(benchmark, {"a": {"f0": 1, "f1": 2}}), author=owner)  # as it was
    change_values(benchmark, {"b": {"f0": 1, "f1": 2}}, author=owner, is_dry=True)
    counts = dict(CellCount.objects.filter(user=owner).values_list("period", "n_cells"))
    assert counts == {day_of(timezone.now()): 2, TOTAL: 2}
    with pytest.raises(QuotaError, match="An account can store 3 scores a day here"):
        change_values(benchmark, {"b": {"f0": 1, "f1": 2}}, author=owner)
    page = signed_in(owner).post(path, {"action": "apply", "text": "system,f0,f1\nB,1,2\n"})
    assert (page.status_code, "An account can store 3 scores a day here" in page.content.decode()) == (429, True)
    api = f"/api/v1/benchmarks/{benchmark.key}/metadata/"
    body = {"systems": {"b": {"f0": 1, "f1": 2}}}
    answer = a_program_of(owner).patch(api, json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "quota_exceeded")
    assert [of for of, *_ in trail_of(benchmark)] == ["a"]


@pytest.mark.parametrize("row", ["Z{i},7\n", "A,7\n", "{i}\n"])
def test_a_table_is_read_no_further_where_more_is_wrong_than_is_kept(benchmark, row):
    table = "system,f0\nA,1\n" + "".join(row.format(i=i) for i in range(KEPT_PROBLEMS + 500))
    with pytest.raises(InputError) as refused:
        values_of_table(benchmark, table.encode())
    problems = refused.value.problems
    assert (len(problems.listed), problems.n_more) == (KEPT_PROBLEMS, 1)


def test_wrong_cells_are_kept_up_to_the_bound(make):
    scores = {f"S{i}": [1.0] for i in range(120)}
    benchmark = make.benchmark(scores, metadata_fields=FIELDS)
    header, cells = ",".join(one["key"] for one in FIELDS), ",".join("x" for _ in FIELDS)
    table = f"system,{header}\n" + "".join(f"{name},{cells}\n" for name in scores)
    with pytest.raises(InputError) as refused:
        values_of_table(benchmark, table.encode())
    problems = refused.value.problems
    assert (len(problems.listed), 0 < problems.n_more <= len(FIELDS)) == (KEPT_PROBLEMS, True)
