"""Prospects in words."""

from fractions import Fraction

import pytest

from leaderboard.studies.prospects.text import change_in_words, counts_sentence, evidence, share_of_weight, share_text
from ranking_engine.prospects import Prospect, WeightChange


def plain(text: str) -> str:
    """With spaces where lines must not break."""
    return text.replace("\u00a0", " ")


F = Fraction
NAMES = {"t5": "T5", "ernie": "ERNIE", "bert": "BERT", "a": "A", "b": "B"}


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (F(1, 4), "25 %"), (F(1, 3), "33.3 %"), (F(0), "0 %"), (F(1, 10_000), "under 0.1 %"), (0.0005, "0.1 %"),
        (1.0, "100 %"),
    ],
)  # fmt: skip
def test_a_share_of_the_weight(share, text):
    assert plain(share_of_weight(share)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"share": 0.511, "share_error": 0.005}, "51.1 ± 0.5 %"),
        ({"share": 0.0002, "share_error": 0.00014}, "0.02 ± 0.01 %"),
        ({"share": 0.0, "share_error": 0.0, "share_bound": 0.0003}, "less than 0.03 %"),
        ({"share": 1e-4, "share_error": 1e-4, "share_lower": 2.5e-6, "share_upper": 5.6e-4}, "0.00025 to 0.056 %"),
        (
            {"share": 0.9999, "share_error": 1e-4, "share_lower": 0.99944, "share_upper": 0.9999975},
            "99.944 to 99.99975 %",
        ),
        ({"share": 1.0, "share_error": 0.0, "share_lower": 0.9997, "share_upper": 1.0}, "more than 99.970 %"),
        ({"share": 0.0, "share_error": 0.0}, "0 %"),
        ({"share": 1.0, "share_error": 0.0}, "100 %"),
        ({}, ""),
    ],
)
def test_a_share_of_all_weightings(fields, text):
    assert plain(share_text(Prospect("a", "strict", **fields))) == text


@pytest.mark.parametrize(
    ("certificate", "text"),
    [
        ({"t5": F(1)}, "No weights work: T5 is ahead of it on every task that counts for it."),
        (
            {"t5": F(1, 2), "ernie": F(1, 2)},
            (
                "No weights work: against a half-and-half mixture of ERNIE and T5 it loses on balance on every task "
                "that counts for it."
            ),
        ),
        (
            {"t5": F(1, 2), "ernie": F(1, 3), "bert": F(1, 6)},
            (
                "No weights work: against a mixture of T5 (50 %), ERNIE (33.3 %) and BERT (16.7 %) it loses on "
                "balance on every task that counts for it."
            ),
        ),
    ],
)
def test_why_no_weighting_works(certificate, text):
    assert plain(evidence(Prospect("a", "none", certificate=certificate), NAMES)) == text


def test_a_change_names_what_moves_the_largest_move_first():
    before = {"cola": 0.1, "qnli": 0.1, "rte": 0.8}
    change = WeightChange({"cola": F(6, 25), "rte": F(19, 25)}, 0.14)
    assert plain(change_in_words(change, before, {"cola": "CoLA", "qnli": "QNLI", "rte": "RTE"})) == (
        "CoLA from 10 % to 24 %, QNLI from 10 % to 0 %, RTE from 80 % to 76 %"
    )
    rest = WeightChange({"cola": F(1, 10), "qnli": F(2, 10), "rte": F(7, 10)}, 0.1)
    assert plain(change_in_words(rest, before, {})) == (
        "qnli from 10 % to 20 %, rte from 80 % to 70 %; the other one does not change"
    )


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (
            {"strict": 3, "none": 4},
            (
                "3 of 7 systems can win head to head under some weights; 4 cannot under any weights of the tasks that "
                "count."
            ),
        ),
        ({"strict": 1}, "1 of 1 system can win head to head under some weights."),
        ({"tie_only": 2}, "2 of 2 systems can win head to head under some weights (only by a tie)."),
        ({"strict": 1, "undecided": 2}, "1 of 1 system can win head to head under some weights. 2 are undecided."),
        ({"no_scores": 3}, "No system has scores to compare."),
    ],
)
def test_how_many_can_win(verdicts, sentence):
    assert counts_sentence(verdicts) == sentence
