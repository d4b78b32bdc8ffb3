"""Bradley and Terry's model: strengths that make the comparisons seen the most likely.

i is ahead of j on a task with probability p_i / (p_i + p_j); a tie is half a win for both. `won[i, j]` is the
weight of the tasks on which i is ahead of j, plus half that of ties; strengths are log p, with mean 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.clusters import are_enough, cluster_key, clusters_of, effective_number, error_parts
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.rules.choice_sets import strong_components, topological_order
from ranking_engine.rules.majority import pair_details
from ranking_engine.rules.rates import common_weight, in_first_order, name_order, order_of_names, snapped
from ranking_engine.text.names import listed

_ITERATIONS = 400
_NEWTON_STEPS = 50
_CLOSE = 1e-4
_EXACT = 1e-11
_MOST_LEFT = 1e-4  # of what a system won, and of what it lost, that its strength does not explain
NOT_FITTED = "the weights of the tasks are too unequal to find strengths with floating-point numbers; use a prior"
SAME_STRENGTH = 1e-9  # strengths that differ by less tie


def bradley_terry(profile: Profile, *, prior: float = 0.0) -> Outcome:
    """Return log-strengths of maximum likelihood, not regularised (Bradley and Terry 1952, Zermelo 1929).

    They exist if and only if chains of wins or ties lead from every system to every other (Ford 1957);
    otherwise the ranking is undefined and `details` names the strong components, each before those that it has
    only won from. `prior` adds so many wins each way to every pair, so that they always exist.
    Newman's iteration (2023), then Newton's method. O(n^2) an iteration, O(n^3) a Newton step.

    `details` has the number of clusters of tasks, `n_clusters` (see `clusters_of`). From 10 clusters on, by their
    `effective_number`, it has `standard_errors` by system, and `t_quantile`: strength +- t_quantile * error is a 95 %
    interval. Both are as `clustered_errors` says.
    """
    details: dict[str, Any] = {**pair_details(profile.pairwise), "prior": float(prior)}
    if profile.n_systems == 1:
        return Outcome(np.zeros(1), details=details)
    order = name_order(profile)
    wins, common, unit = profile.pairwise.wins, common_weight(profile), 2 * profile.pairwise.denominator
    twice = wins - wins.T + common  # wins + ties / 2, twice: 2 wins + (common - wins - losses)
    won = np.array(twice / (unit if twice.dtype == object else float(unit)), dtype=np.float64)
    won = won[np.ix_(order, order)] + prior
    np.fill_diagonal(won, 0.0)
    reason, names = apart(won > 0, profile, order)
    if reason:
        return Outcome(None, "undefined", reason, {**details, "components": names})
    strengths, steps = fitted(won)
    details["steps"] = steps
    if np.isnan(strengths).any():
        return Outcome(None, "undefined", NOT_FITTED, details)
    clusters = clusters_of(profile.matrix)
    details["n_clusters"] = len(clusters)
    sizes = sizes_of(profile, clusters)
    if are_enough(sizes):
        # A task adds rivals below + tied ones / 2 - expected wins, times its weight.
        place, tasks = profile.order, order_of_names(profile.matrix.task_names)
        present = ~np.isnan(profile.scores)
        scored = present.sum(axis=0)
        points = np.where(present, scored - 1 - place.last + (place.last - place.first) / 2, 0.0)[order][:, tasks]
        present = present[order][:, tasks]
        chance = _chances(strengths)
        expected = np.where(present, chance @ present.astype(np.float64) - 0.5, 0.0)
        of_tasks = (points - expected) * (profile.weights[tasks] / profile.denominator)
        numbers = [clusters[cluster_key(profile.matrix, t)] for t in tasks]
        information = _information(won + won.T, chance)
        in_names, details["t_quantile"] = clustered_errors(of_tasks, numbers, sizes, information)
        errors = in_first_order(in_names, order)
        details["standard_errors"] = dict(zip(profile.matrix.system_names, errors.tolist(), strict=True))
    return Outcome(in_first_order(snapped(strengths, SAME_STRENGTH), order), details=details)


def apart(is_ahead: BoolArray, profile: Profile, order: NDArray[np.intp]) -> tuple[str, list[list[str]]]:
    """Return why no finite strengths exist, and the groups that are apart, each before those that it has only won from.

    Args:
        is_ahead: `is_ahead[i, j]`: system `order[i]` has won something from system `order[j]`.
        profile: whose names the groups have.
        order: the systems of `is_ahead`.

    Returns:
        An empty reason and no groups where chains of wins lead from every system to every other.
    """
    # The strong components of "has won something from", each before those that it has only won from.
    label = strong_components(is_ahead)
    member = (label[:, None] == np.arange(label.max() + 1)).astype(np.float32)
    between = member.T @ is_ahead.astype(np.float32) @ member > 0
    np.fill_diagonal(between, val=False)
    components = [np.flatnonzero(label == k) for k in topological_order(between)]
    if len(components) == 1:
        return "", []
    names = [sorted(profile.matrix.system_names[order[i]] for i in part) for part in components]
    groups = "; ".join([*(listed(part) for part in names[:3]), *(["..."] if len(names) > 3 else [])])
    reason = (
        f"no finite strengths: {len(names)} groups of systems have not both won and lost against each other "
        f"({groups}); a prior would give some"
    )
    return reason, names


def fitted(won: FloatArray) -> tuple[FloatArray, dict[str, int]]:
    """Return the strengths, with mean 0, and the steps taken; all must reach all along positive `won`.

    NaN where they are beyond floating-point numbers, as under weights of which some are 10^18 times the others.
    """
    n = len(won)
    played = won + won.T
    strengths = np.zeros(n)
    n_iterations = 0
    size = math.inf
    while n_iterations < _ITERATIONS:
        n_iterations += 1
        chance = _chances(strengths)
        # What to multiply p_i by: (sum_j won_ij p_j / (p_i + p_j)) / (sum_j won_ji p_i / (p_i + p_j)).
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log((won * chance.T).sum(axis=1) / (won.T * chance).sum(axis=1))
        if not np.isfinite(change).all():
            break
        change -= change.mean()
        size, previous = float(np.abs(change).max()), size
        # All strengths change at once: where few pairs meet they overshoot together, and half the way is right.
        strengths += change if size < previous else change / 2
        if size < _CLOSE:
            break
    n_newton_steps = 0
    while n_newton_steps < _NEWTON_STEPS:
        n_newton_steps += 1
        chance = _chances(strengths)
        gradient = (won - played * chance).sum(axis=1)
        try:
            step = np.linalg.solve(_information(played, chance), gradient)
        except np.linalg.LinAlgError:
            strengths[:] = np.nan
            break
        step -= step.mean()
        step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))  # far away the quadratic model overshoots
        strengths += step
        if np.abs(step).max() < _EXACT:
            break
    left = np.abs((won - played * _chances(strengths)).sum(axis=1))
    if not (left <= _MOST_LEFT * np.minimum(won.sum(axis=1), won.sum(axis=0))).all():
        strengths[:] = np.nan
    return strengths - strengths.mean(), {"iterations": n_iterations, "newton_steps": n_newton_steps}


def _chances(strengths: FloatArray) -> FloatArray:
    """`chances[i, j]`: p_i / (p_i + p_j), without overflow."""
    return 0.5 + 0.5 * np.tanh((strengths[:, None] - strengths) / 2)


def _information(played: FloatArray, chance: FloatArray) -> FloatArray:
    """Return minus the second derivative of the log-likelihood, plus 1 / n: regular, same effect at mean 0."""
    weights = played * chance * chance.T
    information = -weights + weights.max() / len(played)
    np.fill_diagonal(information, information.diagonal() + weights.sum(axis=1))
    return information


def sizes_of(profile: Profile, clusters: Mapping[str, int]) -> FloatArray:
    """Return what clusters of tasks count by: the weights of their tasks times the rivals that each system has there.

    Args:
        profile: the tasks.
        clusters: their numbers from 0, by `cluster_key`; other tasks that vote have a single score.
    """
    rivals = np.maximum((~np.isnan(profile.scores)).sum(axis=0) - 1, 0)
    sizes = np.zeros(len(clusters))
    for t in np.flatnonzero(rivals * np.asarray(profile.weights, dtype=np.float64)):
        sizes[clusters[cluster_key(profile.matrix, int(t))]] += float(profile.weights[t]) * rivals[t]
    return sizes


def clustered_errors(
    of_tasks: FloatArray, numbers: Sequence[int], sizes: FloatArray, information: FloatArray
) -> tuple[FloatArray, float]:
    """Return standard errors of strengths over clusters of tasks, and Student's quantile for a 95 % interval.

    A cluster moves the strengths by B u_c: B is the inverse information, u_c the gradient of cluster c, the sum of
    those of its tasks. The errors are those of `error_parts`, as if a cluster had as much of the information as it has
    of all `sizes`: of equal clusters the sandwich B S B G / (G - 1), S the sum of u_c u_c' (Cameron and Miller 2015,
    section VI). The degrees of freedom are one fewer than the `effective_number` of clusters.

    Args:
        of_tasks: the gradients, shape (n_systems, n_tasks).
        numbers: of the cluster of each task.
        sizes: of the clusters, as `sizes_of` returns them.
        information: minus the second derivative, regular.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 -- slow import

    gradients = np.zeros((len(of_tasks), len(sizes)))
    for number, column in zip(numbers, of_tasks.T, strict=True):
        gradients[:, number] += column
    influence = np.linalg.solve(information, gradients)
    influence -= influence.mean(axis=0)
    parts = error_parts(influence * sizes.sum(), sizes)
    return np.linalg.norm(parts, axis=1), float(stdtrit(effective_number(sizes) - 1, 0.975))
