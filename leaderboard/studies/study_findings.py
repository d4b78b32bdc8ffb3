"""The shape of what a study found, as pages show it."""

from dataclasses import dataclass

from leaderboard.common.charts.critical_difference import CriticalDifference
from leaderboard.common.charts.lines import LineChart


@dataclass(frozen=True)
class StudyCell:
    """One figure of a table; `width` is that of its bar, 0 to 100, None where it has none."""

    text: str
    width: float | None = None


@dataclass(frozen=True)
class StudyRow:
    """One rule, or one figure of a study that is about no rule; `key` is the rule's."""

    key: str
    name: str
    is_marked: bool
    cells: list[StudyCell]


@dataclass(frozen=True)
class StudyFindings:
    """What one study found on one revision: a sentence, a table, and a chart where one helps."""

    sentence: str
    headers: list[str]
    rows: list[StudyRow]
    chart: LineChart | None = None
    note: str = ""
    first_header: str = "Rule"
    is_by_rule: bool = True
    diagram: CriticalDifference | None = None


def share_cell(value: float | None) -> StudyCell:
    """A share with its bar; a dash where there is none."""
    if value is None:
        return StudyCell("–")
    return StudyCell(f"{value:.3f}".replace("-", "\N{MINUS SIGN}"), round(100 * min(1.0, max(0.0, value)), 1))
