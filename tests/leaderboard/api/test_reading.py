"""What the API says of benchmarks, held against figures computed apart from it."""

import json

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from scipy.stats import pearsonr

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.folders import import_folder
from leaderboard.computing.rankings import site_rules
from leaderboard.models import System
from leaderboard.studies.landscape import landscape
from leaderboard.submissions.lifecycle import withdraw_submission
from ranking_engine.files.tables import read_table
from tests.factories import TOY
from tests.leaderboard.api.conftest import error_of
from tests.leaderboard.api.engine_figures import GAPS, figures
from tests.leaderboard.studies.test_landscape_page import studied

UNMEASURED = {"standard_error": None, "n_instances": None}


def test_the_list_holds_public_benchmarks_by_key_with_their_winners(make, api):
    make.published(name="Zebra", key="zebra", tags=["animals"])
    make.published(GAPS, name="Antelope", key="antelope", default_rule="copeland")
    make.published(name="Hidden", key="hidden", visibility="private")
    listing = api.get("benchmarks/").json()
    assert listing["next"] is None
    assert [(line["key"], line["revision"], line["n_systems"], line["n_tasks"]) for line in listing["results"]] == [
        ("antelope", 1, 4, 3),
        ("zebra", 1, 4, 5),
    ]
    assert listing["results"][1]["winner_names"] == [
        name.upper() for name, (place, _) in figures(TOY, "borda").items() if place == 1
    ]
    assert [line["key"] for line in api.get("benchmarks/", {"search": "ZEB"}).json()["results"]] == ["zebra"]
    assert [line["key"] for line in api.get("benchmarks/", {"tag": "animals"}).json()["results"]] == ["zebra"]


def test_a_list_comes_in_pages_that_skip_and_repeat_nothing(make, api):
    for number in range(5):
        make.benchmark({}, n_tasks=1, key=f"b-{number}")
    seen, url = [], "benchmarks/?page_size=2"
    while url:
        page = api.get(url).json()
        seen.append([line["key"] for line in page["results"]])
        url = page["next"]
    assert seen == [["b-0", "b-1"], ["b-2", "b-3"], ["b-4"]]


@pytest.mark.parametrize("query", ["page_size=0", "page_size=1001", "page_size=x", "cursor=%C3%A4", "cursor=AAAA"])
def test_a_page_that_cannot_be_is_refused(make, api, query):
    assert error_of(api.get(f"benchmarks/?{query}"))["status"] == 400


def test_pages_of_systems_stay_on_one_revision_while_the_board_moves_on(make, api):
    benchmark = make.published()
    first = api.get(f"benchmarks/{benchmark.key}/systems/?page_size=2").json()
    make.accepted(benchmark, {"Aa": [1.0] * 5, "E": [1.0] * 5})
    make.publish(benchmark)
    second = api.get(first["next"]).json()
    assert (first["revision"], second["revision"]) == (1, 1)
    assert [row["system"] for row in first["results"] + second["results"]] == ["a", "b", "c", "d"]


def test_a_benchmark_says_where_its_board_stands(make, api):
    benchmark = make.published(GAPS, description="First line.\nSecond.", licence="CC0", default_rule="copeland")
    answer = api.get(f"benchmarks/{benchmark.key}/").json()
    assert (answer["name"], answer["description"], answer["licence"]) == (benchmark.name, "First line.\nSecond.", "CC0")
    assert (answer["revision"], answer["last_revision"], answer["is_computing"]) == (1, 1, False)
    assert (answer["n_systems"], answer["n_tasks"], answer["n_missing"]) == (4, 3, 2)
    assert (answer["default_rule"], answer["missing_policy"], answer["may_submit"]) == (
        "copeland",
        "drop_systems",
        False,
    )
    assert {job["kind"]: job["state"] for job in answer["jobs"]} == {
        "axioms": "waiting",
        "bootstrap": "waiting",
        "prospects": "waiting",
        "rankings": "done",
        "significance": "waiting",
    }
    make.accepted(benchmark, {"E": [1.0, 1.0, 1.0]})
    answer = api.get(f"benchmarks/{benchmark.key}/").json()
    assert (answer["revision"], answer["last_revision"], answer["is_computing"]) == (1, 2, True)


def test_tasks_stand_as_they_were_at_the_revision(make, api):
    tasks = [TaskSpec("Zeta", direction=-1, metric="error"), TaskSpec("Alpha", minimum=0.0, maximum=100.0)]
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]}, tasks=tasks)
    answer = api.get(f"benchmarks/{benchmark.key}/tasks/").json()
    assert answer["revision"] == 1
    assert [(task["key"], task["direction"], task["weight"]) for task in answer["results"]] == [
        ("alpha", 1, "1"),
        ("zeta", -1, "1"),
    ]
    assert set(answer["results"][0]) == {
        "key", "name", "group", "direction", "weight", "metric", "unit", "minimum", "maximum", "chance", "precision",
        "cluster",
    }  # fmt: skip


def test_before_the_first_scores_the_present_tasks_are_told_and_the_rest_is_empty(make, api):
    benchmark = make.benchmark({}, n_tasks=2)
    answer = api.get(f"benchmarks/{benchmark.key}/tasks/").json()
    assert (answer["revision"], [task["key"] for task in answer["results"]]) == (None, ["task-1", "task-2"])
    for path in ("systems", "scores"):
        answer = api.get(f"benchmarks/{benchmark.key}/{path}/").json()
        assert (answer["revision"], answer["results"]) == (None, [])
    assert api.get(f"benchmarks/{benchmark.key}/revisions/").json()["results"] == []
    for path in ("rankings/", "rankings/borda/", "systems/a/", "scores/?format=csv"):
        assert error_of(api.get(f"benchmarks/{benchmark.key}/{path}"))["status"] == 404


def test_a_system_has_its_scores_and_its_rank_under_every_rule(make, api):
    benchmark = make.published(GAPS)
    system = api.get(f"benchmarks/{benchmark.key}/systems/d/").json()
    assert {task: (cell["value"], cell["missing"]) for task, cell in system["scores"].items()} == {
        "task-1": (0.5, None),
        "task-2": (None, "not_reported"),
        "task-3": (3.0, None),
    }
    assert {row["rule"]: (row["rank"], row["score"]) for row in system["ranks"]} == {
        rule: figures(GAPS, rule)["d"] for rule in site_rules()
    }
    unranked = {row["rule"]: row["reason"] for row in system["ranks"] if row["rank"] is None}
    assert unranked["borda"] == "no score on 1 of 3 tasks of weight above 0: Task 2"


def test_a_cell_names_its_submission_and_a_task_added_later_was_not_submitted(make, api):
    benchmark = make.benchmark(GAPS)
    batch = make.submitted(benchmark, "B", ["9", "9", ""], by=benchmark.memberships.get().user)
    benchmark = make.publish(benchmark)
    row = next(row for row in api.get(f"benchmarks/{benchmark.key}/scores/").json()["results"] if row["system"] == "b")
    submission = str(make.submission_of(batch).uuid)
    assert row["scores"]["task-1"] == {"value": 9.0, "missing": None, "submission": submission} | UNMEASURED
    assert row["scores"]["task-3"] == {"value": None, "missing": "not_reported", "submission": submission} | UNMEASURED
    assert api.get(f"submissions/{submission}/").json()["uuid"] == str(batch.uuid)


def test_scores_as_csv_import_again_to_the_same_matrix(make, api, tmp_path):
    rng = np.random.default_rng(7)
    values = rng.normal(size=(20, 6)) * 10.0 ** rng.integers(-12, 12, size=(20, 6))
    values[rng.random((20, 6)) < 0.2] = np.nan
    scores = {f"System, “{i}”": [None if np.isnan(v) else float(v) for v in row] for i, row in enumerate(values)}
    benchmark = make.published(scores)
    response = api.get(f"benchmarks/{benchmark.key}/scores/", Accept="text/csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="{benchmark.key}-scores-r1.csv"'
    assert response.content == api.get(f"benchmarks/{benchmark.key}/scores/?format=csv").content
    table = read_table(response.content)
    rows = [[None if np.isnan(value) else value for value in row] for row in table.values.tolist()]
    to_12_digits = {name: [None if v is None else float(f"{v:.12g}") for v in row] for name, row in scores.items()}
    assert dict(zip(table.system_names, rows, strict=True)) == to_12_digits
    (tmp_path / "scores.csv").write_bytes(response.content)
    copy = make.publish(import_folder(tmp_path, owner=make.user(), key="copy"))
    assert api.get("benchmarks/copy/scores/", Accept="text/csv").content == response.content
    assert copy.publication.revision.input_hash == benchmark.publication.revision.input_hash


def test_q_asks_for_the_same_wherever_systems_are_listed(make, api):
    """The name or the key has the text in it, in any case; who is of an organisation is asked by its own word."""
    benchmark = make.published({"Große Eule": [1.0], "Small owl": [2.0], "Crow": [3.0]})
    System.objects.filter(name="Crow").update(organisation="Owl Institute")
    base = f"benchmarks/{benchmark.key}"
    keys = {system.name: system.key for system in benchmark.systems.all()}

    def systems_at(path, **query):
        answer = api.get(f"{base}/{path}", query).json()
        rows = answer.get("results", answer.get("systems"))
        assert rows is not None, answer
        return {row.get("system", row.get("key")) for row in rows}

    for query, names in (("OWL", {"Small owl"}), ("GROSSE", {"Große Eule"}), (keys["Crow"], {"Crow"}), ("x y", set())):
        expected = {keys[name] for name in names}
        assert systems_at("systems/", q=query) == expected, query
        assert systems_at("rankings/borda/", q=query) == expected, query
        assert systems_at("board/", q=query) == expected, query
    assert systems_at("rankings/borda/", organisation="owl inst") == {keys["Crow"]}
    System.objects.filter(name="Crow").update(organisation="Universität München", tags=["open", "small"])
    # A Mac writes an umlaut as two letters.
    for text in ("München", "Mu\u0308nchen", "MÜNCHEN", "universität"):
        of_board = systems_at("board/", **{"meta.organisation": text})
        assert systems_at("rankings/borda/", organisation=text) == of_board == {keys["Crow"]}, text
    for tag in ("open", "small", "OPEN", "none"):
        assert systems_at("rankings/borda/", tag=tag) == systems_at("board/", tag=tag), tag
    assert systems_at("rankings/borda/", top=1) == systems_at("board/", top=1, reference="borda") == {keys["Crow"]}
    assert systems_at("rankings/borda/", complete="true") == systems_at("board/", complete_only=1) == set(keys.values())


def test_an_older_published_revision_answers_as_it_did_then(make, api):
    benchmark = make.published()
    before = {path: api.get(f"benchmarks/{benchmark.key}/{path}").json() for path in ("scores/", "rankings/borda/")}
    make.accepted(benchmark, {"A": [0.0] * 5, "E": [9.0] * 5})
    make.publish(benchmark)
    assert api.get(f"benchmarks/{benchmark.key}/scores/").json()["revision"] == 2
    for path, answer in before.items():
        assert api.get(f"benchmarks/{benchmark.key}/{path}?revision=1").json() == answer


def test_a_revision_whose_rankings_are_not_stored_is_a_clear_404(make, api):
    benchmark = make.published()
    make.accepted(benchmark, {"E": [9.0] * 5})
    error = error_of(api.get(f"benchmarks/{benchmark.key}/rankings/?revision=2"))
    assert error["message"] == "The rankings of revision 2 are not stored; `revisions/` says which ones are published."
    assert error_of(api.get(f"benchmarks/{benchmark.key}/scores/?revision=9"))["message"] == (
        "There is no revision 9; the last one is 2."
    )
    assert error_of(api.get(f"benchmarks/{benchmark.key}/scores/?revision=one"))["status"] == 400


def test_revisions_tell_their_cause_author_and_state(make, api):
    benchmark = make.published()
    author = make.user("Ada")
    batch = make.submitted(benchmark, "E", ["1", "2", "3", "4", "5"], by=author)
    make.publish(benchmark)
    withdraw_submission(make.submission_of(batch), actor=benchmark.memberships.get().user, reason="An error.")
    answer = api.get(f"benchmarks/{benchmark.key}/revisions/").json()
    assert [(line["revision"], line["cause"], line["author"], line["is_published"]) for line in answer["results"]] == [
        (3, "withdrawal", "owner", False),
        (2, "batch", "Ada", True),
        (1, "batch", "owner", True),
    ]
    assert answer["revision"] == 2
    assert [job["state"] for job in answer["results"][0]["jobs"]] == ["waiting"] * 5
    one = api.get(f"benchmarks/{benchmark.key}/revisions/2/").json()
    assert one | {"configuration": None} == answer["results"][1] | {"configuration": None}
    assert [task["key"] for task in one["configuration"]["tasks"]] == [f"task-{t}" for t in range(1, 6)]
    assert "id" not in one["configuration"]["tasks"][0]
    pages = api.get(f"benchmarks/{benchmark.key}/revisions/?page_size=2").json()
    assert [line["revision"] for line in api.get(pages["next"]).json()["results"]] == [1]
    assert error_of(api.get(f"benchmarks/{benchmark.key}/revisions/99999999999/"))["status"] == 404


def test_nan_never_appears(make, api):
    benchmark = make.published(GAPS, missing_policy="undefined")
    for path in ("scores/", "rankings/", *(f"rankings/{rule}/" for rule in site_rules()), "systems/a/"):
        answer = api.get(f"benchmarks/{benchmark.key}/{path}")
        assert answer.status_code == 200, path
        json.loads(answer.content, parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def sizes(make_once):
    """The keys of a benchmark of one system and one revision, and of one of three of each."""
    keys = []
    for size in (1, 3):
        benchmark = make_once.benchmark(
            {f"System {i}": [float(i), 1.0, 2.0] for i in range(size)}, visibility="unlisted"
        )
        for _ in range(size - 1):
            make_once.accepted(benchmark, {"System 0": [5.0, 1.0, 2.0]})
        keys.append(make_once.publish(benchmark).key)
    return keys


@pytest.mark.parametrize(
    ("path", "n"),
    [("systems/", 3), ("scores/", 5), ("tasks/", 1), ("revisions/", 5), ("rankings/", 4)],
)
def test_lists_take_a_fixed_number_of_queries(sizes, make, api, path, n):
    counts = []
    for key in sizes:
        with CaptureQueriesContext(connection) as queries:
            assert api.get(f"benchmarks/{key}/{path}").status_code == 200
        counts.append(len(queries))
    assert counts == [n, n]


def test_the_list_of_benchmarks_takes_a_fixed_number_of_queries(make, api, django_assert_num_queries):
    for n_more in (1, 2):
        for _ in range(n_more):
            make.published(tags=["toy"])
        with django_assert_num_queries(3):
            assert len(api.get("benchmarks/?q=bench&tag=toy").json()["results"]) == 2 * n_more - 1


def test_the_landscape_lists_what_the_page_lists(api, make):
    make.published(), make.published(visibility="private")
    keys = [line["key"] for line in api.get("landscape/").json()["results"]]
    assert keys == sorted(place.key for place in landscape(AnonymousUser()).places)
    assert len(keys) == 1


def test_the_api_has_the_relation_of_all_pages_and_the_ends_of_the_scale(make, api):
    for seed in range(4):
        studied(make, seed, name=f"Number {seed}")
    answer = api.get("landscape/?page_size=1").json()
    places = landscape(AnonymousUser()).places
    assert len(answer["results"]) == 1
    for which in ("cardinal", "ordinal"):
        plane, shares = answer[which], [getattr(place, which) for place in places]
        diversity = [place.diversity for place in places]
        r, p = pearsonr(diversity, [share.upper for share in shares])
        slope, intercept = np.polyfit(diversity, [share.upper for share in shares], 1)
        expected = {"slope": slope, "intercept": intercept, "r": r, "p": p}
        assert plane["proven"] == {name: pytest.approx(value) for name, value in expected.items()}
        assert (plane["n_benchmarks"], "are needed, whatever r is" in plane["verdict"]) == (4, True)
        assert [end["name"] for end in plane["scale_ends"]] == ["Constant", "Random"]
        assert plane["scale_ends"][0]["diversity"] == pytest.approx(0.0, abs=0.05)
