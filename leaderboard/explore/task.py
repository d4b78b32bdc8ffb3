"""One task of a benchmark: the best systems, its weight, its correlation with others, the board without it."""

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.paginator import Page, Paginator
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.access.audience import Audience
from leaderboard.common.language.numbers import localise
from leaderboard.common.paging import with_parameters
from leaderboard.common.text import figure_text, in_words, signed
from leaderboard.explore.what_if import WhatIfBoard, WhatIfQuery, what_if_board
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError, single_flight
from leaderboard.rankings.configuration import BoardConfiguration, ConfiguredTask, configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.published import published_board
from leaderboard.rankings.scores import current_scores
from leaderboard.rankings.task_ranks import TaskRanks, task_ranks_of
from leaderboard.rankings.text import ScoreCell, score_cell, score_column
from leaderboard.rankings.weights import Weights, WeightsError, shares_of

PAGE_ROWS = 100
TOO_OFTEN = gettext_noop("You asked for many computations at once; reload this page in a minute.")
MAX_CORRELATED = 300  # tasks; of a benchmark with more the first are compared
MIN_COMMON = 3  # systems, with fewer nothing is said of how two tasks agree
BEST_NAMED = 3
FIRST_ROWS = 10  # of the ranking without the task
DIRECTIONS = {
    1: gettext_noop("higher is better"),
    -1: gettext_noop("lower is better"),
    0: gettext_noop("none: its scores have no order"),
}


@dataclass(frozen=True)
class TaskRow:
    """One system on the task."""

    rank: int | None
    is_tied: bool
    key: str
    name: str
    cell: ScoreCell
    board_rank: int | None  # under the benchmark's default rule


@dataclass(frozen=True)
class TaskTau:
    """How another task, or the board, orders the systems beside this task."""

    name: str
    url: str
    n_common: int  # systems that both have a score of
    tau: float  # Kendall's tau-b; NaN with too few systems, or where one of the two ties all of them

    @property
    def tau_text(self) -> str:
        """For people, to two digits."""
        return signed(self.tau)

    @property
    def bar(self) -> str:
        """The bar from 0 to tau, on a line from -100 to 100."""
        return "" if math.isnan(self.tau) else f"M0 1H{100 * self.tau:.0f}"


@dataclass(frozen=True)
class TaskPage:
    """What the template reads.

    Attributes:
        task: as it is configured.
        facts: a word and what is said under it.
        rows: this page of the systems, best first.
        rule_name: the benchmark's default rule.
        overall: how the task agrees with the ranking under that rule; None where there is none, or no order.
        others: how it agrees with the other tasks, the most alike first.
        why_no_others: why `others` is empty, where it could be otherwise.
        n_left_out: tasks beyond the first `MAX_CORRELATED`, which are not compared.
        without: the board where the task weighs nothing; None where `why_not` says why it is not there.
        what_if_url: the same on the what-if page.
    """

    task: ConfiguredTask
    facts: list[tuple[str, str]]
    rows: Page[TaskRow]
    rule_name: str
    overall: TaskTau | None
    others: list[TaskTau]
    n_left_out: int
    why_no_others: str
    without: WhatIfBoard | None
    why_not: str
    what_if_url: str

    @property
    def changed(self) -> list[tuple[str, str, list[str]]]:
        """The winner without the task, the winner with it, and the rules under which it is so; most rules first."""
        rules: dict[tuple[str, str], list[str]] = {}
        for chip in self.without.chips if self.without else []:
            if chip.is_changed:
                rules.setdefault((chip.winners_text, chip.own_text), []).append(chip.name)
        return [(*who, names) for who, names in sorted(rules.items(), key=lambda change: -len(change[1]))]

    @property
    def n_changed(self) -> int:
        """How many rules have another winner without the task."""
        return sum(len(names) for _, _, names in self.changed)

    @property
    def first_rows(self) -> list[Any]:
        """The first systems of the ranking without the task."""
        return self.without.rows[:FIRST_ROWS] if self.without else []


def task_page(
    audience: Audience, publication: Publication, key: str, *, page: str | None, may_compute: bool
) -> TaskPage | None:
    """The page of the task called `key`; None where the board has no such task.

    Args:
        audience: who reads, and may see the scores.
        publication: whose scores.
        key: of the task.
        page: of the systems.
        may_compute: whether the board without the task, and how it agrees with others, may be computed for them now.

    Raises:
        TooLargeError: the board is too large for an answer on demand.
    """
    configuration, benchmark = configuration_of(publication.revision), audience.benchmark
    t = next((t for t, task in enumerate(configuration.tasks) if task.key == key), None)
    board = published_board(publication)
    figures = task_ranks_of(publication.revision, n_systems=len(board.system_ids)) if t is not None else None
    if t is None or figures is None:
        return None
    task = configuration.tasks[t]
    default = next((column for column in board.columns if column.rule == benchmark.default_rule), None)
    number = "" if publication.pk == benchmark.publication_id else str(publication.revision.number)
    without, why_not = None, gettext("It does not count in rankings: they are the same without it.")
    if task.votes and not may_compute:
        why_not = gettext(TOO_OFTEN)
    elif task.votes:
        query = WhatIfQuery(weights=Weights(tasks={key: "0"}))
        try:
            without, why_not = what_if_board(publication, query, benchmark.default_rule, audience.level), ""
        except WeightsError:
            why_not = gettext("No other task has a weight: without it there is no ranking.")
        except TooLargeError as error:
            why_not = str(error)
    compared = (
        [u for u, other in enumerate(configuration.tasks) if u != t and other.direction] if task.direction else []
    )
    own, others = _worth(figures, t), []
    taus: list[tuple[float, int]] = []
    if may_compute and compared:
        taus = single_flight(
            f"task-taus:{publication.revision_id}:{inputs_of(publication.revision)}:{key}",
            lambda: [kendall_tau(own, _worth(figures, u)) for u in compared[:MAX_CORRELATED]],
        )
    for u, (tau, n_common) in zip(compared, taus, strict=False):
        url = with_parameters(reverse("task", args=[benchmark.key, configuration.tasks[u].key]), revision=number)
        others.append(TaskTau(configuration.tasks[u].name, url, n_common, tau))
    overall = None
    if default and task.direction:
        ranks = np.where(default.ranks >= 1, -default.ranks.astype(float), np.nan)
        tau, n_common = kendall_tau(own, ranks)
        overall = TaskTau(default.name, "", n_common, tau)
    # A page of the systems, the best first; those without a score last.
    systems, task_ranks = figures.table.systems, figures.ranks[:, t].tolist()
    part = Paginator(figures.order(t), PAGE_ROWS).get_page(page)
    scores = current_scores(publication.revision, [systems[i].id for i in part.object_list])
    cells = score_column([score_cell(scores.get((systems[i].id, task.id)), task) for i in part.object_list])
    board_ranks = default.ranks.tolist() if default else [-1] * len(systems)
    rows = [
        TaskRow(
            rank=task_ranks[i] or None,
            is_tied=task_ranks[i] > 0 and task_ranks.count(task_ranks[i]) > 1,
            key=systems[i].key,
            name=systems[i].name,
            cell=cell,
            board_rank=board_ranks[i] if board_ranks[i] >= 1 else None,
        )
        for i, cell in zip(part.object_list, cells, strict=True)
    ]
    what_if = reverse("what_if", args=[benchmark.key])
    return TaskPage(
        task=task,
        facts=_task_facts(configuration, figures, t),
        rows=Page(rows, part.number, part.paginator),  # type: ignore[arg-type]
        rule_name=default.name if default else "",
        overall=overall,
        others=sorted(others, key=lambda one: (math.isnan(one.tau), -np.nan_to_num(one.tau), one.name)),
        n_left_out=max(0, len(compared) - MAX_CORRELATED) if may_compute else 0,
        why_no_others=gettext(TOO_OFTEN) if compared and not may_compute else "",
        without=without,
        why_not=why_not,
        what_if_url=with_parameters(what_if, weights=f"{key}:0", revision=number) if task.votes else "",
    )


def kendall_tau(first: np.ndarray, second: np.ndarray) -> tuple[float, int]:
    """Kendall's tau-b among the systems that have both, and how many these are; NaN with fewer than `MIN_COMMON`.

    Args:
        first, second: shape (n_systems,), more is better; NaN where a system has none.
    """
    from scipy.stats import kendalltau  # noqa: PLC0415 -- slow import

    is_common = ~np.isnan(first) & ~np.isnan(second)
    n_common = int(is_common.sum())
    if n_common < MIN_COMMON:
        return math.nan, n_common
    return float(kendalltau(first[is_common], second[is_common], method="asymptotic").statistic), n_common


def _worth(figures: TaskRanks, t: int) -> np.ndarray:
    """The scores on a task, so turned that more is better."""
    return figures.table.matrix.values[:, t] * figures.table.configuration.tasks[t].direction


def _task_facts(configuration: BoardConfiguration, figures: TaskRanks, t: int) -> list[tuple[str, str]]:
    """What is known of a task, in words."""
    task, systems = configuration.tasks[t], figures.table.systems
    values = figures.table.matrix.values[:, t]
    scored = values[~np.isnan(values)]
    best_score = float(scored.min() if task.direction == -1 else scored.max()) if len(scored) else math.nan
    best = [systems[i].name for i in np.flatnonzero(figures.ranks[:, t] == 1)]
    unit = f" {task.unit}" if task.unit else ""
    weight = task.weight if task.votes else gettext("not counted")
    if task.votes:
        with suppress(WeightsError):  # weights of too many digits have no shares that can be told
            share = shares_of(figures.table.matrix, configuration.aggregation)[t]
            weight = gettext("%(weight)s, %(share)s %% of the total weight") % {
                "weight": weight, "share": localise(100 * float(share), ".1f"),
            }  # fmt: skip
    ends = [figure_text(end) if end is not None else "" for end in (task.minimum, task.maximum)]
    scale = gettext("from %(low)s") if ends[0] else gettext("up to %(high)s")
    scale = (gettext("%(low)s to %(high)s") if all(ends) else scale) % {"low": ends[0], "high": ends[1]}
    parts = [scale] if any(ends) else []
    parts += [gettext("chance %(level)s") % {"level": figure_text(task.chance)}] if task.chance is not None else []
    facts = [
        (
            gettext("Best"),
            f"{in_words(best, BEST_NAMED)}: {figure_text(best_score)}{unit}" if best else "",
        ),
        (gettext("Direction"), gettext(DIRECTIONS[task.direction])),
        (gettext("Weight"), weight),
        (gettext("Group"), configuration.group_names.get(task.group or "", "")),
        (gettext("Metric"), task.metric),
        (gettext("Scale"), f"{', '.join(parts)}{unit}" if parts else gettext("not stated")),
        (gettext("Rounded to"), task.precision or ""),
        (
            gettext("Depends on"),
            gettext("the tasks of “%(cluster)s”") % {"cluster": task.cluster} if task.cluster else "",
        ),
        (
            gettext("Scores"),
            ngettext("%(n)s of %(n_systems)s system", "%(n)s of %(n_systems)s systems", len(systems))
            % {"n": len(scored), "n_systems": len(systems)},
        ),
        (gettext("Median"), f"{figure_text(float(np.median(scored)))}{unit}" if len(scored) else ""),
    ]
    return [(word, text) for word, text in facts if text]
