"""How long each rule takes, and all listed ones together, on synthetic benchmarks of skill and noise.

    python performance/engine.py [--size 105x15 ...]

The goals: all listed rules together within 10 ms at 105 x 15, 0.25 s at 1,000 x 100, and 10 s and 2 GB at
5,000 x 57; Schulze's within 20 s there; the pairwise comparison within 50 ms at 1,000 x 100, and 2 s and 1 GB at
10,000 x 100, where nothing else is measured; `import ranking_engine` within 0.3 s. Times are processor time of one
thread, the least of several runs, so that other work on the machine disturbs them little; a rule's own time includes
what rules share.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402 -- after the number of threads is set

from ranking_engine import RULES, Pairwise, ScoreMatrix, listed_rules, rank, rank_all  # noqa: E402
from ranking_engine.core.comparison import compare  # noqa: E402
from ranking_engine.core.synthetic import random_matrix  # noqa: E402
from ranking_engine.stability.bootstrap import rank_intervals  # noqa: E402

SIZES = {"105x15": (105, 15), "1000x100": (1000, 100), "5000x57": (5000, 57), "10000x100": (10_000, 100)}
GOALS = {"105x15": 0.010, "1000x100": 0.25, "5000x57": 10.0}
PAIRWISE_GOALS = {"1000x100": 0.05, "10000x100": 2.0}
SCHULZE_SIZE, SCHULZE_GOAL = "5000x57", 20.0
IMPORT_GOAL = 0.3
BOOTSTRAP_SIZE = "105x15"


def synthetic(n: int, T: int) -> ScoreMatrix:
    """Positive scores with a scale, so that every rule is defined."""
    values = np.exp(random_matrix(n, T, seed=0).values / 4)
    return ScoreMatrix(values, gamma=2.0, maximum=[99.0] * T, chance=[0.1] * T)


def best_of(function, seconds: float = 1.0) -> float:
    """Return the least processor time of several calls, which together take about `seconds`."""
    best, started = float("inf"), time.perf_counter()
    while best == float("inf") or time.perf_counter() - started < seconds:
        before = time.process_time()
        function()
        best = min(best, time.process_time() - before)
    return best


def verdict(seconds: float, goal: float | None) -> str:
    """Whether a goal is met."""
    return "" if goal is None else f"goal {goal:g} s: {'met' if seconds <= goal else 'MISSED'}"


def import_seconds() -> float:
    """The least processor time of importing the engine in a process of its own."""
    code = "import time; began = time.process_time(); import ranking_engine; print(time.process_time() - began)"
    root = Path(__file__).resolve().parent.parent
    runs = [subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def timings(size: str) -> list[tuple[str, float, str]]:
    """Return the label, the seconds and a remark of everything measured at one size."""
    n, T = SIZES[size]
    matrix = synthetic(n, T)
    pairs = best_of(lambda: Pairwise.of(matrix))
    rows = [("pairwise comparison", pairs, verdict(pairs, PAIRWISE_GOALS.get(size)))]
    if size not in GOALS:
        return rows
    quick = [key for key in listed_rules() if RULES[key].is_quick(n, T)]
    for key in listed_rules():
        estimate = RULES[key].cost(n, T)
        if estimate > 60:
            rows.append((key, float("nan"), f"estimated at {estimate:.0f} s, left out"))
            continue
        remark = f"estimate {1e3 * estimate:,.1f} ms" + ("" if key in quick else ", slow")
        rows.append((key, best_of(lambda key=key: rank(matrix, key)), remark))
    together = best_of(lambda: rank_all(matrix))
    rows.append((f"{len(listed_rules())} rules together", together, verdict(together, GOALS[size])))
    if size == SCHULZE_SIZE:
        schulze = best_of(lambda: rank(matrix, "schulze"))
        rows.append(("schulze", schulze, verdict(schulze, SCHULZE_GOAL)))
    rankings = rank_all(matrix)
    rows.append(("their comparison", best_of(lambda: compare(rankings)), "all pairs"))
    known = Pairwise.of(matrix)
    changed = matrix.replace_row(0, matrix.values[1] + 1e-6)
    rows.append(("one row changed", best_of(lambda: known.updated(changed, 0)), "pairwise comparison"))
    if size == BOOTSTRAP_SIZE:
        started = time.process_time()
        intervals = rank_intervals(matrix, listed_rules(), n_resamples=1000)
        skipped = f"; skipped {', '.join(intervals.skipped)}" if intervals.skipped else ""
        rows.append(("bootstrap", time.process_time() - started, f"1,000 resamples{skipped}"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", action="append", choices=list(SIZES))
    sizes = parser.parse_args().size or SIZES
    seconds = import_seconds()
    print(f"import ranking_engine {1e3 * seconds:,.0f} ms  {verdict(seconds, IMPORT_GOAL)}")
    for size in sizes:
        print(f"\n{size}\n")
        for label, seconds, remark in timings(size):
            print(f"  {label:<20} {1e3 * seconds:>12,.2f} ms  {remark}", flush=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
        print(f"  {'peak memory so far':<20} {peak:>12,.0f} MB")


if __name__ == "__main__":
    main()
