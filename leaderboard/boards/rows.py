"""The rows of a board: what every rule says of one system, its rank and how far it moves between rules."""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from django.utils.translation import gettext

from leaderboard.boards.groups import Group, Grouping
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.text import figure_text, figure_texts
from leaderboard.models import Baseline
from leaderboard.rankings.confidence.intervals import interval_text
from leaderboard.rankings.confidence.significance import Separability
from leaderboard.rankings.published import Column, PublishedBoard
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.systems import About
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.files.metadata import MetadataField

AVERAGE_RANK = "average_rank"
NOTHING = About()
SHADES = (0.03, 0.1, 0.3)  # shares of the board: a change up to the first of them has shade 1, beyond the last 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One system under one rule."""

    rank: int | None
    n_tied_with: int
    # Places better than under the reference rule, among the systems that both rank; None where one gives no rank.
    change: int | None
    score_text: str
    reason: str
    interval_text: str
    shade: int = 0  # how far the change goes, from -4 (much worse) to 4 (much better)
    joins_above: bool = False  # tied with the system in the row above
    joins_below: bool = False
    is_winner: bool = False  # elected by the rule, alone or with others; some rules elect systems below rank 1
    is_sole_winner: bool = False
    n_predicted: int = 0  # scores that the rank rests on and no one measured

    @property
    def is_tied(self) -> bool:
        """Whether others share the rank."""
        return self.n_tied_with > 0

    @property
    def rank_text(self) -> str:
        """The rank, with = where others share it and ≈ where it rests on predicted scores."""
        return f"{'≈' if self.n_predicted else ''}{'=' if self.is_tied else ''}{self.rank}"


@dataclass(frozen=True, slots=True)
class Fact:
    """What one field of the metadata says of one system."""

    text: str  # empty where nothing is known
    is_number: bool = False
    url: str = ""


@dataclass(frozen=True)
class Row:
    """One system of a board."""

    id: int
    key: str
    name: str
    is_own: bool
    n_scored: int
    n_voting_tasks: int
    reference_rank: int | None
    place: int | None  # the rank under the rule that orders the rows; under the reference rule where none does
    least_rank: int | None
    median_rank: float | int | None
    greatest_rank: int | None
    cells: list[Cell]
    inseparable_text: str = ""  # the ranks of those that do not differ significantly from it
    interval: tuple[int, int] | None = None  # of its rank under the reference rule, where the study is there
    is_pinned: bool = False
    baseline: str = Baseline.NONE
    url: str = ""
    short_name: str = ""  # where the name is too long for its column
    facts: Sequence[Fact] = ()  # of each field that is a column
    among_text: str = ""  # its place among the systems that a filter leaves, or in its group
    group: Group | None = None  # the section that it is in
    mark: Group | None = None  # the group that its mark is of
    n_predicted: int = 0  # scores that its place rests on and no one measured
    is_tied: bool = False

    @property
    def place_text(self) -> str:
        """The place, with = where others share it; a dash where there is none."""
        return f"{'=' if self.is_tied else ''}{self.place}" if self.place else "–"


def rank_range(columns: Sequence[Column], n_systems: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least, median and greatest rank of every system over the rules that rank; NaN where none ranks it."""
    ranking = [column.ranks for column in columns if column.is_ranked]
    if not ranking:
        nothing = np.full(n_systems, np.nan)
        return nothing, nothing, nothing
    ranks = np.array(ranking, dtype=float)
    ranks[ranks < 1] = np.nan
    is_ranked = ~np.isnan(ranks).all(axis=0)
    least, median, greatest = (np.full(n_systems, np.nan) for _ in range(3))
    if not is_ranked.any():
        return least, median, greatest
    least[is_ranked] = np.nanmin(ranks[:, is_ranked], axis=0)
    greatest[is_ranked] = np.nanmax(ranks[:, is_ranked], axis=0)
    # The median by sorting: numpy's own goes system by system where any rank is missing.
    ordered, n_ranks = np.sort(ranks[:, is_ranked], axis=0), (~np.isnan(ranks[:, is_ranked])).sum(axis=0)
    places = np.arange(ordered.shape[1])
    median[is_ranked] = (ordered[(n_ranks - 1) // 2, places] + ordered[n_ranks // 2, places]) / 2
    return least, median, greatest


def shade_of(change: int | None, n_systems: int) -> int:
    """How far a change of rank goes, as a share of the board's places: -4 to 4."""
    if not change:
        return 0
    share = abs(change) / max(1, n_systems - 1)
    level = 1 + sum(share > bound for bound in SHADES)
    return level if change > 0 else -level


def _ranks_among(ranks: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The ranks among those systems alone that `others` ranks, too: whom a rule leaves out moves no one up.

    Args:
        ranks: under one rule, 1 is best, equal where tied; below 1 where it ranks a system not.
        others: under another rule.

    Returns:
        ranks of the same shape, 0 for systems that one of the two does not rank.
    """
    is_common = (ranks >= 1) & (others >= 1)
    if (is_common == (ranks >= 1)).all():
        return np.where(is_common, ranks, 0)
    ranks_in_common = np.zeros_like(ranks)
    ranks_in_common[is_common] = np.searchsorted(np.sort(ranks[is_common]), ranks[is_common]) + 1
    return ranks_in_common


class Rows:
    """Makes rows; what all of them need is worked out once."""

    def __init__(
        self,
        published: PublishedBoard,
        systems: Sequence[BoardSystem],
        columns: list[Column],
        *,
        reference: Column,
        ordering: Column,
        separability: Separability,
        ranges: tuple[np.ndarray, np.ndarray, np.ndarray],
        with_scores: bool,
        own: frozenset[int],
        about: Mapping[int, About],
        fields: Sequence[MetadataField],
        among: Sequence[int],
        grouping: Grouping | None = None,
        marks: Grouping | None = None,
    ) -> None:
        self.published, self.systems, self.columns, self.reference = published, systems, columns, reference
        self.separability, self.own, self.with_scores = separability, own, with_scores
        self.about, self.fields = about, fields
        self.places, self.ordering = ordering.ranks.tolist(), ordering
        self.place_holders = Counter(self.places)
        self.least, self.median, self.greatest = ranges
        # Plain lists: taking single numbers out of an array is slow.
        self.ranks = [column.ranks.tolist() for column in columns]
        self.reference_ranks = reference.ranks.tolist()
        # Of the systems that a filter leaves, their ranks among all; none where all are shown.
        self.ranks_left = sorted(place for i in among if (place := self.places[i]) >= 1)
        self.grouping, self.marks = grouping, marks
        # Of the systems of each group, their ranks among all; of those that a filter leaves, where there is one.
        self.ranks_in_group: dict[int, list[int]] = defaultdict(list)
        if grouping:
            for i in among or range(len(systems)):
                if self.places[i] >= 1:
                    insort(self.ranks_in_group[grouping.of[i]], self.places[i])
        self.holders = [Counter(ranks) for ranks in self.ranks]
        # Each system's change against the reference rule; None where there is nothing to compare.
        self.changes: list[list[int] | None] = [
            (_ranks_among(reference.ranks, column.ranks) - _ranks_among(column.ranks, reference.ranks)).tolist()
            if column.is_ranked and reference.is_ranked and column is not reference
            else None
            for column in columns
        ]

    def rows(self, order: Sequence[int], *, is_pinned: bool = False) -> Iterator[Row]:
        """The rows of these systems, one under the other, each made when it is its turn."""
        lower, upper = self.reference.lower, self.reference.upper
        group_of = [] if is_pinned or not self.grouping else self.grouping.of
        for above, i, below in zip([-1, *order[:-1]], order, [*order[1:], -1], strict=True) if order else ():
            if group_of:  # no bracket of a tie goes from one group to the next
                above = above if above >= 0 and group_of[above] == group_of[i] else -1  # noqa: PLW2901
                below = below if below >= 0 and group_of[below] == group_of[i] else -1  # noqa: PLW2901
            system, rank, place = self.systems[i], self.reference_ranks[i], self.places[i]
            median = float(self.median[i])
            interval = None
            if rank >= 1 and lower is not None and upper is not None and lower[i] >= 1:
                interval = int(lower[i]), int(upper[i])
            yield Row(
                id=system.id,
                key=system.key,
                name=system.name,
                is_own=system.id in self.own,
                n_scored=int(self.published.n_scored[i]),
                n_voting_tasks=self.published.facts["n_voting_tasks"],
                reference_rank=rank if rank >= 1 else None,
                place=place if place >= 1 else None,
                least_rank=_whole(self.least[i]),
                median_rank=_whole(median) if np.isnan(median) or median.is_integer() else median,
                greatest_rank=_whole(self.greatest[i]),
                cells=[self._cell(k, i, above, below) for k in range(len(self.columns))],
                inseparable_text=self.separability.range_text(i),
                interval=interval,
                is_pinned=is_pinned,
                baseline=self.about.get(system.id, NOTHING).baseline,
                facts=[fact(field, self.about.get(system.id, NOTHING)) for field in self.fields],
                among_text=self.among_text(i),
                group=self.grouping.group(i) if self.grouping and not is_pinned else None,
                mark=self.marks.group(i) if self.marks else None,
                n_predicted=self.ordering.predicted_of(i),
                is_tied=self.place_holders[place] > 1,
            )

    def among_text(self, i: int) -> str:
        """The place of system `i` in its group, else among those that a filter leaves."""
        ranks = self.ranks_in_group[self.grouping.of[i]] if self.grouping else self.ranks_left
        if self.places[i] < 1 or not ranks:
            return ""
        figures = {"place": bisect_left(ranks, self.places[i]) + 1, "n": len(ranks)}
        if self.grouping:
            return gettext("%(place)s of %(n)s in group") % figures
        return gettext("%(place)s of %(n)s shown") % figures

    def _cell(self, k: int, i: int, above: int, below: int) -> Cell:
        """What column `k` says of system `i`, which is between two others (-1: none)."""
        column, ranks = self.columns[k], self.ranks[k]
        rank, reference = ranks[i], self.reference_ranks[i]
        if rank < 1:
            return Cell(
                None,
                0,
                None,
                score_text(column.scores[i], column.rule) if self.with_scores else "",
                in_page_language(column.reason_of(i)),
                "",
            )
        n_tied_with = self.holders[k][rank] - 1
        changes = self.changes[k]
        change = changes[i] if changes is not None and reference >= 1 else None
        return Cell(
            rank=rank,
            n_tied_with=n_tied_with,
            change=change,
            score_text=score_text(column.scores[i], column.rule) if self.with_scores else "",
            reason="",
            interval_text=interval_text(column, i) if self.with_scores else "",
            shade=shade_of(change, len(ranks)) if change else 0,
            joins_above=n_tied_with > 0 and above >= 0 and ranks[above] == rank,
            joins_below=n_tied_with > 0 and below >= 0 and ranks[below] == rank,
            is_winner=bool(column.is_winner[i]),
            is_sole_winner=rank == 1 and n_tied_with == 0 and column.n_winners <= 1,
            n_predicted=column.predicted_of(i),
        )


def fact(field: MetadataField, about: About) -> Fact:
    """What a field says of a system."""
    value = about.metadata.get(field.key)
    if value is None:
        return Fact("", field.kind == "number")
    url = str(value) if field.kind == "link" and str(value).startswith(("http://", "https://")) else ""
    return Fact(field.name if url else field.text(value), field.kind == "number", url)


class RowsInTurn(Sequence[Row]):
    """The rows of a board from above, each made again whenever someone comes to it: all at once would be too many."""

    def __init__(self, view: Rows, pinned: Sequence[int], others: Sequence[int]) -> None:
        self._view, self._pinned, self._others = view, pinned, others

    def __len__(self) -> int:
        return len(self._pinned) + len(self._others)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Makes all rows; going through them does not."""
        return list(self)[index]

    def __iter__(self) -> Iterator[Row]:
        yield from self._view.rows(self._pinned, is_pinned=True)
        yield from self._view.rows(self._others)


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


def score_text(score: float, rule: str = "") -> str:
    """A rule's score for people.

    Args:
        score: as the rule gives it, where more is better.
        rule: whose score it is. The average rank is ranked by its negative; people read it as it is called.
    """
    return "" if np.isnan(score) else figure_text(_in_words_of(rule, score))


def score_texts(scores: Sequence[float], rule: str) -> list[str]:
    """A rule's scores that people read below each other, with as many decimals each; NaN has no text."""
    return figure_texts([_in_words_of(rule, score) for score in scores])


def _in_words_of(rule: str, score: float) -> float:
    # Adding nothing turns the negative zero into the one that people write.
    return float(-score if rule_of_variant(rule) == AVERAGE_RANK else score) + 0.0
