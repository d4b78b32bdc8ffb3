"""Taking scores down: deleted wherever the site keeps them, while that they were there stays on record.

The one service that changes stored scores. What it cannot reach (backups, downloads, editions that copied the scores)
is named in `docs/erasure.md`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import UNDECIDED
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.append_only import append_only_permit
from leaderboard.common.text import in_words
from leaderboard.models import (
    Batch,
    Benchmark,
    Configuration,
    Draft,
    InstanceScores,
    Job,
    ListedBoard,
    Release,
    Report,
    Revision,
    Score,
    StudyPartial,
    Submission,
    SubmissionEvent,
    User,
)
from leaderboard.queue.queries import jobs_about
from leaderboard.rankings.scores import WITHDRAWN, in_force_after, in_order
from leaderboard.submissions.corrections import corrections_of
from leaderboard.submissions.lifecycle import leave_board
from leaderboard.submissions.notices import tell_of_events
from leaderboard.submissions.problems import SubmissionError, require_reason
from ranking_engine.text.names import fold_name

GONE = "taken down"  # in place of a hash by which scores of few digits could be guessed, and of a note
State, Kind = Submission.State, SubmissionEvent.Kind


@dataclass(frozen=True)
class TakedownEffects:
    """What taking a submission's scores down would do."""

    n_scores: int
    n_vectors: int
    revisions_text: str
    releases: list[Release]
    n_drafts: int
    is_on_board: bool
    first: Submission | None  # a correction that holds some of the same scores; it has to go before
    next: Submission | None  # what it corrects, where that holds some of the same scores
    is_done: bool  # they were taken down already


def takedown_effects(submission: Submission) -> TakedownEffects:
    """What taking the submission's scores down would do."""
    numbers = revisions_holding(submission)
    releases = Release.objects.filter(benchmark=submission.benchmark, revision__number__in=numbers[-500:])
    # What the submission corrects, what that corrected, and so on.
    corrected: list[int] = []
    before = submission
    while before.corrects is not None:
        before = before.corrects
        corrected.append(before.pk)
    return TakedownEffects(
        n_scores=Score.objects.filter(submission=submission).exclude(value=None).count(),
        n_vectors=InstanceScores.objects.filter(submission=submission).count(),
        revisions_text=_ranges_text(numbers),
        releases=list(releases),
        n_drafts=len(_drafts_with(submission)),
        is_on_board=submission.state == State.ACCEPTED,
        first=_with_same_scores(submission, corrections_of(submission)),
        next=_with_same_scores(submission, corrected),
        is_done=submission.events.filter(kind=Kind.TAKEN_DOWN).exists(),
    )


@transaction.atomic
def take_down(submission: Submission, *, actor: User, reason: str, with_note: bool = False) -> Revision | None:
    """Delete a submission's scores: tombstones in their place, and nothing left that was computed from them.

    Args:
        submission: whose scores.
        actor: who does it.
        reason: why; it is kept on record.
        with_note: whether what its submitter wrote about the batch goes as well.

    Returns:
        The revision without them, where they were on the board.

    Raises:
        PermissionDenied: `actor` is neither an owner now nor one of the site's staff.
        SubmissionError: no reason is given, no one decided about it yet, they were taken down already, or a correction
            holds some of them, too.
    """
    require_reason(reason, gettext("Give a reason: it is kept on record."))
    benchmark = lock_as_owner(submission.benchmark_id, actor, or_staff=True)
    state = Submission.objects.values_list("state", flat=True).get(pk=submission.pk)
    if state in UNDECIDED:
        raise SubmissionError(gettext("Reject it first: a waiting submission can still be accepted."))
    if submission.events.filter(kind=Kind.TAKEN_DOWN).exists():
        raise SubmissionError(gettext("These scores were already taken down."))
    if first := _with_same_scores(submission, corrections_of(submission)):
        raise SubmissionError(
            gettext("Take down its correction %(uuid)s first: it reuses some of these scores.") % {"uuid": first.uuid}
        )
    numbers = revisions_holding(submission)
    revision = None
    if state == State.ACCEPTED:
        revision = leave_board(submission, Revision.Cause.TAKEDOWN, actor=actor, reason=reason)
    with append_only_permit(f"takedown of submission {submission.uuid}"):
        Score.objects.filter(submission=submission).update(
            value=None, missing_reason=WITHDRAWN, standard_error=None, n_instances=None
        )
        InstanceScores.objects.filter(submission=submission).delete()
        batch = Batch.objects.filter(pk=submission.batch_id)
        batch.update(payload_hash=GONE)
        if with_note:
            batch.update(note=GONE)
            Revision.objects.filter(events__submission=submission, events__kind=Kind.ACCEPTED).update(note=GONE)
    SubmissionEvent.objects.create(submission=submission, kind=Kind.TAKEN_DOWN, actor=actor, reason=reason)
    tell_of_events([submission], Kind.TAKEN_DOWN, actor=actor, reason=reason)
    Draft.objects.filter(pk__in=[draft.pk for draft in _drafts_with(submission)]).delete()
    # Delete whatever was computed from these revisions, and see that it is not computed again.
    for at in range(0, len(numbers), 500):
        rows = Revision.objects.filter(benchmark=benchmark, number__in=numbers[at : at + 500])
        ids = list(rows.values_list("pk", flat=True))
        rows.update(withdrawn_at=timezone.now())
        jobs = jobs_about(*ids)
        StudyPartial.objects.filter(job__in=jobs).delete()
        # A worker that has the old scores in its memory finds its claim gone, and drops what it computed.
        alive = jobs.filter(state__in=[Job.State.WAITING, Job.State.RUNNING])
        alive.update(state=Job.State.SUPERSEDED, claim_token=None, lease_until=None, finished_at=timezone.now())
        jobs.exclude(error="").update(error=GONE)
        Benchmark.objects.filter(pk=benchmark.pk, publication__revision__in=ids).update(publication=None)
        Report.objects.filter(revision__in=ids).delete()
        ListedBoard.objects.filter(publication__revision__in=ids).delete()
    return revision


def revisions_holding(submission: Submission) -> list[int]:
    """The numbers of the revisions at which scores of this submission were current ones, in order.

    Where rows were ever merged by task, those at which it was in force: it may have been current on one task only.
    """
    merges = Configuration.objects.filter(
        revisions__benchmark=submission.benchmark_id, content__replacement=Benchmark.Replacement.TASK
    ).exists()
    rows = SubmissionEvent.objects.filter(submission__system=submission.system_id).exclude(revision=None)
    events = list(in_order(rows))
    benchmark = Benchmark.objects.get(pk=submission.benchmark_id)
    starts = list(dict.fromkeys(number for *_, number in events if number is not None))
    held: list[int] = []
    ends = [*starts, benchmark.last_revision_number + 1][1:]
    for start, end in zip(starts, ends, strict=True):
        past: Iterable[Any] = [event for event in events if event[-1] is not None and event[-1] <= start]
        in_force = in_force_after(past)
        current = in_force if merges else in_force[-1:]
        if any(one.submission_id == submission.pk and not one.is_blank for one in current):
            held += range(start, end)
    return held


def _with_same_scores(submission: Submission, among: Collection[int]) -> Submission | None:
    """The last of these submissions that holds one of the same scores of the same task: corrections take them over."""
    if not among:
        return None
    scores = Score.objects.exclude(value=None)
    own = set(scores.filter(submission=submission).values_list("task_id", "value"))
    rows = scores.filter(submission__in=among).values_list("submission_id", "task_id", "value")
    same = [number for number, *cell in rows if tuple(cell) in own]
    return Submission.objects.get(pk=max(same)) if same else None


def _drafts_with(submission: Submission) -> list[Draft]:
    """Unconfirmed drafts that may hold the same scores: those with the submission's system."""
    system = submission.system
    return [
        draft
        for draft in Draft.objects.filter(benchmark=submission.benchmark_id)
        if any(fold_name(row["system"].get("name", "")) == system.name_folded for row in draft.rows)
    ]


def _ranges_text(numbers: Sequence[int]) -> str:
    """Numbers as ranges, in words: `revision 3`, `revisions 3 to 7 and 9`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    if not ranges:
        return ""
    texts = [
        str(first) if first == last else gettext("%(low)s to %(high)s") % {"low": first, "high": last}
        for first, last in ranges
    ]
    listed = {"listed": in_words(texts, most=len(texts))}
    return ngettext("revision %(listed)s", "revisions %(listed)s", len(numbers)) % listed
