"""The scores tab: systems x tasks, sorted by any of them, groups of tasks folded to their mean rank."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from leaderboard.boards.query import MAX_CHOICE_LENGTH, MAX_TEXT_LENGTH, MAX_VALUES
from leaderboard.common.language.numbers import localise
from leaderboard.common.names import cut_apart, is_called
from leaderboard.common.text import whole_number
from leaderboard.models import Benchmark, Publication
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.predictions import predictions_in_time
from leaderboard.rankings.published import UnknownChoiceError, published_board
from leaderboard.rankings.scores import current_scores
from leaderboard.rankings.task_ranks import LEVELS, TaskRanks, task_ranks_of
from leaderboard.rankings.text import ScoreCell, score_cell, score_column
from ranking_engine.text.names import fold_name

PAGE_ROWS, PAGE_COLUMNS = 100, 100
NAME, RANK, TASK, GROUP = "name", "rank", "task:", "group:"


@dataclass(frozen=True)
class ScoresQuery:
    """What a reader asks of the table; the address says it.

    Attributes:
        sort: `rank`, `name`, `task:KEY` or `group:KEY`, with a minus before it for the other way round.
        q: words in the name of a system.
        folded: keys of the groups that are one column.
        page: of the systems.
        part: of the columns.
        revision: its number; 0 for the published one.
    """

    sort: str = RANK
    q: str = ""
    folded: tuple[str, ...] = ()
    page: int = 1
    part: int = 1
    revision: int = 0

    @classmethod
    def read(cls, parameters: QueryDict) -> "ScoresQuery":
        """What an address asks; what it does not say has its default."""
        numbers = {name: whole_number(parameters.get(name, ""), 7) or 0 for name in ("page", "part", "revision")}
        return cls(
            sort=parameters.get("sort", "")[:MAX_CHOICE_LENGTH] or RANK,
            q=parameters.get("q", "")[:MAX_TEXT_LENGTH],
            folded=tuple(dict.fromkeys(filter(None, parameters.getlist("fold")[:MAX_VALUES]))),
            page=max(1, numbers["page"]),
            part=max(1, numbers["part"]),
            revision=numbers["revision"],
        )

    @property
    def text(self) -> str:
        """The end of an address that says it; empty where nothing differs from the default."""
        pairs: list[tuple[str, object]] = [("sort", self.sort)] if self.sort != RANK else []
        pairs += [("q", self.q)] if self.q.strip() else []
        pairs += [("fold", key) for key in self.folded]
        pairs += [(name, n) for name, n in (("page", self.page), ("part", self.part)) if n > 1]
        pairs += [("revision", self.revision)] if self.revision else []
        return f"?{urlencode(pairs)}" if pairs else ""


@dataclass(frozen=True)
class ScoreColumn:
    """A task, or the tasks of a folded group."""

    key: str  # as it is sorted by
    name: str
    group: str  # the name of its group, empty without one
    remark: str  # what its head says beside the name
    tasks: tuple[int, ...]  # the places of its tasks
    url: str  # of the task's page; empty for a group
    sort_url: str
    sort_state: str


@dataclass(frozen=True)
class TintedCell:
    """One score, or the mean rank on the tasks of a group."""

    text: str  # the score in four digits; empty where there is none
    score: ScoreCell  # all digits, or the reason
    level: int  # of tint, 0 for none
    is_best: bool


@dataclass(frozen=True)
class ScoreRow:
    """One system."""

    key: str
    name: str
    short_name: str  # as it fits into its column
    rank: int | None  # under the benchmark's default rule
    cells: list[TintedCell]
    n_predicted: int  # scores that the rank rests on and no one measured
    is_tied: bool

    @property
    def rank_text(self) -> str:
        """The rank, with = where others share it and ≈ where it rests on predicted scores; a dash without one."""
        marks = ("≈" if self.n_predicted else "") + ("=" if self.is_tied else "")
        return f"{marks}{self.rank}" if self.rank else "–"


@dataclass(frozen=True)
class GroupChoice:
    """A group of tasks, and the address where it is folded or not."""

    name: str
    n_tasks: int
    is_folded: bool
    url: str


class ScoresPage:
    """The table of scores of what is published, as an address asks for it.

    Attributes:
        rule_name: the rule whose ranks are shown before the names.
        columns: of this part of the table.
        rows: of this page of the table.
        n_systems, n_found: on the board, and of them those that the query leaves.
        groups: that can be folded.
    """

    def __init__(self, benchmark: Benchmark, publication: Publication, query: ScoresQuery) -> None:
        """Read the scores and lay them out.

        Args:
            benchmark: of the publication.
            publication: what is shown.
            query: what the address asks.

        Raises:
            UnknownChoiceError: the query names a task, a group or an order that there is not.
            TooLargeError: the board is too large for an answer on demand.
        """
        self.query, self._path = query, reverse("scores", args=[benchmark.key])
        self._benchmark, self.configuration = benchmark, configuration_of(publication.revision)
        board = published_board(publication)
        default = next((column for column in board.columns if column.rule == benchmark.default_rule), None)
        self.rule_name = default.name if default else ""
        self.columns, self.rows, self.groups, self.n_systems, self.n_found = [], [], self.group_choices(), 0, 0
        figures = task_ranks_of(publication.revision, n_systems=len(board.system_ids))
        if figures is None:
            return
        self._figures, systems = figures, figures.table.systems
        ranks = default.ranks.tolist() if default else [-1] * len(systems)
        columns = self.all_columns()
        holders = Counter(ranks)
        order = self.system_order(figures, columns, ranks)
        chosen = [i for i in order if is_called(query.q, systems[i].name, systems[i].key)] if query.q.strip() else order
        self.n_systems, self.n_found = len(systems), len(chosen)
        self.n_pages = max(1, math.ceil(len(chosen) / PAGE_ROWS))
        self.n_parts = max(1, math.ceil(len(columns) / PAGE_COLUMNS))
        page, part = min(query.page, self.n_pages), min(query.part, self.n_parts)
        self.query = replace(query, page=page, part=part)
        self.columns = columns[(part - 1) * PAGE_COLUMNS : part * PAGE_COLUMNS]
        places = chosen[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
        scores = current_scores(publication.revision, [systems[i].id for i in places])
        levels, tasks = figures.levels, self.configuration.tasks
        ranked_by_predictions = {i for i in places if any(column.predicted_of(i) for column in board.columns)}
        predictions = predictions_in_time(publication.revision) if ranked_by_predictions else None
        of_groups = {column.key: FoldedGroup(figures, column) for column in self.columns if not column.url}
        for i, short_name in zip(places, cut_apart([systems[i].name for i in places]), strict=True):
            cells = []
            for column in self.columns:
                if column.key in of_groups:
                    cells.append(of_groups[column.key].cell(i))
                    continue
                (t,) = column.tasks
                cell = score_cell(scores.get((systems[i].id, tasks[t].id)), tasks[t])
                if predictions is not None and i in ranked_by_predictions:
                    cell = predictions.in_place_of(cell, systems[i].id, tasks[t].id)
                cells.append(TintedCell(cell.text, cell, max(0, int(levels[i, t])), int(figures.ranks[i, t]) == 1))
            rank = ranks[i] if ranks[i] >= 1 else None
            n_predicted = default.predicted_of(i) if default else 0
            about = systems[i].key, systems[i].name, short_name, rank, cells, n_predicted
            self.rows.append(ScoreRow(*about, is_tied=holders[ranks[i]] > 1))
        for place, column in enumerate(self.columns):
            if column.key not in of_groups:  # whose means have their own decimals
                own = score_column([row.cells[place].score for row in self.rows])
                for row, cell in zip(self.rows, own, strict=True):
                    row.cells[place] = replace(row.cells[place], text=cell.text)

    def url(self, **fields: object) -> str:
        """The address of this table with something else in it; any change but of the page leads to its first page."""
        return self._path + replace(self.query, **({"page": 1} | fields)).text  # type: ignore[arg-type]

    @property
    def heads(self) -> dict[str, dict[str, str]]:
        """The heads of the first column: by name and by rank, with addresses and states."""
        return {key: dict(zip(("url", "state"), self._sorting(key), strict=True)) for key in (NAME, RANK)}

    @property
    def first_state(self) -> str:
        """The state of the first column, which is sorted by name or by rank."""
        return next((state for _, state in map(self._sorting, (NAME, RANK)) if state != "none"), "none")

    @property
    def families(self) -> list[tuple[str, int]]:
        """The groups over the columns: each name with how many columns follow one another."""
        return [(name, len(list(columns))) for name, columns in groupby(self.columns, key=lambda c: c.group)]

    @property
    def pages(self) -> dict[str, object]:
        """Links between the pages of systems."""
        n, n_pages = self.query.page, self.n_pages
        return {
            "number": n,
            "n_pages": n_pages,
            "previous_url": self.url(page=n - 1) if n > 1 else "",
            "next_url": self.url(page=n + 1) if n < n_pages else "",
        }

    @property
    def parts(self) -> dict[str, object]:
        """Links between the parts of the columns."""
        n, n_parts = self.query.part, self.n_parts
        return {
            "number": n,
            "n_pages": n_parts,
            "previous_url": self.url(part=n - 1, page=self.query.page) if n > 1 else "",
            "next_url": self.url(part=n + 1, page=self.query.page) if n < n_parts else "",
        }

    @property
    def hidden_fields(self) -> list[tuple[str, str]]:
        """What the search goes along with."""
        pairs = [("sort", self.query.sort)] if self.query.sort != RANK else []
        pairs += [("fold", key) for key in self.query.folded]
        return pairs + ([("revision", str(self.query.revision))] if self.query.revision else [])

    @property
    def has_predictions(self) -> bool:
        """Whether a score of this page is predicted."""
        return any(cell.score.predicted_text for row in self.rows for cell in row.cells)

    @property
    def has_details(self) -> bool:
        """Whether a score comes with a standard error or a number of instances."""
        return any(cell.score.details_text for row in self.rows for cell in row.cells)

    def _sorting(self, key: str) -> tuple[str, str]:
        """The address that sorts by `key`, or the other way where it does so already; and what `aria-sort` says."""
        state = {key: "ascending", f"-{key}": "descending"}.get(self.query.sort, "none")
        return self.url(sort=f"-{key}" if state == "ascending" else key), state

    def group_choices(self) -> list[GroupChoice]:
        """The groups with tasks; folding one more, or one less, is a link."""
        folded = self.query.folded
        counts = {group.key: 0 for group in self.configuration.groups}
        for task in self.configuration.tasks:
            if task.group in counts:
                counts[task.group] += 1
        return [
            GroupChoice(
                name=group.name,
                n_tasks=counts[group.key],
                is_folded=group.key in folded,
                url=self.url(
                    folded=tuple(k for k in folded if k != group.key) if group.key in folded else (*folded, group.key)
                ),
            )
            for group in self.configuration.groups
            if counts[group.key]
        ]

    def all_columns(self) -> list[ScoreColumn]:
        """The columns of all parts: the tasks in their order, a folded group where its first is."""
        names = self.configuration.group_names
        unknown = [key for key in self.query.folded if key not in names]
        if unknown:
            raise UnknownChoiceError(
                gettext("There is no group of tasks %(unknown)s on this board.") % {"unknown": repr(unknown[0][:80])}
            )
        folded: dict[str, list[int]] = {key: [] for key in self.query.folded}
        for t, task in enumerate(self.configuration.tasks):
            if task.group in folded:
                folded[task.group].append(t)
        columns = []
        for t, task in enumerate(self.configuration.tasks):
            if task.group in folded:
                if t == folded[task.group][0]:
                    key = f"{GROUP}{task.group}"
                    n = sum(one.votes and bool(one.direction) for one in self.configuration.tasks
                            if one.group == task.group)  # fmt: skip
                    remark = ngettext("mean rank on %(n)s task", "mean rank on %(n)s tasks", n) % {"n": n}
                    places = tuple(folded[task.group])
                    columns.append(ScoreColumn(key, names[task.group], "", remark, places, "", *self._sorting(key)))
                continue
            url = reverse("task", args=[self._benchmark.key, task.key])
            group = names.get(task.group or "", "")
            key = f"{TASK}{task.key}"
            remark = gettext("lower is better") if task.direction == -1 else ""
            remark = remark if task.votes else gettext("not counted")
            columns.append(ScoreColumn(key, task.name, group, remark, (t,), url, *self._sorting(key)))
        return columns

    def system_order(self, figures: TaskRanks, columns: Sequence[ScoreColumn], ranks: list[int]) -> list[int]:
        """All systems in the order asked for."""
        sort, is_reversed = self.query.sort.removeprefix("-"), self.query.sort.startswith("-")
        systems = figures.table.systems
        names = [fold_name(system.name) for system in systems]
        if sort == NAME:
            return sorted(range(len(systems)), key=lambda i: names[i], reverse=is_reversed)
        sign = -1 if is_reversed else 1
        if sort == RANK:
            return sorted(range(len(systems)), key=lambda i: (ranks[i] < 1, sign * ranks[i], names[i]))
        column = next((column for column in columns if column.key == sort), None)
        if column is None:
            raise UnknownChoiceError(
                gettext("There is no task or group %(sort)s among the columns of this table.")
                % {"sort": repr(sort[:80])}
            )
        if column.url:
            return figures.order(column.tasks[0], is_reversed=is_reversed)
        means = FoldedGroup(figures, column).means
        return sorted(
            range(len(systems)), key=lambda i: (math.isnan(means[i]), sign * np.nan_to_num(means[i]), names[i])
        )


class FoldedGroup:
    """The ranks of all systems on the voting tasks of a folded group, and the means of them.

    Attributes:
        ranks: shape (n_systems, n_tasks); ties share the average of their ranks, NaN where there is no score.
        means: of a system's ranks; NaN where it has none.
    """

    def __init__(self, figures: TaskRanks, column: ScoreColumn) -> None:
        matrix = figures.table.matrix
        places = [t for t in column.tasks if matrix.votes[t] and matrix.directions[t]]
        self.ranks = figures.ranks[:, places].astype(float)
        for k, t in enumerate(places):
            counts = np.bincount(figures.ranks[:, t])
            self.ranks[:, k] += (counts[figures.ranks[:, t]] - 1) / 2
        self.ranks[figures.ranks[:, places] < 1] = np.nan
        n_ranks = (~np.isnan(self.ranks)).sum(axis=1)
        self.means = np.where(n_ranks > 0, np.nansum(self.ranks, axis=1) / np.maximum(1, n_ranks), np.nan)
        self._is_complete = n_ranks == len(places)
        self._best = self.means[self._is_complete].min(initial=np.inf)
        self._sorted_means = np.sort(self.means[n_ranks > 0])

    def cell(self, i: int) -> TintedCell:
        """The cell of the system at place `i`: its mean rank; the best have a score on every voting task."""
        mean, n_tasks = self.means[i], self.ranks.shape[1]
        if np.isnan(mean):
            return TintedCell(
                "", ScoreCell("", gettext("no score on a task of weight above 0 of this group")), 0, is_best=False
            )
        n_scored = int((~np.isnan(self.ranks[i])).sum())
        details = (
            "" if self._is_complete[i] else gettext("%(n)s of %(n_tasks)s tasks") % {"n": n_scored, "n_tasks": n_tasks}
        )
        share = int(np.searchsorted(self._sorted_means, mean)) / max(1, len(self._sorted_means) - 1)
        level = LEVELS - min(LEVELS, int(share * (LEVELS + 1)))
        text = localise(mean, ".1f")
        return TintedCell(
            text, ScoreCell(text, "", details), level, is_best=bool(self._is_complete[i] and mean == self._best)
        )
