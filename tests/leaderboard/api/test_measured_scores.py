"""Standard errors and numbers of instances: what was stated of a score stays with it, whatever is done to others."""

import csv
import io
from copy import deepcopy

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.releases import new_edition
from leaderboard.models import Score
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft, rows_now
from leaderboard.submissions.importing.packing import packed, unpacked
from leaderboard.submissions.imports import Assignment, read_import, rows_of_import
from leaderboard.submissions.lifecycle import confirm_draft
from leaderboard.submissions.rows import SubmittedRow
from tests.leaderboard.api.conftest import error_of

STATED = {"Task 1": {"value": 71.3, "standard_error": 0.4, "n_instances": 1000}, "Task 2": 5, "Task 3": "failed"}
HELD = {"task-1": (71.3, "", 0.4, 1000), "task-2": (5.0, "", None, None), "task-3": (None, "failed", None, None)}


@pytest.fixture(scope="module")
def made_once(make_once):
    return make_once.benchmark({}, n_tasks=3)


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


@pytest.fixture
def owner(make, benchmark):
    return benchmark.memberships.get(role="owner").user


@pytest.fixture
def measured(api, benchmark, owner):
    """The number of a submission of A with a standard error and a number of instances."""
    body = {"systems": [{"name": "A", "scores": STATED}], "create_systems": True}
    answer = api.as_user(owner).post(f"benchmarks/{benchmark.key}/submissions/", body)
    assert answer.status_code == 201, answer.content
    return answer.json()["systems"][0]["submission"]


def last(benchmark):
    """What is stored with the newest submission, by task."""
    rows = Score.objects.filter(submission=benchmark.submissions.latest("pk")).select_related("task")
    return {row.task.key: (row.value, row.missing_reason, row.standard_error, row.n_instances) for row in rows}


def correct(api, benchmark, owner, number, scores):
    body = {"systems": [{"corrects": number, "scores": scores}], "note": "It was of another run."}
    answer = api.as_user(owner).post(f"benchmarks/{benchmark.key}/submissions/", body)
    assert answer.status_code == 201, answer.content


def test_what_is_stated_of_a_score_is_stored_and_shown(make, api, client, benchmark, measured):
    assert last(benchmark) == HELD
    make.publish(benchmark)
    cells = api.get(f"benchmarks/{benchmark.key}/systems/a/").json()["scores"]
    figures = {key: (c["value"], c["missing"] or "", c["standard_error"], c["n_instances"]) for key, c in cells.items()}
    assert figures == HELD
    for page in ("systems/a/", "rules/copeland/"):
        text = client.get(f"/b/{benchmark.key}/{page}").content.decode()
        assert "± 0.4 (n = 1,000)" in text
        assert "as its submitter stated them" in text


@pytest.mark.parametrize(
    ("scores", "task_1"),
    [
        ({"task-2": 6}, HELD["task-1"]),
        ({"task-1": 71.3, "task-2": 6}, HELD["task-1"]),
        ({"task-1": 72, "task-2": 6}, (72.0, "", None, None)),
        ({"task-1": {"value": 71.3, "standard_error": 0.2}, "task-2": 6}, (71.3, "", 0.2, 1000)),
        ({"task-1": {"value": 72, "n_instances": 9}, "task-2": 6}, (72.0, "", None, 9)),
    ],
    ids=["not mentioned", "said again", "another score", "another error", "another score and number"],
)
def test_a_correction_loses_nothing_that_is_stored_of_what_it_does_not_change(
    api, benchmark, owner, measured, scores, task_1
):
    correct(api, benchmark, owner, measured, scores)
    assert last(benchmark) == HELD | {"task-1": task_1, "task-2": (6.0, "", None, None)}


def test_a_correction_by_the_form_says_every_score_again_and_keeps_their_errors(benchmark, owner, measured):
    scores = {"task-1": "71.3", "task-2": "6", "task-3": "failed"}
    row = SubmittedRow("A", scores, corrects=measured)
    draft = make_draft(audience_of(owner, benchmark), [row], source=Source.CORRECTION, note="Why.")
    assert rows_now(draft, audience_of(owner, benchmark)) == draft.rows
    confirm_draft(draft, actor=owner, previewed_number=1, creates_systems=False)
    assert last(benchmark) == HELD | {"task-2": (6.0, "", None, None)}


def test_a_correction_of_a_correction_still_has_them(api, benchmark, owner, measured):
    correct(api, benchmark, owner, measured, {"task-2": 6})
    correct(api, benchmark, owner, str(benchmark.submissions.latest("pk").uuid), {"task-3": 1})
    assert last(benchmark)["task-1"] == HELD["task-1"]


def test_instances_that_are_measured_anew_do_not_take_over_the_old_error(api, benchmark, owner, measured):
    body = {"corrects": measured, "scores": {"task-1": 71.3}, "instances": {"task-1": {"a": 70, "b": 72.6}}}
    url = f"benchmarks/{benchmark.key}/submissions/"
    assert api.as_user(owner).post(url, {"systems": [body], "note": "Rerun."}).status_code == 201
    assert last(benchmark)["task-1"] == (71.3, "", None, 2)


def test_a_new_edition_takes_them_along_and_what_is_said_of_systems(make, api, benchmark, owner, measured):
    benchmark.systems.update(tags=["baseline"], metadata={"parameters": 7})
    edition = new_edition(benchmark, author=owner, name="Second", with_scores=True)
    assert last(edition) == HELD
    assert (edition.systems.get().tags, edition.systems.get().metadata) == (["baseline"], {"parameters": 7})


def test_the_long_table_has_all_that_is_stored_and_imports_again(make, api, benchmark, measured):
    make.publish(benchmark)
    text = api.get(f"benchmarks/{benchmark.key}/scores/", {"format": "csv", "long": "true"}).content.decode()
    assert list(csv.reader(io.StringIO(text))) == [
        ["system", "task", "score", "stderr", "n", "missing"],
        ["A", "Task 1", "71.3", "0.4", "1000", ""],
        ["A", "Task 2", "5", "", "", ""],
        ["A", "Task 3", "", "", "", "failed"],
    ]
    results = read_import([("long.csv", text.encode())])
    assert [cell[2:] for cell in results.cells] == [(71.3, 0.4, 1000), (5.0, None, None), (None, None, None)]
    assert (results.missing, results.notes) == ({(0, 2): "failed"}, [])
    user = benchmark.memberships.get(role="owner").user
    audience, tasks = audience_of(user, benchmark), {c: f"Task {c + 1}" for c in range(3)}
    for back in (results, unpacked(packed(results, benchmark, user), benchmark, user)):
        (row,) = rows_of_import(audience, back, Assignment(tasks, dict.fromkeys(range(3), "unchanged"), {0: "A"}))
        assert row.scores == {"task-1": 71.3, "task-2": 5.0, "task-3": "failed"}


def test_the_long_table_without_missing_scores_needs_no_answer():
    text = "system,task,score,stderr,n,missing\nA,Quiz,1,,,\nB,Quiz,2,0.5,,\n"
    assert [cell[2:] for cell in read_import([("long.csv", text.encode())]).cells] == [(1, None, None), (2, 0.5, None)]


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"value": 1, "standard_error": -0.1}, "standard_error"),
        ({"value": 1, "n_instances": 1.5}, "n_instances"),
        ({"value": 1, "standard_error": 0.1, "n_instances": 0}, "n_instances"),
        ({"value": 1, "n_instances": 2**31}, "n_instances"),
        ({"value": None, "standard_error": 1}, "value"),
        ({"score": 1}, "score"),
    ],
)
def test_what_cannot_be_stored_of_a_score_is_told_with_its_place(api, benchmark, owner, wrong, place):
    body = {"systems": [{"name": "A", "scores": {"task-1": wrong}}], "create_systems": True}
    answer = api.as_user(owner).post(f"benchmarks/{benchmark.key}/submissions/", body)
    assert (answer.status_code, Score.objects.count()) == (400, 0)
    assert error_of(answer)["details"][0]["place"] == f"systems[0].scores.task-1.{place}"


def test_where_scores_are_hidden_so_are_their_standard_errors(make, api, client, benchmark, measured):
    make.publish(benchmark)
    type(benchmark).objects.update(score_view="ranks")
    page, key = client.get(f"/b/{benchmark.key}/systems/a/"), benchmark.key
    assert "0.4" not in page.content.decode()
    assert api.get(f"benchmarks/{key}/scores/").json()["results"] == []
    assert "0.4" not in api.get(f"benchmarks/{key}/scores/", {"format": "csv", "long": "true"}).content.decode()


def test_the_difference_of_two_systems_has_an_error_from_those_of_both(make, api, benchmark, owner, client):
    scores = {"Ada": [(0.7, 0.03), (5, 1.2)], "Bert": [(0.6, 0.04), (4, 0.5)]}
    systems = [
        {
            "name": name,
            "scores": {f"Task {t}": {"value": v, "standard_error": e} for t, (v, e) in enumerate(cells, start=1)},
        }
        for name, cells in scores.items()
    ]
    body = {"systems": systems, "create_systems": True}
    assert api.as_user(owner).post(f"benchmarks/{benchmark.key}/submissions/", body).status_code == 201
    make.publish(benchmark)
    directions = [task.direction for task in benchmark.tasks.order_by("key")[:2]]
    error = (0.03**2 + 0.04**2 + 1.2**2 + 0.5**2) ** 0.5 / 2
    difference = api.get(f"benchmarks/{benchmark.key}/head-to-head/", {"a": "ada", "b": "bert"}).json()["measured"]
    assert difference == {
        "measured_by": "standard_errors",
        "difference": pytest.approx((0.1 * directions[0] + 1 * directions[1]) / 2),
        "standard_error": pytest.approx(error),
        "detectable": pytest.approx(2.801585 * error),
        "n_tasks": 2,
        "n_common": 0,
    }
    page = client.get(f"/b/{benchmark.key}/head-to-head/?a=ada&b=bert").content.decode()
    assert "On 2 tasks with standard errors of both, Ada has" in page
