"""The shape of what a study found, as pages show it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from leaderboard.common.charts.critical_difference import CriticalDifference
from leaderboard.common.charts.lines import LineChart
from leaderboard.common.charts.slopes import SlopeChart, slope_chart
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import percent
from ranking_engine.catalogue.registry import get_rule

CRITERIA = {
    "winner_rank": "Winner’s rank",
    "condorcet": "Condorcet rate",
    "generalization": "Unseen tasks",
    "judge_stability": "Resampled tasks",
    "candidate_stability": "Resampled systems, each once",
    "candidate_stability_copies": "Resampled systems, as often as drawn",
}


@dataclass(frozen=True)
class StudyNames:
    """What systems and tasks are called by their keys, of which studies know alone, and where a system has its page.

    A key that is not among the names is shown as it is.
    """

    systems: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)
    system_url: Callable[[str], str] = lambda _key: ""

    def system(self, key: str) -> "StudyLink":
        """A system by its key."""
        return StudyLink(self.systems.get(key, key), self.system_url(key))

    def task_names(self, keys: Iterable[str]) -> list[str]:
        """The names of tasks by their keys, in the same order."""
        return [self.tasks.get(key, key) for key in keys]

    def system_names(self, keys: Iterable[str]) -> list[str]:
        """The names of systems by their keys, in the same order."""
        return [self.systems.get(key, key) for key in keys]


NO_NAMES = StudyNames()


@dataclass(frozen=True)
class StudyLink:
    """A name that leads to a page; `url` is empty where it does not."""

    text: str
    url: str


@dataclass(frozen=True)
class NamedSystems:
    """Systems that a finding is about, each with its page, and how many more there are than are named."""

    intro: str
    links: list[StudyLink]
    n_more: int


@dataclass(frozen=True)
class StudyCell:
    """One figure of a table; `width` is that of its bar, 0 to 100, None where it has none; `url` is where it leads."""

    text: str
    width: float | None = None
    url: str = ""


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
    systems: NamedSystems | None = None
    slopes: SlopeChart | None = None


def share_cell(value: float | None) -> StudyCell:
    """A share with its bar; a dash where there is none."""
    if value is None:
        return StudyCell("–")
    return StudyCell(localise(value, ".3f").replace("-", "\N{MINUS SIGN}"), round(100 * min(1.0, max(0.0, value)), 1))


def percent_cell(value: float | None) -> StudyCell:
    """A share in percent, as sentences tell it, with its bar; a dash where there is none."""
    return StudyCell("–") if value is None else StudyCell(percent(value), share_cell(value).width)


def rule_name(key: str) -> str:
    """What pages call a rule or a variant; a key that this release does not know is shown as it is."""
    try:
        return get_rule(key).name
    except ValueError:
        return key


def rule_rows(
    rules: Mapping[str, Mapping[str, Any]], marked: str, cells: Callable[[Mapping[str, Any]], list[StudyCell]]
) -> list[StudyRow]:
    """A row for each rule, with the cells that its part of a summary gives."""
    return [StudyRow(rule, rule_name(rule), rule == marked, cells(of_rule)) for rule, of_rule in rules.items()]


def side_by_side(rule: str, comparison: Mapping[str, Any], names: StudyNames) -> SlopeChart:
    """The first systems before and after a change.

    Args:
        rule: its name.
        comparison: `systems` by key, and their ranks `before` and `after`.
        names: of the systems.
    """
    systems = names.system_names(comparison["systems"])
    title = f"The first {len(systems)} under {rule}, before and after"
    return slope_chart(title, systems, comparison["before"], comparison["after"])
