"""Who wins under which rules, in camps and in a sentence."""

import pytest

from leaderboard.rankings.verdict import camps_of, headline, short_headline

BEATS_ALL = "beats every other system head to head (Condorcet winner)"
NONE = "no system beats every other head to head (no Condorcet winner)"
MEAN_A, BORDA_A, COPELAND_A = ("Mean", ("A",), 1), ("Borda", ("A",), 1), ("Copeland", ("A",), 1)
COPELAND_B, MINIMAX_B = ("Copeland", ("B",), 1), ("Minimax", ("B",), 1)


@pytest.mark.parametrize(
    ("winners", "condorcet", "sentence"),
    [
        ([], None, "No rule has a winner."),
        ([MEAN_A], "A", f"A wins under Mean and {BEATS_ALL}."),
        (
            [MEAN_A, BORDA_A],
            None,
            f"A wins under both rules; {NONE}.",
        ),
        (
            [MEAN_A, BORDA_A, COPELAND_A],
            "A",
            f"A wins under all 3 rules that have a winner and {BEATS_ALL}.",
        ),
        (
            [MEAN_A, BORDA_A],
            "B",
            f"A wins under both rules; B {BEATS_ALL}.",
        ),
        # Two camps of equal size: neither is the majority, both are named.
        (
            [MEAN_A, BORDA_A, COPELAND_B, MINIMAX_B],
            "B",
            f"A wins under Mean and Borda; B wins under Copeland and Minimax and {BEATS_ALL}.",
        ),
        (
            [*[(f"R{k}", ("ERNIE",), 1) for k in range(9)], ("Copeland", ("Human",), 1), ("Minimax", ("Human",), 1)],
            None,
            f"ERNIE wins under 9 of 11 rules with a winner; Human wins under Copeland and Minimax; {NONE}.",
        ),
        (
            [MEAN_A, ("Plurality", tuple("ABCD"), 30)],
            None,
            f"30 systems win jointly under Plurality; A wins alone under Mean; {NONE}.",
        ),
        (
            [("Mean", tuple("ABCD"), 30), ("Plurality", tuple("ABCD"), 30)],
            None,
            f"30 systems win jointly under both rules; {NONE}.",
        ),
        # More than four camps: the smallest are counted.
        (
            [(f"R{k}", (name,), 1) for k, name in enumerate("ABCD")],
            "D",
            f"A wins under R0; B wins under R1; C wins under R2; D wins under R3 and {BEATS_ALL}.",
        ),
        # A winner by itself that also wins together with others wins "alone".
        (
            [
                *[(f"R{k}", ("A",), 1) for k in range(5)],
                *[(f"S{k}", ("A", "B"), 2) for k in range(4)],
                *[(f"T{k}", ("C",), 1) for k in range(3)],
            ],
            None,
            f"A wins alone under 5 of 12 rules with a winner; A and B win jointly under 4; C wins under 3; {NONE}.",
        ),
        # Winners named before win under the last rules too.
        (
            [
                *[(f"R{k}", ("A",), 1) for k in range(5)],
                *[(f"S{k}", ("B",), 1) for k in range(4)],
                *[(f"T{k}", ("C",), 1) for k in range(4)],
                *[(f"U{k}", ("A", "B"), 2) for k in range(3)],
                ("V", ("A", "C"), 2),
            ],
            None,
            (
                "A wins alone under 5 of 17 rules with a winner; B wins alone under 4; C wins alone under 4; "
                f"the other 4 rules have other winners, or joint ones; {NONE}."
            ),
        ),
        (
            [(f"R{k}", (name,), 1) for k, name in enumerate("ABCDE")],
            "D",
            f"A wins under R0; B wins under R1; C wins under R2; other systems win under R3 and R4; D {BEATS_ALL}.",
        ),
    ],
)
def test_the_verdict(winners, condorcet, sentence):
    assert headline(camps_of(winners), condorcet) == sentence


@pytest.mark.parametrize(
    ("winners", "condorcet", "sentence"),
    [
        ([], None, "No rule has a winner."),
        (
            [MEAN_A, BORDA_A],
            "B",
            f"A wins under both rules; B {BEATS_ALL}.",
        ),
        # As large a camp is no smaller news.
        (
            [MEAN_A, BORDA_A, COPELAND_B, MINIMAX_B],
            "A",
            f"A wins under Mean and Borda and {BEATS_ALL}; B wins under Copeland and Minimax.",
        ),
        (
            [*[(f"R{k}", (name,), 1) for k, name in enumerate("ABCDE")]],
            "E",
            (
                "A wins under R0; B wins under R1; C wins under R2; 2 other sets of winners are as frequent; "
                f"E {BEATS_ALL}."
            ),
        ),
        (
            [MEAN_A, BORDA_A, COPELAND_A, MINIMAX_B],
            "A",
            f"A wins under 3 of 4 rules with a winner and {BEATS_ALL}.",
        ),
        (
            [MEAN_A, BORDA_A, COPELAND_A, MINIMAX_B],
            "B",
            f"A wins under 3 of 4 rules with a winner; B {BEATS_ALL}.",
        ),
        (
            [MEAN_A, BORDA_A, COPELAND_A, MINIMAX_B],
            None,
            f"A wins under 3 of 4 rules with a winner; {NONE}.",
        ),
    ],
)
def test_the_short_verdict_tells_of_the_largest_camps_and_of_the_condorcet_winner(winners, condorcet, sentence):
    assert short_headline(camps_of(winners), condorcet) == sentence


def test_rules_that_elect_the_same_in_another_order_are_one_camp():
    camps = camps_of([("Mean", ("A", "B"), 2), ("Borda", ("B", "A"), 2), ("Veto", ("A",), 1)])
    assert [(camp.rules, camp.text) for camp in camps] == [(("Mean", "Borda"), "A and B"), (("Veto",), "A")]
