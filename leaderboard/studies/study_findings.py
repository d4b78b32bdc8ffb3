"""The shape of what a study found, as pages show it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.utils.translation import gettext, gettext_noop

from leaderboard.common.charts.critical_difference import CriticalDifference
from leaderboard.common.charts.lines import Curve, LineChart
from leaderboard.common.charts.slopes import SlopeChart, slope_chart
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, percent, signed
from leaderboard.studies.grades import StudyGrade

T = TypeVar("T")
Summary = Mapping[str, Any]  # of a report

MAX_NAMED = 4  # more rules than these are counted
CRITERIA = {
    "winner_rank": gettext_noop("Winner’s rank"),
    "condorcet": gettext_noop("Condorcet rate"),
    "generalization": gettext_noop("Unseen tasks"),
    "judge_stability": gettext_noop("Resampled tasks"),
    "candidate_stability": gettext_noop("Resampled systems, each once"),
    "candidate_stability_copies": gettext_noop("Resampled systems, as often as drawn"),
}
BASELINES = {
    "random_ranking": gettext_noop("A random ranking"),
    "dictator": gettext_noop("One random task decides alone (a dictator)"),
}
CORRELATION_NAMES = {"spearman": gettext_noop("Spearman’s correlation"), "kendall": gettext_noop("Kendall’s tau-b")}
MEASURE_NAMES = {
    "kendall": gettext_noop("Kendall’s distance"),
    "footrule": gettext_noop("the footrule"),
    "squares": gettext_noop("squared differences of ranks"),
    "spearman": gettext_noop("Spearman’s correlation"),
    "places": gettext_noop("systems at another place"),
}
MEASURE_HEADERS = {
    "kendall": gettext_noop("Kendall’s distance"),
    "footrule": gettext_noop("Footrule"),
    "squares": gettext_noop("Squared rank differences"),
    "spearman": gettext_noop("(1 − Spearman’s ρ) / 2"),
    "places": gettext_noop("Systems at another place"),
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
    """One rule, or one figure of a study that is about no rule; `key` is the rule's.

    `repeats` says of how many repeats the figures are where the rule ranked fewer than the others.
    """

    key: str
    name: str
    is_marked: bool
    cells: list[StudyCell]
    repeats: str = ""


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


@dataclass(frozen=True)
class Teller:
    """What says in words what one study found.

    Attributes:
        study: a key of the engine's catalogue.
        findings: of a summary, the rule that the reader looks at, and the names of systems and tasks.
        grade: of a summary and a rule; None where the study has no figure for it. Experiments have no grade.
    """

    study: str
    findings: Callable[[Summary, str, StudyNames], StudyFindings]
    grade: Callable[[Summary, str], StudyGrade | None] | None = None


def share_cell(value: float | None) -> StudyCell:
    """A share with its bar; a dash where there is none."""
    if value is None:
        return StudyCell("–")
    return StudyCell(signed(value, 3), round(100 * min(1.0, max(0.0, value)), 1))


def percent_cell(value: float | None) -> StudyCell:
    """A share in percent, as sentences tell it, with its bar; a dash where there is none."""
    return StudyCell("–") if value is None else StudyCell(percent(value), share_cell(value).width)


def rule_rows(
    rules: Mapping[str, Mapping[str, Any]], marked: str, cells: Callable[[Mapping[str, Any]], list[StudyCell]]
) -> list[StudyRow]:
    """A row for each rule, with the cells that its part of a summary gives."""
    return [StudyRow(rule, rule_name(rule), rule == marked, cells(of_rule)) for rule, of_rule in rules.items()]


def figure_row(name: str, cells: Sequence[StudyCell]) -> StudyRow:
    """A row of a figure that is about no rule."""
    return StudyRow("", name, is_marked=False, cells=list(cells))


def fewer_repeats(slow_rules: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """What a summary says of the rules that ranked fewer repeats than the others."""
    return {rule: entry for rule, entry in slow_rules.items() if entry["n_repeats"] < entry["of"]}


def with_repeats(rows: Sequence[StudyRow], slow_rules: Mapping[str, Mapping[str, Any]]) -> list[StudyRow]:
    """The rows, where those of rules that ranked fewer repeats say so; `slow_rules` is the summary's entry."""
    repeats = {
        rule: gettext("%(n)s of %(of)s repeats")
        % {"n": localise(entry["n_repeats"], ","), "of": localise(entry["of"], ",")}
        for rule, entry in fewer_repeats(slow_rules).items()
    }
    return [replace(row, repeats=repeats.get(row.key, "")) for row in rows]


def of_all_repeats(by_rule: Mapping[str, T], summary: Mapping[str, Any], marked: str) -> dict[str, T]:
    """Leave out the rules that ranked fewer repeats than the others: their means are too uncertain to be compared.

    The rule that the reader looks at stays.
    """
    fewer = fewer_repeats(summary.get("slow_rules", {}))
    return {rule: value for rule, value in by_rule.items() if rule == marked or rule not in fewer}


def side_by_side(rule: str, comparison: Mapping[str, Any], names: StudyNames) -> SlopeChart:
    """The first systems before and after a change.

    Args:
        rule: its name.
        comparison: `systems` by key, and their ranks `before` and `after`.
        names: of the systems.
    """
    systems = names.system_names(comparison["systems"])
    title = gettext("The first %(n)s under %(rule)s, before and after") % {"n": len(systems), "rule": rule}
    return slope_chart(title, systems, comparison["before"], comparison["after"])


def few(names: Sequence[str]) -> str:
    """The names of some rules, or how many they are."""
    if len(names) <= MAX_NAMED:
        return in_words(list(names))
    return gettext("%(n)s of the rules") % {"n": len(names)}


def extreme(values: Mapping[str, float | None], *, largest: bool) -> str | None:
    """The rule with the largest or the least value; None where none has one."""
    known = {rule: value for rule, value in values.items() if value is not None}
    if not known:
        return None
    return max(known, key=lambda rule: known[rule]) if largest else min(known, key=lambda rule: known[rule])


def compared(values: Mapping[str, float | None], marked: str, what: str, *, is_distance: bool = False) -> str:
    """The rest of a sentence: how the marked rule does, and which do best and worst."""
    best, worst = extreme(values, largest=not is_distance), extreme(values, largest=is_distance)
    if best is None or worst is None:
        return gettext("under no rule: there is nothing to compare.")

    def figure(rule: str) -> str:
        value = values[rule]
        return percent(value) if is_distance or value is None else signed(value)

    own = values.get(marked)
    if values[best] == values[worst]:
        if is_distance:
            return f"{figure(best)} {what}."
        return gettext("the same under every rule (%(value)s %(what)s).") % {"value": figure(best), "what": what}
    figures = {
        "own": figure(marked) if own is not None else "",
        "what": what,
        "rule": rule_name(marked),
        "best_rule": rule_name(best),
        "best": figure(best),
        "worst_rule": rule_name(worst),
        "worst": figure(worst),
    }
    if is_distance:
        ends = gettext("least under %(best_rule)s (%(best)s), most under %(worst_rule)s (%(worst)s).") % figures
        start = gettext("%(own)s %(what)s under %(rule)s") % figures
        return f"{start}; {ends}" if own is not None else ends
    ends = gettext("best under %(best_rule)s (%(best)s), worst under %(worst_rule)s (%(worst)s).") % figures
    start = gettext("at %(own)s under %(rule)s (%(what)s)") % figures
    return f"{start}; {ends}" if own is not None else f"({what}) {ends}"


def curves(
    rules: Mapping[str, Mapping[str, Any]], marked: str, values: str, band: str, *, length: int = 0
) -> list[Curve]:
    """A curve for each rule, with the band of the marked one; `length` is that of the longest."""

    def padded(row: Sequence[float | None]) -> list[float | None]:
        return [*row, *[None] * max(0, length - len(row))]

    return [
        Curve(
            rule,
            rule_name(rule),
            padded(of_rule[values]),
            rule == marked,
            padded(of_rule[band]) if rule == marked else None,
        )
        for rule, of_rule in rules.items()
    ]
