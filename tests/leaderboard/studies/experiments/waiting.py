"""Experiments that wait for a worker."""

from jobs.runner import run_job
from leaderboard.models import Job


def run_experiments() -> None:
    """Run all that wait, here and now."""
    for job in Job.objects.filter(kind="experiment", state="waiting"):
        run_job(job.pk, worker="test")
