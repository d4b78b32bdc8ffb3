"""Boards of the largest scores that are accepted: no study of them fails for a number beyond all numbers."""

from jobs.runner import run_job
from leaderboard.models import Job, Report, StudyChoice
from leaderboard.queue.kinds import AXIOMS
from leaderboard.submissions.checks import LARGEST_SCORE
from ranking_engine.stability.catalogue import STUDIES


def test_every_job_of_a_board_of_the_largest_scores_ends_well(make):
    big = LARGEST_SCORE
    scores = {"X": [-big, big, 1.0], "Y": [big, -big, 2.0], "Z": [0.0, big, 3.0]}
    benchmark = make.benchmark({name: row * 3 for name, row in scores.items()})
    for study in STUDIES:  # a few repeats of each, and a few boards for each property
        StudyChoice.objects.create(benchmark=benchmark, study=study, when="every", budget_seconds=2)
    Job.objects.filter(kind=AXIOMS).update(parameters={"seed": 0, "max_steps": 5, "seconds": 0.1})
    while job := Job.objects.filter(state="waiting").order_by("-priority", "pk").first():
        run_job(job.pk, worker="test")
    jobs = Job.objects.filter(benchmark=benchmark)
    plan = Report.objects.get(kind="study_plan").summary
    planned = {f"merge:{study}" for study, entry in plan.items() if not entry["reason"]}
    assert set(jobs.filter(kind__startswith="merge:").values_list("kind", flat=True)) == planned
    assert len(planned) == len(STUDIES) - 1  # significance is a job of its own
    assert set(jobs.values_list("state", "error")) == {("done", "")}
