"""After an engine upgrade: what an older version published is computed again, after all that someone waits for."""

import time
from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef

from leaderboard.models import Benchmark, Job, Revision
from leaderboard.queue.engine_versions import is_older
from leaderboard.queue.kinds import JOB_KINDS, RANKINGS, REVISION
from leaderboard.queue.priorities import RECOMPUTATION
from leaderboard.queue.rows import about_revision, insert_missing, row_of
from ranking_engine import __version__ as engine_version

BOARDS_A_SLICE = 100  # whose jobs one sweep inserts, so that it does not keep the sweep from anything else
REST_SECONDS = 60.0  # between two looks once nothing is left


class Recomputations:
    """A step of the sweep: one slice each time while boards are left, then a look once a minute.

    What is left is in the database alone. A sweep that is killed goes on where it was, and several share the work.
    """

    def __init__(self) -> None:
        self._rests_until = 0.0

    def __call__(self) -> None:
        """Insert the next slice, if it is time."""
        if time.monotonic() >= self._rests_until and insert_recomputations() < BOARDS_A_SLICE:
            self._rests_until = time.monotonic() + REST_SECONDS


def insert_recomputations() -> int:
    """Insert the jobs of at most `BOARDS_A_SLICE` boards that this engine version has none for yet.

    These are boards that an older version published, and the newest boards that it failed to compute. No message is
    sent: the sweep wakes workers for these jobs in small numbers.

    Returns:
        How many boards had jobs inserted. Fewer than a slice: none is left.
    """
    # This engine version's job of a revision's rankings, whatever became of it.
    own_rankings = Job.objects.filter(
        kind=RANKINGS, subject_kind=REVISION, subject_id=OuterRef("pk"), engine_version=engine_version
    )
    without_jobs = Revision.objects.filter(~Exists(own_rankings)).order_by("pk")
    boards = Benchmark.objects.exclude(publication=None).order_by()
    versions: Iterable[str] = boards.values_list("published_engine_version", flat=True).distinct()
    behind = boards.filter(published_engine_version__in=[v for v in versions if is_older(v)])
    published = list(without_jobs.filter(pk__in=behind.values("publication__revision"))[:BOARDS_A_SLICE])
    given_up = Job.objects.filter(kind=RANKINGS, state=Job.State.FAILED, sequence=F("benchmark__last_revision_number"))
    versions = given_up.order_by().values_list("engine_version", flat=True).distinct()
    of_older = given_up.filter(engine_version__in=[v for v in versions if is_older(v)])
    others = without_jobs.filter(pk__in=of_older.values("subject_id")).exclude(pk__in=[r.pk for r in published])
    failed = list(others[: BOARDS_A_SLICE - len(published)])
    with_revision = [kind for kind in JOB_KINDS.values() if kind.comes_with_revision]
    wanted = [(kind, revision) for revision in published for kind in with_revision]
    wanted += [(JOB_KINDS[RANKINGS], revision) for revision in failed]
    # Another sweep may have been here just now.
    insert_missing(row_of(kind, about_revision(one), priority_offset=RECOMPUTATION) for kind, one in wanted)
    return len(published) + len(failed)
