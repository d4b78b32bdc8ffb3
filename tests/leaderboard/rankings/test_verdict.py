"""Who is elected by which rules, in camps and in a sentence."""

import pytest

from leaderboard.rankings.verdict import camps_of, headline, short_headline

MEAN_A, BORDA_A, COPELAND_A = ("Mean", ("A",), 1), ("Borda", ("A",), 1), ("Copeland", ("A",), 1)
COPELAND_B, MINIMAX_B = ("Copeland", ("B",), 1), ("Minimax", ("B",), 1)


@pytest.mark.parametrize(
    ("winners", "condorcet", "sentence"),
    [
        ([], None, "No rule elects a winner."),
        ([MEAN_A], "A", "Mean elects A, the Condorcet winner."),
        ([MEAN_A, BORDA_A], None, "Both rules that elect agree on A; no Condorcet winner."),
        ([MEAN_A, BORDA_A, COPELAND_A], "A", "All 3 rules that elect agree on A, the Condorcet winner."),
        ([MEAN_A, BORDA_A], "B", "Both rules that elect agree on A; the Condorcet winner is B."),
        # Two camps of equal size: neither is the majority, both are named.
        (
            [MEAN_A, BORDA_A, COPELAND_B, MINIMAX_B],
            "B",
            "Mean and Borda elect A; Copeland and Minimax elect B, the Condorcet winner.",
        ),
        (
            [*[(f"R{k}", ("ERNIE",), 1) for k in range(9)], ("Copeland", ("Human",), 1), ("Minimax", ("Human",), 1)],
            None,
            "9 of 11 rules elect ERNIE; Copeland and Minimax elect Human; no Condorcet winner.",
        ),
        (
            [MEAN_A, ("Plurality", tuple("ABCD"), 30)],
            None,
            "Plurality elects 30 systems jointly; Mean elects A; no Condorcet winner.",
        ),
        (
            [("Mean", tuple("ABCD"), 30), ("Plurality", tuple("ABCD"), 30)],
            None,
            "Both rules that elect agree on 30 systems, tied for first; no Condorcet winner.",
        ),
        # More than four camps: the smallest are counted.
        (
            [(f"R{k}", (name,), 1) for k, name in enumerate("ABCD")],
            "D",
            "R0 elects A; R1 elects B; R2 elects C; R3 elects D, the Condorcet winner.",
        ),
        (
            [(f"R{k}", (name,), 1) for k, name in enumerate("ABCDE")],
            "D",
            "R0 elects A; R1 elects B; R2 elects C; R3 and R4 elect somebody else; the Condorcet winner is D.",
        ),
    ],
)
def test_the_verdict(winners, condorcet, sentence):
    assert headline(camps_of(winners), condorcet) == sentence


@pytest.mark.parametrize(
    ("winners", "condorcet", "sentence"),
    [
        ([], None, "No rule elects a winner."),
        ([MEAN_A, BORDA_A], "B", "Both rules that elect agree on A; the Condorcet winner is B."),
        ([MEAN_A, BORDA_A, COPELAND_B, MINIMAX_B], "A", "Mean and Borda elect A, the Condorcet winner."),
        ([MEAN_A, BORDA_A, COPELAND_A, MINIMAX_B], "A", "3 of 4 rules elect A, the Condorcet winner."),
        ([MEAN_A, BORDA_A, COPELAND_A, MINIMAX_B], "B", "3 of 4 rules elect A; the Condorcet winner is B."),
        ([MEAN_A, BORDA_A, COPELAND_A, MINIMAX_B], None, "3 of 4 rules elect A; no Condorcet winner."),
    ],
)
def test_the_short_verdict_tells_of_the_largest_camp_and_of_the_condorcet_winner(winners, condorcet, sentence):
    assert short_headline(camps_of(winners), condorcet) == sentence


def test_rules_that_elect_the_same_in_another_order_are_one_camp():
    camps = camps_of([("Mean", ("A", "B"), 2), ("Borda", ("B", "A"), 2), ("Veto", ("A",), 1)])
    assert [(camp.rules, camp.text) for camp in camps] == [(("Mean", "Borda"), "A and B"), (("Veto",), "A")]
