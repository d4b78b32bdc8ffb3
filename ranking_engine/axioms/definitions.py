"""A witness of a violation, and whether it is one: each property's definition, word by word.

Searches propose witnesses; what is said of a rule rests on `violates` alone, which ranks the boards of a witness again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ranking_engine.axioms.boards import (
    Ranker,
    Result,
    above_everywhere,
    opposed,
    part_of,
    ranked_board,
    upside_down,
    with_columns_exchanged,
    with_copy,
    with_task,
    without,
)
from ranking_engine.axioms.clone_sets import clone_set
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.rules.choice_sets import condorcet_loser, condorcet_winner


@dataclass(frozen=True)
class Witness:
    """Boards on which a rule violates a property. Systems and tasks are named, so that it outlives their order.

    Attributes:
        rule, property: keys of RULES and PROPERTIES.
        options: the options of `rank` in force, such as ties="average" or variant="margins".
        systems, tasks: the part of the board that it is about; None for all systems or tasks.
        x, y: the systems that it is about; what they are is told in the property's definition below.
        removed: the systems taken away.
        clones: further systems that are together with x and `added` on every task; the system that is copied.
        half: the tasks of the first part of a split, or the two tasks that exchange their scores.
        task: the task that is raised, added or obeyed.
        added: the name of the system that joins.
        scores: stored scores, by system of a task that is added (direction, scale and weight are those of `task`), by
            task of a system that joins or changes; None = missing.
        effect: what happens, where there are several possibilities: see `effect_of`.
    """

    rule: str
    property: str
    options: Mapping[str, Any] = field(default_factory=dict)
    systems: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    x: str = ""
    y: str = ""
    removed: tuple[str, ...] = ()
    clones: tuple[str, ...] = ()
    half: tuple[str, ...] = ()
    task: str = ""
    added: str = ""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    effect: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that say something, as plain dicts, lists, texts and numbers."""
        return {name: value for name, value in asdict(self).items() if value not in ("", (), {}, None)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Witness:
        """Return the witness whose `to_dict` was stored."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
        }
        return cls(**given)


def violates(matrix: ScoreMatrix, witness: Witness) -> bool:
    """Whether `witness` shows, on `matrix` and with the effect it states, that its rule violates its property.

    Raises:
        ValueError: the witness names a system or a task that the board does not have.
    """
    return effect_of(matrix, witness) == witness.effect


def effect_of(matrix: ScoreMatrix, witness: Witness) -> str | None:
    """Return what the boards of `witness` show; None where they show no violation, whatever effect it states.

    An order changes (iia, local_iia, anonymity, copies): `reversed`: y, below x before, is above it; `tied`: they tie
    now; `parted`: they tied, and x is above y. Where a copy gives ties that names break, x `wins` now or `loses`. A
    winner is `raised` and loses, or another is `lowered` and wins. The task
    added was `left_out` before, is `repeated`, or is `new`. A clone with the `same` scores or `near` ones makes y one
    of those who win (`others_win`) or not any more (`others_lose`), or the clones (`clones_win`, `clones_lose`).
    Other properties know one effect, an empty text.
    """
    whole, _ = ranked_board(matrix, witness.rule, witness.options)
    if whole is None:
        return None
    board = part_of(whole, witness.systems, witness.tasks)
    return DEFINITIONS[witness.property](board, witness, Ranker(witness.rule, witness.options), whole)


Definition = Callable[[ScoreMatrix, Witness, Ranker, ScoreMatrix], str | None]


def _transitivity(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """The rule leaves systems out of its order."""
    result = rank(board)
    return _shown(result.is_defined and not result.is_order)


def _anonymity(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """The order of x and y changes when the two tasks `half`, of equal weight, exchange their scores."""
    first, second = witness.half
    weight = dict(zip(board.task_names, board.weights, strict=True))
    if weight[first] != weight[second]:
        return None
    return _order_change(rank(board), rank(with_columns_exchanged(board, first, second)), witness.x, witness.y)


def _non_dictatorship(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """The ranking follows `task` in every pair that it orders, although all other tasks have the opposite order."""
    return _shown(board.n_tasks > 1 and obeys(board, witness.task, rank))


def _unanimity(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x is above y on every task and not ranked above y."""
    i, j = (board.system_names.index(name) for name in (witness.x, witness.y))
    result = rank(board)
    is_wrong = result.is_decided and result.sign(witness.x, witness.y) in (0, -1)
    return _shown(bool(above_everywhere(board)[i, j]) and is_wrong)


def _iia(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """Without the systems `removed`, x and y have another order."""
    return _order_change(rank(board), rank(without(board, witness.removed)), witness.x, witness.y)


def _local_iia(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """The systems left without `removed` are neighbours in the ranking, and x and y change their order."""
    before, after = rank(board), without(board, witness.removed)
    kept = [before.position(name) for name in after.system_names]
    gone = np.array([before.position(name) for name in witness.removed])
    is_interval = bool(((gone < min(kept)) | (gone > max(kept))).all())
    return _order_change(before, rank(after), witness.x, witness.y) if is_interval else None


def _monotonicity(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x wins and, once its scores are higher, y does and x does not; or x wins only once its scores are lower."""
    i = board.system_names.index(witness.x)
    after = board.replace_row(i, _changed_row(board, i, witness.scores))
    change = (after.scores[i] - board.scores[i])[~np.isnan(board.scores[i])]
    winners, winners_after = won(rank(board)), won(rank(after))
    if not winners or not winners_after or not change.any():
        return None
    if (change >= 0).all() and witness.x in winners - winners_after and witness.y in winners_after:
        return "raised"
    return "lowered" if (change <= 0).all() and witness.x in winners_after - winners else None


def _majority(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x is alone first on tasks of more than half the weight; y wins, or no one does."""
    return _shown(majority_favourite(board) == witness.x and _wins_instead(won(rank(board)), witness))


def _condorcet_winner(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x beats every other system; y wins, or no one does."""
    i = condorcet_winner(Pairwise.of(board))
    is_best = i is not None and board.system_names[i] == witness.x
    return _shown(is_best and _wins_instead(won(rank(board)), witness))


def _wins_instead(winners: frozenset[str] | None, witness: Witness) -> bool:
    """Whether y wins, alone or beside x, or no one wins where no y is named."""
    if winners is None:
        return False
    return witness.y in winners if witness.y else not winners


def _condorcet_loser(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x loses to every other system and wins."""
    i = condorcet_loser(Pairwise.of(board))
    is_worst = i is not None and board.system_names[i] == witness.x
    return _shown(is_worst and witness.x in (won(rank(board)) or ()))


def _consistency(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x wins both on the tasks `half` and on the others; on all tasks x does not, or y does and not on both parts."""
    rest = [name for name in board.task_names if name not in witness.half]
    if not rest or not witness.half:
        return None
    first, second = (won(rank(part_of(board, None, tasks))) for tasks in (witness.half, rest))
    winners = won(rank(board))
    if winners is None or first is None or second is None or witness.x not in first & second:
        return None
    return _shown(witness.y in winners - (first & second) if witness.y else witness.x not in winners)


def _participation(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x wins; a task like `task`, with the `scores`, that puts x above y is added; y wins and x does not."""
    column = column_of(board, witness.scores)
    after = with_task(board, whole, witness.task, column)
    winners, winners_after = won(rank(board)), won(rank(after))
    if winners is None or winners_after is None:
        return None
    i, j = (board.system_names.index(name) for name in (witness.x, witness.y))
    is_above = after.scores[i, -1] > after.scores[j, -1]
    if not (is_above and witness.x in winners - winners_after and witness.y in winners_after):
        return None
    original = part_of(whole, witness.systems, (witness.task,)).values[:, 0]
    if not np.array_equal(column, original, equal_nan=True):
        return "new"
    return "repeated" if witness.task in board.task_names else "left_out"


def _clones(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """`added` joins x and the clones with `scores`; a system outside starts or stops to win, or all of these do."""
    row = _changed_row(board, board.system_names.index(witness.x), witness.scores)
    after = board.with_row(witness.added, row)
    i, k = board.system_names.index(witness.x), board.n_systems
    winners, winners_after = won(rank(board)), won(rank(after))
    if winners is None or winners_after is None:
        return None
    together = {after.system_names[j] for j in clone_set(after.scores, i, k)}
    if together != {witness.x, witness.added, *witness.clones} or len(together) == after.n_systems:
        return None
    new, gone = winners_after - winners, winners - winners_after
    if witness.y in new - together:
        what = "others_win"
    elif witness.y in gone - together:
        what = "others_lose"
    elif not witness.y and bool(winners & together) != bool(winners_after & together):
        what = "clones_win" if winners_after & together else "clones_lose"
    else:
        return None
    is_same = np.array_equal(after.scores[i], after.scores[k], equal_nan=True)
    return f"{'same' if is_same else 'near'}:{what}"


def _copies(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """When a copy of the one system in `clones` joins, x and y have another order; or x starts or stops to win."""
    before, after = rank(board), rank(with_copy(board, witness.clones[0]))
    if witness.y:
        return _order_change(before, after, witness.x, witness.y)
    winners, winners_after = won(before), won(after)
    if not winners or not winners_after or (before.is_decided and after.is_decided):
        return None
    return _COPY_EFFECTS.get((witness.x in winners, witness.x in winners_after))


_COPY_EFFECTS: Mapping[tuple[bool, bool], str] = {(False, True): "wins", (True, False): "loses"}


def _reversal_symmetry(board: ScoreMatrix, witness: Witness, rank: Ranker, whole: ScoreMatrix) -> str | None:
    """x wins alone, and wins when every task is reversed."""
    winners, reversed_winners = won(rank(board)), won(rank(upside_down(board)))
    return _shown(board.n_systems > 1 and winners == frozenset({witness.x}) and witness.x in (reversed_winners or ()))


def _shown(is_violation: bool) -> str | None:
    """Return the one effect of a property that knows no other."""
    return "" if is_violation else None


DEFINITIONS: Mapping[str, Definition] = {
    "transitivity": _transitivity,
    "anonymity": _anonymity,
    "non_dictatorship": _non_dictatorship,
    "unanimity": _unanimity,
    "iia": _iia,
    "monotonicity": _monotonicity,
    "majority": _majority,
    "condorcet_winner": _condorcet_winner,
    "condorcet_loser": _condorcet_loser,
    "consistency": _consistency,
    "participation": _participation,
    "local_iia": _local_iia,
    "clones": _clones,
    "copies": _copies,
    "reversal_symmetry": _reversal_symmetry,
}


def _order_change(before: Result, after: Result, x: str, y: str) -> str | None:
    """Return how the order of x and y changes: reversed, tied or parted; None where it does not, or lacks a place."""
    if not (before.is_decided and after.is_decided):
        return None
    return _ORDER_EFFECTS.get((before.sign(x, y), after.sign(x, y)))


_ORDER_EFFECTS: Mapping[tuple[int | None, int | None], str] = {
    (1, -1): "reversed",
    (1, 0): "tied",
    (0, 1): "parted",
}


def won(result: Result) -> frozenset[str] | None:
    """Return the winners; None where the rule gives no answer or broke a tie by name, except Kemeny's.

    Kemeny's rule names every system that is first in some optimal order.
    """
    if not result.is_defined or not result.has_all_winners:
        return None
    return result.winners


def obeys(board: ScoreMatrix, task: str, rank: Ranker) -> bool:
    """Whether the ranking follows `task` in all pairs that it orders when the others have the opposite order."""
    after = rank(opposed(board, task, positive=get_rule(rank.rule).needs_positive))
    own = board.scores[:, board.task_names.index(task)]
    above = own[:, None] > own[None, :]
    follows = after.positions[:, None] < after.positions[None, :]
    return after.is_defined and after.is_decided and bool(above.any()) and bool(follows[above].all())


def majority_favourite(board: ScoreMatrix) -> str | None:
    """Return the system that is alone first on tasks of more than half the weight; all must have scores on them."""
    scores = board.scores
    weight = [Fraction(0)] * board.n_systems
    for t in range(board.n_tasks):
        column = scores[:, t]
        if np.isnan(column).any():
            continue
        first = np.flatnonzero(column == column.max())
        if len(first) == 1:
            weight[first[0]] += board.weights[t]
    i = int(np.argmax([float(w) for w in weight]))
    return board.system_names[i] if 2 * weight[i] > board.total_weight else None


def _changed_row(board: ScoreMatrix, i: int, scores: Mapping[str, float | None]) -> FloatArray:
    """Return the stored scores of system i with those of `scores` instead, by task."""
    row = board.values[i].copy()
    for name, value in scores.items():
        row[board.task_names.index(name)] = np.nan if value is None else value
    return row


def column_of(board: ScoreMatrix, scores: Mapping[str, float | None]) -> FloatArray:
    """Return `scores`, by system, in the board's order; NaN = missing."""
    values = (scores.get(name) for name in board.system_names)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
