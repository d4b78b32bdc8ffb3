"""The leaderboards that the papers are about.

Those with a name of their own are in the repository, as the demonstration shows them. The names that begin with a
source's, such as `votenrank-glue`, are not: their licence is unclear or their owners keep their rights. They are read
from the folder that PLURANK_REFERENCE_DATA names, or from `../shared` beside the repository.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ranking_engine import ScoreMatrix
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import read_table

REPOSITORY = Path(__file__).resolve().parent.parent
DEMONSTRATION = REPOSITORY / "leaderboard" / "demonstration"

IN_REPOSITORY = {
    "GLUE": "glue",
    "SuperGLUE": "superglue",
    "Open LLM": "open-llm",
    "MMLU": "mmlu",
    "BIG-Bench Hard": "bigbench-hard",
    "MTEB": "mteb",
    "VTAB": "vtab",
    "BigCode": "bigcode",
    **{
        f"HELM-{kind}": f"helm-{kind}"
        for kind in (
            "accuracy", "bias", "calibration", "capabilities", "efficiency", "fairness", "lite", "robustness",
            "summarization", "toxicity",
        )
    },
    **{
        f"HEIM-{kind}": f"heim-{kind}"
        for kind in (
            "aesthetics-auto", "aesthetics-human", "alignment-auto", "alignment-human", "black-out", "nsfw", "nudity",
            "originality", "quality-auto", "quality-human",
        )
    },
}  # fmt: skip


class NoDataError(Exception):
    """A leaderboard is not on this machine."""


def files_of(name: str) -> list[Path]:
    """Return the files of a leaderboard.

    Raises:
        NoDataError: they are not here.
    """
    if name in IN_REPOSITORY:
        folder = DEMONSTRATION / IN_REPOSITORY[name]
        return [folder / "scores.csv", folder / "benchmark.toml"]
    if name.startswith("pavao/"):
        matrices = reference_folder() / "papers" / "pavao-2021"
        files = [
            matrices / "data" / f"{name.removeprefix('pavao/')}.data",
            *sorted((matrices / "results").glob("*.csv")),
        ]
        if not files[0].is_file():
            raise NoDataError(f"no {name} in {matrices}; set PLURANK_REFERENCE_DATA to the folder that holds papers/")
        return files
    data = reference_folder() / "data"
    files = [data / f"{name}.csv"] if name.startswith("instance/") else []
    files = files or [data / name / "scores.csv", data / name / "benchmark.toml"]
    if not all(path.is_file() for path in files):
        raise NoDataError(f"no {name} in {data}; set PLURANK_REFERENCE_DATA to the folder that holds data/")
    return files


def reference_folder() -> Path:
    return Path(os.environ.get("PLURANK_REFERENCE_DATA") or REPOSITORY.parent / "shared")


def board(name: str) -> ScoreMatrix:
    """Return a leaderboard, whole."""
    scores, benchmark = files_of(name)
    return to_matrix(read_table(scores), read_benchmark(benchmark))


def pavao_matrix(name: str) -> ScoreMatrix:
    """Return a matrix of Pavao et al. as published, higher is better: its rows are data sets, which are tasks here."""
    return ScoreMatrix(np.loadtxt(files_of(f"pavao/{name}")[0]).T)


def complete_board(name: str, head: int | None = None) -> ScoreMatrix:
    """Return the systems of a leaderboard that have all scores, among its first `head` rows."""
    matrix = board(name)
    rows = np.flatnonzero(np.isfinite(matrix.values).all(axis=1))
    return matrix.subset(rows if head is None else rows[rows < head])
