"""The demonstration's hidden tests: what is added, how it is scored, and that the files are what the script writes."""

import csv
import io

import pytest

from leaderboard.computing.scoring import TEST, ScoringCall, score_predictions
from leaderboard.evaluation.demonstration import train
from leaderboard.evaluation.receiving import PredictionUpload, submit_predictions
from leaderboard.models import Benchmark, PredictionSubmission, Score, TaskReferences
from leaderboard.operations.hidden_tests import FOLDER, LEFT_FOR_READERS, SYSTEMS, TASKS, add_hidden_tests
from leaderboard.submissions.rows import SubmittedRow
from tests.leaderboard.evaluation.made import score_all


def column_of(path, name):
    return [row[name] for row in csv.DictReader(io.StringIO(path.read_text()))]


def test_six_models_are_scored_and_a_reader_can_submit_the_seventh(make):
    owner, reader = make.user(), make.user()
    said = []
    assert add_hidden_tests(owner, said.append)
    assert not add_hidden_tests(owner, said.append)
    assert said == ["Hidden tests: predictions of 6 systems for 3 tasks"]
    benchmark = Benchmark.objects.get(key="hidden-tests")
    assert TaskReferences.objects.filter(task__benchmark=benchmark).count() == 3
    six = list(PredictionSubmission.objects.filter(benchmark=benchmark, state="waiting").order_by("pk"))
    assert {row.system_name: row.files.count() for row in six} == dict.fromkeys(SYSTEMS.values(), 3)
    files = {key: (f"{key}.csv", (FOLDER / "predictions/support-vectors" / f"{key}.csv").read_bytes()) for key in TASKS}
    row, _ = submit_predictions(benchmark, reader, PredictionUpload(SubmittedRow("My model"), files))
    # One of the six: what children score of the others, the next test scores in this process.
    assert score_all(benchmark, six[0], row) == ["done", "done"]
    assert set(benchmark.systems.values_list("name", flat=True)) == {six[0].system_name, "My model"}
    score = Score.objects.get(task__benchmark=benchmark, task__key="digits", submission__system__name="My model")
    truth, splits, mine = (
        column_of(FOLDER / part / "digits.csv", name)
        for part, name in (
            ("references", "reference"),
            ("references", "split"),
            ("predictions/support-vectors", "prediction"),
        )
    )
    right = [a == b for a, b, split in zip(truth, mine, splits, strict=True) if split == "public"]
    assert score.value == pytest.approx(sum(right) / len(right))


@pytest.mark.parametrize("task", TASKS)
def test_the_predictions_of_every_model_have_a_score(task):
    _, metric, options = TASKS[task]
    references = (FOLDER / "references" / f"{task}.csv").read_bytes()
    for model in train.MODELS:
        predictions = (FOLDER / "predictions" / model / f"{task}.csv").read_bytes()
        call = ScoringCall(metric, options, references, "references.csv", predictions, "predictions.csv", TEST)
        scored = score_predictions(call)
        assert (scored.problems, set(scored.parts)) == ((), {"public", "private", TEST}), model


def test_every_model_has_predictions_for_every_task_and_two_are_left_for_readers():
    assert sorted(train.MODELS) == sorted([*SYSTEMS, *LEFT_FOR_READERS])
    for model in train.MODELS:
        for task in TASKS:
            ids = column_of(FOLDER / "predictions" / model / f"{task}.csv", "id")
            assert ids == column_of(FOLDER / "references" / f"{task}.csv", "id")


@pytest.mark.parametrize("model", ["constant", "linear", "decision-tree"])
@pytest.mark.parametrize("task", TASKS)
def test_the_script_writes_the_files_that_are_there(model, task):
    stored = column_of(FOLDER / "predictions" / model / f"{task}.csv", "prediction")
    *_, answers, ids, splits = train.hidden_part(task)
    references = FOLDER / "references" / f"{task}.csv"
    assert (column_of(references, "id"), column_of(references, "split")) == (ids, splits)
    assert column_of(references, "reference") == [f"{a:g}" if task == "diabetes" else str(a) for a in answers]
    assert train.predicted(task, model) == stored
