"""Whose job is next: benchmarks take turns, so that a busy one, or many, keep no one from theirs.

What comes with a board goes before every study of any benchmark. Of equals the benchmarks go first that someone
submitted to or waits for on a page, then the one whose last turn is longest ago. A turn for what comes with a board
lasts until all of its revision is there: a newcomer waits for one turn, not for one at each part. A turn for studies is
one job.

To score predictions, people take turns, not benchmarks: who sends many waits between them while others have theirs.
"""

from datetime import datetime, timedelta

from django.db import DatabaseError, transaction
from django.db.models import Case, F, IntegerField, Max, OuterRef, Q, QuerySet, Subquery, Value, When
from django.utils import timezone

from leaderboard.models import Job, PredictionSubmission, Revision, Turn
from leaderboard.queue.priorities import IDLE, NOBODY_WAITS, PARTS

WANTED = timedelta(minutes=10)  # after a submission, or after someone looked at a page that waits
WANTED_AGAIN = timedelta(minutes=1)  # who looks at it again and again changes its row no more often


def in_order_of_turns(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Jobs of one queue, the next one first; each has its `band`, its `is_wanted` and its `is_on`, which is 0 or 1.

    Args:
        jobs: of one queue.
    """
    bands = [When(priority__gte=least, then=Value(band)) for band, least in _BANDS]
    is_part = Q(priority__gte=PARTS, queue=Job.Queue.STUDIES)
    wanted_since = timezone.now() - WANTED
    submitters = PredictionSubmission.objects.filter(pk=OuterRef("subject_id")).values("submitter")
    return jobs.annotate(
        submitter=Case(When(queue=Job.Queue.SCORING, then=Subquery(submitters[:1])), output_field=IntegerField()),
        band=Case(*bands, default=Value(0), output_field=IntegerField()),
        is_wanted=_flag(~Q(queue=Job.Queue.SCORING) & Q(benchmark__turn__wanted_at__gt=wanted_since)),
        is_on=_flag(is_part & Q(sequence=F("benchmark__turn__parts_sequence"))),
        last_turn=Case(
            When(queue=Job.Queue.RANKINGS, then=F("benchmark__turn__board_at")),
            When(is_part, then=F("benchmark__turn__parts_at")),
            When(queue=Job.Queue.SCORING, then=Subquery(_LAST_SCORED)),
            default=F("benchmark__turn__study_at"),
        ),
        whose_turn=Case(When(is_part, then=F("benchmark")), default=Value(0)),
    ).order_by("-band", "-is_wanted", "-is_on", F("last_turn").asc(nulls_first=True), "whose_turn", "-priority", "pk")


# When a job about predictions of the same person was last begun.
_LAST_SCORED = (
    Job.objects.filter(
        queue=Job.Queue.SCORING,
        subject_id__in=PredictionSubmission.objects.filter(submitter=OuterRef(OuterRef("submitter"))).values("pk"),
    )
    .values("queue")
    .annotate(at=Max("started_at"))
    .values("at")
)
_BANDS = ((4, PARTS), (3, NOBODY_WAITS), (2, IDLE), (1, 2 * IDLE))


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=Value(1)), default=Value(0), output_field=IntegerField())


def take_turn(job: Job) -> None:
    """Write that a benchmark has its turn. Call inside the transaction that claims the job."""
    turns, now = Turn.objects.filter(benchmark=job.benchmark_id), timezone.now()
    if job.queue == Job.Queue.RANKINGS:
        turns.update(board_at=now)
    elif job.queue != Job.Queue.STUDIES:  # whose predictions were last scored is told by their jobs
        return
    elif job.priority < PARTS:
        turns.update(study_at=now)
    else:
        turns.exclude(parts_sequence=job.sequence).update(parts_at=now, parts_sequence=job.sequence)


def want_after_submission(revision: Revision) -> None:
    """Let what a submission brings go before what no one waits for. Call inside the transaction that accepts it.

    The scores that a benchmark begins with are none that someone waits for, unless they look at a page.
    """
    _write_wanted(revision.benchmark_id, None if revision.number == 1 else timezone.now())


def want_after_votes(benchmark_id: int) -> None:
    """Let ratings, of which a board is made, go before what no one waits for. Call inside the change's transaction."""
    _write_wanted(benchmark_id, timezone.now())


def _write_wanted(benchmark_id: int, wanted_at: datetime | None) -> None:
    """Write since when someone waits for a benchmark; None where no one does."""
    Turn.objects.bulk_create(
        [Turn(benchmark_id=benchmark_id, wanted_at=wanted_at)],
        update_conflicts=True,
        unique_fields=["benchmark"],
        update_fields=["wanted_at"],
    )


def want_while_looking(benchmark_id: int) -> None:
    """Let a benchmark's jobs go before others for a while: someone looks at a page that waits for them."""
    now = timezone.now()
    turns = Turn.objects.filter(benchmark=benchmark_id).filter(Q(wanted_at=None) | Q(wanted_at__lt=now - WANTED_AGAIN))
    try:
        with transaction.atomic():
            if turns.exists():  # an UPDATE, even of no row, is a writer's turn on SQLite
                turns.update(wanted_at=now)
    except DatabaseError:  # read-only, or busy: the page is there all the same
        return
