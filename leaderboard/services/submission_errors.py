"""Steps of a submission that cannot be taken now. The message says why, in words for its reader."""


class SubmissionError(ValueError):
    """A step that cannot be taken now."""


class StalePreviewError(SubmissionError):
    """The board moved on since the preview that was confirmed."""


class NewSystemError(SubmissionError):
    """The draft names systems that are not on the board, and nobody said that they are to be created."""


class QuotaError(SubmissionError):
    """No more may be submitted now; the message says how many were and when there will be more."""
