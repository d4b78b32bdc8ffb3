"""Submissions by their public numbers."""

from uuid import UUID

from leaderboard.models import Submission


def batch_naming(uuid: UUID) -> tuple[UUID, Submission | None]:
    """The number of the batch that `uuid` names, and which submission of it where it names one.

    Whether anybody may know of it is for `visible_batch` to say.
    """
    submission = Submission.objects.select_related("batch", "system", "benchmark").filter(uuid=uuid).first()
    return (submission.batch.uuid, submission) if submission else (uuid, None)
