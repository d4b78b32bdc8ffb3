"""Steps of an evaluation that cannot be taken; what is wrong with a file is in `ranking_engine.files.problems`."""


class EvaluationError(ValueError):
    """A step that cannot be taken now; the message says why."""


class ReportError(EvaluationError):
    """A report that says what no score can be; `place` is where in it."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place
