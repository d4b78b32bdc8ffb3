"""Revisions, what was published of them, and their jobs."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet

from leaderboard.models import Benchmark, Job, Publication, Report, Revision


def publication_at(benchmark: Benchmark, number: int) -> Publication | None:
    """The newest publication of a revision whose stored reports are there, or None."""
    board = Report.objects.filter(
        revision=OuterRef("revision"), engine_version=OuterRef("engine_version"), kind="board"
    )
    return (
        Publication.objects.filter(Exists(board), benchmark=benchmark, revision__number=number)
        .select_related("revision__configuration")
        .order_by("-pk")
        .first()
    )


def revisions_of(benchmark: Benchmark) -> QuerySet[Revision]:
    """The benchmark's revisions, newest first, with their authors and publications."""
    return (
        Revision.objects.filter(benchmark=benchmark)
        .select_related("author")
        .prefetch_related("publications")
        .order_by("-number")
    )


def revision_jobs(revision_ids: Iterable[int]) -> dict[int, list[Job]]:
    """The jobs about each of these revisions, the newest of each kind, in the order of the kinds.

    The many jobs of the studies are left out: `selectors.studies` counts them.
    """
    found: dict[int, dict[str, Job]] = defaultdict(dict)
    jobs = Job.objects.filter(subject_kind="revision", subject_id__in=list(revision_ids))
    for job in jobs.exclude(kind__contains=":").exclude(kind="study_plan").order_by("pk"):
        found[job.subject_id][job.kind] = job
    return {revision: [kinds[kind] for kind in sorted(kinds)] for revision, kinds in found.items()}
