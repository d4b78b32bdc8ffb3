"""What is said of a worst case of which a study knows two bounds."""

from django.utils.translation import gettext

from leaderboard.common.text import percent
from leaderboard.studies.grades import UNKNOWN, StudyGrade, graded
from leaderboard.studies.study_findings import StudyCell, Summary, percent_cell


def bound_cells(interval: Summary) -> list[StudyCell]:
    """The cells of a figure: at least, at most, and whether they are the maximum."""
    return [
        percent_cell(interval["lower"]),
        percent_cell(interval["upper"]),
        StudyCell(gettext("proven") if interval["proven"] else gettext("open")),
    ]


def nothing(n: int) -> list[StudyCell]:
    """So many empty cells."""
    return [StudyCell("")] * n


def most_pairs(share: Summary) -> str:
    """How a clause begins that says how most pairs reverse, as far as is known."""
    return gettext("Most pairs reverse") if share["proven"] else gettext("The most that were reached reverse")


def between(interval: Summary) -> str:
    """The bounds of a share in words."""
    if interval["proven"]:
        return gettext("at most %(share)s (proven)") % {"share": percent(interval["lower"])}
    return gettext("between %(lower)s and %(upper)s") % {
        "lower": percent(interval["lower"]),
        "upper": percent(interval["upper"]),
    }


def reversed_pairs(share: Summary, of: str, condition: str) -> StudyGrade:
    """The grade of a worst case of the pairs `of` a ranking; no condition where that is another rule's ranking."""
    lower, upper = share["lower"], share["upper"]
    figure = gettext("between %(lower)s and %(upper)s of the pairs %(of)s can be reversed in the worst case")
    if share["proven"]:
        figure = gettext("up to %(lower)s of the pairs %(of)s can be reversed in the worst case")
    figure %= {"lower": percent(lower), "upper": percent(upper), "of": of}
    grade = graded(lower, 0.05, 0.15)
    if not share["proven"] and graded(upper, 0.05, 0.15) != grade:
        return StudyGrade(UNKNOWN, figure)
    return StudyGrade(grade, figure, condition)
