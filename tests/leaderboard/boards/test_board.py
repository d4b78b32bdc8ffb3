"""The board: which rows, in which order, with which figures, against the same worked out by other means."""

import random
from statistics import median

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from leaderboard.access.audience import audience_of
from leaderboard.boards.board import Board, build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.models import Benchmark
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.score_matrix import revision_matrix
from ranking_engine import rank
from tests.factories import TOY
from tests.leaderboard.site.rules import board_rules

pytestmark = pytest.mark.usefixtures("make")  # which forgets the boards of tests before

# Ranks of the toy by hand; scores for the mean are sums of 4, 3, 2, 1 and have the order of Borda's.
BY_HAND = {
    "mean": {"A": 4, "B": 1, "C": 2, "D": 3},
    "plurality": {"A": 1, "B": 2, "C": 2, "D": 2},
    "borda": {"A": 4, "B": 1, "C": 2, "D": 3},
    "condorcet": {"A": None, "B": 1, "C": None, "D": None},
    "copeland": {"A": 4, "B": 1, "C": 2, "D": 3},
    "minimax": {"A": 2, "B": 1, "C": 2, "D": 2},
}


# Rules that say nothing of scores without a scale or a threshold, and are then left out of the table.
NEEDS_MORE = ["normalized_mean", "optimality_gap"]


def board_of(benchmark: Benchmark, **query) -> Board:
    owner = benchmark.memberships.get(role="owner").user
    return build_board(audience_of(owner, benchmark), BoardQuery(**query))


def names(board: Board) -> list[str]:
    return [row.name for row in board.rows]


def ranks(board: Board) -> dict[str, dict[str, int | None]]:
    return cells(board, "rank")


def cells(board: Board, field: str) -> dict[str, dict[str, object]]:
    """One field of every cell, by rule and system."""
    return {
        column.rule: {row.name: getattr(row.cells[k], field) for row in board.rows}
        for k, column in enumerate(board.columns)
    }


def by_hand(by_rule: dict[str, object]) -> dict[str, object]:
    """Of what is found, the rules that were worked out by hand."""
    return {rule: by_rule[rule] for rule in BY_HAND}


def some_scores(seed: int, n: int = 9) -> dict[str, list[float | None]]:
    dice = random.Random(seed)
    rows = {f"S{i}": [dice.choice([1.0, 2.0, 3.0, 4.0]) for _ in range(4)] for i in range(n)}
    for name in ("S1", "S4"):
        rows[name][seed % 4] = None
    return rows | {"Empty": [None] * 4}


@pytest.fixture(scope="module")
def toy(make_once) -> Benchmark:
    return make_once.published()


@pytest.fixture(scope="module")
def three(make_once) -> list[Benchmark]:
    """Benchmarks of some scores, by their seeds."""
    return [make_once.published(some_scores(seed), missing_policy="drop_systems") for seed in range(3)]


@pytest.fixture(scope="module")
def of_four(make_once) -> Benchmark:
    return make_once.published({name: [1.0] for name in ("BERT", "GPT-4", "gpt 3", "Straße")})


@pytest.fixture(scope="module")
def of_101(make_once) -> Benchmark:
    return make_once.published({f"S{i:03}": [float(i)] for i in range(101)})


# --- Figures -------------------------------------------------------------------------------------------------------


def test_the_toy_stands_as_ranked_by_hand(toy):
    board = board_of(toy)
    assert by_hand(ranks(board)) == BY_HAND
    assert (names(board), board.reference.rule, board.smith_names) == (list("BCDA"), "borda", ["B"])
    elected = [column for column in board.columns if column.winner_names == ["B"]]
    electing = [column for column in board.columns if column.elects]
    assert board.sentence.startswith(
        f"B wins alone under {len(elected)} of {len(electing)} rules with a winner and beats every other system "
        "head to head (Condorcet winner); "
    )


def test_changes_are_places_won_against_the_reference_rule(toy):
    board = board_of(toy)
    assert by_hand(cells(board, "change")) == {
        "mean": {"A": 0, "B": 0, "C": 0, "D": 0},
        "plurality": {"A": 3, "B": -1, "C": 0, "D": 1},
        "borda": dict.fromkeys("ABCD"),
        "condorcet": dict.fromkeys("ABCD"),
        "copeland": {"A": 0, "B": 0, "C": 0, "D": 0},
        "minimax": {"A": 2, "B": 0, "C": 0, "D": 1},
    }


def test_another_reference_rule_turns_the_changes_round(toy):
    board = board_of(toy, reference="plurality")
    assert cells(board, "change")["borda"] == {"A": -3, "B": 1, "C": 0, "D": -1}
    assert names(board) == ["A", "B", "C", "D"]


@pytest.mark.parametrize("reference", ["copeland", "borda", "plurality"])
@pytest.mark.parametrize("seed", range(3))
def test_changes_are_counted_among_the_systems_that_both_rules_rank(three, seed, reference):
    board = board_of(three[seed], reference=reference)
    changes, ranked = cells(board, "change"), ranks(board)
    base = {name: rank for name, rank in ranked[reference].items() if rank}
    ranking = {column.rule for column in board.columns if column.status == "ranked"} - {reference}
    assert any(set(filter(ranked[rule].get, ranked[rule])) != set(base) for rule in ranking)
    for rule in ranking:
        common = {name: rank for name, rank in ranked[rule].items() if rank and name in base}
        expected = {
            name: sum(base[other] < base[name] for other in common) - sum(r < rank for r in common.values())
            for name, rank in common.items()
        }
        assert changes[rule] == dict.fromkeys(ranked[rule]) | expected


def test_kemeny_orders_equal_systems_and_shows_neither_as_elected_alone(make):
    """Its ranking is one of the best orders; whoever is first in another one is elected as well."""
    benchmark = make.publish(make.benchmark({"A": [2.0, 2.0], "B": [2.0, 2.0], "C": [1.0, 1.0]}), studies=True)
    assert cells(board_of(benchmark), "is_sole_winner")["kemeny"] == {"A": False, "B": False, "C": False}
    assert [column.n_winners for column in board_of(benchmark).columns if column.rule == "kemeny"] == [2]


def test_whom_nobody_beats_is_elected_jointly_and_marked_below_the_first_rank(make):
    """A beats C, and B draws with both: Schulze's score puts A before B, and nobody beats either."""
    board = board_of(make.publish(make.benchmark({"A": [3.0, 2.0], "B": [1.0, 3.0], "C": [2.0, 1.0]}), studies=True))
    (column,) = [column for column in board.columns if column.rule == "schulze"]
    assert (column.winner_names, column.ranks.tolist()) == (["A", "B"], [1, 2, 3])
    assert cells(board, "is_winner")["schulze"] == {"A": True, "B": True, "C": False}
    assert cells(board, "is_sole_winner")["schulze"] == {"A": False, "B": False, "C": False}
    assert column.remark == (
        "1 winner is below rank 1: a system that no other beats along paths wins, and the score counts how many each "
        "beats."
    )


def test_ties_count_those_who_share_the_rank(toy):
    board = board_of(toy)
    none = dict.fromkeys("ABCD", 0)
    assert by_hand(cells(board, "n_tied_with")) == {
        "mean": none, "plurality": none | {"B": 2, "C": 2, "D": 2}, "borda": none, "condorcet": none,
        "copeland": none, "minimax": none | {"A": 2, "C": 2, "D": 2},
    }  # fmt: skip
    assert cells(board, "is_tied")["plurality"] == {"A": False, "B": True, "C": True, "D": True}


@pytest.mark.parametrize("policy", ["undefined", "drop_systems", "drop_tasks", "median", "worst"])
@pytest.mark.parametrize("seed", range(3))
def test_least_median_and_greatest_rank_are_over_the_rules_that_rank(three, seed, policy):
    benchmark = three[seed]
    matrix = revision_matrix(benchmark.publication.revision).matrix
    by_rule = {rule: rank(matrix, rule, missing=policy) for rule in board_rules()}
    ranking = [outcome for outcome in by_rule.values() if outcome.status == "ranked"]
    board = board_of(benchmark, policy=policy)
    for row in board.rows:
        i = matrix.system_names.index(row.key)
        own = [int(outcome.ranks[i]) for outcome in ranking if outcome.ranks[i] >= 1]
        expected = (min(own), median(own), max(own)) if own else (None, None, None)
        assert (row.least_rank, row.median_rank, row.greatest_rank) == expected
        expected_ranks = [int(by_rule[column.rule].ranks[i]) for column in board.columns]
        assert [cell.rank or -1 for cell in row.cells] == expected_ranks
        assert all(bool(cell.reason) == (cell.rank is None) for cell in row.cells)
        assert row.n_scored == int(np.isfinite(matrix.values[i]).sum())


def test_rule_scores_are_shown_when_asked_for(toy):
    board = board_of(toy, scores=True)
    texts = cells(board, "score_text")
    assert texts["borda"] == {"A": "6", "B": "9", "C": "8", "D": "7"}
    assert texts["copeland"]["A"] == "\N{MINUS SIGN}3"
    assert {cell.score_text for row in board_of(toy).rows for cell in row.cells} == {""}


# --- Order ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_sorting_puts_unranked_systems_last_both_ways_and_equal_ones_by_median_then_name(three, seed):
    board = board_of(three[seed])
    rows = {row.name: row for row in board.rows}
    place = {column.rule: k for k, column in enumerate(board.columns)}

    def value(name, rule):
        return rows[name].median_rank if rule == "median_rank" else rows[name].cells[place[rule]].rank

    def expected(rule, sign):
        values = {name: value(name, rule) for name in rows}
        return sorted(
            rows,
            key=lambda n: (values[n] is None, sign * (values[n] or 0), rows[n].median_rank or 10**9, n.lower()),
        )

    for rule in [*(rule for rule in board_rules() if rule not in NEEDS_MORE), "median_rank"]:
        assert names(board_of(three[seed], sort=rule)) == expected(rule, 1), rule
        assert names(board_of(three[seed], sort=f"-{rule}")) == expected(rule, -1), rule


def test_sorting_by_name_knows_no_case_and_turns_round(make):
    benchmark = make.published({name: [1.0] for name in ("beta", "Alpha", "ÄRGER", "gamma")})
    assert names(board_of(benchmark, sort="name")) == ["Alpha", "beta", "gamma", "ÄRGER"]
    assert names(board_of(benchmark, sort="-name")) == ["ÄRGER", "gamma", "beta", "Alpha"]


def test_sorting_by_tasks_puts_the_most_complete_first(make):
    benchmark = make.published({"One": [1.0, None, None], "Three": [1.0, 1.0, 1.0], "Two": [1.0, 1.0, None]})
    assert names(board_of(benchmark, sort="tasks")) == ["Three", "Two", "One"]
    assert names(board_of(benchmark, sort="-tasks")) == ["One", "Two", "Three"]


# --- Filters and pages ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "expected"),
    [("gpt", ["GPT-4", "gpt 3"]), ("GPT-", ["GPT-4", "gpt 3"]), (" 4 ", ["GPT-4"]), ("STRASSE", ["Straße"]),
     ("nothing", []), ("", ["BERT", "GPT-4", "gpt 3", "Straße"]), (".*", [])],
)  # fmt: skip
def test_the_filter_looks_at_names_in_any_case_and_at_keys(of_four, q, expected):
    board = board_of(of_four, q=q)
    assert (sorted(names(board)), board.n_shown) == (sorted(expected), len(expected))


def test_a_filter_changes_no_rank(toy):
    everything, filtered = ranks(board_of(toy)), ranks(board_of(toy, q="C"))
    assert filtered == {rule: {"C": column["C"]} for rule, column in everything.items()}


def test_only_complete_systems_have_a_score_on_every_voting_task(three):
    assert sorted(names(board_of(three[0], complete_only=True))) == ["S0", "S2", "S3", "S5", "S6", "S7", "S8"]


@pytest.mark.parametrize(("n", "pages"), [(1, [1]), (99, [99]), (100, [100]), (101, [100, 1]), (200, [100, 100])])
def test_a_page_has_a_hundred_systems(make, n, pages):
    benchmark = make.published({f"S{i:03}": [float(i)] for i in range(n)})
    boards = [board_of(benchmark, page=page) for page in range(1, len(pages) + 1)]
    assert [len(board.rows) for board in boards] == pages
    assert [name for board in boards for name in names(board)] == [f"S{i:03}" for i in reversed(range(n))]
    assert {board.n_pages for board in boards} == {len(pages)}
    assert [(board.first_row, board.last_row) for board in boards][-1] == (n - pages[-1] + 1, n)


@pytest.mark.parametrize(("page", "number"), [(0, 1), (-5, 1), (3, 2), (9_999_999, 2)])
def test_a_page_beyond_the_ends_is_the_nearest(of_101, page, number):
    assert board_of(of_101, page=page).page == number


def test_a_filter_that_leaves_nothing_has_one_empty_page(toy):
    board = board_of(toy, q="zzz")
    assert (board.rows, board.n_pages, board.page, board.n_shown) == ([], 1, 1, 0)


# --- Who, and what cannot be asked ---------------------------------------------------------------------------------


def test_own_systems_are_marked(make):
    benchmark, submitter = make.benchmark(), make.user()
    make.submitted(benchmark, "E", ["1"] * 5, by=submitter)
    audience = audience_of(submitter, make.publish(benchmark))
    board = build_board(audience, BoardQuery(), marks_own=True)
    assert [row.name for row in board.rows if row.is_own] == ["E"]
    assert not any(row.is_own for row in build_board(audience, BoardQuery()).rows)


def test_rows_are_not_marked_as_the_readers_where_all_are(make):
    owner = make.user()
    benchmark = make.benchmark({}, owner=owner, n_tasks=1)
    make.accepted(benchmark, {"A": [1.0], "B": [2.0]}, by=owner)
    board = build_board(audience_of(owner, make.publish(benchmark)), BoardQuery(), marks_own=True)
    assert [row.is_own for row in board.rows] == [False, False]


def test_nobody_gets_no_board_and_neither_does_one_who_comes_too_early(make):
    benchmark = make.published(visibility="private")
    assert build_board(audience_of(AnonymousUser(), benchmark), BoardQuery()) is None
    assert board_of(make.benchmark()) is None


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"sort": "best"}, "There is no rule 'best' on this board."),
        ({"sort": "--borda"}, "There is no rule '-borda' on this board."),
        ({"reference": "best"}, "There is no rule 'best' on this board."),
        ({"policy": "zero"}, "There is no missing-score policy 'zero'."),
    ],
)
def test_an_unknown_choice_is_named(toy, query, message):
    with pytest.raises(UnknownChoiceError) as caught:
        board_of(toy, **query)
    assert str(caught.value) == message


def test_a_revision_under_way_changes_nothing_of_what_is_shown(make):
    benchmark = make.published()
    make.accepted(benchmark, {"E": [9.0] * 5, "A": [9.0] * 5})
    benchmark = Benchmark.objects.select_related("publication__revision__configuration").get(pk=benchmark.pk)
    assert by_hand(ranks(board_of(benchmark))) == BY_HAND
    assert "E" in names(board_of(make.publish(benchmark)))


def test_the_toy_is_the_one_that_was_ranked_by_hand():
    orders = ["".join(sorted(TOY, key=lambda name: -TOY[name][t])) for t in range(5)]
    assert orders == ["ABCD", "ACDB", "BDCA", "CBDA", "DBCA"]
    assert set(BY_HAND) <= set(board_rules())


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({}, "Borda"),
        ({"reference": "copeland"}, "Copeland"),
        ({"reference": "copeland", "sort": "-mean"}, "Mean"),
        ({"sort": "median_rank"}, "median rank"),
        ({"sort": "-tasks"}, "tasks scored"),
        ({"sort": "name"}, "name"),
    ],
)
def test_a_board_says_by_what_its_rows_are_ordered(toy, query, name):
    assert board_of(toy, **query).ordered_by == name


@pytest.mark.parametrize(
    ("query", "rule"),
    [({}, "borda"), ({"sort": "minimax"}, "minimax"), ({"sort": "-minimax"}, "minimax"), ({"sort": "name"}, "borda")],
)
def test_the_place_before_a_name_is_its_rank_under_the_rule_that_sorts_the_board(toy, query, rule):
    board = board_of(toy, **query)
    assert {row.name: row.place for row in board.rows} == BY_HAND[rule]
    assert board.ordering.rule == rule
