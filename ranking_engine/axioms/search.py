"""Looking for a violation of a property in the data at hand.

Every finder goes through boards near the one given, from the plainest on, and yields witnesses; it is exhaustive where
all boards of its kind were ranked. Steps are boards ranked or, where that needs no ranking, looked at. What a finder
yields is re-checked from the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ranking_engine.axioms import find_orders, find_winners
from ranking_engine.axioms.board_search import SMALL_PART, BoardSearch
from ranking_engine.axioms.boards import OutOfStepsError, Ranker, ranked_board
from ranking_engine.axioms.definitions import Witness, effect_of
from ranking_engine.axioms.find_clones import clones, copies
from ranking_engine.axioms.properties import get_property
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.score_matrix import ScoreMatrix

MAX_STEPS = 500
_STEPS_A_PART = 25


@dataclass(frozen=True)
class WitnessSearch:
    """What a search found and how hard it looked.

    Attributes:
        rule, property: keys of RULES and PROPERTIES.
        witness: a violation that `violates` confirms, or None.
        n_steps: the boards looked at.
        is_exhaustive: every board of the kind described by `looked_at` was ranked.
        looked_at: which boards, as the end of a sentence that begins "Looked at".
        reason: why nothing could be looked at; otherwise empty.
        seed: what random boards were drawn with.
    """

    rule: str
    property: str
    witness: Witness | None
    n_steps: int
    is_exhaustive: bool
    looked_at: str
    reason: str = ""
    seed: int = 0


def witness(
    rule: str,
    property: str,  # noqa: A002 -- the word of the trade
    matrix: ScoreMatrix,
    *,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
) -> WitnessSearch:
    """Look for a violation of `property` by `rule` in the data at hand.

    Args:
        rule: a key of RULES.
        property: a key of PROPERTIES.
        matrix: the scores. Under an aggregation tasks have the weights that it gives them.
        options: those of `rank`: ties, missing, aggregation but not two_step, and the rule's own.
        seed: of the boards that are drawn at random; the same seed gives the same answer.
        max_steps: how many boards to look at, at most.

    Raises:
        ValueError: an unknown rule, property or option, or the aggregation two_step.
    """
    get_rule(rule)
    get_property(property)
    if max_steps < 1:
        raise ValueError(f"`max_steps` is {max_steps}; expected 1 or more")
    chosen = dict(options or {})
    board, reason = ranked_board(matrix, rule, chosen)
    finder = _FINDERS[property]
    if board is None:
        return WitnessSearch(rule, property, None, 0, is_exhaustive=False, looked_at="", reason=reason, seed=seed)
    rank = Ranker(rule, chosen, max_steps)
    search = BoardSearch(board, rank, np.random.default_rng(seed), property, chosen)
    violation, is_exhaustive = None, False
    # Half the steps are kept for small parts where the finder does not go through them itself.
    has_parts = finder.in_parts and board.n_systems > SMALL_PART
    rank.max_steps = max_steps - max_steps // 2 if has_parts else max_steps
    with suppress(OutOfStepsError):
        violation = next(finder.candidates(search), None)
        is_exhaustive = violation is None and finder.is_exhaustive(board)
    while has_parts and violation is None and rank.n_steps < max_steps:
        rank.max_steps = min(max_steps, rank.n_steps + _STEPS_A_PART)
        with suppress(OutOfStepsError):
            violation = next(finder.candidates(search.small_part()), None)
            if violation is None:
                rank.step()
    if violation is not None:
        effect = effect_of(matrix, violation)
        if effect is None:
            raise AssertionError(f"the search for {property} under {rule} returned no violation: {violation}")
        violation = replace(violation, effect=effect)
    return WitnessSearch(
        rule,
        property,
        violation,
        rank.n_steps,
        is_exhaustive=is_exhaustive and violation is None,
        looked_at=finder.looked_at,
        seed=seed,
    )


Candidates = Callable[[BoardSearch], Iterator[Witness]]


@dataclass(frozen=True)
class _Finder:
    candidates: Candidates
    looked_at: str
    is_exhaustive: Callable[[ScoreMatrix], bool] = lambda board: False
    in_parts: bool = False


_PARTS = "the board and parts of it: a few systems, or some of the tasks"
_FINDERS: Mapping[str, _Finder] = {
    "transitivity": _Finder(find_orders.transitivity, "the board", lambda board: True),
    "anonymity": _Finder(find_orders.anonymity, "every pair of tasks of equal weight", lambda board: True),
    "non_dictatorship": _Finder(find_orders.non_dictatorship, "every task against all others", lambda board: True),
    "unanimity": _Finder(find_orders.unanimity, _PARTS),
    "iia": _Finder(find_orders.iia, "every removal of one system and removals of several"),
    "local_iia": _Finder(find_orders.local_iia, "every run of neighbours in the ranking", lambda board: True),
    "monotonicity": _Finder(
        find_winners.monotonicity,
        "changes of a system's score on one task and on several, on the board and among few of its systems",
        in_parts=True,
    ),
    "majority": _Finder(find_winners.majority, _PARTS),
    "condorcet_winner": _Finder(find_winners.condorcet_winner, _PARTS),
    "condorcet_loser": _Finder(find_winners.condorcet_loser, _PARTS),
    "reversal_symmetry": _Finder(find_winners.reversal_symmetry, _PARTS),
    "consistency": _Finder(
        find_winners.consistency,
        "splits of the tasks in two, on the board and among few of its systems",
        lambda board: board.n_tasks <= find_winners.FEW_TASKS,
        in_parts=True,
    ),
    "participation": _Finder(
        find_winners.participation,
        "tasks left out, repeated, or added with scores handed on, on the board and among few of its systems",
        in_parts=True,
    ),
    "clones": _Finder(
        clones,
        "copies of systems and systems right beside them, on the board and among few of its systems",
        in_parts=True,
    ),
    "copies": _Finder(
        copies, "a copy of each system, on the board and among few of its systems", lambda board: True, in_parts=True
    ),
}
# All that `WitnessSearch.looked_at` says, for those who translate it.
LOOKED_AT = tuple(dict.fromkeys(finder.looked_at for finder in _FINDERS.values()))
