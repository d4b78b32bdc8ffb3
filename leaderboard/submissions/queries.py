"""Submissions by their public numbers."""

from collections.abc import Collection
from uuid import UUID

from leaderboard.access.audience import UNDECIDED, Audience
from leaderboard.models import Batch, Submission, User
from leaderboard.submissions.problems import SubmissionError


def batch_naming(uuid: UUID) -> tuple[UUID, Submission | None]:
    """The number of the batch that `uuid` names, and which submission of it where it names one.

    Whether anyone may know of it is for `visible_batch` to say.
    """
    submission = Submission.objects.select_related("batch", "system", "benchmark").filter(uuid=uuid).first()
    return (submission.batch.uuid, submission) if submission else (uuid, None)


def is_undecided(batch: Batch) -> bool:
    """Whether the batch still waits for a decision, or for the end of an embargo."""
    decided = batch.submissions.exclude(state__in=UNDECIDED)
    return batch.submissions.exists() and not decided.exists()


def lone_submission(batch: Batch, submission: Submission | None) -> Submission:
    """The submission that was named; the only one of the batch where none was: scores of one system are meant.

    Raises:
        SubmissionError: the batch has several, and none of them was named.
    """
    if submission is not None:
        return submission
    rows = list(batch.submissions.select_related("batch", "system", "benchmark")[:2])
    if len(rows) > 1:
        n_systems = batch.submissions.count()
        raise SubmissionError(f"This submission has {n_systems} systems; name one of them by its own `submission`.")
    return rows[0]


def require_whole(batch: Batch, submission: Submission | None) -> None:
    """Go on where the whole batch was named, which is decided about as a whole, or its only submission.

    Raises:
        SubmissionError: one of several was named.
    """
    if submission is not None and batch.submissions.count() > 1:
        raise SubmissionError(f"This system came with others, and they are decided together: name {batch.uuid}.")


def other_submitters(audience: Audience, keys: Collection[str]) -> dict[str, str]:
    """Names of those whose accepted scores another user would replace, by the key of the system.

    Args:
        audience: who would replace them; restricted ones are told of no one.
        keys: of systems on the board.
    """
    if audience.is_restricted or not keys:
        return {}
    accepted = Submission.objects.filter(benchmark=audience.benchmark, state=Submission.State.ACCEPTED)
    latest = dict(accepted.filter(system__key__in=keys).order_by("pk").values_list("system__key", "batch__uploader"))
    others = User.objects.in_bulk(set(latest.values()) - {audience.viewer.pk})
    return {key: others[pk].shown_name for key, pk in latest.items() if pk in others}
