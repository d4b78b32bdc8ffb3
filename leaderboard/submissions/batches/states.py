"""In which state a batch is, and the words for states and stages."""

from collections.abc import Iterable

from django.utils.translation import gettext_noop

from leaderboard.models import Job, SubmissionEvent

# States and names of stages are keys, which the API has, too; pages translate them where they show them.
DONE, RUNNING = gettext_noop("done"), gettext_noop("running")
WAITING, FAILED = gettext_noop("waiting"), gettext_noop("failed")
SKIPPED = gettext_noop("skipped")  # of predictions that count for nothing, though nothing failed
PENDING = "pending"
SUBMITTED, APPROVED, ACCEPTED = gettext_noop("submitted"), gettext_noop("approved"), gettext_noop("accepted")
COMPUTED, PUBLISHED = gettext_noop("computed"), gettext_noop("published")
REJECTED, RETRACTED = gettext_noop("rejected"), gettext_noop("retracted")
WITHDRAWN = gettext_noop("withdrawn")  # the stage of a batch of which nothing is on the board any more
ENDED = {REJECTED, RETRACTED, WITHDRAWN}  # stages after which nothing of a batch is on the board
DECISIONS = (SubmissionEvent.Kind.ACCEPTED, SubmissionEvent.Kind.REJECTED, SubmissionEvent.Kind.RETRACTED)
# Between the submitter and the moderators alone.
REQUESTS = (SubmissionEvent.Kind.ASKED, SubmissionEvent.Kind.KEPT, SubmissionEvent.Kind.CANCELLED)


def publishing_job(jobs: Iterable[Job], revision_number: int) -> Job | None:
    """The job that will publish a revision: its own, or the next one under way where its own was superseded.

    Args:
        jobs: rankings of its benchmark; those of earlier revisions are passed over.
        revision_number: of the revision.
    """
    own_and_later = sorted((job for job in jobs if job.sequence >= revision_number), key=lambda job: job.sequence)
    under_way = (job for job in own_and_later if job.state in (Job.State.RUNNING, Job.State.WAITING))
    return next(under_way, own_and_later[0] if own_and_later else None)


def state_of(
    decision: str | None,
    *,
    is_approved: bool,
    is_any_left: bool,
    revision_number: int | None,
    published_number: int,
    jobs: Iterable[Job],
) -> str:
    """The state of a batch in one word.

    Args:
        decision: which of `DECISIONS` was made; None before.
        is_approved: whether it waits for the end of an embargo.
        is_any_left: whether any of its submissions was not withdrawn.
        revision_number: the revision that accepted it; None where its decision brought none.
        published_number: the newest revision of its benchmark that is published, 0 before the first.
        jobs: rankings of its benchmark that may publish it.

    Returns:
        pending, approved, rejected, retracted, accepted, failed, published or withdrawn.
    """
    if decision is None:
        return APPROVED if is_approved else PENDING
    if not is_any_left:
        return WITHDRAWN
    if decision != SubmissionEvent.Kind.ACCEPTED:
        return str(decision)
    if revision_number is None:
        return FAILED
    if revision_number <= published_number:
        return PUBLISHED
    job = publishing_job(jobs, revision_number)
    return FAILED if job is not None and job.state == Job.State.FAILED else ACCEPTED
