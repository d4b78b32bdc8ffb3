"""The Condorcet winner and the Smith set of very many systems, without comparing all pairs of them.

A matrix of all pairs takes 4 bytes times the square of the number of systems: 40 GB for 100,000. One row of it is
cheap, and a few rows are enough: who beats everyone is found by letting a champion meet the others in turn, and the
Smith set lies in whatever is reached from any system by going on to those that it does not beat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, ScoreMatrix
from ranking_engine.core.task_order import task_order
from ranking_engine.rules.choice_sets import smith_set

MAX_MEMBERS = 500  # of a set that the search for the Smith set follows


def majority_of_many(matrix: ScoreMatrix, most_members: int = MAX_MEMBERS) -> tuple[int | None, tuple[int, ...] | None]:
    """Return the Condorcet winner, if there is one, and the Smith set, if it was found.

    The winner is exact. The Smith set is exact where it is given: it was found inside a set that beats everyone else
    and has at most `most_members` systems.

    Args:
        matrix: the scores; a pair without a common voting task is a draw, as in `choice_sets`.
        most_members: the search ends without an answer when it would follow more systems than these.

    Returns:
        The index of the winner or None, and the indices of the Smith set or None where it may be larger.
    """
    rivals = _Rivals(matrix)
    if not rivals.systems.size:
        return None, ()
    # The only system that can beat everyone: each new champion is the first that the last one did not beat.
    order, at = rivals.systems, 0
    start, block = 1, 256
    while start < len(order):
        spared = np.flatnonzero(~rivals.beats(int(order[at]), order[start : start + block]))
        if spared.size:
            at = start + int(spared[0])
            start, block = at + 1, 256
        else:
            start, block = start + block, 2 * block
    champion = int(order[at])
    if rivals.spared(champion).sum() == 1:  # only itself
        return champion, (champion,)
    # The champion, whom it does not beat, whom they do not beat, and so on: they beat all others.
    reached = order == champion
    waiting = [at]
    while waiting:
        unbeaten = np.flatnonzero(rivals.spared(int(order[waiting.pop()])) & ~reached)
        reached[unbeaten] = True
        waiting += unbeaten.tolist()
        if int(reached.sum()) > most_members:
            return None, None
    members = np.sort(order[reached])
    return None, tuple(int(members[i]) for i in smith_set(matrix.subset(members)))


class _Rivals:
    """The scored systems, the strongest first as far as their average places tell, and whom each of them beats."""

    def __init__(self, matrix: ScoreMatrix) -> None:
        scores = matrix.scores[:, matrix.votes]
        weights = matrix.integer_weights[matrix.votes]
        self._scores = scores
        # Sums of weights that fit are exact as float64, and faster to multiply.
        self._weights = weights if weights.dtype == object else weights.astype(np.float64)
        place = task_order(scores).place.astype(np.float64)
        total = sum(weights.tolist())
        shares = np.array([weight / total for weight in weights.tolist()])  # integers may be too long for a float
        strength = np.where(np.isnan(scores), 0.0, -place) @ shares
        scored = np.flatnonzero(matrix.has_score)
        self.systems: NDArray[np.intp] = scored[np.argsort(-strength[scored], kind="stable")]

    def beats(self, i: int, others: NDArray[np.intp]) -> BoolArray:
        """Whether system `i` beats each of the others."""
        mine, theirs = self._scores[i], self._scores[others]
        return np.asarray((mine > theirs) @ self._weights > (theirs > mine) @ self._weights, dtype=bool)

    def spared(self, i: int) -> BoolArray:
        """Whom of `systems` system `i` does not beat, itself included."""
        return ~self.beats(i, self.systems)
