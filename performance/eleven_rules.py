"""The eleven rules of Vote'n'Rank on the 97 complete systems of its GLUE table: building the matrix and ranking.

    PYTHONPATH=. python performance/eleven_rules.py

Vote'n'Rank itself takes 0.40 s of an idle core for building, ranking and electing. Times are processor time, so that
other work on the machine disturbs them little. The table is read from the folder that PLURANK_REFERENCE_DATA names;
without it a random one of the same shape stands in.
"""

import os
import time
from pathlib import Path

# One thread: the figure is held against one of the peer's.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402 -- after the environment it reads

from ranking_engine import ScoreMatrix, rank_all  # noqa: E402
from ranking_engine.core.synthetic import random_matrix  # noqa: E402
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix  # noqa: E402
from ranking_engine.files.tables import read_table  # noqa: E402

RULES = [
    "mean", "geometric_mean", "optimality_gap", "plurality", "borda", "dowdall", "threshold", "baldwin", "condorcet",
    "copeland", "minimax",
]  # fmt: skip
PEER_SECONDS = 0.40
REPEATS = 200


def table(folder: Path | None) -> ScoreMatrix:
    """The complete systems of the published table."""
    if folder is None:
        return random_matrix(97, 14, seed=0)
    glue = folder / "data" / "votenrank-glue"
    matrix = to_matrix(read_table(glue / "scores.csv"), read_benchmark(glue / "benchmark.toml"))
    return matrix.subset(systems=np.flatnonzero(matrix.is_complete))


def seconds(matrix: ScoreMatrix) -> float:
    """Processor seconds of building a matrix from arrays and ranking it under every rule."""
    began = time.process_time()
    built = ScoreMatrix(
        matrix.values,
        system_names=matrix.system_names,
        task_names=matrix.task_names,
        directions=matrix.directions,
        weights=matrix.weights,
        gamma=95,
    )
    rank_all(built, RULES)
    return time.process_time() - began


if __name__ == "__main__":
    folder = os.environ.get("PLURANK_REFERENCE_DATA")
    matrix = table(Path(folder) if folder else None)
    times = sorted(seconds(matrix) for _ in range(REPEATS))
    median = times[REPEATS // 2]
    print(f"{matrix.n_systems} systems x {matrix.n_tasks} tasks, {len(RULES)} rules, {REPEATS} repeats")
    print(f"least {times[0] * 1e3:.2f} ms, median {median * 1e3:.2f} ms, greatest {times[-1] * 1e3:.2f} ms")
    print(f"Vote'n'Rank's 0.40 s over the median: {PEER_SECONDS / median:.0f}")
