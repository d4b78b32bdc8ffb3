"""How long sensitivity takes to reach the value that benchbench's search ends with, and to prove its bounds.

`PYTHONPATH=. python performance/sensitivity.py [--all]`, CPU seconds, best of three to reach the value; the published
leaderboards are those of tests/reference.py. Without `--all` the boards that take long to bound are only searched.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np

from ranking_engine.stability.sensitivity import cardinal, ordinal
from ranking_engine.stability.sensitivity.cone import climb, corners
from ranking_engine.stability.sensitivity.visited import Visited
from tests.ranking_engine.stability.sensitivity.test_cardinal import FOUND_BY_BENCHBENCH, published
from tests.ranking_engine.stability.sensitivity.test_ordinal import PROVEN
from tests.reference import REPOSITORY, reference_matrix

HARD = {"bb-bbh", "bb-mmlu"}


class Reached(Exception):  # noqa: N818 -- no error
    """The value is reached."""


def seconds_to_reach(run, target):
    """`run(visited)` visits rankings; return the CPU seconds until tau-b distance `target`, infinite if never."""

    class Watched(Visited):
        def visit(self, scores, solution):
            met = super().visit(scores, solution)
            if self.farthest.tau_b_distance >= target - 5e-5:
                raise Reached
            return met

    best = np.inf
    for _ in range(3):
        started = time.process_time()
        try:
            run(Watched)
        except Reached:
            best = min(best, time.process_time() - started)
    return best


def search_cardinal(matrix):
    def run(watched):
        space = cardinal.Space(matrix, "scaled")
        visited = watched(space.reference)
        cone = cardinal.cone_of(space.differences(), space.floor)
        starts = corners(space.units.shape[1], space.floor)
        climb(cone, starts, lambda weights: visited.visit(space.units @ weights, weights))

    return run


def search_ordinal(matrix):
    def run(watched):
        rates, names = ordinal.win_rates(matrix)
        order = ordinal.board_order(rates, names)
        study = ordinal.TopStudy(rates, names, order, matrix.n_systems // 5, None)
        study.visited = watched(study.visited.reference)
        study.search(study.reversals(), ordinal.N_STARTS, np.random.default_rng(0))

    return run


def report(name, seconds, target, result, elapsed):
    if result is None:
        print(f"{name:26}{target:8.4f}{seconds:10.4f}   not bounded here", flush=True)
        return
    share, moved = result.discordant_share, result.max_rank_change
    print(
        f"{name:26}{target:8.4f}{seconds:10.4f}{result.tau_b_distance:9.4f}   [{share.lower:.4f}, {share.upper:.4f}]"
        f"   [{moved.lower:.4f}, {moved.upper:.4f}]{elapsed:9.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="bound the hard boards too")
    bound_all = parser.parse_args().all
    if not (REPOSITORY.parent / "shared" / "data").is_dir() and "PLURANK_REFERENCE_DATA" not in os.environ:
        print("no published leaderboards here; see tests/reference.py")
        return
    head = f"{'board':26}{'theirs':>8}{'reached':>10}{'tau-b':>9}   "
    print(f"{head}{'reversed pairs':19}{'rank change':16}{'all, s':>11}")
    for name, target in FOUND_BY_BENCHBENCH.items():
        matrix = published(name)
        seconds = seconds_to_reach(search_cardinal(matrix), target)
        started = time.process_time()
        result = None if name in HARD and not bound_all else cardinal.cardinal_sensitivity(matrix)
        report(name, seconds, target, result, time.process_time() - started)
    for name, (_, _, target) in PROVEN.items():
        matrix = reference_matrix(name)
        seconds = seconds_to_reach(search_ordinal(matrix), target)
        started = time.process_time()
        report(name, seconds, target, ordinal.ordinal_sensitivity(matrix), time.process_time() - started)


if __name__ == "__main__":
    main()
