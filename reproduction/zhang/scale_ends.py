"""Zhang and Hardt 2024: the baselines Constant and Random, as the page of the landscape marks them.

python -m reproduction.zhang.scale_ends       writes them alone; `make papers` writes them with all else
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import ranking_engine
from reproduction.boards import REPOSITORY
from reproduction.measures import BASELINE_KEYS, trials
from reproduction.zhang.unstructured import CARDINAL_SHAPE, N_TRIALS, ORDINAL_RANDOM_TOP, ORDINAL_SHAPE

ENDS = REPOSITORY / "leaderboard" / "studies" / "scale_ends.json"
SHAPES = {"cardinal": CARDINAL_SHAPE, "ordinal": ORDINAL_SHAPE}


def scale_ends() -> dict[str, Any]:
    """Return the baselines of both kinds in the measures of the landscape, as JSON.

    These are diversity corrected for ties and the share of reversed pairs that a search reached: means over the
    trials.
    """
    return {
        "engine_version": ranking_engine.__version__,
        "n_trials": N_TRIALS,
        "random_top": ORDINAL_RANDOM_TOP,
        **{
            kind: [
                {
                    "name": title,
                    "n_systems": shape[0],
                    "n_tasks": shape[1],
                    "diversity": float(np.mean([trial.tie_corrected for trial in trials(kind, title)])),
                    "reached": float(np.mean([trial.pairs for trial in trials(kind, title)])),
                }
                for title in BASELINE_KEYS
            ]
            for kind, shape in SHAPES.items()
        },
    }


def write() -> None:
    """Write the file that the site reads."""
    ENDS.write_text(json.dumps(scale_ends(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {ENDS.relative_to(REPOSITORY)}", file=sys.stderr)


if __name__ == "__main__":
    write()
