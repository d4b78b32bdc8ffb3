"""What the chooser says of win rates and means: the figures of the papers' page, and what noise and weights do."""

import re

from leaderboard.boards.rule_advice import RECOMMENDATIONS
from leaderboard.papers.results import claim_on
from ranking_engine import ScoreMatrix, rank


def test_the_figures_are_those_of_the_papers_page():
    (text,) = (one.text for one in RECOMMENDATIONS if one.section == "zhang")
    sections = ("zhang-correlation-cardinal", "zhang-correlation-ordinal", "zhang-preserved")
    claims = " ".join(claim_on(section) for section in sections)
    figures = re.findall(r"\d+\.\d+|\d+", text)
    assert figures == ["0.98", "7", "0.001", "0.20", "11", "0.537", "14.2"]
    assert [figure for figure in figures if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.]\d)", claims)] == []


def test_noise_that_keeps_each_order_moves_the_mean_and_no_win_rate_and_weights_move_both():
    clear, noisy = [[9, 1, 5], [1, 8, 4], [5, 5, 3]], [[9, 1, 5], [1, 2, 4], [5, 1.5, 3]]
    ranks = {rule: rank(ScoreMatrix(clear), rule).ranks.tolist() for rule in ("mean", "win_rate")}
    assert rank(ScoreMatrix(noisy), "win_rate").ranks.tolist() == ranks["win_rate"]
    assert rank(ScoreMatrix(noisy), "mean").ranks.tolist() != ranks["mean"]
    for rule, before in ranks.items():
        assert rank(ScoreMatrix(clear, weights=[1, 9, 1]), rule).ranks.tolist() != before


def test_a_system_that_joins_moves_a_win_rate_and_no_mean():
    board = [[3, 1], [1, 2.5]]
    for rule, is_moved in (("mean", False), ("win_rate", True)):
        alone = rank(ScoreMatrix(board), rule).ranks.tolist()
        with_it = rank(ScoreMatrix([*board, [0, 2]]), rule).ranks[:2].tolist()
        assert (with_it != alone) is is_moved
