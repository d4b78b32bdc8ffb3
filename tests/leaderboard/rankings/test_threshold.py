"""The optimality threshold of boards whose owners state none: derived from the tasks' scales, said, and kept so."""

import json
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec, record_configuration_change
from leaderboard.benchmarks.folders import import_folder
from leaderboard.common.hashing import content_hash
from leaderboard.models import Benchmark, Configuration
from leaderboard.rankings import configuration
from leaderboard.rankings.configuration import configuration_of, present_configuration
from leaderboard.rankings.published import published_board
from leaderboard.rankings.score_matrix import hash_anew, input_hash, revision_matrix
from ranking_engine.__main__ import main
from tests.markup import compact

pytestmark = pytest.mark.django_db

SCORES = {"Ada": [60.0, 99.0], "Bob": [96.0, 91.0], "Cleo": [70.0, 70.0]}
GAPS = {"Ada": -17.5, "Bob": -2.0, "Cleo": -25.0}  # below 95: 35 and 0, 0 and 4, 25 and 25
DERIVED = "γ = 95, derived: 95 % of the scale’s maximum 100."
TABLE = "system,T1,T2\nAda,60,99\nBob,96,91\nCleo,70,70\n"
ABOUT = "[[task]]\nname = 'T1'\nmaximum = 100\n[[task]]\nname = 'T2'\nmaximum = 100\n"


def percentages(maxima=(100.0, 100.0)):
    return [TaskSpec(f"T{t}", maximum=maximum) for t, maximum in enumerate(maxima, 1)]


def gap_of(benchmark):
    """Status, remark and rule scores by system of the published optimality gap."""
    column = next(c for c in published_board(benchmark.publication).columns if c.rule == "optimality_gap")
    names = [system.name for system in revision_matrix(benchmark.publication.revision).systems]
    return column.status, column.remark, dict(zip(names, column.scores.tolist(), strict=True))


def content_of(benchmark):
    return benchmark.publication.revision.configuration.content


def api(path):
    return json.loads(Client().get(f"/api/v1/benchmarks/{path}").content)


def test_a_new_board_of_percentages_has_the_column_and_says_that_its_threshold_is_derived(make):
    benchmark = make.published(SCORES, tasks=percentages())
    assert gap_of(benchmark) == ("ranked", DERIVED, GAPS)
    for name, arguments in (("board", []), ("rule", ["optimality_gap"]), ("what_if", [])):
        assert DERIVED in unescape(compact(Client().get(reverse(name, args=[benchmark.key, *arguments])))), name


def test_the_api_tells_a_stated_threshold_from_a_derived_one(make):
    derived = make.published(SCORES, tasks=percentages()).key
    explicit = make.published(SCORES, tasks=percentages(), gamma=95.0).key
    without = make.published(SCORES, n_tasks=2).key
    thresholds = {}
    for key in (derived, explicit, without):
        detail, past = api(f"{key}/"), api(f"{key}/revisions/1/")["configuration"]
        assert (past["gamma"], past["derived_gamma"]) == (detail["gamma"], detail["derived_gamma"])
        thresholds[key] = (detail["gamma"], detail["derived_gamma"], api(f"{key}/rankings/optimality_gap/")["remark"])
    assert thresholds == {
        derived: (None, 95.0, DERIVED),
        explicit: (95.0, None, "γ = 95, as stated."),
        without: (None, None, ""),
    }


@pytest.mark.parametrize(
    ("maxima", "advice"),
    [
        ((None, None), "nor a maximum of which it is 95 %; state either (for percentages 95 is usual)"),
        ((100.0, None), "and task T2 has no maximum of which it could be 95 %"),
        ((100.0, 1000.0), "and the maxima differ, so that it cannot be 95 % of one"),
    ],
)
def test_without_one_maximum_the_board_says_what_to_do(make, maxima, advice):
    benchmark = make.published(SCORES, tasks=percentages(maxima))
    assert "derived_gamma" not in content_of(benchmark)
    page = unescape(compact(Client().get(reverse("board", args=[benchmark.key]))))
    assert f"No optimality threshold (gamma) is stated, {advice}" in page


def test_the_same_figures_have_the_same_hash_whether_the_threshold_is_stated_or_derived(make):
    derived = make.published(SCORES, tasks=percentages())
    explicit = make.published(SCORES, tasks=percentages(), gamma=95.0)
    other = make.published(SCORES, tasks=percentages(), gamma=90.0)
    hashes = [one.publication.revision.input_hash for one in (derived, explicit, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    assert gap_of(derived)[2] == gap_of(explicit)[2] != gap_of(other)[2]


def test_a_stated_threshold_and_a_derived_one_stay_so_in_a_folder(make, tmp_path, capsys):
    for gamma in (None, 66.6):
        first = make.benchmark(SCORES, tasks=percentages(), gamma=gamma)
        folder = tmp_path / f"folder-{gamma}"
        call_command("export_benchmark", first.key, str(folder), verbosity=0)
        again = import_folder(folder, owner=make.user(), key=f"again-{first.pk}")
        assert again.gamma == first.gamma == gamma
        assert ("gamma" in (folder / "benchmark.toml").read_text()) is (gamma is not None)
        present = [present_configuration(Benchmark.objects.get(pk=one.pk)) for one in (first, again)]
        assert [configuration.gamma_in_force for configuration in present] == [gamma or 95.0] * 2


def test_a_revision_from_before_ranks_as_it_did_and_the_next_one_has_the_column(make, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(configuration, "derived_threshold", lambda tasks: None)
        old = make.published(SCORES, tasks=percentages())
    revision, content = old.publication.revision, content_of(old)
    assert (content["gamma"], "derived_gamma" in content) == (None, False)
    assert content_hash(content) == Configuration.objects.get(pk=revision.configuration_id).content_hash
    revision.refresh_from_db()
    assert (
        hash_anew(revision) == revision.input_hash == input_hash(revision_matrix(revision), configuration_of(revision))
    )
    assert (gap_of(old)[0], revision_matrix(revision).matrix.gamma) == ("undefined", None)
    borda = api(f"{old.key}/rankings/borda/")["results"]
    make.accepted(old, {"Ada": SCORES["Ada"]})  # the same scores again
    new = make.publish(old)
    assert gap_of(new) == ("ranked", DERIVED, GAPS)
    assert api(f"{new.key}/rankings/borda/")["results"] == borda
    assert api(f"{new.key}/rankings/optimality_gap/?revision=1")["status"] == "undefined"


def test_the_threshold_follows_the_tasks_and_gives_way_to_a_stated_one(make):
    benchmark = make.published(SCORES, tasks=percentages())
    benchmark.tasks.update(maximum=200.0)
    record_configuration_change(benchmark, author=make.user())
    assert gap_of(make.publish(benchmark))[1] == "γ = 190, derived: 95 % of the scale’s maximum 200."
    Benchmark.objects.filter(pk=benchmark.pk).update(gamma=80.0)
    record_configuration_change(Benchmark.objects.get(pk=benchmark.pk), author=make.user())
    assert gap_of(make.publish(benchmark))[1] == "γ = 80, as stated."


def test_readers_weights_leave_the_threshold_as_it_is(make):
    benchmark = make.published(SCORES, tasks=percentages())
    weighed = api(f"{benchmark.key}/rankings/optimality_gap/?weights=t1:0")
    assert (weighed["remark"], {row["name"]: row["score"] for row in weighed["results"]}) == (
        DERIVED,
        {"Ada": 0.0, "Bob": -4.0, "Cleo": -25.0},
    )
    data = json.loads(Client().get(reverse("what_if_data", args=[benchmark.key])).content)
    assert data["gamma"] == 95.0  # with which the browser ranks


def test_the_form_says_what_an_empty_field_means(make, client):
    benchmark = make.published(SCORES, tasks=percentages())
    client.force_login(benchmark.memberships.get(role="owner").user)
    page = unescape(compact(client.get(reverse("manage_tasks", args=[benchmark.key]))))
    assert (
        "If empty, it is 95 % of the maximum, provided that all tasks of weight above 0 have the same maximum"
    ) in page


def test_a_table_on_trial_and_the_command_line_derive_it_too(client, tmp_path, capsys):
    page = unescape(compact(client.post("/try/", {"text": TABLE, "about": ABOUT})))
    assert DERIVED in page
    explicit = unescape(compact(client.post("/try/", {"text": TABLE, "about": f"gamma = 90\n{ABOUT}"})))
    assert ("γ = 90, as stated." in explicit, "derived" in explicit) == (True, False)
    (tmp_path / "scores.csv").write_text(TABLE)
    (tmp_path / "benchmark.toml").write_text(ABOUT)
    command = ["rank", str(tmp_path / "scores.csv"), "--rule", "optimality_gap", "--format", "json"]
    scores, notes = [], []
    for more in ([], ["--gamma", "90"]):
        assert main([*command, *more]) == 0
        out, err = capsys.readouterr()
        scores.append(json.loads(out)["rules"]["optimality_gap"]["scores"])
        notes.append("note: gamma = 95, derived: 95 % of the scale's maximum 100;" in err)
    assert (scores[0], notes) == (GAPS, [True, False])
    assert scores[1] == {"Ada": -15.0, "Bob": 0.0, "Cleo": -20.0}
