"""Uploads of programs, for tests."""

from leaderboard.models import Batch, Job, Revision, Score, Submission, SubmissionEvent, System

STORED = (Batch, Submission, Score, SubmissionEvent, System, Revision, Job)


def stored():
    """How many rows there are of everything that a submission writes."""
    return {model.__name__: model.objects.count() for model in STORED}


def body(*systems, **fields):
    return {"systems": list(systems)} | fields


def scores(*values):
    return {f"task-{t}": value for t, value in enumerate(values, start=1)}


def path_of(benchmark):
    return f"benchmarks/{benchmark.key}/submissions/"
