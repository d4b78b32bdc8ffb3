"""Taking the next revision number. Everything that changes a benchmark's inputs goes through here."""

from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.models import Benchmark, Job, Publication, Release, Report, Revision, User
from leaderboard.notifications.webhooks import announce_revision
from leaderboard.queue.kinds import EXPERIMENT, STUDY_PLAN
from leaderboard.queue.queries import jobs_about
from leaderboard.queue.rows import insert_revision_jobs
from leaderboard.rankings.configuration import store_configuration
from leaderboard.rankings.reports import BOARD, RANKING


def next_revision(benchmark: Benchmark, *, cause: str, author: User | None, note: str = "") -> Revision:
    """Take the benchmark's next number and store its revision with the jobs that compute it.

    The UPDATE locks the benchmark's row until the transaction ends, so that revisions of one benchmark commit in the
    order of their numbers; the configuration is read after it, so that no change slips in between. The caller
    inserts what the revision consists of in the same transaction.

    Raises:
        RuntimeError: no transaction is open.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a revision is taken inside the transaction that writes its contents")
    Benchmark.objects.filter(pk=benchmark.pk).update(last_revision_number=F("last_revision_number") + 1)
    benchmark.refresh_from_db()
    revision = Revision.objects.create(
        benchmark=benchmark,
        number=benchmark.last_revision_number,
        cause=cause,
        configuration=store_configuration(benchmark),
        author=author,
        note=note,
    )
    insert_revision_jobs(revision)
    announce_revision(revision)
    return revision


class WithdrawnRevisionError(Http404):
    """A revision whose scores were taken down: it was there, and is shown no more."""


class RemovedRanksError(Http404):
    """A revision whose ranks retention removed: its scores are there, and its ranks can be computed again."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        on = f"{revision.ranks_removed_at:%Y-%m-%d}" if revision.ranks_removed_at else ""
        sentence = (
            gettext(
                "The ranks of revision %(number)s were removed on %(on)s, like those of most old revisions. Its scores "
                "are kept, and the same ranks can be computed from them again."
            )
            if on
            else gettext(
                "The ranks of revision %(number)s were removed, like those of most old revisions. Its scores are kept, "
                "and the same ranks can be computed from them again."
            )
        )
        super().__init__(sentence % {"number": revision.number, "on": on})


def publication_at(benchmark: Benchmark, number: int, *, needs_ranks: bool = True) -> Publication | None:
    """The newest publication of a revision whose stored reports are there, or None.

    Args:
        benchmark: whose revision.
        number: of the revision.
        needs_ranks: whether its reports are needed. Without them a revision whose ranks were removed is found, too.

    Raises:
        WithdrawnRevisionError: scores that held at it were taken down.
        RemovedRanksError: its ranks are needed, and retention removed them.
    """
    revision = Revision.objects.filter(benchmark=benchmark, number=number).first()
    if revision is not None and revision.withdrawn_at is not None:
        raise WithdrawnRevisionError(
            gettext(
                "Revision %(number)s contains withdrawn material: some of its scores were taken down. It keeps its "
                "number and is not rebuilt."
            )
            % {"number": number}
        )
    if revision is not None and revision.ranks_removed_at is not None:
        if needs_ranks:
            revision.benchmark = benchmark
            raise RemovedRanksError(revision)
        rows = Publication.objects.filter(revision=revision).select_related("revision__configuration")
        return rows.order_by("-pk").first()
    board = Report.objects.filter(revision=OuterRef("revision"), engine_version=OuterRef("engine_version"), kind=BOARD)
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
    publication = publication_at(benchmark, number)
    if publication is None:
        raise Http404(gettext("The rankings of revision %(number)s are not stored.") % {"number": number})
    benchmark.publication = publication


def release_of(benchmark: Benchmark, key: str) -> Release:
    """A frozen revision of the benchmark.

    Raises:
        Http404: there is none of this name.
    """
    releases = Release.objects.select_related("benchmark", "revision", "author").filter(benchmark=benchmark, key=key)
    if (release := releases.first()) is None:
        raise Http404(gettext("There is no frozen revision of this name."))
    return release


def revisions_of(benchmark: Benchmark) -> QuerySet[Revision]:
    """The benchmark's revisions, newest first, with their authors and publications."""
    return revisions_where(Q(benchmark=benchmark))


def revisions_where(condition: Q) -> QuerySet[Revision]:
    """The revisions that meet a condition, newest first, with their authors and publications."""
    rows = Revision.objects.filter(condition).select_related("author")
    return rows.prefetch_related("publications").order_by("-number")


def revision_jobs(revision_ids: Iterable[int]) -> dict[int, list[Job]]:
    """The jobs about each of these revisions, the newest of each kind, in the order of the kinds.

    The many jobs of the studies are left out, and experiments, which are no one's but who asked for them.
    """
    by_revision: dict[int, dict[str, Job]] = defaultdict(dict)
    jobs = jobs_about(*revision_ids)
    for job in jobs.exclude(kind__contains=":").exclude(kind__in=[STUDY_PLAN, EXPERIMENT]).order_by("pk"):
        by_revision[job.subject_id][job.kind] = job
    return {revision: [kinds[kind] for kind in sorted(kinds)] for revision, kinds in by_revision.items()}


def revision_at(benchmark: Benchmark, number: int) -> Revision:
    """The revision of this number, published or not.

    Raises:
        Http404: there is none.
    """
    revisions = Revision.objects.select_related("configuration", "author").filter(benchmark=benchmark, number=number)
    if (revision := revisions.first()) is None:
        raise Http404(gettext("There is no revision %(number)s.") % {"number": number})
    return revision


def stored_rankings(benchmark: Benchmark, rule: str, *, most: int, until: int = 0) -> list[tuple[int, Report, Report]]:
    """(number, board report, report of `rule`) of the last `most` published revisions that have both, oldest first.

    Those after revision `until` do not count, unless it is 0.

    Where a revision was published by several engine versions, the newest one counts.
    """
    published = Publication.objects.filter(benchmark=benchmark).order_by("-revision__number")
    if until:
        published = published.filter(revision__number__lte=until)
    recent = list(dict.fromkeys(published.values_list("revision_id", flat=True)[: 2 * most]))[:most]
    reports = Report.objects.filter(revision_id__in=recent).order_by("pk")
    boards = {(row.revision_id, row.engine_version): row for row in reports.filter(kind=BOARD)}
    newest: dict[int, tuple[int, Report, Report]] = {}
    rankings = reports.filter(kind=RANKING, summary__rule=rule).select_related("revision")
    for row in rankings:
        if board := boards.get((row.revision_id, row.engine_version)):
            newest[row.revision_id] = (row.revision.number, board, row)
    return sorted(newest.values(), key=lambda entry: entry[0])


def visible_hash(revision: Revision, audience: Audience) -> str | None:
    """The hash of a revision's inputs, for those to whom it tells no more than they may see.

    Someone who knows all inputs but a few scores finds these by trying. So readers from whom something is hidden are
    told no hash, and of a revision whose scores were taken down no one is told one.
    """
    return None if audience.is_restricted or revision.withdrawn_at else revision.input_hash or None
