"""GLUE and SuperGLUE state means of two figures: 92.2 and 92.19999999999999 are one score, under every rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank_all
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import read_table

DEMONSTRATION = Path(__file__).parents[3] / "leaderboard" / "demonstration"
# Where dust decided, a rank was another one: NEZHA-Large was 13th under Borda, Vega v2 third.
RANKS = {
    "glue": {
        "borda": {"NEZHA-Large": 14, "MobileBERT": 68},
        "dowdall": {"BERT-of-Theseus (6-layer; single model)": 69, "Bert-n-Pals": 72, "Pocket GLUE": 71},
        "average_rank": {"FreeLB-RoBERTa (ensemble)": 17, "Bort (Alexa AI)": 31, "StackingBERT-Base": 68},
        "win_rate": {"FreeLB-RoBERTa (ensemble)": 17, "Bort (Alexa AI)": 31, "StackingBERT-Base": 68},
        "threshold": {"LV-BERT-base": 30, "SpanBERT (single-task training)": 31, "Macaron Net-base": 46},
        "baldwin": {"ALBERT + DAAF + NAS": 11, "MT-DNN-SMART": 12, "ConvBERT base": 29},
        "copeland": {"MacALBERT + DKM": 9, "Bort (Alexa AI)": 27, "ConvBERT-base-paddle-v1.1": 29},
    },
    "superglue": {"borda": {"Vega v2": 2}, "average_rank": {"Vega v2": 2}, "win_rate": {"Vega v2": 2}},
}


def board(name: str) -> ScoreMatrix:
    folder = DEMONSTRATION / name
    return to_matrix(read_table(folder / "scores.csv"), read_benchmark(folder / "benchmark.toml"))


@pytest.mark.parametrize("name", RANKS)
def test_decimals_decide_the_ranks(name):
    matrix = board(name)
    rankings = rank_all(matrix, list(RANKS[name]))
    place = {system: i for i, system in enumerate(matrix.system_names)}
    own_ranks = {
        rule: {system: int(rankings[rule].ranks[place[system]]) for system in ranks}
        for rule, ranks in RANKS[name].items()
    }
    assert own_ranks == RANKS[name]


@pytest.mark.parametrize("name", RANKS)
def test_dust_that_is_strewn_on_the_scores_changes_no_rank_under_any_rule(name):
    matrix = board(name)
    generator = np.random.default_rng(7)
    dusty = matrix.values * (1 + generator.integers(-4, 5, matrix.values.shape) * 2.0**-52)
    assert (dusty != matrix.values).mean() > 0.5
    strewn = ScoreMatrix(
        dusty, system_names=matrix.system_names, directions=matrix.directions, weights=matrix.weights,
        gamma=matrix.gamma, minimum=matrix.minimum, maximum=matrix.maximum, chance=matrix.chance,
    )  # fmt: skip
    before, after = (rank_all(one) for one in (matrix, strewn))
    for rule, ranking in before.items():
        assert after[rule].ranks.tolist() == ranking.ranks.tolist(), rule


@pytest.mark.parametrize("name", RANKS)
def test_the_table_of_the_demonstration_has_no_dust(name):
    assert read_table(DEMONSTRATION / name / "scores.csv").rounding == ""
