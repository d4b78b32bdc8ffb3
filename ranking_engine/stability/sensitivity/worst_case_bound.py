"""No worse than this: which pairs of the first systems any choice could reverse, each pair by itself, with proof.

The search of `worst_case` reaches a case; this is the other side. A pair is counted if some choice of systems, or of
weights, could turn its order, whatever happens to other pairs; no choice reverses more pairs than are counted. What is
known of the rule decides how the least difference of two systems is found:

- Weights: where scores are sums over tasks, each task adds to a difference its own part, so that the least difference
  has every task at the weight that is worse for the first of the two.
- Systems, rules on a system's own scores (`iia`): nothing changes.
- Systems, Borda, average rank, Copeland and win rates: each rival adds its own part to a difference, so that the least
  difference has every rival whose part is negative.
- Systems, other rules with points for positions: for each task by itself the worst positions that rivals could leave
  the two at. A choice that is worst on all tasks at once need not exist: this bound can be above the worst case.

There is none for other rules, nor where a score is missing, and none for boards too large for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.dispatch import rank_all, task_contributions
from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.core.task_order import task_order
from ranking_engine.rules import positional

IntArray = NDArray[np.intp]

MOST_STEPS = 50_000_000  # pairs x tasks x rivals, or pairs x rivals
_TOLERANCE = 1e-12  # of the largest difference: what ties by rounding is not reversed


class MostReversed(NamedTuple):
    """How many pairs could be reversed at most; None, and why, where no bound is known."""

    pairs: int | None
    reason: str = ""


def most_reversed_by_weights(
    matrix: ScoreMatrix, rule: str, reference: FloatArray, least_weight: float
) -> MostReversed:
    """Return how many pairs other weights could reverse, each task having its own or `least_weight` of it.

    Args:
        matrix: what is ranked, complete where the rule needs that.
        rule: its key.
        reference: the average ranks under it.
        least_weight: as a share of a task's own.
    """
    of_rule = task_contributions(matrix, [rule]).get(rule)
    if of_rule is None or len(of_rule.values) != matrix.n_systems:
        return MostReversed(None, f"scores under {get_rule(rule).name} are no sums over the tasks of this board")
    first, second = _ordered_pairs(reference)
    if len(first) * matrix.n_tasks > MOST_STEPS:
        return MostReversed(None, "there are too many pairs")
    parts = of_rule.values[first] - of_rule.values[second]
    if (parts.sum(axis=1) < 0).all():  # a sum of which less is better
        parts = -parts
    least = np.where(parts < 0, parts, least_weight * parts).sum(axis=1)
    return MostReversed(_n_negative(least, np.abs(parts).sum(axis=1)))


def most_reversed_by_systems(
    matrix: ScoreMatrix, rule: str, reference: FloatArray, top: IntArray, others: IntArray
) -> MostReversed:
    """Return how many pairs of `top` further systems, any of `others`, could reverse.

    Args:
        matrix: what is ranked.
        rule: its key.
        reference: the average ranks of `top` among themselves.
        top, others: indices of systems.
    """
    base, record = rule_of_variant(rule), get_rule(rule)
    if not matrix.is_complete.all():
        return MostReversed(None, "a score is missing")
    if rule in RULES and "iia" in record.held.own:
        return MostReversed(0)
    first, second = _ordered_pairs(reference)
    if RULES[base].rival_share and set(record.fixed_options) <= {"ties", "variant"}:
        if len(first) * len(others) > MOST_STEPS or len(others) * len(top) ** 2 * matrix.n_tasks > 100 * MOST_STEPS:
            return MostReversed(None, "there are too many pairs and rivals")
        return MostReversed(_n_turned_by_rivals(matrix, rule, top, others, (first, second)))
    vector = record.fixed_options.get("vector")
    points_of = RULES[base].points
    if points_of or vector is not None:
        ties = record.fixed_options.get("ties", record.tie_convention)
        if ties == "average":
            return MostReversed(None, "tied systems share points")
        if len(first) * matrix.n_tasks * len(others) > MOST_STEPS:
            return MostReversed(None, "there are too many pairs and rivals")
        if points_of and vector is None:
            points = points_of(matrix.n_systems)
        else:
            points = positional.padded_vector(matrix.n_systems, vector=vector or ())
        ordered = matrix.subset(systems=np.concatenate([top, others]))
        return MostReversed(_n_turned_at_positions(ordered, len(top), points, str(ties), (first, second)))
    return MostReversed(None, f"none is known for {record.name}")


def _n_turned_by_rivals(
    matrix: ScoreMatrix, rule: str, top: IntArray, others: IntArray, pairs: tuple[IntArray, IntArray]
) -> int:
    """Return how many pairs of `top`, by index in it, some rivals turn, each of whom adds its own part."""
    first, second = pairs
    rival_share = RULES[rule_of_variant(rule)].rival_share
    if rival_share is None:
        raise ValueError(f"under {rule} rivals add no parts of their own")

    def totals(systems: IntArray) -> FloatArray:
        scores = rank_all(matrix.subset(systems=systems), [rule], missing="undefined")[rule].scores[: len(top)]
        # benchbench divides by all systems
        return scores * (len(systems) if "benchbench" in rule else rival_share(len(systems)))

    alone = totals(top)
    lead = alone[first] - alone[second]
    least, size = lead, np.abs(lead)
    for rival in others.tolist():
        joined = totals(np.append(top, rival))
        part = joined[first] - joined[second] - lead
        least = least + np.minimum(part, 0.0)
        size = size + np.abs(part)
    return _n_negative(least, size)


def _n_turned_at_positions(
    matrix: ScoreMatrix, n_top: int, points: FloatArray, ties: str, pairs: tuple[IntArray, IntArray]
) -> int:
    """Return how many pairs of the first `n_top` rows the others could turn, were each task free to choose them.

    Args:
        matrix: the systems that are compared, and then their rivals.
        n_top: how many are compared.
        points: by position.
        ties: `worst` or `best`.
        pairs: who is above, who is below.
    """
    first, second = pairs
    scores, rivals = matrix.scores[:n_top], matrix.scores[n_top:]
    order = task_order(scores)
    position = order.last if ties == "worst" else order.first
    # How many rivals would push a system down on a task: those above it, under `worst` those level with it, too.
    pushes = rivals[:, None, :] >= scores if ties == "worst" else rivals[:, None, :] > scores
    n_pushing = pushes.sum(axis=0)
    weights = np.array([float(weight) for weight in matrix.weights])
    least, size = np.zeros(len(first)), np.zeros(len(first))
    for pair, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        for t in range(matrix.n_tasks):
            is_ahead = scores[i, t] >= scores[j, t]
            both = np.arange(n_pushing[i if is_ahead else j, t] + 1)  # rivals that push down the two of them
            between = 0 if is_ahead else n_pushing[i, t] - n_pushing[j, t]  # and those that push down the first alone
            part = points[position[i, t] + both + between] - points[position[j, t] + both]
            least[pair] += weights[t] * part.min()
            size[pair] += weights[t] * np.abs(part).max()
    return _n_negative(least, size)


def _ordered_pairs(reference: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of systems of which one is above the other: who is above, who is below."""
    above = reference[:, None] < reference[None, :]
    first, second = np.nonzero(above)
    return first, second


def _n_negative(least: FloatArray, size: FloatArray) -> int:
    return int((least < -_TOLERANCE * np.maximum(size, 1e-300)).sum())
