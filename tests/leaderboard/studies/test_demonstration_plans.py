"""Within the seconds that demonstration boards have, every study runs on every board, under every rule that ranks."""

from __future__ import annotations

import pytest

from leaderboard.benchmarks.demonstration import FOLDER
from leaderboard.studies.plans import BUDGET_IDLE, chosen_studies, within_budget
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import read_table
from ranking_engine.stability.catalogue import STUDIES
from ranking_engine.stability.studies import judge_bootstrap, missing_scores, task_subsets

BOARDS = sorted(path.parent.name for path in FOLDER.glob("*/benchmark.toml"))
QUICK = ("superglue", "vtab")


@pytest.mark.parametrize(
    "board", [pytest.param(board, marks=[] if board in QUICK else pytest.mark.slow) for board in BOARDS]
)
def test_no_board_leaves_a_study_or_a_slow_rule_out_for_its_time(board):
    matrix = to_matrix(read_table(FOLDER / board / "scores.csv"), read_benchmark(FOLDER / board / "benchmark.toml"))
    plans = {"judge_bootstrap": judge_bootstrap, "missing_scores": missing_scores, "task_subsets": task_subsets}
    for key in chosen_studies():
        study = STUDIES[key]
        own = dict(study.parameters)
        if study.why_not(matrix, own):
            assert (board, key) == ("helm-bias", "cardinal_sensitivity")  # nobody has all scores
            continue
        own = within_budget(study, matrix, own, BUDGET_IDLE)
        assert study.estimate(matrix, own) <= BUDGET_IDLE, key
        if key in plans:
            plan = plans[key]._plan(matrix, own)
            assert not {rule for rule, reason in plan.not_studied.items() if "would take about" in reason}, key
            assert plan.every("kemeny") >= 1
            assert "kemeny" in plan.rules
