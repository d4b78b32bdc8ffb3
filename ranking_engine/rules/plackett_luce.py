"""Plackett and Luce's model: each task picks its systems one after the other, stronger ones more likely first.

Of the systems with a score on a task, the best is picked from all of them, the next from those that are left, and so
on: i is picked from a set C with probability p_i / (the sum of p_j over j in C). Systems without a score on the task
are in no set. Scores are log p, with mean 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.clusters import are_enough, cluster_key
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.rules.bradley_terry import NOT_FITTED, SAME_STRENGTH, apart, clustered_errors, sizes_of
from ranking_engine.rules.majority import pair_details
from ranking_engine.rules.rates import common_weight, in_first_order, name_order, order_of_names, snapped

_ITERATIONS = 200
# The last change of the iteration, and how many of Newton's steps may follow: most tables need few of either.
_ATTEMPTS = ((0.1, 12), (1e-3, 60))
_EXACT = 1e-11
FARTHEST = 250.0  # twice the exponential of twice as much is still a float


def plackett_luce(profile: Profile, *, prior: float = 0.0) -> Outcome:
    """Return log-strengths of maximum likelihood (Luce 1959, Plackett 1975), not regularised unless `prior` says so.

    Each of the systems that tie on a task is picked from all of them and those below, as Breslow 1974 does with times.
    Strengths exist if and only if chains of wins or ties lead from every system to every other (Hunter 2004).
    Otherwise the ranking is undefined, and `details` names the groups. With `prior` every system has won and lost so
    many comparisons with an imaginary one of strength 1, so that strengths always exist.

    Hunter's iteration, O(n T), then Newton's method, O(n^2 T + n^3) a step.

    `details` has `n_clusters`, and from 10 clusters of tasks on, by their `effective_number`, `standard_errors` and
    `t_quantile`, as Bradley-Terry. A task with a single score compares nothing and is in no cluster.
    """
    details: dict[str, Any] = {**pair_details(profile.pairwise), "prior": float(prior)}
    if profile.n_systems == 1:
        return Outcome(np.zeros(1), details=details)
    picks = Picks.of(profile)
    order = name_order(profile)
    if not prior:
        is_level_or_ahead = common_weight(profile) > profile.pairwise.wins.T
        np.fill_diagonal(is_level_or_ahead, val=False)
        reason, names = apart(is_level_or_ahead[np.ix_(order, order)], profile, order)
        if reason:
            return Outcome(None, "undefined", reason, {**details, "components": names})
    strengths, steps = fitted(picks, float(prior))
    details["steps"] = steps
    if np.isnan(strengths).any():
        return Outcome(None, "undefined", NOT_FITTED, details)
    if np.ptp(strengths) > FARTHEST:
        reason = f"strengths are more than {FARTHEST:g} apart, too far for floating-point numbers; use a prior"
        return Outcome(None, "undefined", reason, details)
    compares = picks.present.sum(axis=1) > 1
    tasks = picks.tasks[compares]
    keys = sorted({cluster_key(profile.matrix, t) for t in tasks})
    clusters = {key: number for number, key in enumerate(keys)}
    details["n_clusters"] = len(clusters)
    sizes = sizes_of(profile, clusters)
    if are_enough(sizes):
        of_tasks = (picks.gradients(strengths).T * picks.weights)[:, compares]
        information = picks.information(strengths, float(prior))
        numbers = [clusters[cluster_key(profile.matrix, t)] for t in tasks]
        errors, details["t_quantile"] = clustered_errors(of_tasks, numbers, sizes, information)
        in_order = in_first_order(errors, order).tolist()
        details["standard_errors"] = dict(zip(profile.matrix.system_names, in_order, strict=True))
    strengths -= strengths.mean()
    return Outcome(in_first_order(snapped(strengths, SAME_STRENGTH), order), details=details)


@dataclass(frozen=True, eq=False)
class Picks:
    """What the tasks pick: systems in order of names, tasks too, places from the best.

    Attributes:
        tasks: index of each task in the profile.
        weights: of each task.
        systems: `systems[t, k]`: the system at place k of task t; those without a score are last.
        present: `present[t, k]`: it has a score.
        first, last: first and last place of the systems that tie with it.
    """

    tasks: NDArray[np.intp]
    weights: FloatArray
    systems: NDArray[np.intp]
    present: BoolArray
    first: NDArray[np.intp]
    last: NDArray[np.intp]

    @classmethod
    def of(cls, profile: Profile) -> Picks:
        """Read the places of a profile."""
        order = name_order(profile)
        tasks = order_of_names(profile.matrix.task_names)
        first, last = profile.order.first[order][:, tasks].T, profile.order.last[order][:, tasks].T
        place = np.where(first < 0, profile.n_systems, first)
        systems = np.argsort(place, axis=1, kind="stable")
        in_places = np.take_along_axis(first, systems, axis=1)
        return cls(
            tasks=tasks,
            weights=profile.weights[tasks] / profile.denominator,
            systems=systems,
            present=in_places >= 0,
            first=np.where(in_places < 0, np.arange(profile.n_systems), in_places).astype(np.intp),
            last=np.where(in_places < 0, np.arange(profile.n_systems), np.take_along_axis(last, systems, axis=1)),
        )

    def _sets(self, strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return p of each place, and the sum of p over the set from which it is picked; both over the largest p."""
        power = np.where(self.present, np.exp(strengths - strengths.max())[self.systems], 0.0)
        # Each sum starts from the weakest, so that nothing is lost by subtraction.
        from_here = np.cumsum(power[:, ::-1], axis=1)[:, ::-1]
        return power, np.take_along_axis(from_here, self.first, axis=1)

    def _over_sets(self, terms: FloatArray) -> FloatArray:
        """Return, for each place, the sum of `terms` over the sets that its system is in."""
        until = np.cumsum(np.where(self.present, terms, 0.0), axis=1)
        return np.take_along_axis(until, self.last, axis=1)

    def _by_system(self, of_places: FloatArray) -> FloatArray:
        """Return what belongs to the systems, shape (n_tasks, n_systems); 0 where they have no score."""
        of_systems = np.empty(of_places.shape)
        np.put_along_axis(of_systems, self.systems, np.where(self.present, of_places, 0.0), axis=1)
        return of_systems

    def gradients(self, strengths: FloatArray) -> FloatArray:
        """Return, by task and system, one less the expected number of times that it is picked."""
        power, sums = self._sets(strengths)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._by_system(1.0 - power * self._over_sets(1.0 / sums))

    def ratios(self, strengths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weight of the tasks that pick each system, and the weight expected."""
        power, sums = self._sets(strengths)
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = self._by_system(power * self._over_sets(1.0 / sums))
        picked = self._by_system(np.ones(power.shape))
        return self.weights @ picked, self.weights @ expected

    def information(self, strengths: FloatArray, prior: float) -> FloatArray:
        """Return minus the second derivative of the log-likelihood; regular, with the same effect at mean 0."""
        power, sums = self._sets(strengths)
        n = power.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = self._by_system(self._over_sets(1.0 / sums**2))
        p = np.exp(strengths - strengths.max())
        common, shared = np.zeros((n, n)), np.empty((n, n))
        for t, weight in enumerate(self.weights):
            # Two systems are both in the sets that the one ahead is in.
            np.minimum(squares[t][:, None], squares[t], out=shared)
            shared *= weight
            common += shared
        common *= p[:, None] * p
        np.fill_diagonal(common, 0.0)
        information = -common
        if prior:
            chance = 0.5 + 0.5 * np.tanh(strengths / 2)
            np.fill_diagonal(information, common.sum(axis=1) + 2 * prior * chance * (1 - chance))
            return information
        information += common.max() / n
        np.fill_diagonal(information, information.diagonal() + common.sum(axis=1))
        return information


def fitted(picks: Picks, prior: float) -> tuple[FloatArray, dict[str, int]]:
    """Return the strengths, with mean 0 where there is no prior, and the steps taken; NaN beyond all floats."""
    n = picks.systems.shape[1]
    strengths, steps = np.zeros(n), {"iterations": 0, "newton_steps": 0}
    for close, most_newton_steps in _ATTEMPTS:
        strengths, steps = np.zeros(n), {"iterations": 0, "newton_steps": 0}
        while steps["iterations"] < _ITERATIONS:
            steps["iterations"] += 1
            picked, expected = picks.ratios(strengths)
            chance = 0.5 + 0.5 * np.tanh(strengths / 2)
            with np.errstate(divide="ignore", invalid="ignore"):
                change = np.log((picked + prior) / (expected + 2 * prior * chance))
            if not np.isfinite(change).all():
                break
            if not prior:
                change -= change.mean()
            strengths += change
            if np.abs(change).max() < close:
                break
        size = np.inf
        while size >= _EXACT and steps["newton_steps"] < most_newton_steps and np.ptp(strengths) <= FARTHEST:
            steps["newton_steps"] += 1
            chance = 0.5 + 0.5 * np.tanh(strengths / 2)
            gradient = picks.weights @ picks.gradients(strengths) + prior * (1 - 2 * chance)
            try:
                step = np.linalg.solve(picks.information(strengths, prior), gradient)
            except np.linalg.LinAlgError:
                return np.full(n, np.nan), steps
            if not prior:
                step -= step.mean()
            step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))  # far away the quadratic model overshoots
            strengths += step
            size = np.abs(step).max()
        if size < _EXACT:
            break
    return strengths - (0.0 if prior else strengths.mean()), steps
