"""Starting an experiment: checked, forecast and counted before anything is stored, and the same one run once."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from jobs.runner import run_job
from leaderboard.access.audience import audience_of
from leaderboard.models import Experiment, Job, Report
from leaderboard.queue.jobs import is_superseded
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.revisions import revision_jobs
from leaderboard.studies.chunks import study_matrix
from leaderboard.studies.experiments.page import state_of
from leaderboard.studies.experiments.start import ExperimentError, ExperimentLimitError, propose, start
from leaderboard.submissions.moderation.takedowns import take_down
from ranking_engine.stability.catalogue import run_study


def started(audience, study, given, seed=0):
    return start(audience, propose(audience, study, given, seed=seed))


def run(experiment):
    return run_job(Job.objects.get(kind="experiment", parameter_hash=experiment.parameter_hash).pk, worker="test")


GIVEN = {"rules": ["borda", "copeland[variant=lower]", "positional[vector=3,1]"], "n_orders": 4, "first": 3}


def test_what_a_worker_finds_is_what_the_engine_finds(make, board):
    experiment, is_new = started(audience_of(make.user(), board), "system_additions", GIVEN, seed=7)
    assert is_new
    assert run(experiment) == "done"
    report = state_of(experiment).report
    expected = run_study("system_additions", study_matrix(board.publication.revision), GIVEN, seed=7)
    assert report.summary == expected.summary
    arrays = unpack_arrays(report.arrays)
    assert list(arrays) == list(expected.arrays)
    assert all(np.array_equal(arrays[name], values) for name, values in expected.arrays.items())


def test_the_same_experiment_is_run_once_whoever_asks(make, board):
    first, _ = started(audience_of(make.user(), board), "diversity", {}, seed=3)
    run(first)
    again, is_new = started(audience_of(make.user(), board), "diversity", {"first": None}, seed=3)
    assert (again, is_new) == (first, False)
    assert Job.objects.filter(kind="experiment").count() == 1
    assert Report.objects.filter(kind="experiment").count() == 1


def test_however_a_variant_is_written_it_is_the_same_experiment(make, board):
    audience = audience_of(make.user(), board)
    first, _ = started(audience, "system_additions", {"rules": ["copeland[variant=difference]"]})
    assert started(audience, "system_additions", {"rules": ["copeland"]})[0] == first


def test_it_never_shows_among_the_studies_of_the_board(make, board, client):
    experiment, _ = started(audience_of(make.user(), board), "diversity", {"first": 2})
    run(experiment)
    assert Report.objects.filter(kind="study").count() == 0
    page = client.get(f"/b/{board.key}/stability/").content.decode()
    assert "2 systems on 5 tasks" not in page


def test_a_newer_revision_does_not_end_it(make, board):
    experiment, _ = started(audience_of(make.user(), board), "diversity", {})
    make.accepted(board, {"E": [1.0] * 5})
    newer = make.publish(board)
    started(audience_of(make.user(), newer), "diversity", {})
    job = Job.objects.get(kind="experiment", subject_id=experiment.revision_id)
    assert not is_superseded(job)


@pytest.mark.parametrize(
    ("study", "given", "message"),
    [
        ("nothing", {}, "`study` is 'nothing'; expected one of missing_scores, "),
        ("missing_scores", {"levels": [100]}, "`levels` is 100; expected a number from 0 to 99.9"),
        ("missing_scores", {"levels": list(range(51))}, "`levels` has 51 values; at most 50 are taken"),
        ("missing_scores", {"rules": ["borda"] * 41}, "`rules` has 41 values; at most 40 are taken"),
        ("missing_scores", {"rules": ["kemeny[seconds=86400]"]}, "a time limit makes no variant of a rule"),
        ("missing_scores", {"n_repeats": 10**9}, "expected a whole number from 1 to 10,000"),
        ("missing_scores", {"n_repeats": True}, "`n_repeats` is true: expected a value like 100"),
        ("missing_scores", {"unknown": 1}, "`unknown` is no parameter of the study missing_scores"),
        ("missing_scores", {"top": float("nan")}, "`top`: expected finite numbers"),
        ("diversity", {"copied_tasks": ["no such task"]}, "there is no such task"),
        ("diversity", {"copied_tasks": ["x" * 201]}, "expected a value like"),
        ("worst_case", {"rule": "condorcet"}, "it names a winner and does not rank"),
        ("worst_case", {"n_top": 4}, "4 systems are ranked and 4 are the first"),
    ],
)
def test_what_cannot_be_run_is_refused_and_nothing_is_stored(make, board, study, given, message):
    with pytest.raises(ExperimentError, match=message.replace("[", r"\[")):
        propose(audience_of(make.user(), board), study, given)
    assert Experiment.objects.count() == Job.objects.filter(kind="experiment").count() == 0


@pytest.mark.parametrize("seed", [-1, 2**31, 10**30])
def test_a_seed_is_bounded(make, board, seed):
    with pytest.raises(ExperimentError, match="expected a whole number from 0 to 2,147,483,647"):
        propose(audience_of(make.user(), board), "diversity", {}, seed=seed)


def test_without_a_board_there_is_nothing_to_study(make):
    benchmark = make.benchmark({})
    with pytest.raises(ExperimentError, match="after the first board is published"):
        propose(audience_of(make.user(), benchmark), "diversity", {})


def test_what_would_take_too_long_is_refused_with_its_estimate(make, board, settings):
    settings.EXPERIMENT_SECONDS = 1
    with pytest.raises(ExperimentLimitError, match=r"about \d+ s; one experiment may take up to 1 s"):
        propose(audience_of(make.user(), board), "judge_bootstrap", {"n_trials": 200_000})


def test_a_person_has_so_many_seconds_a_day(make, board, settings):
    user = make.user()
    started(audience_of(user, board), "diversity", {}, seed=1)
    Experiment.objects.update(estimate=600.0)
    Job.objects.filter(kind="experiment").update(state="done")
    with pytest.raises(ExperimentLimitError, match="You used 600 s for experiments within a day; the limit is 600 s"):
        propose(audience_of(user, board), "diversity", {}, seed=2)
    propose(audience_of(make.user(), board), "diversity", {}, seed=2)  # somebody else has seconds left
    Experiment.objects.update(requested_at=timezone.now() - timedelta(hours=25))
    propose(audience_of(user, board), "diversity", {}, seed=2)


def test_a_board_has_so_many_seconds_a_day(make, board, settings):
    settings.EXPERIMENT_SECONDS_A_BOARD = 500
    started(audience_of(make.user(), board), "diversity", {}, seed=1)
    Experiment.objects.update(estimate=500.0)
    with pytest.raises(ExperimentLimitError, match="This board used 500 s for experiments within a day"):
        propose(audience_of(make.user(), board), "diversity", {}, seed=2)
    propose(audience_of(make.user(), make.published()), "diversity", {}, seed=2)


def test_so_many_of_one_person_are_open_at_once(make, board, settings):
    user = make.user()
    for seed in range(settings.EXPERIMENTS_OPEN):
        started(audience_of(user, board), "diversity", {}, seed=seed)
    with pytest.raises(ExperimentLimitError, match="You have 3 unfinished experiments; the limit is 3"):
        propose(audience_of(user, board), "diversity", {}, seed=9)
    Job.objects.filter(kind="experiment").update(state="done")
    propose(audience_of(user, board), "diversity", {}, seed=9)


def test_the_same_experiment_of_somebody_else_on_another_board_is_not_ones_own(make, board, settings):
    settings.EXPERIMENTS_OPEN = 1
    user = make.user()
    started(audience_of(user, board), "diversity", {})
    Job.objects.filter(kind="experiment").update(state="done")
    started(audience_of(make.user(), make.published()), "diversity", {})
    assert propose(audience_of(user, board), "diversity", {}, seed=1).parameters["seed"] == 1


def test_an_experiment_is_not_among_the_jobs_of_the_revision(make, board):
    started(audience_of(make.user(), board), "diversity", {})
    revision = board.publication.revision_id
    assert "experiment" not in [job.kind for job in revision_jobs([revision])[revision]]


def test_a_result_that_retention_removed_is_computed_again(make, board):
    audience = audience_of(make.user(), board)
    experiment, _ = started(audience, "diversity", {})
    run(experiment)
    Report.objects.filter(kind="experiment").delete()
    assert state_of(experiment).state == "removed"
    assert started(audience, "diversity", {}) == (experiment, False)
    assert state_of(experiment).state == "waiting"
    assert run(experiment) == "done"
    assert state_of(experiment).state == "done"


def test_a_takedown_removes_results_about_the_scores(make, client):
    board = make.published()
    owner = board.memberships.get(role="owner").user
    experiment, _ = started(audience_of(owner, board), "diversity", {})
    run(experiment)
    submission = board.submissions.first()
    take_down(submission, actor=owner, reason="A request.")
    assert Report.objects.filter(kind="experiment").count() == 0
    client.force_login(owner)
    assert client.get(f"/b/{board.key}/experiments/{experiment.pk}/").status_code == 404


def test_closing_an_account_keeps_the_result_and_forgets_who_asked(make, board):
    user = make.user()
    experiment, _ = started(audience_of(user, board), "diversity", {})
    user.delete()
    experiment.refresh_from_db()
    assert experiment.requested_by is None
