"""Where the published leaderboards and the peers' answers are, for the tests that compare with them.

PLURANK_REFERENCE_DATA names a folder that holds `data/` and `reference/`; the default is `../shared` relative
to the repository. Where it is absent such tests are skipped, visibly; with PLURANK_CI=1 they fail instead.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.benchmark_file import read_benchmark, to_matrix
from ranking_engine.tables import read_table

REPOSITORY = Path(__file__).resolve().parent.parent


def reference_folder() -> Path:
    """Return the folder, or skip (fail where PLURANK_CI=1) the test that asks."""
    folder = Path(os.environ.get("PLURANK_REFERENCE_DATA") or REPOSITORY.parent / "shared")
    if (folder / "data").is_dir() and (folder / "reference").is_dir():
        return folder
    message = (
        f"no reference data in {folder}: set PLURANK_REFERENCE_DATA to the folder with data/ and reference/"
    )
    if os.environ.get("PLURANK_CI") == "1":
        pytest.fail(message)
    pytest.skip(message)


def reference_answers(name: str) -> dict[str, Any]:
    """Return the JSON of one file of `reference/`, named without its ending."""
    return json.loads((reference_folder() / "reference" / f"{name}.json").read_bytes())


def reference_matrix(name: str) -> ScoreMatrix:
    """Return one leaderboard of `data/`."""
    folder = reference_folder() / "data" / name
    return to_matrix(read_table(folder / "scores.csv"), read_benchmark(folder / "benchmark.toml"))


def reference_leaderboards() -> list[str]:
    """Return the names of all leaderboards of `data/`."""
    return sorted(path.parent.name for path in (reference_folder() / "data").glob("*/scores.csv"))
