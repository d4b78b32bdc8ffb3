"""A ranking: what a rule makes of a score matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray

Status = Literal["ranked", "winner_only", "no_winner", "undefined"]

UNRANKED = -1
TIE_TOLERANCE = 1e-9  # consecutive scores within this share of the largest |score| tie


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks of systems under one rule; arrays have shape (n_systems,), in the matrix's order of systems.

    Attributes:
        rule: the key of the rule.
        status: `ranked`; `winner_only`, for a rule that elects and does not rank the rest; `no_winner`,
            where such a rule elects no one; `undefined`, where the rule gives no answer.
        scores: the rule's scores, higher is better; NaN where unranked.
        ranks: 1, 2, 2, 4; UNRANKED (-1) where unranked.
        reason: why the status is `undefined` or `no_winner`; otherwise empty.
        unranked_reasons: why a system is unranked, by its index.
        details: what the rule has to add, as plain numbers, texts, lists and dicts.
        stated_winners: where these are not the systems of rank 1: a rule that returns one of several best orders
            names everyone who is first in one of them, and Schulze's names everyone whom no one beats. Where
            `details` has `winners_complete` and it is False, there may be more.
    """

    rule: str
    status: Status
    scores: FloatArray
    ranks: NDArray[np.int32]
    reason: str = ""
    unranked_reasons: Mapping[int, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    stated_winners: tuple[int, ...] | None = None

    @classmethod
    def from_scores(
        cls,
        rule: str,
        scores: FloatArray,
        *,
        status: Status = "ranked",
        reason: str = "",
        unranked_reasons: Mapping[int, str] | None = None,
        details: Mapping[str, Any] | None = None,
        stated_winners: tuple[int, ...] | None = None,
    ) -> Ranking:
        """Rank the systems by `scores` (higher is better, NaN = unranked), with the tolerance for ties."""
        scores = np.array(scores, dtype=np.float64)
        ranks = ranks_of(scores[None, :])[0]
        scores.flags.writeable = ranks.flags.writeable = False
        reasons = dict(unranked_reasons or {})
        return cls(rule, status, scores, ranks, reason, reasons, dict(details or {}), stated_winners)

    @classmethod
    def undefined(cls, rule: str, n_systems: int, reason: str, details: Mapping[str, Any] | None = None) -> Ranking:
        """Return the ranking of a rule that gives no answer, and why."""
        reasons = dict.fromkeys(range(n_systems), reason)
        scores = np.full(n_systems, np.nan)
        return cls.from_scores(
            rule, scores, status="undefined", reason=reason, unranked_reasons=reasons, details=details
        )

    @property
    def n_systems(self) -> int:
        """The number of systems, ranked or not."""
        return self.ranks.shape[0]

    @property
    def n_ranked(self) -> int:
        """The number of systems that have a rank."""
        return int((self.ranks != UNRANKED).sum())

    @cached_property
    def winners(self) -> tuple[int, ...]:
        """All systems of rank 1, or those that the rule states; empty where no one is ranked."""
        if self.stated_winners is not None:
            return self.stated_winners
        return tuple(int(i) for i in np.flatnonzero(self.ranks == 1))

    @cached_property
    def tie_groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two or more systems that share a rank, best first."""
        shared, counts = np.unique(self.ranks[self.ranks != UNRANKED], return_counts=True)
        return tuple(tuple(int(i) for i in np.flatnonzero(self.ranks == rank)) for rank in shared[counts > 1])

    @property
    def n_tied(self) -> int:
        """Ranked systems minus distinct rule scores: 0 means that no two of them are equal."""
        return self.n_ranked - len(self._shared)

    @property
    def n_in_ties(self) -> int:
        """The number of systems that share their rank."""
        return int(self._shared[self._shared > 1].sum())

    @cached_property
    def _shared(self) -> NDArray[np.int64]:
        """How many systems have each rank that is given."""
        return np.unique(self.ranks[self.ranks != UNRANKED], return_counts=True)[1]

    @cached_property
    def average_ranks(self) -> FloatArray:
        """Ranks for comparisons: ties get the mean of their places (1, 2.5, 2.5, 4); NaN where unranked."""
        averages = average_ranks(self.ranks)
        averages.flags.writeable = False
        return averages


def average_ranks(ranks: NDArray[np.integer[Any]]) -> FloatArray:
    """Return the mean of the places that tied systems share: 1, 2.5, 2.5, 4 of 1, 2, 2, 4; NaN of ranks below 1.

    `ranks` is one ranking, or has shape (n_rankings, n_systems).
    """
    rows = np.atleast_2d(ranks)
    is_ranked = rows >= 1
    # Each ranking counts its ranks in cells of its own.
    width = max(rows.shape[1], int(rows.max(initial=0))) + 1
    cells = np.where(is_ranked, rows, 0) + width * np.arange(len(rows))[:, None]
    n_sharing = np.bincount(cells.ravel(), minlength=1)[cells]
    return np.where(is_ranked, rows + (n_sharing - 1) / 2, np.nan).reshape(ranks.shape)


def ranks_of(scores: FloatArray) -> NDArray[np.int32]:
    """Rank each row of `scores`, shape (n_rankings, n_systems): 1, 2, 2, 4; UNRANKED where NaN.

    Scores tie when consecutive sorted values differ by at most 1e-9 of the row's largest |score|.
    """
    n = scores.shape[1]
    if len(scores) == 1:  # without the axis it is faster, and ranking one matrix asks for one row at a time
        row = scores[0]
        ranked = np.argsort(-row, kind="stable")[: n - int(np.count_nonzero(np.isnan(row)))]  # NaN last
        rank_of = np.full(n, UNRANKED, dtype=np.int32)
        if ranked.size:
            best_first = row[ranked]
            tie = TIE_TOLERANCE * max(abs(best_first[0]), abs(best_first[-1]))
            opens_at = np.arange(1, len(ranked) + 1, dtype=np.int32)
            with np.errstate(over="ignore"):  # as below
                opens_at[1:][best_first[:-1] - best_first[1:] <= tie] = 0
            rank_of[ranked] = np.maximum.accumulate(opens_at)
        return rank_of[None]
    order = np.argsort(-scores, axis=1, kind="stable")
    descending = np.take_along_axis(scores, order, axis=1)
    tolerance = TIE_TOLERANCE * np.max(np.abs(scores), axis=1, initial=0.0, where=~np.isnan(scores))
    opens = np.ones(scores.shape, dtype=bool)
    with np.errstate(over="ignore"):  # the distance of two huge scores may be infinite: they do not tie
        opens[:, 1:] = descending[:, :-1] - descending[:, 1:] > tolerance[:, None]
    places = np.maximum.accumulate(np.where(opens, np.arange(1, n + 1), 0), axis=1)
    ranks = np.empty(scores.shape, dtype=np.int32)
    np.put_along_axis(ranks, order, places.astype(np.int32), axis=1)
    ranks[np.isnan(scores)] = UNRANKED
    return ranks
