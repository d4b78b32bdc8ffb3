"""How long the prospects of all systems take: the verdicts, and each further figure by itself.

    python performance/prospects.py [--repeats 3]

The goals, for the verdicts: GLUE 0.050 s, a hundredth of the 4.99 s that Vote'n'Rank takes for its split of the same
97 systems; 1.5 s at 292 x 76 and 5 s at 1,000 x 100 on skill and noise, 15 s on noise alone. The published boards are
those of tests/reference.py, where they are there.

Verdicts are with weights or certificates, every one verified exactly. Processor seconds of one thread, the best of
the repeats, without reading the table and without the first import of the solver. `nearest` is the smallest changes
from equal and from own weights by both measures, `needed` the tasks without which a system cannot win, `shares` 10,000
draws; each is what it adds to the verdicts.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402 -- after the number of threads is set

from ranking_engine import ScoreMatrix  # noqa: E402
from ranking_engine.core.synthetic import random_matrix  # noqa: E402
from ranking_engine.prospects import prospects  # noqa: E402
from tests.reference import REPOSITORY, reference_matrix  # noqa: E402

RANDOM = [
    (105, 15, "skill"), (292, 76, "skill"), (1000, 100, "skill"),
    (105, 15, "uniform"), (292, 76, "uniform"), (1000, 100, "uniform"),
]  # fmt: skip
VERDICTS = {"n_draws": 0, "nearest": False, "needed": False}
FURTHER = {
    "nearest": VERDICTS | {"nearest": True},
    "needed": VERDICTS | {"needed": True},
    "shares": VERDICTS | {"n_draws": 10_000},
}
MAX_SYSTEMS = 300  # further figures are measured up to here


def boards():
    if (REPOSITORY.parent / "shared" / "data").is_dir() or os.environ.get("PLURANK_REFERENCE_DATA"):
        glue = reference_matrix("votenrank-glue")
        yield "GLUE, all 14 tasks", glue.subset(np.isfinite(glue.values).all(axis=1)), {"all_tasks": True}
        yield "SuperGLUE", reference_matrix("votenrank-superglue"), {}
    for n, T, kind in RANDOM:
        yield f"random {kind}", random_matrix(n, T, seed=1, kind=kind), {}


def seconds_of(matrix: ScoreMatrix, repeats: int, **options):
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        result = prospects(matrix, **options)
        best = min(best, time.process_time() - started)
    return best, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    prospects(ScoreMatrix([[1, 2], [2, 1]]))  # loads the solver
    columns = "".join(f"{name:>9}" for name in ("verdicts", *FURTHER))
    print(f"{'board':22}{'n':>6}{'T':>5}{columns}  strict, tie, none, undecided; programs")
    for name, matrix, options in boards():
        base, result = seconds_of(matrix, repeats, **options, **VERDICTS)
        cells = f"{base:9.3f}"
        for further in FURTHER.values():
            is_measured = matrix.n_systems <= MAX_SYSTEMS
            cells += f"{seconds_of(matrix, 1, **options, **further)[0] - base:9.3f}" if is_measured else f"{'-':>9}"
        counts = result.summary()["verdicts"]
        verdict_counts = ", ".join(str(counts[verdict]) for verdict in ("strict", "tie_only", "none", "undecided"))
        print(f"{name:22}{matrix.n_systems:6}{matrix.n_tasks:5}{cells}  {verdict_counts}; {result.n_steps}", flush=True)


if __name__ == "__main__":
    main()
