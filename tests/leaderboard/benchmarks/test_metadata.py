"""Metadata of systems from every door to the board: written, told, changed with a trail, and no input of rankings."""

import json

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.drafts import create_from_draft, draft_contents, make_benchmark_draft
from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.metadata import change_values, declare_fields, values_of_entries, values_of_table
from leaderboard.benchmarks.releases import new_edition
from leaderboard.boards.board import build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.models import AuditEntry, Benchmark, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from leaderboard.submissions.lifecycle import reinstate_submission, withdraw_submission
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, check_upload, submit_upload
from ranking_engine.files.problems import InputError
from ranking_engine.files.tables import TableError
from tests.factories import owner_of
from tests.signing_in import signed_in

FIELDS = [
    {"key": "parameters", "name": "Parameters", "kind": "number", "is_column": True},
    {"key": "open-weights", "name": "Open weights", "kind": "yes_no"},
    {"key": "licence", "name": "Licence", "kind": "choice", "choices": ["MIT", "Apache-2.0"]},
]


@pytest.fixture
def benchmark(make):
    return make.benchmark({"A": [1.0, 2.0], "B": [2.0, 1.0]}, metadata_fields=FIELDS)


def hash_of(benchmark):
    revision = Revision.objects.select_related("configuration").filter(benchmark=benchmark).latest("number")
    return input_hash(revision_matrix(revision), configuration_of(revision))


def metadata_of(benchmark):
    return dict(benchmark.systems.exclude(metadata={}).values_list("name", "metadata"))


def trail_of(benchmark):
    trail = AuditEntry.objects.filter(benchmark=benchmark, subject="system").order_by("pk")
    return list(trail.values_list("of", "field", "before", "after"))


def sent(benchmark, user, name="A", scores=(1.0, 2.0), **metadata):
    row = SubmittedRow(name, {f"task-{t}": score for t, score in enumerate(scores, 1)}, metadata=metadata)
    return submit_upload(benchmark, user, Upload(rows=[row], creates_systems=True))[0]


def test_the_form_writes_what_is_known_of_a_system(benchmark):
    client = signed_in(owner_of(benchmark))
    path = reverse("submit", args=[benchmark.key])
    page = client.get(path).content.decode()
    assert 'name="meta:parameters"' in page
    assert "Apache-2.0" in page
    form = {"system_name": "C", "score-task-1": "3", "score-task-2": "3", "meta:parameters": "lots"}
    refused = client.post(path, form)
    assert refused.status_code == 400
    assert "&#x27;lots&#x27; is not a number such as 7000000000, 7B or 0.15" in refused.content.decode()
    draft = client.post(path, form | {"meta:parameters": "7B", "meta:open-weights": "yes"})
    client.post(draft["Location"], {"action": "confirm", "previewed_number": "1", "create_system": "1"})
    assert metadata_of(benchmark) == {"C": {"parameters": 7 * 10**9, "open-weights": True}}


def test_columns_of_a_table_are_read_and_a_wrong_cell_is_named_with_line_and_column(benchmark):
    client, path = signed_in(owner_of(benchmark)), reverse("upload", args=[benchmark.key])
    assert "system,Task 1,Task 2,meta:parameters,meta:open-weights,meta:licence" in client.get(path).content.decode()
    refused = client.post(path, {"text": "system,Task 1,Task 2,meta:Licence\nA,1,2,MIT\nB,2,1,GPL\n"})
    assert "line 3, column &#x27;meta:Licence&#x27;: &#x27;GPL&#x27; is not one of MIT, Apache-2.0" in (
        refused.content.decode()
    )
    draft = client.post(path, {"text": "system,meta:Licence,Task 1,Task 2\nA,mit,1,2\nB,,2,1\n"})
    client.post(draft["Location"], {"action": "confirm", "previewed_number": "1"})
    assert metadata_of(benchmark) == {"A": {"licence": "MIT"}}


def test_the_input_hash_knows_nothing_of_it(make, benchmark):
    owner, before = owner_of(benchmark), hash_of(benchmark)
    change_values(benchmark, values_of_entries(benchmark, {"a": {"parameters": "7B"}}), author=owner)
    declare_fields(benchmark, FIELDS[:1], author=owner)
    assert hash_of(benchmark) == before
    sent(benchmark, owner, parameters=8e9)
    assert hash_of(benchmark) == before
    assert benchmark.revisions.count() == 2  # of the submission alone


def test_the_newest_submission_that_states_a_value_is_believed_and_others_stay_until_it_is_withdrawn(make, benchmark):
    owner = owner_of(benchmark)
    sent(benchmark, owner, parameters="7B", licence="MIT")
    later = make.submission_of(sent(benchmark, owner, parameters="8B", **{"open-weights": "no"}))
    assert metadata_of(benchmark) == {"A": {"parameters": 8 * 10**9, "licence": "MIT", "open-weights": False}}
    withdraw_submission(later, actor=owner, reason="Wrong.")
    assert metadata_of(benchmark) == {"A": {"parameters": 7 * 10**9, "licence": "MIT"}}
    later.refresh_from_db()
    reinstate_submission(later, actor=owner, reason="It was right.")
    assert metadata_of(benchmark) == {"A": {"parameters": 8 * 10**9, "licence": "MIT", "open-weights": False}}
    values = values_of_entries(benchmark, {"a": {"parameters": 9}})
    change_values(benchmark, values, author=owner)
    later.refresh_from_db()
    withdraw_submission(later, actor=owner, reason="Wrong after all.")
    assert metadata_of(benchmark) == {"A": {"parameters": 9, "licence": "MIT"}}  # what the owner wrote stays
    assert trail_of(benchmark)[:3] == [
        ("a", "metadata", "", "licence: MIT; parameters: 7000000000"),
        ("a", "metadata", "parameters: 7000000000", "open-weights: no; parameters: 8000000000"),
        ("a", "metadata", "open-weights: no; parameters: 8000000000", "parameters: 7000000000"),
    ]


def test_what_a_submission_states_waits_for_its_moderator(make):
    benchmark = make.benchmark({"A": [1.0]}, metadata_fields=FIELDS, submission_policy="moderated")
    batch = sent(benchmark, make.user(), scores=(1.0,), parameters="7B")
    assert metadata_of(benchmark) == {}
    page = signed_in(owner_of(benchmark)).get(reverse("batch", args=[batch.uuid])).content.decode()
    assert "7000000000" in page


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"parameters": "many"}, "parameters: 'many' is not a number such as 7000000000, 7B or 0.15"),
        ({"a": "b"}, "a: 'a' is no field of the systems; the fields are parameters, open-weights, licence"),
        ({"Parameters": 1, "parameters": 2}, "parameters: 'parameters' is the field that 'Parameters' names already"),
    ],
)
def test_a_program_is_told_which_value_is_wrong(benchmark, metadata, problem):
    rows = [SubmittedRow("A", {"task-1": 1.0}, metadata=metadata)]
    with pytest.raises(InputError) as error:
        check_upload(audience_of(owner_of(benchmark), benchmark), Upload(rows=rows))
    assert [f"{one.place}: {one.message}" for one in error.value.problems.listed] == [f"systems[0].metadata.{problem}"]


def test_a_table_of_values_is_shown_with_what_it_changes_and_then_stored(benchmark):
    client, path = signed_in(owner_of(benchmark)), reverse("manage_metadata", args=[benchmark.key])
    table = "system,parameters,notes,meta:licence\nA,7B,x,MIT\nb,13B,,\n"
    preview = client.post(path, {"action": "preview", "text": table, "reason": "From the cards."})
    assert preview.status_code == 200
    page = preview.content.decode()
    assert ("3 values of" in page, "2 systems" in page, "notes" in page) == (True, True, True)
    assert metadata_of(benchmark) == {}
    assert client.post(path, {"action": "apply", "text": table, "reason": "From the cards."}).status_code == 302
    assert metadata_of(benchmark) == {"A": {"parameters": 7 * 10**9, "licence": "MIT"}, "B": {"parameters": 13 * 10**9}}
    client.post(path, {"action": "apply", "text": "system,licence,parameters\nA,-,\n"})
    assert metadata_of(benchmark)["A"] == {"parameters": 7 * 10**9}
    assert trail_of(benchmark)[-1] == ("a", "metadata.licence", "MIT", "")
    same = client.post(path, {"action": "preview", "text": table.replace("MIT", "")}).content.decode()
    assert "Nothing: every value is as it was." in same


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (b"", "no column is a field"), (b"\xff\xfe", "not UTF-8"), (b"system\nA\n", "no column is a field"),
        (b"system,colour\nA,1\n", "no column is a field of the systems; the fields are parameters"),
        (b"system,meta:colour\nA,1\n", "line 2, column 'colour': 'colour' is no field"),
        (b"system,parameters\nA,1\nZ,2\n", "line 3, column 'system': 'Z' is not a system of this benchmark"),
        (b"system,parameters\nA,1\na,2\n", "line 3, column 'system': 'a' has a row above already"),
        (b"system,parameters\nA,x\n", "line 2, column 'parameters': 'x' is not a number"),
        (b'system,parameters\nA,"1\n', "not readable as CSV"),
        (b"system" + b",x" * 300 + b"\n", "301 columns; at most 200 are read"),
        (b"system" + b",meta:x" * 30 + b"\n", "30 columns of fields; at most 24 are read"),
        (b"system,parameters\nA," + b"9" * 200_000, "not readable as CSV: field larger"),
        (b"x" * (11 * 2**20), "the limit is 10 MB"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_of_values_is_told_before_anything_is_stored(benchmark, table, problem):
    with pytest.raises(InputError) as error:
        values_of_table(benchmark, table)
    assert problem in str(error.value)


def test_owners_declare_fields_and_the_trail_keeps_what_they_were(benchmark):
    client, path = signed_in(owner_of(benchmark)), reverse("manage_metadata", args=[benchmark.key])
    form = {
        "action": "fields", "field-TOTAL_FORMS": "3", "field-INITIAL_FORMS": "2", "reason": "Asked for.",
        "field-0-key": "parameters", "field-0-name": "Parameters", "field-0-kind": "number", "field-0-is_column": "on",
        "field-1-key": "licence", "field-1-name": "Licence", "field-1-kind": "choice", "field-1-choices": "MIT, GPL",
        "field-2-name": "Released", "field-2-kind": "date",
    }  # fmt: skip
    assert client.post(path, form).status_code == 302
    benchmark.refresh_from_db()
    assert [field.key for field in benchmark.fields_of_systems] == ["parameters", "licence", "released"]
    assert benchmark.fields_of_systems[1].choices == ("MIT", "GPL")
    trail = AuditEntry.objects.filter(benchmark=benchmark, subject="setting").order_by("pk")
    assert [(entry.of, entry.field, entry.before, entry.after) for entry in trail] == [
        ("field open-weights", "key", "open-weights", ""), ("field open-weights", "name", "Open weights", ""),
        ("field open-weights", "kind", "yes_no", ""), ("field licence", "choices", "MIT, Apache-2.0", "MIT, GPL"),
        ("field released", "key", "", "released"), ("field released", "name", "", "Released"),
        ("field released", "kind", "", "date"),
    ]  # fmt: skip
    assert client.post(path, {"action": "starter"}).status_code == 302
    benchmark.refresh_from_db()
    assert len(benchmark.fields_of_systems) == 13


def test_a_field_never_becomes_one_that_values_do_not_fit(benchmark):
    owner = owner_of(benchmark)
    change_values(benchmark, values_of_entries(benchmark, {"a": {"licence": "MIT", "parameters": 7}}), author=owner)
    changed = [FIELDS[0] | {"kind": "text"}, FIELDS[1], FIELDS[2] | {"choices": ["GPL"]}]
    with pytest.raises(ValidationError, match=r"Licence is not one of GPL for A\. Change these values first"):
        declare_fields(benchmark, changed, author=owner)
    assert declare_fields(benchmark, [changed[0], FIELDS[1]], author=owner) == 2
    assert metadata_of(benchmark) == {"A": {"licence": "MIT", "parameters": "7"}}  # what is declared no more is kept
    assert declare_fields(benchmark, FIELDS, author=owner) == 2
    assert metadata_of(benchmark) == {"A": {"licence": "MIT", "parameters": 7}}


def test_a_folder_and_an_edition_take_it_along(make, benchmark, tmp_path, capsys):
    owner = owner_of(benchmark)
    entries = {"a": {"parameters": 0.5, "open-weights": False, "licence": "MIT"}, "b": {"parameters": 7e9}}
    change_values(benchmark, values_of_entries(benchmark, entries), author=owner)
    benchmark.refresh_from_db()
    call_command("export_benchmark", benchmark.key, str(tmp_path / "out"), verbosity=0)
    back = import_folder(tmp_path / "out", owner=owner, key="again")
    edition = new_edition(benchmark, author=owner, name="Next", with_scores=True)
    for copy in (back, edition):
        assert copy.fields_of_systems == benchmark.fields_of_systems
        assert metadata_of(copy) == metadata_of(benchmark)
        assert hash_of(copy) == hash_of(benchmark)


def test_a_new_benchmark_takes_the_columns_of_its_table_as_fields(make):
    owner, table = make.user(), b"system,T,meta:parameters,meta:Colour\nA,1,7B,red\nB,2,,\n"
    with pytest.raises(TableError, match="line 2: 'many' is not a number"):
        make_benchmark_draft(owner, name="New one", table=table.replace(b"7B", b"many"))
    draft = make_benchmark_draft(owner, name="New one", table=table)
    create_from_draft(draft, draft_contents(draft).proposal, {"name": "New one"})
    benchmark = Benchmark.objects.get(name="New one")
    assert [(field.key, field.kind) for field in benchmark.fields_of_systems] == [
        ("parameters", "number"), ("colour", "text"),
    ]  # fmt: skip
    assert metadata_of(benchmark) == {"A": {"parameters": 7 * 10**9, "colour": "red"}}


@pytest.mark.parametrize("setting", [{"score_view": "ranks"}, {"score_view": "own"}])
def test_where_systems_are_hidden_nothing_is_told_of_them(make, setting):
    benchmark = make.benchmark({"A": [1.0], "B": [2.0]}, metadata_fields=FIELDS, **setting)
    values = values_of_entries(benchmark, {"a": {"licence": "MIT"}, "b": {"licence": "Apache-2.0"}})
    change_values(benchmark, values, author=owner_of(benchmark))
    benchmark = make.publish(benchmark)
    stranger = audience_of(make.user(), benchmark)
    for query in (BoardQuery(), BoardQuery(meta=(("licence", "MIT"),)), BoardQuery(fields=("licence",))):
        board = build_board(stranger, query)
        assert (board.fields, board.shown_fields, [row.facts for row in board.rows if row.facts]) == ([], [], [])
        if query.meta:
            assert list(board.rows) == []
    for query in (BoardQuery(group="licence"), BoardQuery(mark="licence"), BoardQuery(group="baseline")):
        with pytest.raises(UnknownChoiceError):
            build_board(stranger, query)
    client = Client()
    for path in ("", "?meta.licence=MIT", "?field=licence", "?group=licence", "?mark=licence"):
        assert "Apache-2" not in client.get(f"/b/{benchmark.key}/{path}").content.decode()


def test_the_api_declares_states_and_tells_it(make, benchmark):
    owner = owner_of(benchmark)
    _, secret = create_token(owner, name="t", scopes=["read", "submit", "manage"], days=30)
    client = Client(headers={"Authorization": f"Token {secret}"})
    path = f"/api/v1/benchmarks/{benchmark.key}/metadata/"

    def patch(body, query=""):
        return client.patch(path + query, json.dumps(body), content_type="application/json")

    body = {"metadata_fields": [*FIELDS, {"name": "Price", "kind": "number", "unit": "USD"}],
            "systems": {"a": {"parameters": "7B", "price": 0.15}, "b": {"open-weights": True}}}  # fmt: skip
    assert patch(body, "?dry_run=true").json() == {
        "n_fields": 1, "n_values": 3, "values": [
            {"system": "a", "field": "parameters", "before": "", "after": "7000000000"},
            {"system": "a", "field": "price", "before": "", "after": "0.15"},
            {"system": "b", "field": "open-weights", "before": "", "after": "yes"},
        ],
    }  # fmt: skip
    assert metadata_of(benchmark) == {}
    assert patch(body).status_code == 200
    wrong = patch({"systems": {"a": {"price": "much"}, "z": {}}}).json()["error"]["details"]
    assert [(one["place"], one["message"]) for one in wrong] == [
        ("systems.a.price", "'much' is not a number such as 7000000000, 7B or 0.15"),
        ("systems.z", "no system of this benchmark has the key 'z'"),
    ]
    assert patch({"systems": {f"s{i}": {} for i in range(1001)}}).status_code == 400
    assert patch({"metadata_fields": [{"name": f"F{i}"} for i in range(25)]}).status_code == 400
    assert patch({"systems": {"a": {"price": None}}}).json()["n_values"] == 1
    make.publish(benchmark)
    detail = client.get(f"/api/v1/benchmarks/{benchmark.key}/").json()["metadata_fields"]
    assert detail[-1] == {
        "key": "price", "name": "Price", "kind": "number", "unit": "USD", "choices": [], "is_column": False,
    }  # fmt: skip
    systems = client.get(f"/api/v1/benchmarks/{benchmark.key}/systems/").json()["results"]
    assert [one["metadata"] for one in systems] == [{"parameters": 7 * 10**9}, {"open-weights": True}]
    table = client.get(f"/api/v1/benchmarks/{benchmark.key}/systems/?format=csv").content
    values, left_alone = values_of_table(Benchmark.objects.get(pk=benchmark.pk), table)
    assert values == {"a": {"parameters": 7 * 10**9}, "b": {"open-weights": True}}
    assert "baseline" in left_alone


def test_the_page_of_a_system_shows_its_changes_to_those_who_read_the_audit_trail(make, benchmark):
    owner = owner_of(benchmark)
    for entry in ({"parameters": "7B", "licence": "MIT"}, {"parameters": None}):
        change_values(benchmark, values_of_entries(benchmark, {"a": entry}), author=owner, reason="From the paper.")
    benchmark = make.publish(benchmark)
    path = reverse("system", args=[benchmark.key, "a"])
    entries = signed_in(owner).get(path).context["page"].fact_changes
    assert [(one.field, one.before, one.after, one.reason) for one in entries] == [
        ("metadata.parameters", "7000000000", "", "From the paper."),
        ("metadata", "", "licence: MIT; parameters: 7000000000", "From the paper."),
    ]
    assert "How its metadata changed: 2 entries" in signed_in(owner).get(path).content.decode()
    for client in (Client(), signed_in(make.user())):
        assert "How its metadata changed" not in client.get(path).content.decode()
