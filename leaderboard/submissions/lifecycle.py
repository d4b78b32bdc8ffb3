"""Submissions: stored as a batch, decided, withdrawn, reinstated. Each step is one transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audience import NO_DRAFT, UNDECIDED, Audience, audience_of, draft_key, is_embargoed
from leaderboard.access.locks import lock_as_moderator, lock_benchmark
from leaderboard.common.hashing import content_hash
from leaderboard.common.requests import DeadLinkError
from leaderboard.models import (
    Batch,
    Benchmark,
    Draft,
    Revision,
    Submission,
    SubmissionEvent,
    System,
    SystemChange,
    Task,
    User,
)
from leaderboard.rankings.revisions import next_revision
from leaderboard.rankings.scores import present_among, submissions_in_force
from leaderboard.submissions.corrections import SAY_WHY, corrected_by_number, corrections_of
from leaderboard.submissions.drafts import rows_now
from leaderboard.submissions.instances.vectors import store_instances
from leaderboard.submissions.notices import tell_moderators, tell_of_events
from leaderboard.submissions.problems import (
    NewSystemError,
    StalePreviewError,
    SubmissionError,
    no_longer,
    require_reason,
)
from leaderboard.submissions.quotas import cells_of, give_back_quota, take_cells, take_quota
from leaderboard.submissions.rows import CheckedRow
from leaderboard.submissions.score_rows import insert_scores
from leaderboard.submissions.statements import believe, believe_the_rest, statement_of, waiting_system
from ranking_engine.core.decimals import rounded_score
from ranking_engine.files.problems import InputError
from ranking_engine.text.names import fold_name

State, Kind = Submission.State, SubmissionEvent.Kind


@transaction.atomic
def confirm_draft(draft: Draft, *, actor: User, previewed_number: int, creates_systems: bool) -> Batch:
    """Store a draft as a batch and, where no one has to decide, accept it.

    Args:
        draft: what was previewed.
        actor: who confirms.
        previewed_number: the revision that the preview was made against.
        creates_systems: whether systems that are not on the board may be created.

    Raises:
        StalePreviewError: the benchmark has a newer revision than the preview.
        NewSystemError: there is a new system in the draft, and `creates_systems` is false.
        SubmissionError: the draft is gone or someone else's, its owner may no longer submit here, or what it says
            can no longer be stored.
        DeadLinkError: its owner may no longer see the benchmark.
    """
    # Taking the row away first makes confirming twice impossible, whatever runs beside.
    benchmark = lock_benchmark(draft.benchmark_id)
    if draft.owner_id != actor.pk:
        raise SubmissionError(gettext("This draft belongs to someone else."))
    if Draft.objects.filter(pk=draft.pk).delete()[0] == 0:
        raise SubmissionError(gettext("This draft was already confirmed or discarded."))
    draft.owner = actor  # the same row, which needs no second look
    # Under the lock, which keeps what it says true: roles and settings may have changed since the page was opened.
    audience = audience_of(actor, benchmark)
    if not audience.may_read:
        raise DeadLinkError(gettext(NO_DRAFT))
    require_may_submit(audience)
    if benchmark.last_revision_number != previewed_number:
        raise StalePreviewError(gettext("The board has changed since this preview was made."))
    try:
        rows = rows_now(draft, audience)
    except InputError as error:
        raise SubmissionError(no_longer(error)) from error
    if not creates_systems and any(row["system"]["key"] is None for row in rows):
        raise NewSystemError(gettext("Select the box to create a new system, or correct its name."))
    return submit_rows(audience, rows, source=draft.source, note=draft.note, idempotency_key=draft_key(draft.uuid))


def submit_rows(
    audience: Audience,
    rows: list[CheckedRow],
    *,
    is_counted: bool = False,
    **about: Any,  # noqa: ANN401
) -> Batch:
    """Store checked rows as someone's submission, each of which comes here; accept it if no one has to decide.

    Args:
        audience: who submits, and where to, which they may: found while the caller's transaction locks the
            benchmark's row.
        rows: as a draft holds them, one per system.
        is_counted: whether they count in the quota already, as those whose predictions were submitted before.
        about: as `store_batch` takes it.

    Raises:
        SubmissionError: they may not submit so many, or correct scores and do not say why.
    """
    benchmark, actor = audience.benchmark, audience.user
    note = str(about.get("note", ""))
    if any(row.get("corrects") for row in rows) and not note.strip():
        raise SubmissionError(gettext(SAY_WHY))
    if not is_counted:
        take_quota(benchmark, actor, len(rows), limited=not audience.may_moderate)
    if audience.is_accepted_at_once:
        batch = store_batch(benchmark, actor, rows, **about)
        _take(batch, actor=actor)
        return batch
    decide_by = timezone.now() + timedelta(days=benchmark.decision_days)
    batch = store_batch(benchmark, actor, rows, decide_by=decide_by, **about)
    tell_moderators(batch)
    return batch


def require_may_submit(audience: Audience) -> None:
    """Go on where they may submit.

    Raises:
        SubmissionError: they may not submit here.
    """
    if not audience.may_submit:
        names = {"benchmark": audience.benchmark.name, "why": audience.why_closed}
        raise SubmissionError(gettext("You cannot submit to %(benchmark)s. %(why)s") % names)


def store_batch(
    benchmark: Benchmark,
    uploader: User,
    rows: list[CheckedRow],
    *,
    source: str,
    note: str = "",
    idempotency_key: str | None = None,
    payload_hash: str = "",
    decide_by: datetime | None = None,
    is_limited: bool = True,
) -> Batch:
    """Store checked rows as a batch of pending submissions. Call inside a transaction.

    Args:
        benchmark: where to.
        uploader: who sends them.
        rows: as a draft holds them, one per system.
        source: by which door.
        note: what the uploader says.
        idempotency_key: the uploader's own name for this call, unique with them and the benchmark.
        payload_hash: of what was sent; of the rows where empty.
        decide_by: until when a moderator is to decide, where one is.
        is_limited: whether the uploader may store only so many scores.

    Raises:
        QuotaError: the uploader has stored too many scores.
    """
    take_cells(uploader, cells_of(rows), is_limited=is_limited)
    batch = Batch.objects.create(
        benchmark=benchmark,
        uploader=uploader,
        source=source,
        note=note,
        payload_hash=payload_hash or content_hash(rows),
        idempotency_key=idempotency_key,
        decide_by=decide_by,
    )
    # The stored system of every row by folded name, made where there is none.
    names = {fold_name(row["system"]["name"]): row["system"]["name"] for row in rows}
    here = System.objects.filter(benchmark=benchmark, name_folded__among=names)
    stored = {system.name_folded: system for system in here}
    new = [waiting_system(benchmark, name, folded) for folded, name in names.items() if folded not in stored]
    System.objects.bulk_create(new, batch_size=1000)
    systems = stored | {system.name_folded: system for system in new}
    corrected = corrected_by_number(benchmark, rows)
    submissions = Submission.objects.bulk_create(
        Submission(
            batch=batch,
            benchmark=benchmark,
            system=systems[fold_name(row["system"]["name"])],
            position=position,
            corrects=corrected.get(row.get("corrects", "")),
            statement=statement_of(row["system"]),
        )
        for position, row in enumerate(rows, start=1)
    )
    tasks = dict(Task.objects.filter(benchmark=benchmark).values_list("key", "pk"))
    insert_scores(
        (
            submission.pk,
            tasks[key],
            rounded_score(score["value"]) if score.get("value") is not None else None,
            score.get("missing", ""),
            row["instances"][key]["n"] if key in row.get("instances", {}) else score.get("n_instances"),
            score.get("standard_error"),
        )
        for submission, row in zip(submissions, rows, strict=True)
        for key, score in row["scores"].items()
    )
    store_instances(submissions, rows, tasks)
    return batch


@transaction.atomic
def take_batch(batch: Batch, *, actor: User, reason: str = "") -> Revision | None:
    """Accept a pending batch; under an embargo approve it, to be accepted when that ends.

    Returns:
        The revision, or None under an embargo.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it was decided already.
    """
    batch.benchmark = lock_as_moderator(batch.benchmark_id, actor)
    return _take(batch, actor=actor, reason=reason)


def _take(batch: Batch, *, actor: User, reason: str = "") -> Revision | None:
    """As `take_batch`, in a transaction that has locked the batch's benchmark."""
    if not is_embargoed(batch.benchmark):
        return _accept(batch, actor=actor, reason=reason)
    submissions = _decide(batch, State.APPROVED, before=[State.PENDING])
    _record(submissions, Kind.APPROVED, actor=actor, reason=reason, revision=None)
    return None


@transaction.atomic
def accept_batch(batch: Batch, *, actor: User | None, reason: str = "", cause: str = Revision.Cause.BATCH) -> Revision:
    """Accept a batch as a whole, whatever embargo there is: one event a submission, one revision, its jobs.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it was decided already.
    """
    lock_as_moderator(batch.benchmark_id, actor)
    return _accept(batch, actor=actor, reason=reason, cause=cause)


def _accept(batch: Batch, *, actor: User | None, reason: str, cause: str = Revision.Cause.BATCH) -> Revision:
    """As `accept_batch`, in a transaction that has locked the batch's benchmark."""
    submissions = _decide(batch, State.ACCEPTED)
    if cause == Revision.Cause.BATCH and all(submission.corrects_id for submission in submissions):
        cause = Revision.Cause.CORRECTION
    revision = next_revision(batch.benchmark, cause=cause, author=batch.uploader, note=batch.note)
    believe(submissions, revision, actor=actor)
    _record(submissions, Kind.ACCEPTED, actor=actor, reason=reason, revision=revision)
    present = present_among(revision, [submission.system_id for submission in submissions])
    joining = [submission.system for submission in submissions if submission.system_id not in present]
    SystemChange.objects.bulk_create(
        (SystemChange(revision=revision, system=s, kind=SystemChange.Kind.JOINED, name=s.name) for s in joining),
        batch_size=1000,
    )
    return revision


@transaction.atomic
def reject_batch(batch: Batch, *, actor: User | None, reason: str) -> None:
    """Reject a batch as a whole that is not on the board yet.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it was decided already, or no reason is given.
    """
    require_reason(reason, gettext("Give a reason: the submitter sees it."))
    lock_as_moderator(batch.benchmark_id, actor)
    _record(_decide(batch, State.REJECTED), Kind.REJECTED, actor=actor, reason=reason, revision=None)


@transaction.atomic
def retract_batch(batch: Batch, *, actor: User, reason: str = "") -> None:
    """Withdraw the user's own batch before it comes onto the board. What no one decided on counts no more for the caps.

    Raises:
        PermissionDenied: it is someone else's.
        SubmissionError: it was decided already.
    """
    if batch.uploader_id != actor.pk:
        raise PermissionDenied(gettext("This submission belongs to someone else."))
    lock_benchmark(batch.benchmark_id)
    is_pending = all(submission.state == State.PENDING for submission in batch.submissions.all())
    submissions = _decide(batch, State.RETRACTED)
    _record(submissions, Kind.RETRACTED, actor=actor, reason=reason, revision=None)
    if is_pending:
        give_back_quota(batch.benchmark, actor, len(submissions), submitted_at=batch.created_at)


def _decide(batch: Batch, state: str, before: Sequence[str] = UNDECIDED) -> list[Submission]:
    """Move all of a batch's submissions that are not on the board yet to `state`, or none."""
    submissions = list(batch.submissions.select_related("system"))
    changed = Submission.objects.filter(batch=batch, state__in=before).update(state=state)
    if changed != len(submissions):
        raise SubmissionError(gettext("This submission was already decided."))
    return submissions


def _record(
    submissions: Sequence[Submission], kind: str, *, actor: User | None, reason: str, revision: Revision | None
) -> None:
    SubmissionEvent.objects.bulk_create(
        (
            SubmissionEvent(submission=submission, kind=kind, actor=actor, reason=reason, revision=revision)
            for submission in submissions
        ),
        batch_size=2000,
    )
    if revision is None or revision.cause != Revision.Cause.TAKEDOWN:  # which tells more itself
        tell_of_events(submissions, kind, actor=actor, reason=reason)


@transaction.atomic
def withdraw_submission(submission: Submission, *, actor: User, reason: str, is_own: bool = False) -> Revision:
    """Take an accepted submission off the board; a system without any other one leaves it.

    The scores of a withdrawn correction are missing until there is a new one: its system stays. With a submission that
    was corrected its corrections go, too, the newest first: else the corrected scores would stay on the board.

    With `is_own` its submitter withdraws it, who needs no role.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it is not accepted now, or no reason is given.
    """
    # Before looking for corrections: one may be on its way onto the board at this moment.
    lock_as_moderator(submission.benchmark_id, None if is_own else actor)
    for correction in submission.corrections.filter(state=State.ACCEPTED).order_by("-pk"):
        withdraw_submission(correction, actor=actor, reason=reason, is_own=is_own)
    return leave_board(submission, Revision.Cause.WITHDRAWAL, actor=actor, reason=reason)


def leave_board(submission: Submission, cause: str, *, actor: User, reason: str) -> Revision:
    """Withdraw a submission, for this cause; its system leaves the board where no other submission of it holds.

    Raises:
        SubmissionError: it is not accepted now, or no reason is given.
    """
    require_reason(reason, gettext("Give a reason: it is kept in the history."))
    revision = _turn(submission, State.ACCEPTED, State.WITHDRAWN, cause, actor)
    _record([submission], Kind.WITHDRAWN, actor=actor, reason=reason, revision=revision)
    believe_the_rest(submission, revision, actor=actor, reason=reason)
    # A withdrawn correction keeps its system on the board, but not once what it corrects is withdrawn, too.
    corrections = [] if submission.corrects_id else corrections_of(submission)
    in_force = submissions_in_force(revision, [submission.system_id])
    if all(one.is_blank and one.submission_id in corrections for one in in_force):
        _change_presence(revision, submission.system, SystemChange.Kind.LEFT)
    return revision


@transaction.atomic
def reinstate_submission(submission: Submission, *, actor: User, reason: str) -> Revision:
    """Put a withdrawn submission back to the place it had, with the corrections that were withdrawn with it.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: it is not withdrawn now, its scores were taken down, or no reason is given.
    """
    require_reason(reason, gettext("Give a reason: it is kept in the history."))
    lock_as_moderator(submission.benchmark_id, actor)  # scores may be being taken down at this moment
    if submission.events.filter(kind=Kind.TAKEN_DOWN).exists():
        raise SubmissionError(gettext("The scores of this submission were taken down; there is nothing to reinstate."))
    revision = _turn(submission, State.WITHDRAWN, State.ACCEPTED, Revision.Cause.REINSTATEMENT, actor)
    _record([submission], Kind.REINSTATED, actor=actor, reason=reason, revision=revision)
    believe_the_rest(submission, revision, actor=actor, reason=reason)
    if submission.system_id not in present_among(revision, [submission.system_id]):
        _change_presence(revision, submission.system, SystemChange.Kind.JOINED)
    left = SubmissionEvent.objects.filter(submission=submission, kind=Kind.WITHDRAWN).latest("pk")
    # `withdraw_submission` withdraws corrections by the revisions before, one after the other.
    events = SubmissionEvent.objects.filter(submission__in=corrections_of(submission), kind=Kind.WITHDRAWN)
    events = events.filter(actor=left.actor, reason=left.reason)
    withdrawn_by = dict(events.values_list("revision__number", "submission"))
    together, number = [], left.revision.number if left.revision else 0
    while (number := number - 1) in withdrawn_by:
        together.append(withdrawn_by[number])
    corrections = Submission.objects.filter(pk__in=together, corrects=submission, state=State.WITHDRAWN)
    corrections = corrections.exclude(events__kind=Kind.TAKEN_DOWN).select_related("system", "benchmark", "batch")
    for correction in corrections.order_by("pk"):
        revision = reinstate_submission(correction, actor=actor, reason=reason)
    return revision


def _turn(submission: Submission, before: str, after: str, cause: str, actor: User) -> Revision:
    if Submission.objects.filter(pk=submission.pk, state=before).update(state=after) != 1:
        if before == State.ACCEPTED:
            raise SubmissionError(gettext("This submission is no longer accepted."))
        raise SubmissionError(gettext("This submission is no longer withdrawn."))
    return next_revision(submission.benchmark, cause=cause, author=actor)


def _change_presence(revision: Revision, system: System, kind: str) -> None:
    SystemChange.objects.create(revision=revision, system=system, kind=kind, name=system.name)
