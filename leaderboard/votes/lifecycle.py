"""Batches of votes: stored, confirmed, decided, withdrawn, reinstated. Each step is one transaction."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import DECIDERS_ALONE, Audience, audience_of
from leaderboard.access.locks import lock_as_moderator, lock_benchmark
from leaderboard.models import Benchmark, User, VoteBatch, VoteEvent
from leaderboard.models.submissions import Source
from leaderboard.submissions.problems import SubmissionError, require_reason
from leaderboard.submissions.quotas import give_back_quota, take_cells, take_quota
from leaderboard.submissions.uploads import IdempotencyError
from leaderboard.submissions.withdrawals import withdraws_alone
from leaderboard.votes.content import CheckedVotes, SentVotes, checked_votes, contents_of, require_room
from leaderboard.votes.jobs import take_change
from leaderboard.votes.notices import tell_of_decision, tell_of_waiting

State, Kind = VoteBatch.State, VoteEvent.Kind
DISCARDED = gettext_noop("discarded")
WORDS = {
    State.DRAFT: gettext_noop("draft"), State.PENDING: gettext_noop("pending"),
    State.ACCEPTED: gettext_noop("accepted"), State.REJECTED: gettext_noop("rejected"),
    State.WITHDRAWN: gettext_noop("withdrawn"), State.RETRACTED: gettext_noop("retracted"),
}  # fmt: skip
MAX_DRAFTS = 10  # a user; the oldest ones go
VOTES_A_CELL = 10  # a vote takes about as many bytes as a tenth of a score


def require_may_send(audience: Audience) -> None:
    """Go on where they may send votes.

    Raises:
        SubmissionError: they may not.
    """
    if not audience.may_send_votes:
        names = {"benchmark": audience.benchmark.name, "why": audience.why_no_votes}
        raise SubmissionError(gettext("You cannot send votes to %(benchmark)s. %(why)s") % names)


def _require_sender(batch: VoteBatch, actor: User) -> None:
    """Go on where a batch is the actor's own.

    Raises:
        PermissionDenied: it is someone else's.
    """
    if batch.uploader_id != actor.pk:
        raise PermissionDenied(gettext("These votes were sent by someone else."))


@transaction.atomic
def draft_votes(audience: Audience, checked: CheckedVotes) -> VoteBatch:
    """Keep checked votes for their sender alone, who confirms them on the next page. Of someone's drafts the newest are
    kept; they count for what an account may store once they are confirmed.
    """
    expires_at = timezone.now() + timedelta(days=settings.DRAFT_DAYS)
    draft = _stored(audience, checked, source=Source.FORM, state=State.DRAFT, expires_at=expires_at)
    drafts = VoteBatch.objects.filter(uploader=audience.user, state=State.DRAFT).order_by("-pk")
    VoteBatch.objects.filter(pk__in=list(drafts.values_list("pk", flat=True)[MAX_DRAFTS:]), state=State.DRAFT).delete()
    return draft


@transaction.atomic
def confirm_votes(batch: VoteBatch, *, actor: User) -> VoteBatch:
    """Send a draft: it is accepted at once, or waits for a decision.

    Raises:
        PermissionDenied: it is someone else's.
        SubmissionError: it was confirmed or discarded already or has expired; or its sender may no longer send votes,
            or not so many.
        InputError: the benchmark can no longer take it in.
    """
    _require_sender(batch, actor)
    if batch.expires_at is not None and batch.expires_at <= timezone.now():
        raise SubmissionError(gettext("This draft has expired. Send the votes again."))
    locked = lock_benchmark(batch.benchmark_id)
    audience = audience_of(actor, locked)
    require_may_send(audience)
    require_room(audience, contents_of(batch))
    take_quota(locked, actor, 1, limited=not audience.may_moderate)
    take_cells(actor, cells_of(batch.n_votes))
    batch.benchmark = locked
    # It is of now, as everyone else sees it, and not of when its sender uploaded it.
    batch.created_at = timezone.now()
    _move(batch, [State.DRAFT], State.PENDING, expires_at=None, created_at=batch.created_at)
    _begin(batch, audience)
    return batch


@transaction.atomic
def discard_draft(batch: VoteBatch, *, actor: User) -> None:
    """Delete a draft that was not confirmed, once.

    Raises:
        PermissionDenied: it is someone else's.
        SubmissionError: it was confirmed or discarded already.
    """
    _require_sender(batch, actor)
    if VoteBatch.objects.filter(pk=batch.pk, state=State.DRAFT).delete()[0] == 0:
        raise SubmissionError(gettext("These votes were already confirmed or discarded."))


def send_votes(
    benchmark: Benchmark, sender: User, sent: SentVotes, *, idempotency_key: str | None = None
) -> tuple[VoteBatch, bool]:
    """Check votes and store them in one step, once for one idempotency key.

    Returns:
        The batch, and whether this call made it: the same key and votes give the batch of the first call, whatever was
        closed since.

    Raises:
        IdempotencyError: the key was used for other votes.
        SubmissionError: the sender may not send votes here, or no more today.
        InputError: with everything that is wrong with them; or the benchmark can no longer take them in.
        BusyError, TooLargeError: they cannot be read now, or take more memory or time than there is for it.
    """
    if first := _first_call(benchmark, sender, sent, idempotency_key):
        return first, False
    audience = audience_of(sender, benchmark)
    require_may_send(audience)
    # Reading takes a moment, and no one else should wait for it.
    checked = checked_votes(audience, sent)
    with transaction.atomic():
        locked = lock_benchmark(benchmark.pk)
        if first := _first_call(locked, sender, sent, idempotency_key):
            return first, False
        audience = audience_of(sender, locked)
        require_may_send(audience)
        require_room(audience, checked)
        take_quota(locked, sender, 1, limited=not audience.may_moderate)
        take_cells(sender, cells_of(checked.n_votes))
        batch = _stored(audience, checked, source=Source.API, state=State.PENDING, idempotency_key=idempotency_key)
        _begin(batch, audience)
    return batch, True


@transaction.atomic
def accept_votes(batch: VoteBatch, *, actor: User | None, reason: str = "") -> None:
    """Accept a batch that waits: its votes count from the next ratings on.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it was decided already.
    """
    batch.benchmark = lock_as_moderator(batch.benchmark_id, actor)
    _take(batch, [State.PENDING], Kind.ACCEPTED, actor=actor, reason=reason)
    tell_of_decision(batch, Kind.ACCEPTED, actor=actor, reason=reason)


@transaction.atomic
def reject_votes(batch: VoteBatch, *, actor: User | None, reason: str) -> None:
    """Reject a batch that waits.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it was decided already, or no reason is given.
    """
    require_reason(reason, gettext("Give a reason: the sender sees it."))
    batch.benchmark = lock_as_moderator(batch.benchmark_id, actor)
    _move(batch, [State.PENDING], State.REJECTED)
    _record(batch, Kind.REJECTED, actor=actor, reason=reason)
    tell_of_decision(batch, Kind.REJECTED, actor=actor, reason=reason)


@transaction.atomic
def retract_votes(batch: VoteBatch, *, actor: User, reason: str = "") -> None:
    """Withdraw the user's own batch before anyone decided about it; it counts no more for the caps.

    Raises:
        PermissionDenied: it is someone else's.
        SubmissionError: it was decided already.
    """
    _require_sender(batch, actor)
    batch.benchmark = lock_benchmark(batch.benchmark_id)
    _move(batch, [State.PENDING], State.RETRACTED)
    _record(batch, Kind.RETRACTED, actor=actor, reason=reason)
    give_back_quota(batch.benchmark, actor, 1, submitted_at=batch.created_at)


@transaction.atomic
def withdraw_votes(batch: VoteBatch, *, actor: User, reason: str) -> None:
    """Take a batch out of the ratings.

    Raises:
        PermissionDenied: they may not, as the benchmark is now.
        SubmissionError: it is not accepted now, or no reason is given.
    """
    require_reason(reason, gettext("Give a reason: it is kept in the history."))
    batch.benchmark = lock_benchmark(batch.benchmark_id)
    if not may_withdraw(batch, audience_of(actor, batch.benchmark)):
        raise PermissionDenied(gettext(DECIDERS_ALONE))
    _take(batch, [State.ACCEPTED], Kind.WITHDRAWN, actor=actor, reason=reason)
    tell_of_decision(batch, Kind.WITHDRAWN, actor=actor, reason=reason)


@transaction.atomic
def reinstate_votes(batch: VoteBatch, *, actor: User, reason: str) -> None:
    """Let the votes of a withdrawn batch count again.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it is not withdrawn now, or no reason is given.
    """
    require_reason(reason, gettext("Give a reason: it is kept in the history."))
    batch.benchmark = lock_as_moderator(batch.benchmark_id, actor)
    _take(batch, [State.WITHDRAWN], Kind.REINSTATED, actor=actor, reason=reason)
    tell_of_decision(batch, Kind.REINSTATED, actor=actor, reason=reason)


# What is done to a stored batch, by those who may.
STEPS: dict[str, Callable[..., None]] = {
    "accept": accept_votes,
    "reject": reject_votes,
    "withdraw": withdraw_votes,
    "reinstate": reinstate_votes,
    "retract": retract_votes,
}


def may_withdraw(batch: VoteBatch, audience: Audience) -> bool:
    """Whether they may take a batch out of the ratings: moderators, and its sender while the benchmark lets them."""
    is_own = audience.viewer.is_authenticated and batch.uploader_id == audience.viewer.pk
    return audience.may_moderate or (is_own and withdraws_alone(batch.benchmark))


def cells_of(n_votes: int) -> int:
    """How many scores votes count for in what an account may store."""
    return -(-n_votes // VOTES_A_CELL)


def _first_call(benchmark: Benchmark, sender: User, sent: SentVotes, idempotency_key: str | None) -> VoteBatch | None:
    """The batch that the first call with this key made.

    Raises:
        IdempotencyError: it was of other votes.
    """
    if not idempotency_key:
        return None
    batches = VoteBatch.objects.filter(benchmark=benchmark, uploader=sender, idempotency_key=idempotency_key)
    first = batches.first()
    if first is not None and first.payload_hash != sent.hash:
        raise IdempotencyError(gettext("This idempotency key was already used for other votes; use a new one."))
    return first


def _stored(audience: Audience, checked: CheckedVotes, *, source: str, state: str, **fields: object) -> VoteBatch:
    return VoteBatch.objects.create(
        benchmark=audience.benchmark,
        uploader=audience.user,
        source=source,
        state=state,
        note=checked.note,
        payload_hash=checked.payload_hash,
        votes=checked.packed,
        n_votes=checked.n_votes,
        n_voters=checked.n_voters,
        systems=checked.systems,
        categories=checked.categories,
        **fields,
    )


def _begin(batch: VoteBatch, audience: Audience) -> None:
    """Note that a batch was sent, and accept it where no one has to decide."""
    _record(batch, Kind.SENT, actor=audience.user, reason="")
    if audience.is_accepted_at_once:
        _take(batch, [State.PENDING], Kind.ACCEPTED, actor=audience.user, reason="")
        return
    batch.decide_by = timezone.now() + timedelta(days=batch.benchmark.decision_days)
    batch.save(update_fields=["decide_by"])
    tell_of_waiting(batch)


def _take(batch: VoteBatch, before: Sequence[str], kind: str, *, actor: User | None, reason: str) -> None:
    """Move a batch into the ratings or out of them, in a transaction that has locked its benchmark."""
    _move(batch, before, State.WITHDRAWN if kind == Kind.WITHDRAWN else State.ACCEPTED)
    _record(batch, kind, actor=actor, reason=reason, change=take_change(batch.benchmark))


def _move(batch: VoteBatch, before: Sequence[str], state: str, **fields: object) -> None:
    if not VoteBatch.objects.filter(pk=batch.pk, state__in=before).update(state=state, **fields):
        now = VoteBatch.objects.filter(pk=batch.pk).first()
        state = gettext(WORDS[State(now.state)] if now else DISCARDED)
        raise SubmissionError(gettext("Someone was faster: this batch of votes is %(state)s now.") % {"state": state})
    batch.state = state


def _record(batch: VoteBatch, kind: str, *, actor: User | None, reason: str, change: int = 0) -> None:
    VoteEvent.objects.create(batch=batch, kind=kind, actor=actor, reason=reason, change=change)
