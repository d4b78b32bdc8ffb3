"""`plurank submit --predictions` and `plurank evaluate` against a running site: real processes, real requests."""

import csv
import os
import subprocess
import sys
from math import sqrt
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from leaderboard.accounts.tokens import create_token
from leaderboard.evaluation.encryption import new_key
from leaderboard.evaluation.phases import use_ladder
from leaderboard.models import Job, PredictionSubmission, Score
from leaderboard.queue import jobs
from plurank.client.predictions import EvaluatorReport
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import LABELS, add_references, hidden_benchmark, labels_file, numbers_file

pytestmark = pytest.mark.services
ROOT = Path(__file__).resolve().parents[3]
EVALUATOR = """
from plurank.client.predictions import CannotEvaluateError, EvaluatorReport

def mean(predictions):
    rows = [line.split(",") for line in predictions.content.decode().splitlines()[1:]]
    values = {name: float(value) for name, value in rows}
    if min(values.values()) < 0:
        raise CannotEvaluateError("No number may be negative.")
    return EvaluatorReport(sum(values.values()) / len(values), standard_error=0.25, instances=values)

def wrong(predictions):
    return EvaluatorReport(0.5, standard_error=-0.1)
"""


def test_a_report_is_sent_with_what_it_states_alone():
    report = EvaluatorReport(1, splits={"public": 0.5, "private": EvaluatorReport(1.5, standard_error=0.25)})
    assert report.as_json() == {
        "value": 1.0,
        "standard_error": None,
        "splits": {
            "public": {"value": 0.5, "standard_error": None}, "private": {"value": 1.5, "standard_error": 0.25},
        },
    }  # fmt: skip
    assert EvaluatorReport.of(2).as_json() == {"value": 2.0, "standard_error": None}
    assert EvaluatorReport.of(report) is report


@pytest.fixture
def running(site, settings):
    """The site's web server and the workers that score and rank, with the key that this process encrypts with."""
    settings.REFERENCES_KEYS = [new_key()]
    site.environment["PLURANK_REFERENCES_KEYS"] = settings.REFERENCES_KEYS[0]
    site.start("web", "rankings", "scoring")
    site.wait_for_web()
    return site


@pytest.fixture
def command(running, tmp_path):
    """Run `plurank` as a user with a token of one scope."""

    def run(user, scope, *arguments):
        secret = create_token(user, name=uuid4().hex, scopes=[scope], days=30)[1]
        environment = {**os.environ, "PLURANK_TOKEN": secret, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
        return subprocess.run(
            [sys.executable, "-m", "plurank", *map(str, arguments)],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def test_predictions_are_sent_from_a_terminal_and_scored(running, command, make_committed, tmp_path):
    """Takes about ten seconds: the web server and two workers start."""
    benchmark, user = hidden_benchmark(make_committed), make_committed.user()
    board = f"{running.url}/b/{benchmark.key}/"
    (tmp_path / "animals.csv").write_bytes(labels_file(["cat", "dog", "dog", *LABELS[3:]]))
    (tmp_path / "numbers.csv").write_bytes(numbers_file((1.5, 2.5, 7.0)))
    (tmp_path / "bad.csv").write_bytes(b"id,prediction\ni2,cat\ni2,dog\n")
    sent = ("submit", "--predictions", "Deep Thought", "--board", board, "--format", "csv")
    refused = command(user, "submit", *sent, "animals=bad.csv")
    assert refused.returncode == 3
    assert "'i2' is already on line 2" in refused.stderr
    assert not PredictionSubmission.objects.exists()
    for _ in range(2):
        answer = command(user, "submit", *sent, "animals=animals.csv", "numbers=numbers.csv", "--key", "run-1")
        assert answer.returncode == 0, answer.stderr
        rows = {row["task"]: row for row in csv.DictReader(answer.stdout.splitlines())}
        assert float(rows["animals"]["value"]) == pytest.approx(5 / 6)
        assert rows["animals"]["standard_error"] == "", "of six instances none is stated"
        assert float(rows["numbers"]["value"]) == pytest.approx(sqrt(3))
    row = PredictionSubmission.objects.get()
    assert (row.state, row.source, row.submission.state) == ("scored", "api", "accepted")


def test_with_the_ladder_the_terminal_names_the_best_submission(running, command, make_committed, tmp_path):
    """Takes about ten seconds. Of so few instances only the first submission counts."""
    benchmark, user = hidden_benchmark(make_committed), make_committed.user()
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    (tmp_path / "animals.csv").write_bytes(labels_file())
    (tmp_path / "numbers.csv").write_bytes(numbers_file())
    sent = ("submit", "--board", f"{running.url}/b/{benchmark.key}/", "--format", "csv", "animals=animals.csv",
            "numbers=numbers.csv", "--predictions")  # fmt: skip
    first, second = (command(user, "submit", *sent, name) for name in ("Deep Thought", "Shallow Thought"))
    assert "the best submission so far" not in first.stderr
    assert "the best submission so far is Deep Thought (" in second.stderr
    values = [[row["value"] for row in csv.DictReader(one.stdout.splitlines())] for one in (first, second)]
    assert (values[0][0], values[1]) == ("1.0", ["", ""])


def test_a_file_for_all_tasks_and_a_trial_run_are_sent_from_a_terminal(running, command, make_committed, tmp_path):
    """Takes about ten seconds."""
    benchmark, user = hidden_benchmark(make_committed), make_committed.user()
    board = f"{running.url}/b/{benchmark.key}/"
    (tmp_path / "all.csv").write_text("task,id,prediction\nanimals,i0,cat\nanimals,i1,cat\n")
    sent = ("submit", "all.csv", "--predictions", "Deep Thought", "--board", board, "--format", "csv")
    answer = command(user, "submit", *sent, "--trial")
    assert answer.returncode == 0, answer.stderr
    assert [row["value"] for row in csv.DictReader(answer.stdout.splitlines())] == ["0.5"]
    assert PredictionSubmission.objects.get().submission is None
    assert command(user, "submit", *sent[:1], "all.csv", "other.csv", *sent[2:]).returncode == 2


def test_a_program_of_the_owner_evaluates_what_waits_and_the_scores_are_on_the_board(
    running, command, make_committed, tmp_path
):
    """Takes about ten seconds."""
    benchmark, user = hidden_benchmark(make_committed), make_committed.user()
    owner, board = owner_of(benchmark), f"{running.url}/b/{benchmark.key}/"
    add_references(benchmark.tasks.get(key="numbers"), "id\nn1\nn2\nn3\n", "evaluator", by=owner)
    (tmp_path / "own_evaluator.py").write_text(EVALUATOR)
    for name, numbers in (("Good", (1, 2, 6)), ("Bad", (1, 2, -1))):
        (tmp_path / f"{name}.csv").write_bytes(numbers_file(numbers))
        sent = command(
            user, "submit", "submit", f"numbers={name}.csv", "--predictions", name, "--board", board, "--wait", "0"
        )
        assert sent.returncode == 0, sent.stderr
    evaluate = ("evaluate", "--board", board, "--once", "--with")
    unknown = command(owner, "evaluate", *evaluate, "own_evaluator:median")
    assert (unknown.returncode, "expected module:function" in unknown.stderr) == (2, True)
    not_owner = command(user, "evaluate", *evaluate, "own_evaluator:mean")
    assert not_owner.returncode == 3
    wrong = command(owner, "evaluate", *evaluate, "own_evaluator:wrong")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--with own_evaluator:wrong: the site does not take what it returned. Nothing was stored" in wrong.stderr
    Job.objects.filter(kind="evaluation", state="running").update(lease_until=timezone.now())
    jobs.sweep()
    Job.objects.filter(kind="evaluation").update(not_before=timezone.now())
    answer = command(owner, "evaluate", *evaluate, "own_evaluator:mean")
    assert (answer.returncode, answer.stdout) == (0, "2 files evaluated\n"), answer.stderr
    assert "predictions of Good for numbers: 3.0, scored" in answer.stderr
    assert "predictions of Bad for numbers: No number may be negative., refused" in answer.stderr
    states = dict(PredictionSubmission.objects.values_list("statement__name", "state"))
    assert states == {"Good": "scored", "Bad": "refused"}
    assert list(Score.objects.values_list("value", "standard_error")) == [(3.0, 0.25)]
