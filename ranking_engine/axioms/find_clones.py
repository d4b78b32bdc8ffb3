"""Where to look for violations of independence of clones, and of exact copies."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from ranking_engine.axioms.board_search import BoardSearch, changed_pair, one_of, part_of_result
from ranking_engine.axioms.boards import new_name, part_of, with_copy
from ranking_engine.axioms.clone_sets import clone_set, clone_sets
from ranking_engine.axioms.definitions import Witness, won
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix

_MAX_TRIED = 100  # systems up to which every pair is looked at for clones that are there already


def clones(search: BoardSearch) -> Iterator[Witness]:
    """Look at clones that are there, one joining last; copies of systems; systems beside one or several together."""
    board, n = search.board, search.board.n_systems
    # The pairs that a proper clone set of the board joins, with the set.
    together = clone_sets(board.scores) if n <= _MAX_TRIED else {}
    sets_with: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for i, k in sorted(together):
        sets_with[i].append(together[i, k])
    for i, k in sorted(together):
        kept = tuple(name for name in board.system_names if name != board.system_names[k])
        yield from _joined(search, part_of(board, kept, None), (i, k), board.values[k], {"systems": kept})
    order = np.argsort(search.rank(board).positions, kind="stable")
    # How much, in stored scores and upwards, each score may change without meeting another's on the task.
    room = np.full(board.values.shape, 1.0)
    for t in range(board.n_tasks):
        column = board.scores[:, t]
        present = ~np.isnan(column)
        levels = np.unique(column[present])
        if len(levels) > 1:
            gaps = np.diff(levels)
            nearest = np.minimum(np.concatenate([[np.inf], gaps]), np.concatenate([gaps, [np.inf]]))
            room[present, t] = nearest[np.searchsorted(levels, column[present])] / 2
    room *= board.directions
    for same_shift in (0.0, -1.0, 1.0):
        for i in order:
            row = board.values[i] + same_shift * room[i]
            yield from _joined(search, board, (int(i), n), row, {})
    while True:
        i = int(search.generator.choice(order))
        beside = search.generator.choice(min(sets_with[i], key=len, default=(i,)), board.n_tasks)
        shift = search.generator.choice([-1.0, 0.0, 1.0], board.n_tasks)
        row = (board.values + shift * room)[beside, np.arange(board.n_tasks)]
        yield from _joined(search, board, (i, n), row, {})


def copies(search: BoardSearch) -> Iterator[Witness]:
    """Look at copies that are there already, each joining last; then at a copy of every system, the best first."""
    board = search.board
    for i, k in itertools.combinations(range(board.n_systems), 2):
        if board.n_systems <= _MAX_TRIED and np.array_equal(board.values[i], board.values[k], equal_nan=True):
            kept = tuple(name for name in board.system_names if name != board.system_names[k])
            yield from _copied(search, part_of(board, kept, None), board.system_names[i], {"systems": kept})
    for i in np.argsort(search.rank(board).positions, kind="stable"):
        yield from _copied(search, board, board.system_names[i], {})


def _copied(search: BoardSearch, board: ScoreMatrix, name: str, part: dict[str, tuple[str, ...]]) -> Iterator[Witness]:
    before, after = search.rank(board), search.rank(with_copy(board, name))
    others = part_of_result(after, np.arange(board.n_systems))
    if names := changed_pair(before, others):
        yield search.witness(x=names[0], y=names[1], clones=(name,), **part)
    elif not (before.is_decided and after.is_decided):
        winners, winners_after = won(before), won(after)
        if winners and winners_after and (changed := winners ^ (winners_after & frozenset(board.system_names))):
            yield search.witness(x=min(changed), clones=(name,), **part)


def _joined(
    search: BoardSearch, board: ScoreMatrix, pair: tuple[int, int], row: FloatArray, part: dict[str, tuple[str, ...]]
) -> Iterator[Witness]:
    i, k = pair  # of the whole board; k is new beyond its end
    x = search.board.system_names[i]
    name = search.board.system_names[k] if k < search.board.n_systems else new_name(x, board.system_names)
    after = board.with_row(name, row)
    members = clone_set(after.scores, board.system_names.index(x), board.n_systems)
    if len(members) == after.n_systems:
        search.rank.step()
        return
    winners, winners_after = won(search.rank(board)), won(search.rank(after))
    if winners is None or winners_after is None:
        return
    together = frozenset(after.system_names[j] for j in members)
    others, others_after = winners - together, winners_after - together
    if others != others_after or bool(winners & together) != bool(winners_after & together):
        stored = {t: None if np.isnan(v) else float(v) for t, v in zip(board.task_names, row, strict=True)}
        y = one_of(others_after - others, others - others_after)
        more = tuple(sorted(together - {x, name}))
        yield search.witness(x=x, y=y, added=name, clones=more, scores=stored, **part)
