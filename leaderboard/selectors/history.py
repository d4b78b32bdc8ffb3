"""Revisions, what was published of them, and their jobs."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404

from leaderboard.models import Benchmark, Job, Publication, Release, Report, Revision
from leaderboard.selectors.audience import Audience


class WithdrawnRevisionError(Http404):
    """A revision whose scores were taken down: it was there, and is shown no more."""


def publication_at(benchmark: Benchmark, number: int) -> Publication | None:
    """The newest publication of a revision whose stored reports are there, or None.

    Raises:
        WithdrawnRevisionError: scores that held at it were taken down.
    """
    if Revision.objects.filter(benchmark=benchmark, number=number).exclude(withdrawn_at=None).exists():
        raise WithdrawnRevisionError(
            f"Revision {number} contains withdrawn material: scores that held at it were taken down. It keeps its "
            f"number, and is not rebuilt."
        )
    board = Report.objects.filter(
        revision=OuterRef("revision"), engine_version=OuterRef("engine_version"), kind="board"
    )
    return (
        Publication.objects.filter(Exists(board), benchmark=benchmark, revision__number=number)
        .select_related("revision__configuration")
        .order_by("-pk")
        .first()
    )


def whole_revisions(benchmark: Benchmark) -> QuerySet[Revision]:
    """The revisions that can be compared, newest first: none of their scores were taken down since."""
    return Revision.objects.filter(benchmark=benchmark, withdrawn_at=None).order_by("-number")


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


def revision_at(benchmark: Benchmark, number: int) -> Revision:
    """The revision of this number, published or not.

    Raises:
        Http404: there is none.
    """
    found = Revision.objects.select_related("configuration", "author").filter(benchmark=benchmark, number=number)
    if (revision := found.first()) is None:
        raise Http404(f"There is no revision {number}.")
    return revision


def stored_rankings(benchmark: Benchmark, rule: str, *, most: int) -> list[tuple[int, Report, Report]]:
    """(number, board report, report of `rule`) of the last `most` published revisions that have both, oldest first.

    Where a revision was published by several engine versions, the newest one counts.
    """
    published = Publication.objects.filter(benchmark=benchmark).order_by("-revision__number")
    recent = list(dict.fromkeys(published.values_list("revision_id", flat=True)[: 2 * most]))[:most]
    reports = Report.objects.filter(revision_id__in=recent).order_by("pk")
    boards = {(row.revision_id, row.engine_version): row for row in reports.filter(kind="board")}
    found: dict[int, tuple[int, Report, Report]] = {}
    rankings = reports.filter(kind="ranking", summary__rule=rule).select_related("revision")
    for row in rankings:
        if board := boards.get((row.revision_id, row.engine_version)):
            found[row.revision_id] = (row.revision.number, board, row)
    return sorted(found.values(), key=lambda entry: entry[0])


def told_hash(revision: Revision, seeing: Audience) -> str | None:
    """The hash of a revision's inputs, for those to whom it tells no more than they may see.

    Somebody who knows all inputs but a few scores finds these by trying. So readers from whom something is hidden are
    told no hash, and of a revision whose scores were taken down nobody is told one.
    """
    return None if seeing.is_restricted or revision.withdrawn_at else revision.input_hash or None
