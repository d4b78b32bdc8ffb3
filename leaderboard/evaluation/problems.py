"""Steps of an evaluation that cannot be taken; what is wrong with a file is in `ranking_engine.files.problems`."""


class EvaluationError(ValueError):
    """A step that cannot be taken now; the message says why."""
