"""The jobs of the study of `tests/jobs/small_study.py`, and what must come out of it."""

import numpy as np

from jobs.runner import run_job
from leaderboard.models import Job, Report
from leaderboard.queue.kinds import AXIOMS
from leaderboard.rankings.reports import unpack_arrays
from tests.factories import TOY


def run_all(kinds: str = "", worker: str = "test") -> None:
    """Run what waits, and what that brings, until nothing is left; the search for violations, cut to one step."""
    while due := Job.objects.filter(state="waiting", kind__contains=kinds).order_by("-priority", "pk").first():
        Job.objects.filter(pk=due.pk, kind=AXIOMS).update(parameters={"seed": 0, "max_steps": 1, "seconds": 0})
        run_job(due.pk, worker=worker)
        due.refresh_from_db()
        assert due.state != "waiting", due


def planned(benchmark, number: int = 1) -> list[Job]:
    """The chunks of the study, once its plan has run."""
    run_all("study_plan")
    chunks = Job.objects.filter(kind="study:leaders", benchmark=benchmark, sequence=number)
    return list(chunks.order_by("chunk"))


def states(benchmark, number: int = 1) -> list[str]:
    """The states of the chunks, in their order."""
    chunks = Job.objects.filter(kind="study:leaders", benchmark=benchmark, sequence=number)
    return list(chunks.order_by("chunk").values_list("state", flat=True))


def leaders_by_hand(benchmark_scores=TOY, n_trials=50) -> list[int]:
    """What the study must find, by a naive loop."""
    names = sorted(benchmark_scores)
    n_tasks = len(benchmark_scores[names[0]])
    leaders = []
    for trial in range(n_trials):
        task = int(np.random.default_rng([0, trial]).integers(n_tasks))
        leaders.append(max(range(len(names)), key=lambda i: benchmark_scores[names[i]][task]))
    return leaders


def stored_report() -> tuple[dict, dict]:
    """Summary and arrays of the one report that there is."""
    (report,) = Report.objects.filter(kind="study")
    return report.summary, unpack_arrays(report.arrays)
