"""Two states of a board, ranked side by side: the current state, and the proposed one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leaderboard.computing.rankings import TWO_STEP, Outcomes, long_batches, quick_batches, rank_isolated
from ranking_engine import RULES, Pairwise, ScoreMatrix
from ranking_engine.core.aggregation import reweighted

FEW_ROWS = 8  # a row in so many columns: carrying more over costs about as much as comparing all pairs again


@dataclass(frozen=True)
class Side:
    """A board and how it is ranked; without a matrix there is nothing to rank."""

    matrix: ScoreMatrix | None
    missing: str
    aggregation: str
    rules: list[str]


def both_in_turn(before: Side, after: Side, *, is_same_otherwise: bool) -> Iterator[tuple[Outcomes, Outcomes]]:
    """Rank both boards, some rules at a time; each part has the same rules of both.

    Args:
        before: the board as it is.
        after: as it would be.
        is_same_otherwise: they differ in rows alone: then, where few rows do, the comparison of all pairs of systems is
            made once and carried over.
    """
    pairs = _compared(before, after) if is_same_otherwise else (None, None)
    rules = list(dict.fromkeys([*before.rules, *after.rules]))
    batches = quick_batches(rules, TWO_STEP if TWO_STEP in (before.aggregation, after.aggregation) else "basic")
    for batch in (*batches, *long_batches(rules)):
        outcomes: list[Outcomes] = []
        for side, known in zip((before, after), pairs, strict=True):
            own_rules = [rule for rule in batch if rule in side.rules]
            if side.matrix is None or not own_rules:
                outcomes.append({})
                continue
            ranked = rank_isolated(side.matrix, side.missing, side.aggregation, own_rules, pairwise=known)
            outcomes.append({rule: outcome for rule, (outcome, _) in ranked.items()})
        yield outcomes[0], outcomes[1]


def _compared(before: Side, after: Side) -> tuple[Pairwise | None, Pairwise | None]:
    """The comparisons of all pairs of systems, where a rule needs them and the second follows from the first."""
    if before.matrix is None or after.matrix is None or before.aggregation == TWO_STEP:  # it compares within groups
        return None, None
    try:
        old, new = (reweighted(side.matrix, side.aggregation) for side in (before, after) if side.matrix)
    except ValueError:  # no group weighs anything; no rule has an answer
        return None, None
    if not RULES["copeland"].is_quick(new.n_systems, new.n_tasks):  # nor is any other rule that compares pairs
        return None, None
    known = Pairwise.of(old)
    # The rows of `new` that differ from those of `old` or come after them.
    kept = new.values[: old.n_systems]
    is_same = ((old.values == kept) | (np.isnan(old.values) & np.isnan(kept))).all(axis=1)
    changed = [*np.flatnonzero(~is_same).tolist(), *range(old.n_systems, new.n_systems)]
    is_few = len(changed) * FEW_ROWS <= old.n_tasks or len(changed) == 1
    return known, known.updated(new, changed) if is_few else None
