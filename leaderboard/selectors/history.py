"""Revisions, what was published of them, and their jobs."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404

from leaderboard.models import Benchmark, Job, Publication, Release, Report, Revision


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


def show_revision(benchmark: Benchmark, number: int) -> None:
    """Have a benchmark that is shown point at another revision than the published one; nothing is stored.

    Raises:
        Http404: the rankings of this revision are not there.
    """
    found = publication_at(benchmark, number)
    if found is None:
        raise Http404(f"The rankings of revision {number} are not stored.")
    benchmark.publication = found


def release_of(benchmark: Benchmark, key: str) -> Release:
    """A frozen revision of the benchmark.

    Raises:
        Http404: there is none of this name.
    """
    found = Release.objects.select_related("benchmark", "revision", "author").filter(benchmark=benchmark, key=key)
    if (release := found.first()) is None:
        raise Http404("No frozen revision of this name stands here.")
    return release


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
