"""Figures in words, letter by letter."""

import pytest

from leaderboard.services.wording import in_words, verdict_sentence


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""), (["A"], "A"), (["A", "B"], "A and B"), (["A", "B", "C"], "A, B and C"),
        (["A", "B", "C", "D"], "A, B, C and 1 more"), (list("ABCDEFG"), "A, B, C and 4 more"),
    ],
)  # fmt: skip
def test_names_are_listed_and_the_rest_is_counted(names, text):
    assert in_words(names) == text


@pytest.mark.parametrize(
    ("winners", "without", "sentence"),
    [
        ([], [], "No rule elects a winner."),
        ([], ["Mean"], "No rule elects a winner."),
        ([("Borda", ("A",))], [], "Borda elects A."),
        ([("Borda", ("A",)), ("Mean", ("A",))], [], "All 2 rules that elect agree on A."),
        ([("Borda", ("A", "B")), ("Mean", ("B", "A"))], [], "All 2 rules that elect agree on A and B."),
        (
            [("Borda", ("B",)), ("Mean", ("A",)), ("Copeland", ("B",))],
            ["Condorcet"],
            "2 of 3 rules elect B; Mean elects A. Condorcet gives no winner.",
        ),
        (
            [("Borda", ("B",)), ("Mean", ("A",)), ("Copeland", ("B",)), ("Minimax", ("A",)), ("Plurality", ("B",))],
            ["Condorcet", "Median"],
            "3 of 5 rules elect B; Mean and Minimax elect A. Condorcet and Median give no winner.",
        ),
    ],
)
def test_the_verdict_counts_the_camps_of_the_rules(winners, without, sentence):
    assert verdict_sentence(winners, without) == sentence
