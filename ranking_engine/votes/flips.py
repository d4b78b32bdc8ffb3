"""How few votes decide the first place: the fewest whose removal lets another system tie with the first, or pass it.

The question is that of Huang et al. (arXiv 2508.11847). Votes with the same systems, result and weight are the same, so
that sets of votes are counts by kind. The influence of a kind on the gap between the first system and a rival is found
from the derivatives at the estimate; the kinds of the greatest influence are removed, half of what seems to be needed
at a time, and the rest is fitted again each time, until the gap is closed. What is returned was confirmed by a fit of
the remaining votes from the beginning, so that it is an upper bound of the fewest votes, and never a guess. It is exact
where it is 0 or 1, where there are two systems, and where all smaller sets were tried. Small sets are tried size by
size, also where removing by influence finds nothing. Otherwise a lower bound is proven.

The lower bound, for ties as half wins: let h be the change of the strengths, M its largest difference between two
systems, H the information. Both estimates have derivative 0, so that the sum over pairs of (number of votes) x (change
of the chance to win) x (change of the gap) is what the removed votes contribute, each M times its weight at most. The
slope of the logistic function shrinks by a factor e^-|x| at most over a distance x, so that this sum is at least
(1 - e^-M) / M h'Hh. By the inequality of Cauchy and Schwarz h'Hh >= g^2 / V and M^2 / W, where g is the gap to the
rival, V the variance of that gap by the inverse of H, and W the largest such variance of any two systems. The least
over M is (1 - exp(-g sqrt(W / V))) / W.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.rules.bradley_terry import SAME_STRENGTH
from ranking_engine.votes.connectedness import Connectedness, tie_problem
from ranking_engine.votes.data import LOST, TIED, Comparisons, Votes
from ranking_engine.votes.fitting import NotFittedError, VoteFit, fitted_votes
from ranking_engine.votes.models import VoteModel, vote_model

MAX_TRIED = 2_000  # smaller sets that are tried to prove that none does it
_WORK = MAX_TRIED * 30**3  # of fits, as cubes of numbers of systems, where not all smaller sets can be tried
_RIVALS = 8  # that are looked at, those that seem to need the fewest votes
_HOPELESS = 2.0  # times as many votes as were found: a rival that seems to need more is not looked at
_KINDS = 2_048  # of the greatest influence, which are looked at first
_SINGLY = 8  # so few votes that seem to be needed are removed one by one
_NO_LABELS = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class RemovedVotes:
    """Votes of one kind that are removed.

    Attributes:
        winner, loser: the systems by place; of a tie the two in any order.
        is_tie: whether they were ties.
        n_votes: how many.
    """

    winner: int
    loser: int
    is_tie: bool
    n_votes: int


@dataclass(frozen=True)
class FirstPlaceFlip:
    """The fewest votes that decide the first place.

    Attributes:
        leader, rival: the first system, and the one that ties with it or passes it without the votes; by place.
        n_votes: how many votes; None where no set was found.
        share: of all votes of positive weight.
        is_exact: whether no smaller set does it; otherwise `n_votes` is an upper bound, confirmed by a fit.
        least: no set of fewer votes does it, which is proven; `n_votes` itself where that is exact.
        removed: the votes, by kind, most first.
        problem: why there is no answer; empty where there is one.
    """

    leader: int | None
    rival: int | None = None
    n_votes: int | None = None
    share: float = math.nan
    is_exact: bool = False
    least: int = 0
    removed: tuple[RemovedVotes, ...] = ()
    problem: str = ""


@dataclass(frozen=True, eq=False)
class VoteKinds:
    """Votes that are the same, counted.

    Attributes:
        comparisons: the counts of all votes.
        rows, results: the pair and the result of each kind.
        weights: of one vote.
        available: how many votes there are.
        model: that is fitted.
    """

    comparisons: Comparisons
    rows: NDArray[np.intp]
    results: NDArray[np.intp]
    weights: FloatArray
    available: NDArray[np.int64]
    model: VoteModel

    @classmethod
    def of(cls, votes: Votes, model: VoteModel, prior: float) -> VoteKinds:
        """Count votes of positive weight by kind, without their covariates."""
        comparisons = Comparisons.of(votes).with_prior(prior)
        is_counted = votes.weights > 0
        kinds = np.stack([comparisons.codes[is_counted].astype(np.float64), votes.weights[is_counted]])
        if kinds.shape[1] and np.ptp(kinds[1]) == 0:
            codes, available = np.unique(kinds[0], return_counts=True)
            weights = np.full(len(codes), kinds[1, 0])
        else:
            (codes, weights), available = np.unique(kinds, axis=1, return_counts=True)
        places = codes.astype(np.intp)
        n_rows = comparisons.n_rows
        return cls(comparisons, places % n_rows, places // n_rows, weights, available.astype(np.int64), model)

    def fit_without(self, removed: NDArray[np.int64], start: FloatArray | None = None) -> VoteFit | None:
        """Return the fit of what is left, or None where that does not connect all systems or has no estimate."""
        counts = self.comparisons.counts.copy()
        np.subtract.at(counts, (self.results, self.rows), removed * self.weights)
        # What rounding leaves of a count of which all is removed is no vote.
        counts[counts < 1e-9 * self.comparisons.counts] = 0.0
        left = self.comparisons.with_counts(counts)
        # It depends on which counts are positive alone, and small sets of votes seldom change that.
        positive = (counts > 0).tobytes()
        labels = self._labels.get(positive)
        if labels is None:
            connectedness = Connectedness.of(left)
            is_fitted = connectedness.n_components <= 1 and not (self.model.has_ties and tie_problem(left))
            labels = self._labels[positive] = connectedness.labels if is_fitted else _NO_LABELS
        if labels is _NO_LABELS:
            return None
        try:
            return fitted_votes(left, self.model, labels, start)
        except NotFittedError:
            return None

    @cached_property
    def _labels(self) -> dict[bytes, NDArray[np.intp]]:
        """The components of the systems by which counts are positive; `_NO_LABELS` where these have no estimate."""
        return {}

    def influences(self, fit: VoteFit, leader: int, rival: int) -> FloatArray:
        """Return by how much the gap shrinks, to first order, where one vote of each kind is removed."""
        direction = fit.inverse[:, leader] - fit.inverse[:, rival]
        first, second = self.systems
        of_vote = fit.terms.slope.ravel()[self.places] * (direction[first] - direction[second])
        if fit.tie is not None:
            of_vote += fit.terms.tie_slope.ravel()[self.places] * direction[self.comparisons.n_systems]
        return np.asarray(self.weights * of_vote)

    @cached_property
    def systems(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The two systems of each kind."""
        return self.comparisons.first[self.rows], self.comparisons.second[self.rows]

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The place of each kind's count in `comparisons.counts.ravel()`."""
        return self.results * self.comparisons.n_rows + self.rows


def fewest_votes(
    votes: Votes, model: str = "half_wins", *, prior: float = 0.0, max_tried: int = MAX_TRIED
) -> FirstPlaceFlip:
    """Return the fewest votes found without which the first system is no longer first alone.

    Covariates are left out: the model is that of strengths, and of ties where `model` has them. Votes are removed, not
    added or changed, and what is left must connect all systems, by the wins of the prior if there is one.
    O(n_votes + n_systems^3) a fit, about log2(fewest) + 8 fits for each of 8 rivals, and one for each set tried.

    Args:
        votes: to be removed from.
        model: as for `rate`.
        prior: as for `rate`; its wins are not votes, and stay.
        max_tried: so many smaller sets are tried, all of a size or none; at most `MAX_TRIED`.

    Raises:
        ValueError: the model is none.
    """
    kinds = VoteKinds.of(votes, vote_model(model), prior)
    n, n_counted = votes.n_systems, int(kinds.available.sum())
    if n < 2:
        return FirstPlaceFlip(None, problem="there are no two systems")
    nothing = np.zeros(len(kinds.available), dtype=np.int64)
    fit = kinds.fit_without(nothing)
    if fit is None:
        return FirstPlaceFlip(None, problem="the votes give no finite strengths for all systems")
    order = np.argsort(-fit.strengths, kind="stable")
    leader, second = int(order[0]), int(order[1])
    if fit.strengths[leader] - fit.strengths[second] <= SAME_STRENGTH:
        return FirstPlaceFlip(leader, second, 0, 0.0, is_exact=True)
    least = least_votes(kinds, fit, leader)
    # Rivals by how many votes seem to be needed; a rival that needs more than the best set has is given up.
    needed = {int(rival): _closing_kinds(kinds, fit, leader, int(rival), nothing)[2] for rival in order[1:]}
    best: NDArray[np.int64] | None = None
    rival_of_best = None
    for rival in sorted(needed, key=needed.__getitem__)[:_RIVALS]:
        if best is not None and needed[rival] > _HOPELESS * best.sum():
            break
        limit = n_counted if best is None else int(best.sum())
        trial = _removed_for(kinds, fit, leader, rival, limit)
        if trial is not None and (best is None or trial.sum() < best.sum()):
            best, rival_of_best = trial, rival
    n_below = n_counted + 1 if best is None else int(best.sum())
    if n == 2 and best is not None:
        least = n_below
    if least < n_below:
        smaller, least = _smallest_set(kinds, fit, leader, (least, n_below), min(max_tried, MAX_TRIED))
        if smaller is not None:
            best = smaller
            left = kinds.fit_without(best)
            if left is not None:
                rival_of_best = int(np.argsort(-np.where(np.arange(n) == leader, -np.inf, left.strengths))[0])
    if best is None:
        problem = "no set of votes was found that leaves all systems connected"
        if least > n_counted:
            problem = "no set of votes changes it and leaves all systems connected"
        return FirstPlaceFlip(leader, least=min(least, n_counted), problem=problem)
    removed = []
    for kind in np.flatnonzero(best).tolist():
        row, result = kinds.rows[kind], kinds.results[kind]
        pair = int(kinds.comparisons.first[row]), int(kinds.comparisons.second[row])
        winner, loser = pair[::-1] if result == LOST else pair
        removed.append(RemovedVotes(winner, loser, bool(result == TIED), int(best[kind])))
    n_votes = int(best.sum())
    removed.sort(key=lambda part: (-part.n_votes, part.winner, part.loser))
    is_exact = n_votes <= least
    return FirstPlaceFlip(
        leader, rival_of_best, n_votes, n_votes / n_counted, is_exact, min(least, n_votes), tuple(removed)
    )


def least_votes(kinds: VoteKinds, fit: VoteFit, leader: int) -> int:
    """Return a number of votes below which no set makes another system tie with the leader; see the head of the module.

    1 for models with ties, for which nothing more is proven here.
    """
    if kinds.model.has_ties:
        return 1
    n = len(fit.strengths)
    of_gaps = fit.inverse.diagonal()[:n, None] + fit.inverse.diagonal()[:n] - 2 * fit.inverse[:n, :n]
    gaps = np.delete(fit.strengths[leader] - fit.strengths, leader) - SAME_STRENGTH
    variances, widest = np.delete(of_gaps[leader], leader), float(of_gaps.max())
    bounds = -np.expm1(-np.maximum(gaps, 0.0) * np.sqrt(widest / variances)) / widest
    # A little less, for what rounding may have added.
    return max(1, math.ceil(float(bounds.min()) / float(kinds.weights.max()) * (1 - 1e-6) - 1e-9))


def _is_overtaken(fit: VoteFit | None, leader: int) -> bool:
    """Whether another system ties with the leader, or has passed it."""
    if fit is None:
        return False
    others = np.delete(fit.strengths, leader)
    return bool(others.max() >= fit.strengths[leader] - SAME_STRENGTH)


def _closing_kinds(
    kinds: VoteKinds, fit: VoteFit, leader: int, rival: int, removed: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64], float]:
    """Return kinds that shrink the gap to a rival, most first; how many votes each has left; and how many seem needed.

    The last is to first order; all useful ones where even these are not enough. There are as many kinds as are needed,
    or more.
    """
    influences = kinds.influences(fit, leader, rival)
    left = kinds.available - removed
    gap = float(fit.strengths[leader] - fit.strengths[rival])
    useful = np.flatnonzero((influences > 0) & (left > 0))
    if len(useful) > _KINDS:  # mostly a few of the kinds are enough, and sorting all takes long
        best = useful[np.argpartition(-influences[useful], _KINDS)[:_KINDS]]
        useful = best if float(influences[best] @ left[best]) >= gap else useful
    useful = useful[np.argsort(-influences[useful], kind="stable")]
    closed = np.cumsum(influences[useful] * left[useful])
    last = int(np.searchsorted(closed, gap))
    if last == len(useful):
        return useful, left[useful], float(left[useful].sum())
    before = float(closed[last - 1]) if last else 0.0
    return useful, left[useful], float(left[useful[:last]].sum()) + math.ceil((gap - before) / influences[useful[last]])


def _removed_for(kinds: VoteKinds, fit: VoteFit, leader: int, rival: int, limit: int) -> NDArray[np.int64] | None:
    """Return how many votes of each kind to remove for the leader to be overtaken; None for `limit` or more of them.

    Args:
        kinds, fit: the votes and their fit.
        leader, rival: whose gap is closed.
        limit: a set of so many votes is of no use.
    """
    removed = np.zeros(len(kinds.available), dtype=np.int64)
    current: VoteFit | None = fit
    while current is not None and not _is_overtaken(current, leader):
        useful, left, need = _closing_kinds(kinds, current, leader, rival, removed)
        n_more = int(min(need, limit))
        n_more = 1 if n_more <= _SINGLY else n_more // 2
        if not useful.size or removed.sum() + n_more >= limit + (limit == kinds.available.sum()):
            return None
        before = np.concatenate([[0], np.cumsum(left)[:-1]])
        removed[useful] += np.clip(n_more - before, 0, left)
        current = kinds.fit_without(removed, current.parameters)
    return removed if _is_overtaken(kinds.fit_without(removed), leader) else None


def _smallest_set(
    kinds: VoteKinds, fit: VoteFit, leader: int, sizes: tuple[int, int], max_tried: int
) -> tuple[NDArray[np.int64] | None, int]:
    """Try sets of votes from the smallest on, all of a size or none.

    Args:
        kinds, fit: the votes and their fit.
        leader: the first system.
        sizes: from where sets are tried, because smaller ones are excluded; and the size that is no longer tried.
        max_tried: so many sets at most, smaller ones included. Fewer where fits take long and these are not all sets.

    Returns:
        The first set that overtakes the leader, None where none does; and a size below which none does.
    """
    n_kinds, (least, n_below) = len(kinds.available), sizes
    n_sets = sum(math.comb(n_kinds + size - 1, size) for size in range(1, min(n_below, MAX_TRIED)))
    if n_sets > max_tried or n_below > MAX_TRIED:
        max_tried = min(max_tried, _WORK // kinds.comparisons.n_systems**3)
    n_tried, available = 0, kinds.available.tolist()
    of_size: list[tuple[int, ...]] = [()]  # sets as kinds in ascending order
    for size in range(1, n_below):
        larger = (
            (*chosen, kind)
            for chosen in of_size
            for kind in range(chosen[-1] if chosen else 0, n_kinds)
            if chosen.count(kind) < available[kind]
        )
        of_size = list(itertools.islice(larger, max_tried - n_tried + 1))
        n_tried += len(of_size)
        if n_tried > max_tried:
            return None, max(size, least)
        for chosen in of_size if size >= least else ():
            removed = np.bincount(chosen, minlength=n_kinds)
            if _is_overtaken(kinds.fit_without(removed, fit.parameters), leader):
                return removed, size
    return None, n_below
