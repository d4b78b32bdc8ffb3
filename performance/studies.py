"""How long the studies take, and the rankings of single instances, against the goals and the papers' own code.

    PYTHONPATH=. python performance/studies.py

The goals: 10,000 resamples of the tasks under nine rules within 15 s at 292 x 76 and 4 s at 105 x 15; missing scores
on GLUE under the paper's four rules (2,100 matrices) 200 times as fast as Vote'n'Rank's 453 s; system additions on the
first 30 of GLUE 200 times as fast as its 24 s a rule; two-level rankings of instances 100 times as fast as Colombo et
al.'s code, whose seconds do not hold the reading of the file. Times are processor time of one thread, the least of
several runs. The published tables are read from the folder that PLURANK_REFERENCE_DATA names; without it those lines
are left out.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402 -- after the number of threads is set

from ranking_engine import ScoreMatrix  # noqa: E402
from ranking_engine.core.instances import InstanceScores, aggregate  # noqa: E402
from ranking_engine.core.synthetic import random_matrix  # noqa: E402
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix  # noqa: E402
from ranking_engine.files.instance_tables import read_instances  # noqa: E402
from ranking_engine.files.tables import read_table  # noqa: E402
from ranking_engine.stability.bootstrap import rank_intervals  # noqa: E402
from ranking_engine.stability.catalogue import STUDIES, run_study  # noqa: E402

NINE = ("mean", "geometric_mean", "optimality_gap", "plurality", "borda", "dowdall", "copeland", "minimax", "baldwin")
FOUR = ("mean", "minimax", "copeland", "optimality_gap")
ADDITIONS = ("borda", "copeland", "dowdall", "minimax", "plurality")
BOOTSTRAP_GOALS = {(105, 15): 4.0, (292, 76): 15.0}
MISSING_PEER, ADDITIONS_PEER = 453.0, 24.0  # seconds of Vote'n'Rank on two idle cores
INSTANCE_PEER = {
    "DIALOG_pc": 0.16, "DIALOG_tc": 0.20, "FLICKR": 0.43, "MLQE": 2.58, "REAL_SUM": 1.36,
    "SUM_EVAL": 0.98, "TAC_08": 1.67, "TAC_09": 1.46, "TAC_11": 1.29,
}  # fmt: skip


def synthetic(n: int, T: int) -> ScoreMatrix:
    """Positive scores with a threshold, so that every one of the nine rules is defined."""
    return ScoreMatrix(np.exp(random_matrix(n, T, seed=0).values / 4), gamma=2.0)


def least(function, repeats: int = 3) -> float:
    """Return the least processor time of several calls."""
    times = []
    for _ in range(repeats):
        before = time.process_time()
        function()
        times.append(time.process_time() - before)
    return min(times)


def report(label: str, seconds: float, goal: float, note: str = "") -> None:
    """Print one line."""
    verdict = "met" if seconds <= goal else "MISSED"
    print(f"{label:<58} {seconds:10.4f} s   goal {goal:8.4f} s: {verdict}   {note}")


def bootstraps() -> None:
    for (n, T), goal in BOOTSTRAP_GOALS.items():
        matrix = synthetic(n, T)
        seconds = least(lambda matrix=matrix: rank_intervals(matrix, NINE, n_resamples=10_000), repeats=2)
        report(f"10,000 resamples of the tasks, nine rules, {n} x {T}", seconds, goal)


def published(folder: Path, name: str) -> ScoreMatrix:
    path = folder / "data" / name
    return to_matrix(read_table(path / "scores.csv"), read_benchmark(path / "benchmark.toml")).with_gamma(95)


def studies_of_glue(folder: Path) -> None:
    glue = published(folder, "votenrank-glue")
    complete = glue.subset(systems=glue.is_complete)
    seconds = least(lambda: run_study("missing_scores", complete, {"rules": FOUR}))
    label = "missing scores, GLUE, four rules, 2,100 matrices"
    report(label, seconds, MISSING_PEER / 200, f"{MISSING_PEER / seconds:.0f} x")
    first = glue.subset(systems=np.arange(30))
    for rule in ADDITIONS:
        seconds = least(lambda rule=rule: run_study("system_additions", first, {"rules": [rule]}), repeats=5)
        report(f"system additions, GLUE 30, {rule}", seconds, ADDITIONS_PEER / 200, f"{ADDITIONS_PEER / seconds:.0f} x")


def instances(folder: Path) -> None:
    for name, peer in INSTANCE_PEER.items():
        path = folder / "data" / "instance" / f"{name}.csv"
        read = read_instances(path, system_column="Utterance")
        reading = least(lambda path=path: read_instances(path, system_column="Utterance"), repeats=5)

        def rank(read=read):
            # a new object, which remembers no points
            aggregate(InstanceScores(read.system_names, read.task_names, read.blocks), "two_level")

        seconds = least(rank, repeats=20)
        whole = reading + seconds
        note = f"{peer / seconds:.0f} x; with reading {whole:.4f} s, {peer / whole:.0f} x"
        report(f"two-level ranking, {name}", seconds, peer / 100, note)


def every_study() -> None:
    """All studies with their own parameters, in which the budget cuts what must be ranked one by one."""
    matrix = synthetic(105, 15)
    for key, study in STUDIES.items():
        parameters = study.with_defaults(None)
        if reason := study.why_not(matrix, parameters):
            print(f"{key}: {reason}")
            continue
        estimate = study.estimate(matrix, parameters)
        before = time.process_time()
        run_study(key, matrix)
        seconds = time.process_time() - before
        print(f"{key:<58} {seconds:10.4f} s   estimate {estimate:.1f} s, {study.n_chunks(matrix, parameters)} chunks")


if __name__ == "__main__":
    bootstraps()
    named = os.environ.get("PLURANK_REFERENCE_DATA")
    if named:
        studies_of_glue(Path(named))
        instances(Path(named))
    every_study()
