"""Steps of a submission that cannot be taken; what is wrong with its contents is in `ranking_engine.files.problems`."""

from collections.abc import Sequence

from django.utils.translation import gettext

from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError, Problems


class PartlyReadError(InputError):
    """A table with something wrong in it, of which rows can still be checked: a page says everything at once.

    Args:
        problems: what is wrong with the table.
        rows: one per system, without what could not be read.
    """

    def __init__(self, problems: Problems, rows: Sequence[SubmittedRow]) -> None:
        super().__init__(problems)
        self.rows = rows


class SubmissionError(ValueError):
    """A step that cannot be taken now."""


class StalePreviewError(SubmissionError):
    """The board moved on since the preview that was confirmed."""


class NewSystemError(SubmissionError):
    """The draft names systems that are not on the board, and no one said that they are to be created."""


class QuotaError(SubmissionError):
    """No more may be submitted now; the message says how many were and when there will be more."""


def no_longer(error: InputError) -> str:
    """All that is wrong with a draft that could be submitted before, for a place without fields."""
    return gettext("This can no longer be submitted: %(problems)s") % {"problems": "; ".join(error.problems.lines)}


def require_reason(reason: str, refusal: str) -> None:
    """Go on where a reason is given.

    Args:
        reason: what was given.
        refusal: what is said where it is not, with what becomes of a reason.

    Raises:
        SubmissionError: none is given.
    """
    if not reason.strip():
        raise SubmissionError(refusal)
