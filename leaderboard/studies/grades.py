"""How stable a ranking is by one study, in one word and one figure."""

from dataclasses import dataclass

from django.utils.translation import gettext_noop

GOOD, MIXED, POOR = gettext_noop("good"), gettext_noop("mixed"), gettext_noop("poor")
UNKNOWN, TOO_FEW_TASKS = gettext_noop("not known"), gettext_noop("too few tasks to tell")


@dataclass(frozen=True)
class StudyGrade:
    """What one study says of the ranking under one rule.

    Attributes:
        grade: `good`, `mixed`, `poor`, `not known`, or `too few tasks to tell`.
        figure: the figure that it rests on, in words.
        condition: what the study does to the board, as in "stable when ..."; empty where it disturbs nothing, and where
            it is about another rule.
        sentence: what it says by itself of a whole board, where it disturbs nothing and still belongs in its summary.
    """

    grade: str
    figure: str
    condition: str = ""
    sentence: str = ""


def graded(value: float, good: float, mixed: float) -> str:
    """The grade of a value of which less is better."""
    return GOOD if value <= good else MIXED if value <= mixed else POOR
