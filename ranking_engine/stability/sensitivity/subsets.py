"""The problem behind ordinal sensitivity: how many of some sums can a choice of items make positive at once?

Sums are s_p = b_p + sum over chosen items k of d_pk. `rounded` rounds a fractional choice that leaves the sums as
little below 0 as possible. `climb` exchanges one item, then two, as long as that helps. `wander` always exchanges the
best item that it did not exchange of late, for better or worse (tabu search, Glover 1989). `prove` asks a mixed-integer
program for a choice with one positive sum more, until there is none.

The program has a variable for every item and an indicator f_p for every sum that can be positive:
b_p + d_p @ y >= POSITIVE - M_p (1 - f_p), where M_p = POSITIVE - b_p - sum of the negative d_pk is the least constant
that works. Where the sums are differences between systems, orders are transitive: f_ik <= f_ij + f_jk, and
f_ij + f_jk <= 1 + f_ik. With these rows the solver needs far fewer branches. Refutations rest on its tolerances
(1e-7 and less), not on rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.linear_programs import RowProgram, SolverError, solver_module
from ranking_engine.core.score_matrix import FloatArray

POSITIVE = 1e-7  # the least sum that counts as positive
MAX_NODES = 5_000
MAX_CELLS = 60_000  # sums x items of a program; larger ones are not begun
USUAL_CELLS = 12_000  # programs with more of them get fewer nodes
WALK_CELLS = 1 << 17  # sums x items of the walks that go side by side
MAX_PAIRED_ITEMS = 100  # more of them are not exchanged two at a time

Choice = NDArray[np.bool_]
Visit = Callable[[Choice], None]
Tick = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Sums:
    """b of shape (m,) and d of shape (m, n_items); only sums that can be positive.

    `chains`, shape (n_chains, 3): the sums ij, jk and ik of differences between three systems; -1 for a sum that
    never is positive.
    """

    base: FloatArray
    changes: FloatArray
    chains: NDArray[np.intp]

    @classmethod
    def of(cls, base: FloatArray, changes: FloatArray, chains: NDArray[np.intp] | None = None) -> Sums:
        """Keep the sums that can be positive."""
        can = base + np.maximum(changes, 0).sum(axis=1) >= POSITIVE
        number = np.where(can, np.cumsum(can) - 1, -1)
        kept = np.zeros((0, 3), dtype=np.intp) if chains is None else number[chains]
        return cls(base[can], np.ascontiguousarray(changes[can]), kept)

    def n_positive(self, choice: Choice) -> int:
        """Count the positive sums."""
        return int(np.count_nonzero(self.base + self.changes @ choice >= POSITIVE))

    def wander_together(
        self, starts: Sequence[tuple[Choice, float]], n_steps: int, generator: np.random.Generator, visit: Visit
    ) -> list[Choice]:
        """Walk from every start side by side; return the best choice of each walk; see `wander`."""
        choices = np.array([start for start, _ in starts])
        lures = np.array([lure for _, lure in starts])
        lured, walks = np.flatnonzero(lures), np.arange(len(starts))
        now = self.base + choices.astype(np.float64) @ self.changes.T
        moves = self.changes * np.where(choices, -1.0, 1.0)[:, None, :]  # what each exchange of a walk adds to each sum
        lure = lures[lured, None] / (4 * float(np.abs(self.changes).max()) or 1.0)
        least = -lures[lured, None, None]
        best, best_choices = (now >= POSITIVE).sum(axis=1), choices.copy()
        free_from = np.zeros(choices.shape, dtype=np.int64)
        rests = generator.integers(4, 12, size=(n_steps, len(starts)))
        for step in range(n_steps):
            after = now[:, :, None] + moves
            counts = np.add.reduce(after >= POSITIVE, axis=1, dtype=np.int32)
            worth = counts.astype(np.float64)
            if lured.size:
                worth[lured] += np.clip(after[lured] * lure[:, :, None], least, 0).sum(axis=1)
            worth[(free_from > step) & (counts <= best[:, None])] = -np.inf
            items = worth.argmax(axis=1)
            now = after[walks, :, items]
            moves[walks, :, items] *= -1
            choices[walks, items] ^= True
            free_from[walks, items] = step + rests[step]
            reached = counts[walks, items]
            for walk in np.flatnonzero(reached > best).tolist():
                best[walk], best_choices[walk] = reached[walk], choices[walk]
                visit(best_choices[walk].copy())
        return list(best_choices)


@dataclass
class SubsetBounds:
    """`lower` sums are positive for some choice met, never more than `upper`; and the work that shows it."""

    lower: int
    upper: int
    n_programs: int = 0
    n_nodes: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether no choice does better than those met."""
        return self.lower >= self.upper


def climb(sums: Sums, starts: Iterable[Choice], visit: Visit) -> int:
    """Improve every start by the best change of one item, or else of two; return how many changes were made.

    Of changes that gain nothing none is made. `visit` is called with every start and every improvement.
    O(m n_items^2) a change.
    """
    n_changes = 0
    for start in starts:
        choice = start.copy()
        visit(choice.copy())
        while items := _improvement(sums, choice):
            choice[items] ^= True
            n_changes += 1
            visit(choice.copy())
    return n_changes


def _improvement(sums: Sums, choice: Choice) -> list[int]:
    """Return the one or two items whose exchange makes most sums positive; none where nothing is gained."""
    now = sums.base + sums.changes @ choice
    before = np.count_nonzero(now >= POSITIVE)
    toggles = (sums.changes * np.where(choice, -1.0, 1.0)).T
    single = np.count_nonzero(now + toggles >= POSITIVE, axis=1)
    if single.size and single.max() > before:
        return [int(single.argmax())]
    if len(toggles) > MAX_PAIRED_ITEMS:
        return []
    best, pair = before, list[int]()
    for k in range(len(toggles) - 1):
        double = np.count_nonzero(now + toggles[k] + toggles[k + 1 :] >= POSITIVE, axis=1)
        if double.max() > best:
            best, pair = double.max(), [k, k + 1 + int(double.argmax())]
    return pair


def rounded(sums: Sums) -> Choice | None:
    """Choose the items that a fractional choice with the least sum of shortfalls takes by more than a half.

    Where all sums can be positive at once, that choice makes them so; and since no more items are fractional than there
    are sums, rounding seldom costs many. None where the linear program would be large.
    """
    m, n_items = sums.changes.shape
    if not m or not n_items or sums.changes.size > MAX_CELLS:
        return None
    reserve = float(np.abs(sums.changes).max()) / 2  # what rounding an item may cost
    cost = np.concatenate([np.zeros(n_items), np.ones(m)])
    most = np.concatenate([np.ones(n_items), np.full(m, np.inf)])
    program = RowProgram(cost, np.zeros(n_items + m), most)
    program.add_rows(np.hstack([sums.changes, np.eye(m)]), reserve - sums.base, np.inf)
    x = program.solve().x
    return None if x is None else x[:n_items] > 0.5


def wander(
    sums: Sums,
    starts: Sequence[tuple[Choice, float]],
    n_steps: int,
    generator: np.random.Generator,
    visit: Visit = lambda choice: None,
) -> list[Choice]:
    """Return the best choice that each of several walks meets in `n_steps` exchanges of one item each.

    Args:
        sums: the sums.
        starts: of each walk the choice to begin with and its lure: a sum just below 0 is worth so much less than a
            positive one, in the order of exchanges.
        n_steps: how many exchanges.
        generator: draws for how many steps, 4 to 11, an item stays as it is after its exchange.
        visit: called with every choice that is better than all before it on its walk.

    The walks go side by side, as many as fit into the processor's cache. O(m n_items) a step of a walk.
    """
    m, n_items = sums.changes.shape
    if not m or not n_items:
        return [start.copy() for start, _ in starts]
    height = max(1, WALK_CELLS // (m * n_items))
    choices: list[Choice] = []
    for first in range(0, len(starts), height):
        choices += sums.wander_together(starts[first : first + height], n_steps, generator, visit)
    return choices


def prove(
    sums: Sums, lower: int, visit: Visit, *, max_nodes: int = MAX_NODES, tick: Tick = lambda: None
) -> SubsetBounds:
    """Look for a choice with more than `lower` positive sums, or prove that there is none.

    Args:
        sums: the sums.
        lower: so many are positive for a choice already met.
        visit: called with every better choice.
        max_nodes: of branch and bound, in all; then the bound is the solver's. Large programs get fewer, and very
            large ones are not begun: the bound then is the number of sums that can be positive at all.
        tick: called before every program; it may raise to cancel.
    """
    bounds = SubsetBounds(lower, max(lower, len(sums.base)))
    size = sums.changes.size
    if size > MAX_CELLS or bounds.is_proven:
        return bounds
    Status = solver_module().HighsModelStatus
    m, n_items = sums.changes.shape
    max_nodes = max_nodes if size <= USUAL_CELLS else max(1, max_nodes * USUAL_CELLS // size)
    while not bounds.is_proven and bounds.n_nodes < max_nodes:
        tick()
        # Ask for a choice with more positive sums, as many as possible.
        solver = _built(sums, bounds.lower + 1)
        solver.setOptionValue("mip_max_nodes", max_nodes - bounds.n_nodes)
        solver.run()
        status, info = solver.getModelStatus(), solver.getInfo()
        bounds.n_programs += 1
        bounds.n_nodes += max(1, int(info.mip_node_count))
        if status == Status.kInfeasible:
            bounds.upper = bounds.lower
            break
        if status not in (Status.kOptimal, Status.kSolutionLimit, Status.kInterrupt, Status.kObjectiveTarget):
            raise SolverError(f"mixed-integer program: {solver.modelStatusToString(status)}")
        if np.isfinite(info.mip_dual_bound):
            bounds.upper = max(bounds.lower, min(bounds.upper, int(np.floor(info.mip_dual_bound + 1e-6))))
        values = np.array(solver.getSolution().col_value)
        if info.primal_solution_status != 2 or len(values) != n_items + m:
            break  # no choice is known
        choice = values[:n_items] > 0.5
        count = sums.n_positive(choice)
        if count <= bounds.lower:
            break  # what the solver took for positive is within its tolerance of 0
        bounds.lower = count
        visit(choice)
    return bounds


def _built(sums: Sums, at_least: int) -> Any:  # noqa: ANN401 -- the solver's module is loaded where it is needed
    highspy = solver_module()
    m, n_items = sums.changes.shape
    big = POSITIVE - sums.base - np.minimum(sums.changes, 0).sum(axis=1)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n_items + m, m + 1
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = np.concatenate([np.zeros(n_items), np.ones(m)])
    program.col_lower_, program.col_upper_ = np.zeros(n_items + m), np.ones(n_items + m)
    program.row_lower_ = np.concatenate([POSITIVE - sums.base - big, [float(at_least)]])
    program.row_upper_ = np.full(m + 1, highspy.kHighsInf)
    program.integrality_ = [highspy.HighsVarType.kInteger] * (n_items + m)
    rows = np.hstack([sums.changes, -np.diag(big)])
    matrix = np.vstack([rows, np.concatenate([np.zeros(n_items), np.ones(m)])])
    row, column = np.nonzero(matrix)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.searchsorted(row, np.arange(m + 2)).astype(np.int32)
    program.a_matrix_.index_ = column.astype(np.int32)
    program.a_matrix_.value_ = matrix[row, column]
    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("random_seed", 0),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 0.0),
        ("mip_feasibility_tolerance", 1e-9),
        ("primal_feasibility_tolerance", 1e-9),
    ):
        if solver.setOptionValue(option, value).name == "kError":
            raise SolverError(f"the solver refused the option {option}")
    if solver.passModel(program).name == "kError":
        raise SolverError("the solver refused the mixed-integer program")
    # f_ik - f_ij - f_jk <= 0 and f_ij + f_jk - f_ik <= 1, without the indicators that are 0 anyway.
    for chain in sums.chains:
        present = chain >= 0
        entries = chain[present].astype(np.int32) + n_items
        signs = np.array([-1.0, -1.0, 1.0])[present]
        if present[2]:
            solver.addRow(-highspy.kHighsInf, 0.0, len(entries), entries, signs)
        if present[0] and present[1]:
            solver.addRow(-highspy.kHighsInf, 1.0, len(entries), entries, -signs)
    return solver
