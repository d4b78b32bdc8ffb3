"""Rankings of many tables one by one, for rules without a way to score all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix

MOST_SECONDS = 1.2  # of one table


class Alone:
    """Ranks tables one at a time, and remembers of rules that search for the best order whether it was proven.

    Args:
        seconds: by rule what one table may cost at most, as estimated from the steps of its search; `MOST_SECONDS` for
            rules that are not named. Only rules that search for the best order can stop early.
    """

    def __init__(self, seconds: Mapping[str, float] | None = None) -> None:
        self._seconds = seconds or {}
        self._proven: dict[str, list[bool]] = {}

    def rankings(self, matrix: ScoreMatrix, rules: Sequence[str], missing: str) -> dict[str, Ranking]:
        """Return the ranking of one table under each rule; `missing` is for rules that need all scores."""
        seconds = {rule: self._seconds.get(rule, MOST_SECONDS) for rule in rules}
        rankings = rank_all(matrix, rules, missing=missing, seconds=seconds)
        for rule, ranking in rankings.items():
            if get_rule(rule).is_search and ranking.status == "ranked":
                self._proven.setdefault(rule, []).append(bool(ranking.details["proven"]))
        return rankings

    def scores(self, matrix: ScoreMatrix, rules: Sequence[str], missing: str) -> dict[str, FloatArray]:
        """Return minus the ranks of one table under each rule, NaN where a system has none."""
        return {
            rule: np.where(ranking.ranks == UNRANKED, np.nan, -ranking.ranks.astype(np.float64))
            for rule, ranking in self.rankings(matrix, rules, missing).items()
        }

    def proven(self, rule: str) -> NDArray[np.int8]:
        """Return for every table that was ranked so far, in their order, 1 where the order was proven to be the best.

        Empty for a rule that does not search.
        """
        return np.array(self._proven.get(rule, []), dtype=np.int8)
