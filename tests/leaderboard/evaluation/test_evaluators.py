"""Programs of the owners: what they claim, keep and report, through the API and the command."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.evaluation.phases import store_phase
from leaderboard.evaluation.private_boards import open_private_boards
from leaderboard.evaluation.queries import progress_of
from leaderboard.evaluation.receiving import PredictionUpload, submit_predictions
from leaderboard.evaluation.rescoring.corrections import score_again
from leaderboard.models import InstanceScores, Job, Phase, PredictionSubmission, Score
from leaderboard.queue import jobs
from leaderboard.submissions.instances.vectors import unpack_vector
from leaderboard.submissions.rows import SubmittedRow
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    REFERENCES,
    add_references,
    hidden_benchmark,
    numbers_file,
    score_all,
    upload,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def two_tasks(make_once):
    """A benchmark whose numbers a program of its owner scores, predictions that wait, and the program's token."""
    benchmark = hidden_benchmark(make_once)
    add_references(benchmark.tasks.get(key="numbers"), "id\nn1\nn2\nn3\n", "evaluator", by=owner_of(benchmark))
    row, _ = submit_predictions(benchmark, make_once.user(), upload())
    _, secret = create_token(owner_of(benchmark), name="evaluator", scopes=["evaluate"], days=30)
    return row.pk, secret


@pytest.fixture
def evaluated(two_tasks, make, client):
    """The same, and a call as that program."""
    number, secret = two_tasks
    row = PredictionSubmission.objects.select_related("benchmark").get(pk=number)
    benchmark = row.benchmark

    def call(path: str, body: object = None):
        path = f"/api/v1/benchmarks/{benchmark.key}/evaluations/{path}"
        headers = {"Authorization": f"Token {secret}"}
        if body is None:
            return client.get(path, headers=headers)
        return client.post(path, body, content_type="application/json", headers=headers)

    return benchmark, row, call


def claim(call) -> str:
    return call("claim/", {"program": "test"}).json()["evaluation"]["claim"]


def test_a_program_claims_fetches_and_reports_and_the_scores_enter_with_those_of_the_site(evaluated):
    benchmark, row, call = evaluated
    given = call("claim/", {"program": "test"}).json()["evaluation"]
    assert (given["task"], given["split"], given["n_predictions"]) == ("numbers", "test", 3)
    assert call("claim/", {}).json() == {"evaluation": None}
    assert call(f"{given['claim']}/predictions/").content == numbers_file()
    assert call(f"{given['claim']}/renew/", {}).status_code == 200
    body = {"value": 0.5, "standard_error": 0.25, "instances": {"n1": 0, "n2": 1, "n3": 0.5}}
    assert call(f"{given['claim']}/report/", body).json() == {"state": "scoring"}
    assert call(f"{given['claim']}/report/", body).status_code == 409
    score_all(benchmark)
    row = PredictionSubmission.objects.get(pk=row.pk)
    scores = Score.objects.filter(submission=row.submission).order_by("task__key")
    assert [(score.task.key, score.value, score.standard_error) for score in scores] == [
        ("animals", 1.0, None),
        ("numbers", 0.5, 0.25),
    ]
    single = InstanceScores.objects.get(submission=row.submission, task__key="numbers")
    assert unpack_vector(single.values).tolist() == [0, 1, 0.5]


def test_a_program_that_falls_silent_loses_its_claim_and_what_it_reports_later_is_dropped(evaluated):
    benchmark, _, call = evaluated
    late, its_jobs = claim(call), Job.objects.filter(benchmark=benchmark, kind="evaluation")
    its_jobs.update(lease_until=timezone.now() - timedelta(seconds=1))
    jobs.sweep()
    its_jobs.update(not_before=timezone.now())
    job = its_jobs.get()
    assert (job.state, job.failures) == ("waiting", 0)
    second = claim(call)
    assert second != late
    assert call(f"{late}/report/", {"value": 0.1}).status_code == 404
    assert call(f"{second}/report/", {"value": 0.9}).status_code == 200
    assert its_jobs.get().state == "done"


def test_what_a_program_cannot_score_is_refused_with_its_reason(evaluated):
    _, row, call = evaluated
    assert call(f"{claim(call)}/report/", {"problem": "No move is legal."}).json() == {"state": "refused"}
    row = PredictionSubmission.objects.get(pk=row.pk)
    assert [problem["message"] for problem in row.problems] == ["No move is legal."]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "value"),
        ({"value": None}, "value"),
        ({"value": 0.5, "standard_error": -0.1}, "standard_error"),
        ({"value": 1, "instances": {"n1": 1}}, "instances"),
        ({"value": 1, "instances": {"n1": 1, "n2": 1, "x": 1}}, "instances"),
    ],
)
def test_a_report_that_no_score_can_be_is_a_bad_request_and_the_claim_holds(evaluated, body, place):
    _, _, call = evaluated
    mine = claim(call)
    refused = call(f"{mine}/report/", body)
    problem = refused.json()["error"]
    assert (refused.status_code, problem["code"]) == (400, "invalid")
    assert [detail["place"] for detail in problem["details"]] == [place]
    assert call(f"{mine}/report/", {"value": 1}).status_code == 200


def test_a_token_for_evaluating_does_nothing_else(evaluated, client):
    benchmark, _, _ = evaluated
    _, secret = create_token(owner_of(benchmark), name="other", scopes=["evaluate"], days=30)
    headers = {"Authorization": f"Token {secret}"}
    for path in (f"benchmarks/{benchmark.key}/", f"benchmarks/{benchmark.key}/tasks/"):
        assert client.get(f"/api/v1/{path}", headers=headers).status_code == 403


def test_where_the_last_report_is_a_problem_the_other_new_scores_get_onto_the_board(evaluated, make):
    benchmark, _, call = evaluated
    submit_predictions(benchmark, make.user(), upload("Second"))
    for _ in range(2):
        call(f"{claim(call)}/report/", {"value": 0.5})
    score_all(benchmark)
    task = benchmark.tasks.get(key="animals")
    add_references(task, REFERENCES.replace("i2,cat", "i2,dog"), "exact_match", by=owner_of(benchmark))
    add_references(benchmark.tasks.get(key="numbers"), "id\nn3\nn2\nn1\n", "evaluator", by=owner_of(benchmark))
    benchmark.refresh_from_db()
    assert score_again(audience_of(owner_of(benchmark), benchmark)) == 2
    score_all(benchmark)
    assert call(f"{claim(call)}/report/", {"value": 0.75}).status_code == 200
    assert call(f"{claim(call)}/report/", {"problem": "No move is legal."}).status_code == 200
    rows = list(PredictionSubmission.objects.filter(benchmark=benchmark))
    assert [row.rescored_by for row in rows] == [None, None]
    scores = [dict(row.submission.scores.values_list("task__key", "value")) for row in rows]
    assert sorted(scores, key=lambda one: one["numbers"]) == [
        {"animals": 1.0, "numbers": 0.5},
        {"animals": pytest.approx(5 / 6), "numbers": 0.75},
    ]


# --- Scores by split --------------------------------------------------------------------------------------------------

SPLIT_IDS = "id,split\nn1,public\nn2,private\nn3,private\n"
SPLITS = {"public": {"value": 0.5}, "private": {"value": 0.75, "standard_error": 0.125}}


@pytest.fixture(scope="module")
def public_phase(make_once):
    """A benchmark whose only task a program scores by split in a phase on the public one; what waits, and a token."""
    benchmark, user = make_once.benchmark({}, n_tasks=1), make_once.user()
    add_references(benchmark.tasks.get(), SPLIT_IDS, "evaluator", by=owner_of(benchmark))
    now = timezone.now()
    moments = {"opens_at": now - DAY, "closes_at": now + DAY, "private_at": now + 2 * DAY}
    store_phase(benchmark, {"name": "Final", "split": "public"} | moments, author=owner_of(benchmark))
    files = {"task-1": ("numbers.csv", numbers_file())}
    row, _ = submit_predictions(benchmark, user, PredictionUpload(SubmittedRow("Deep Thought"), files))
    _, secret = create_token(owner_of(benchmark), name="evaluator", scopes=["evaluate"], days=30)
    return row.pk, secret


@pytest.fixture
def by_split(public_phase, make, client):
    """The same, its phase, and a call as that program."""
    number, secret = public_phase
    row = PredictionSubmission.objects.select_related("benchmark", "phase").get(pk=number)
    benchmark, phase = row.benchmark, row.phase

    def call(path: str, body: object):
        path = f"/api/v1/benchmarks/{benchmark.key}/evaluations/{path}"
        return client.post(path, body, content_type="application/json", headers={"Authorization": f"Token {secret}"})

    return benchmark, phase, row, call


def test_the_public_score_counts_until_the_private_board_appears_at_its_moment(by_split):
    _, _, row, call = by_split
    given = call("claim/", {}).json()["evaluation"]
    assert (given["split"], given["splits"]) == ("test", ["public", "private"])
    body = {"value": 0.7, "standard_error": 0.1, "splits": SPLITS}
    assert call(f"{given['claim']}/report/", body).json() == {"state": "scored"}
    row.refresh_from_db()
    assert {name: part for name, part in row.files.get().results.items() if name != "by"} == {
        "test": {"value": 0.7, "standard_error": 0.1, "n_instances": 3},
        "public": {"value": 0.5, "standard_error": None, "n_instances": 1},
        "private": {"value": 0.75, "standard_error": 0.125, "n_instances": 2},
    }
    assert [result.value for result in progress_of(row).results] == [0.5]  # all that its submitter sees
    assert list(Score.objects.values_list("value", flat=True)) == [0.5]
    moments = {"opens_at": -5, "closes_at": -4, "private_at": -3}
    Phase.objects.update(**{name: timezone.now() + days * DAY for name, days in moments.items()})
    assert open_private_boards() == 1
    assert list(Score.objects.order_by("pk").values_list("value", "standard_error")) == [(0.5, None), (0.75, 0.125)]


@pytest.mark.parametrize(
    "splits",
    [
        None,
        {"public": {"value": 0.5}},
        {**SPLITS, "test": {"value": 0.5}},
        {**SPLITS, **{f"split-{n}": {"value": 0.5} for n in range(10_000)}},
        {**SPLITS, "private": {}},
        {**SPLITS, "private": {"value": "high"}},
        {**SPLITS, "private": {"value": None}},
        {**SPLITS, "private": {"value": 0.5, "standard_error": -0.1}},
        {**SPLITS, "private": 0.5},
        [],
    ],
)
def test_a_report_without_both_splits_is_not_taken_and_the_claim_holds(by_split, splits):
    _, _, row, call = by_split
    mine = claim(call)
    assert call(f"{mine}/report/", {"value": 0.7, "splits": splits}).status_code == 400
    assert row.files.get().results == {}
    assert call(f"{mine}/report/", {"value": 0.7, "splits": SPLITS}).status_code == 200


def test_instances_without_splits_take_no_scores_by_split(evaluated):
    _, _, call = evaluated
    mine = claim(call)
    refused = call(f"{mine}/report/", {"value": 0.7, "splits": SPLITS})
    assert (refused.status_code, "leave out `splits`" in refused.json()["error"]["message"]) == (400, True)
    assert call(f"{mine}/report/", {"value": 0.7}).status_code == 200


def test_a_late_report_with_splits_is_dropped(by_split):
    benchmark, _, row, call = by_split
    late = claim(call)
    Job.objects.filter(benchmark=benchmark, kind="evaluation").update(lease_until=timezone.now() - timedelta(seconds=1))
    jobs.sweep()
    assert call(f"{late}/report/", {"value": 0.1, "splits": SPLITS}).status_code == 409
    assert row.files.get().results == {}


def test_scores_on_all_instances_are_not_taken_beside_those_on_the_public_split(by_split, make):
    benchmark, _, _, _ = by_split
    Phase.objects.update(closes_at=timezone.now())
    with pytest.raises(ValidationError, match="anyone could compute the private ones"):
        store_phase(benchmark, {"name": "All", "split": "test", "opens_at": timezone.now()}, author=owner_of(benchmark))


def test_a_phase_whose_scores_were_not_reported_by_split_does_not_become_one_on_the_public_split(by_split):
    benchmark, phase, row, _ = by_split
    Phase.objects.update(split="test", private_at=None)  # as before reports had splits
    results = {"test": {"value": 0.7, "standard_error": None, "n_instances": 3}, "by": {"metric": "evaluator"}}
    row.files.update(results=results)
    with pytest.raises(ValidationError, match="without reporting scores by split"):
        store_phase(benchmark, {"split": "public"}, author=owner_of(benchmark), number=phase.pk)
    row.files.update(results=results | {"public": results["test"], "private": results["test"]})
    assert store_phase(benchmark, {"split": "public"}, author=owner_of(benchmark), number=phase.pk).split == "public"
