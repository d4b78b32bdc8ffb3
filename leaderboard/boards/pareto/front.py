"""Ranks and scores plotted against metadata (parameters, cost, date), and the systems on the Pareto front.

A system is on the front if no other is at least as good in both and better in one. Where ranks or scores have
intervals it is surely on the front if that is so with its own figure at its worst and all others at their best, and
possibly if it is so with its own at its best and all others at their worst.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Audience
from leaderboard.boards.board import fields_of
from leaderboard.boards.groups import Group, MarkOption, grouping_of, mark_options, marking_field
from leaderboard.boards.pareto.uprights import SCORE, Upright, standard_errors, with_intervals_of_all
from leaderboard.boards.revision_exports import Origin
from leaderboard.boards.rows import NOTHING
from leaderboard.common.charts.pareto import LOG_SPREAD, ParetoChart, PlacedSystem, pareto_chart
from leaderboard.common.files import ColumnHead, ExportTable
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import figure_text, typeset
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import UnknownChoiceError, published_board
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.systems import About, described_systems_at
from leaderboard.rankings.task_ranks import task_ranks_of
from ranking_engine.files.metadata import MetadataField

RANK, TASK = "rank", "task"
MIN_SYSTEMS = 2
# Whether a system is on the front: surely, by its figure but not surely, possibly though not by its figure, or not.
SURE, MEASURED, POSSIBLE, OFF = "sure", "measured", "possible", ""
STANDINGS = {
    SURE: gettext_noop("on the front"),
    MEASURED: gettext_noop("on the front, but its interval leaves doubt"),
    POSSIBLE: gettext_noop("possibly"),
    OFF: "",
}
ORDER = list(STANDINGS)


@dataclass(frozen=True)
class ParetoRow:
    """One system."""

    key: str
    name: str
    x: float
    x_text: str
    y: float
    y_text: str
    interval_text: str
    standing: str  # a key of STANDINGS
    mark: Group | None = None  # the group that its shape and colour are of

    @property
    def standing_text(self) -> str:
        """Whether it is on the front, in words."""
        return gettext(STANDINGS[self.standing]) if self.standing else ""


@dataclass(frozen=True)
class ParetoPage:
    """What the page shows."""

    fields: Sequence[MetadataField]  # that systems can be set against
    field: MetadataField | None
    uprights: Sequence[tuple[str, str]]  # what can be chosen, by key
    upright_key: str
    upright_name: str
    is_less_better: bool
    interval_text: str  # what the intervals are; empty where there are none
    is_log: bool
    rows: list[ParetoRow]
    n_left_out: int  # without a value of the field, or of the figure
    chart: ParetoChart | None
    mark_options: Sequence[MarkOption] = ()  # by what dots can be marked
    marks: Sequence[Group] = ()  # what each mark means

    @property
    def front(self) -> list[ParetoRow]:
        """The rows on the front by their figures, surely or not."""
        return [row for row in self.rows if row.standing in (SURE, MEASURED)]

    @property
    def possible(self) -> list[ParetoRow]:
        """The rows that are not on the front by their figures, and that their intervals leave a chance."""
        return [row for row in self.rows if row.standing == POSSIBLE]

    @property
    def why_no_chart(self) -> str:
        """What is said in place of the chart."""
        if len(self.rows) < MIN_SYSTEMS:
            return gettext("Fewer than two systems have both figures.")
        return gettext("The values are too far apart for a chart, or too close to 0. The table has them.")


def pareto_page(audience: Audience, *, x: str = "", y: str = "", better: str = "", mark: str = "") -> ParetoPage | None:
    """Systems of the published board on a plane; None while nothing is published.

    Args:
        audience: who reads, who sees scores.
        x: the key of a field with numbers or dates; the first that there is where empty.
        y: `rank.RULE`, `score.RULE` or `task.KEY`; the rank under the default rule where empty.
        better: "high" where more of the field is better.
        mark: the key of the field whose groups have shapes and colours, as of the board.

    Raises:
        UnknownChoiceError: something is asked for that there is not.
        TooLargeError: scores on a task are asked for, and the board is too large for an answer on demand.
    """
    benchmark, publication = audience.benchmark, audience.benchmark.publication
    if publication is None:
        return None
    board, described = published_board(publication), described_systems_at(publication.revision)
    systems, about = described.systems, described.about
    known = {key for one in about.values() for key in one.metadata}
    every_field = fields_of(audience, about)
    fields = [one for one in every_field if one.kind in ("number", "date") and one.key in known]
    field = next((one for one in fields if one.key == x or not x), None)
    if x and field is None:
        raise UnknownChoiceError(gettext("There is no field %(x)s with numbers or dates here.") % {"x": repr(x)})
    if better not in ("", "low", "high"):
        raise UnknownChoiceError(gettext("More or less of it is better: `better` is low or high."))
    board = with_intervals_of_all(board)
    ranked = [column for column in board.columns if column.is_ranked]
    tasks = configuration_of(publication.revision).tasks if systems else []
    uprights = [(f"{RANK}.{one.rule}", gettext("Rank under %(rule)s") % {"rule": one.name}) for one in ranked]
    uprights += [(f"{SCORE}.{one.rule}", gettext("Score under %(rule)s") % {"rule": one.name}) for one in ranked]
    uprights += [
        (f"{TASK}.{task.key}", gettext("Score on %(task)s") % {"task": task.name}) for task in tasks if task.direction
    ]
    preferred = f"{RANK}.{benchmark.default_rule}"
    key = y or next((one for one, _ in uprights if one == preferred), uprights[0][0] if uprights else "")
    if key not in dict(uprights):
        if not y:
            return ParetoPage(fields, field, uprights, "", "", better != "high", "", False, [], 0, None)
        raise UnknownChoiceError(gettext("There is nothing called %(y)s to set systems against.") % {"y": repr(y[:80])})
    kind, _, of = key.partition(".")
    task_ranks = task_ranks_of(publication.revision, n_systems=len(systems)) if kind == TASK else None
    if task_ranks is not None:
        t = next(t for t, task in enumerate(tasks) if task.key == of)
        upright = Upright.of_task(
            task_ranks.table.matrix.values[:, t],
            dict(uprights)[key],
            is_low_better=tasks[t].direction < 0,
            errors=standard_errors(publication.revision, tasks[t].id, systems),
        )
    else:
        text = gettext("%(level)s %% intervals, for each system separately")
        if board.is_simultaneous:
            text = gettext("%(level)s %% intervals, for all systems at once")
        text %= {"level": localise(100 * board.study_parameters.get("level", 0.95), "g")}
        upright = Upright.of_column(next(one for one in ranked if one.rule == of), kind, dict(uprights)[key], text)
    across = figures_across(field, systems, about)
    is_less_better = better != "high"
    places = np.flatnonzero(~np.isnan(across) & ~np.isnan(upright.values))
    standings = standings_of(across[places], upright, places, is_less_better=is_less_better)
    said = [about.get(system.id, NOTHING) for system in systems]
    marking = marking_field(every_field, said, mark)
    marks = grouping_of(marking, said) if marking else None
    rows = []
    for i, standing in zip(places.tolist(), standings, strict=True):
        system, interval = systems[i], ""
        if upright.low is not None and upright.high is not None and not np.isnan(upright.low[i]):
            ends = {"low": figure_text(upright.low[i]), "high": figure_text(upright.high[i])}
            interval = ("%(low)s–%(high)s" if kind == RANK else gettext("%(low)s to %(high)s")) % ends
        x_text = field.text(about[system.id].metadata[field.key]) if field else ""
        y_text = typeset(f"{upright.values[i]:z.6g}")
        figures = (float(across[i]), x_text, float(upright.values[i]), y_text)
        group = marks.group(i) if marks else None
        rows.append(ParetoRow(system.key, system.name, *figures, interval, standing, group))
    best_first = 1 if is_less_better else -1
    rows.sort(key=lambda row: (ORDER.index(row.standing), best_first * row.x, row.name))
    numbers_across = across[places]
    is_log = bool(
        field and field.kind == "number" and len(places) and numbers_across.min() > 0
        and numbers_across.max() / LOG_SPREAD >= numbers_across.min()
    )  # fmt: skip
    page = ParetoPage(
        fields=fields,
        field=field,
        uprights=uprights,
        upright_key=key,
        upright_name=upright.name,
        is_less_better=is_less_better,
        interval_text=upright.interval_text,
        is_log=is_log,
        rows=rows,
        n_left_out=len(systems) - len(rows),
        chart=None,
        mark_options=mark_options(every_field, said, marking.key if marking else ""),
        marks=marks.legend if marks else [],
    )
    if field is None or len(rows) < MIN_SYSTEMS:
        return page
    return replace(page, chart=_chart_of(page, field, upright, systems, places))


def figures_across(
    field: MetadataField | None, systems: Sequence[BoardSystem], about: Mapping[int, About]
) -> np.ndarray:
    """What a field says of every system, as numbers; NaN where it says nothing.

    Args:
        field: with numbers or dates; None says nothing of any.
        systems: of a board.
        about: what is known of them, by id.
    """
    numbers = [field.number(about[one.id].metadata.get(field.key)) if field and one.id in about else None
               for one in systems]  # fmt: skip
    return np.array([np.nan if number is None else number for number in numbers])


def standings_of(across: np.ndarray, upright: Upright, places: np.ndarray, *, is_less_better: bool) -> list[str]:
    """Whether each system is on the front.

    Args:
        across: of the systems that are compared, the first figure; no NaN.
        upright: the second, of all systems.
        places: of the compared ones among all.
        is_less_better: whether less of the first is better.

    Returns:
        SURE, MEASURED, POSSIBLE or OFF for each; without intervals a system is SURE or OFF.
    """
    sign = -1.0 if upright.is_low_better else 1.0
    value = sign * upright.values[places]
    best, worst = value, value
    if upright.low is not None and upright.high is not None:
        low, high = upright.low[places], upright.high[places]
        has_interval = ~np.isnan(low)
        ends = np.where(has_interval, sign * low, value), np.where(has_interval, sign * high, value)
        best, worst = np.maximum(*ends), np.minimum(*ends)
    cost = across if is_less_better else -across
    is_sure = ~_dominated(cost, worst, best)
    is_measured = ~_dominated(cost, value, value)
    is_possible = ~_dominated(cost, best, worst)
    levels = is_possible.astype(int) + is_measured + is_sure  # each of the three implies the next
    return [(OFF, POSSIBLE, MEASURED, SURE)[level] for level in levels.tolist()]


def _dominated(cost: np.ndarray, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether another system costs no more and is as good or better, and better in one of both.

    Args:
        cost: less is better, shape (n,).
        own: how good each system is where it is compared with others, shape (n,).
        others: how good it is where others are compared with it, shape (n,).
    """
    levels, level_of = np.unique(cost, return_inverse=True)
    first, second = np.full(len(levels), -np.inf), np.full(len(levels), -np.inf)
    for i in np.argsort(-others, kind="stable").tolist():
        level = level_of[i]
        if first[level] == -np.inf:
            first[level] = others[i]
        elif second[level] == -np.inf:
            second[level] = others[i]
    cheaper = np.concatenate([[-np.inf], np.maximum.accumulate(first)[:-1]])
    # Of those at the same cost, the best but itself.
    beside = np.where(others == first[level_of], second[level_of], first[level_of])
    return (cheaper[level_of] >= own) | (beside > own)


def _chart_of(
    page: ParetoPage, field: MetadataField, upright: Upright, systems: Sequence[BoardSystem], places: np.ndarray
) -> ParetoChart | None:
    """The rows of a page on a plane; None where no axis has room for them.

    Args:
        page: with its rows.
        field: they are set against.
        upright: the other figure, of all systems.
        systems: of the board.
        places: of those with both figures among them.
    """
    at = {systems[i].key: i for i in places.tolist()}
    placed = []
    for row in page.rows:
        i, has_interval = at[row.key], bool(row.interval_text)
        low = None if upright.low is None or not has_interval else float(upright.low[i])
        high = None if upright.high is None or not has_interval else float(upright.high[i])
        said = f"{row.name}: {field.name} {row.x_text}, {page.upright_name} {row.y_text}"
        if has_interval:
            said += f", {gettext('interval %(interval)s') % {'interval': row.interval_text}}"
        said += f", {row.standing_text}" if row.standing else ""
        said += f", {row.mark.field_name} {row.mark.text}" if row.mark else ""
        mark = row.mark.mark if row.mark else None
        placed.append(PlacedSystem(row.key, row.name, row.x, row.y, low, high, row.standing, said, mark=mark))
    label = f"{field.name}, {field.unit}" if field.unit else field.name
    return pareto_chart(
        placed,
        title=gettext("%(upright)s against %(field)s") % {"upright": page.upright_name, "field": field.name},
        description=gettext(
            "%(n_rows)s systems; better is upwards, and the steps join those on the Pareto front by their figures."
        )
        % {"n_rows": len(page.rows)},
        x_label=gettext("%(label)s (logarithmic)") % {"label": label} if page.is_log else label,
        y_label=page.upright_name,
        x_text=(lambda value: localise(value, ".4g")) if field.kind == "date" else field.text,
        is_log=page.is_log,
        is_less_better=page.is_less_better,
        is_low_better=upright.is_low_better,
        least_y=upright.least,
    )


def pareto_export(page: ParetoPage, origin: Origin) -> ExportTable:
    """The rows as a table.

    Args:
        page: what is shown.
        origin: what it is of.
    """
    field = page.field
    label = field.key if field else "x"
    headings = [
        ColumnHead("system", "System", is_text=True),
        ColumnHead("name", "Name", is_text=True),
        ColumnHead(label, field.name if field else "", is_text=bool(field and field.kind == "date")),
        ColumnHead(page.upright_key or "y", page.upright_name),
        ColumnHead("interval", "Interval", is_text=True),
        ColumnHead("front", "Front", is_text=True),
    ]
    is_date = bool(field and field.kind == "date")
    rows = [
        [row.key, row.name, row.x_text if is_date else row.x, row.y, row.interval_text or None, row.standing or "no"]
        for row in page.rows
    ]
    caption = f"{page.upright_name} against {field.name if field else 'nothing'}."
    return origin.export("pareto", caption, headings, rows, better="low" if page.is_less_better else "high")
