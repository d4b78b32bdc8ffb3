"""How far many submissions overfit a board: the boosting attack, and how many submissions a stated error allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ranking_engine.evaluation.ladder import Ladder

MAX_CELLS = 100_000_000  # instances times submissions


@dataclass(frozen=True)
class Leak:
    """What an attack gains: mean losses over the hidden instances of predictions that are worth 0.5 on new ones.

    Attributes:
        n_instances, n_submissions: the size of the attack.
        plain: the loss of the combination that the answers of a plain board lead to.
        ladder: the loss of the combination that the Ladder's answers lead to.
        ladder_states: the loss that the Ladder states after that combination was submitted, too.
        n_kept: of how many submissions the two combinations are made.
    """

    n_instances: int
    n_submissions: int
    plain: float
    ladder: float
    ladder_states: float
    n_kept: tuple[int, int]


def boosting_attack(n_instances: int, n_submissions: int, *, seed: int, digits: int = 5) -> Leak:
    """Submit random predictions of two classes, then the majority of those that the board's answers speak for.

    The attack of Blum and Hardt (ICML 2015, arXiv 1502.04585), as in the authors' program (github.com/mrtzh/Ladder.jl,
    examples/attacks.jl): on a plain board, of the predictions with a loss of at most 0.5; on the Ladder, of those that
    lowered the stated loss, the first one if its loss is below 0.5. Where both classes have as many votes, the second
    is taken; so it is everywhere if no prediction is kept.

    Args:
        n_instances: with hidden labels, drawn evenly from two classes.
        n_submissions: random predictions before the combination.
        seed: of the labels and predictions.
        digits: to which the plain board rounds its answers.

    Raises:
        ValueError: fewer than two instances, no submission, more than `MAX_CELLS` predictions in all, or digits outside
            0 to 15.
    """
    if n_instances < 2 or n_submissions < 1 or n_instances * n_submissions > MAX_CELLS:
        raise ValueError(
            f"{n_instances:,} instances and {n_submissions:,} submissions; expected at least 2 and 1, and at most "
            f"{MAX_CELLS:,} predictions in all"
        )
    if not 0 <= digits <= 15:
        raise ValueError(f"`digits` is {digits}; expected 0 to 15")
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, n_instances, dtype=np.int8)
    predictions = generator.integers(0, 2, (n_submissions, n_instances), dtype=np.int8)
    ladder = Ladder()
    is_kept = np.zeros((2, n_submissions), dtype=bool)
    for i, prediction in enumerate(predictions):
        losses = prediction != labels
        answer = ladder.submit(losses)
        is_kept[0, i] = round(float(losses.mean()), digits) <= 0.5
        is_kept[1, i] = answer.is_best and (i > 0 or answer.best_loss < 0.5)
    # The majority of the predictions that are kept; where it is even, the label 1.
    leads = [2 * predictions[kept].sum(axis=0, dtype=np.int64) - kept.sum() for kept in is_kept]
    combinations = [(lead >= 0) != labels for lead in leads]
    plain, by_ladder = (float(losses.mean()) for losses in combinations)
    n_kept = (int(is_kept[0].sum()), int(is_kept[1].sum()))
    return Leak(n_instances, n_submissions, plain, by_ladder, ladder.submit(combinations[1]).best_loss, n_kept)


def quota(n_instances: float, error: float) -> int:
    """How many submissions a plain board may answer before a boosting attack gains more than a stated error.

    It is for the accuracy of labels of two classes that are about as frequent; for other metrics none is known.

    Half of k random predictions are kept, and each agrees with the hidden labels in E|d| = 1 / sqrt(2 pi n) more of the
    instances than half of them. The majority of m votes that are each right by d more than half is right by about
    sqrt(2 m / pi) d more than half. With m = k / 2 the gain is sqrt(k / (2 n)) / pi, so that k = 2 n (pi error)^2. The
    approximation is ours; docs/ladder.md compares it with the attack itself. It is no bound for every attack.

    Args:
        n_instances: with hidden references; where they have weights, their `core.clusters.effective_number`.
        error: the largest gain that is accepted, as a share of the instances.

    Returns:
        The number; 0 where even one submission gains more by chance.

    Raises:
        ValueError: no instance, or an error outside 0 to 0.5.
    """
    if n_instances < 1 or not 0 < error <= 0.5:
        raise ValueError(f"`n_instances` is {n_instances} and `error` {error}; expected 1 or more, and above 0 to 0.5")
    return math.floor(2 * n_instances * (math.pi * error) ** 2)
