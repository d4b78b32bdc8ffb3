"""Filters, pins, columns and shades of a board, against the same worked out in plain Python."""

import itertools
import random
import re
from copy import deepcopy

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.boards.board import build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.models import System
from leaderboard.rankings.published import UnknownChoiceError

TAGS = {"S0": ["open"], "S1": ["open", "large"], "S2": ["large"]}
METADATA = {
    "S0": {"parameters": 7 * 10**9, "date": "2024-03-01", "open": True, "licence": "MIT"},
    "S1": {"parameters": 70 * 10**9, "open": False, "licence": "Apache-2.0"},
    "S2": {"date": "2023", "open": True, "gone": 5},
}
FIELDS = [
    {"key": "parameters", "name": "Parameters", "kind": "number", "is_column": True},
    {"key": "date", "name": "Released", "kind": "date"},
    {"key": "open", "name": "Open weights", "kind": "yes_no"},
    {"key": "licence", "name": "Licence", "kind": "text"},
]


@pytest.fixture(scope="module")
def described_once(make_once):
    """Six systems on four tasks with ties, three of them described."""
    dice = random.Random(5)
    benchmark = make_once.published({f"S{i}": [dice.choice([1.0, 2.0, 3.0]) for _ in range(4)] for i in range(6)})
    for name in TAGS.keys() | METADATA.keys():
        System.objects.filter(name=name).update(tags=TAGS.get(name, []), metadata=METADATA.get(name, {}))
    benchmark.metadata_fields = FIELDS
    benchmark.save()
    return benchmark


@pytest.fixture
def described(described_once, make):
    return deepcopy(described_once)


def board_of(benchmark, **query):
    owner = benchmark.memberships.get(role="owner").user
    return build_board(audience_of(owner, benchmark), BoardQuery(**query))


def names(board) -> list[str]:
    return [row.name for row in board.rows]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"tags": ("open",)}, ["S0", "S1"]),
        ({"tags": ("open", "large")}, ["S1"]),
        ({"tags": ("unknown",)}, []),
        ({"least": (("parameters", "10b"),)}, ["S1"]),
        ({"least": (("parameters", "7,000,000,000"),)}, ["S0", "S1"]),
        ({"most": (("date", "2023-12-31"),)}, ["S2"]),
        ({"most": (("date", "2024"),)}, ["S0", "S2"]),
        ({"most": (("date", "2024-02"),)}, ["S2"]),
        ({"meta": (("open", "yes"),)}, ["S0", "S2"]),
        ({"meta": (("open", "no"), ("licence", "apache"))}, ["S1"]),
        ({"meta": (("licence", "i"),)}, ["S0"]),
        ({"least": (("gone", "1"),)}, []),
        ({"meta": (("gone", "5"),)}, []),
        ({"least": (("date", "2024"),), "most": (("date", "2024-12"),)}, ["S0"]),
        ({"least": (("nowhere", "1"),)}, []),
    ],
)
def test_tags_and_ranges_of_the_metadata_leave_out_who_lacks_them(described, query, expected):
    assert sorted(names(board_of(described, **query))) == expected


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("parameters", "big", "A bound of Parameters: 'big' is not a number such as 7000000000, 7B or 0.15"),
        ("parameters", "9" * 41, "A bound of Parameters: '9999"),
        ("date", "2024-13", "A bound of Released: '2024-13' is not a date"),
        ("licence", "m", "Licence is a text of at most 300 characters, and has no bounds."),
    ],
)
def test_a_bound_that_is_no_number_and_no_date_is_named(described, name, text, message):
    with pytest.raises(UnknownChoiceError, match=f"^{re.escape(message)}"):
        board_of(described, least=((name, text),))


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("meta.parameters", ["S0", "S1"]),
        ("-meta.parameters", ["S1", "S0"]),
        ("meta.date", ["S2", "S0"]),
        ("meta.licence", ["S1", "S0"]),
        ("-meta.open", ["S0", "S2", "S1"]),
    ],
)
def test_a_field_orders_the_systems_and_those_without_a_value_stand_last(described, sort, expected):
    board = board_of(described, sort=sort)
    key = sort.partition(".")[2]
    known = [name for name in names(board) if key in METADATA.get(name, {})]
    assert names(board)[: len(expected)] == (known if key == "open" else expected)
    assert sorted(known) == sorted(expected)


def test_an_order_by_a_field_that_there_is_not_is_named(described):
    with pytest.raises(UnknownChoiceError, match="There is no field 'gone' of the systems here"):
        board_of(described, sort="meta.gone")


def test_columns_of_the_metadata_are_those_that_the_owners_chose_or_the_reader(described):
    by_name = {row.name: [fact.text for fact in row.facts] for row in board_of(described).rows}
    assert (by_name["S0"], by_name["S1"], by_name["S2"]) == (["7 B"], ["70 B"], [""])
    by_name = {row.name: [fact.text for fact in row.facts] for row in board_of(described, fields=("open", "date")).rows}
    assert (by_name["S0"], by_name["S1"], by_name["S5"]) == (["2024-03-01", "yes"], ["", "no"], ["", ""])


def test_a_filter_says_the_place_among_those_that_it_leaves(described):
    ranks = {row.name: row.reference_rank for row in board_of(described).rows}
    left = board_of(described, meta=(("open", "yes"),)).rows
    better = {row.name: sum(ranks[other.name] < ranks[row.name] for other in left) for row in left}
    assert {row.name: row.among_text for row in left} == {name: f"{n + 1} of 2 shown" for name, n in better.items()}
    assert {row.reference_rank for row in left} == {ranks["S0"], ranks["S2"]}
    assert {row.among_text for row in board_of(described).rows} == {""}


@pytest.mark.parametrize("top", [1, 3, 5])
def test_the_first_k_are_those_of_at_most_that_rank_under_the_reference_rule(described, top):
    ranks = {row.name: row.reference_rank for row in board_of(described, reference="copeland").rows}
    kept = names(board_of(described, reference="copeland", top=top))
    assert sorted(kept) == sorted(name for name, rank in ranks.items() if rank <= top)


def test_pinned_systems_stand_first_in_the_order_of_the_rest_whatever_the_filters(described):
    order = names(board_of(described))
    board = board_of(described, pins=("s4", "s2", "nobody"))
    pinned = [name for name in order if name in {"S2", "S4"}]
    assert names(board) == pinned + [name for name in order if name not in pinned]
    assert [row.name for row in board.rows if row.is_pinned] == pinned
    assert names(board_of(described, pins=("s4",), q="S2")) == ["S4", "S2"]


def test_pinned_systems_stand_on_every_page_and_are_counted_once(make):
    benchmark = make.published({f"S{i:03}": [float(i)] for i in range(103)})
    pages = [board_of(benchmark, pins=("s000",), page=page) for page in (1, 2)]
    assert [names(page)[0] for page in pages] == ["S000", "S000"]
    assert [(page.first_row, page.last_row, page.n_shown, page.n_pages) for page in pages] == [
        (1, 100, 103, 2),
        (101, 102, 103, 2),
    ]


def test_chosen_rules_and_families_are_the_columns_with_the_reference_rule_and_change_no_figure(described):
    everything, some = board_of(described), board_of(described, rules=("mean",), families=("majority",))
    wanted = [c for c in everything.columns if c.rule in {"mean", "borda"} or c.family == "majority"]
    assert [column.rule for column in some.visible] == [column.rule for column in wanted]
    places = [everything.columns.index(column) for column in wanted]
    for row, whole in zip(some.rows, everything.rows, strict=True):
        assert [cell.rank for cell in row.cells] == [whole.cells[k].rank for k in places]
        assert (row.least_rank, row.median_rank, row.greatest_rank) == (
            (whole.least_rank, whole.median_rank, whole.greatest_rank)
        )
    assert (some.sentence, some.camps) == (everything.sentence, everything.camps)


def test_a_chosen_rule_that_says_nothing_of_these_scores_has_no_column(described):
    board = board_of(described, rules=("mean", "normalized_mean"))
    assert [column.rule for column in board.visible] == ["mean", "borda"]


@pytest.mark.parametrize("query", [{"rules": ("best",)}, {"families": ("best",)}, {"ties": "best "}])
def test_columns_and_conventions_that_there_are_not_are_named(described, query):
    with pytest.raises(UnknownChoiceError, match="best"):
        board_of(described, **query)


def test_brackets_join_the_ties_that_stand_under_each_other(described):
    board = board_of(described, sort="-minimax")
    for k in range(len(board.visible)):
        column = [row.cells[k] for row in board.rows]
        for above, below in itertools.pairwise(column):
            is_joined = above.rank is not None and above.rank == below.rank
            assert above.joins_below == below.joins_above == is_joined
        assert not column[0].joins_above
        assert not column[-1].joins_below


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_another_tie_convention_gives_the_engines_ranks_under_it(described, ties):
    from leaderboard.rankings.score_matrix import revision_matrix
    from ranking_engine import rank

    matrix = revision_matrix(described.publication.revision).matrix
    board = board_of(described, ties=ties, rules=("borda", "plurality", "veto"))
    for k, column in enumerate(board.visible):
        expected = dict(zip(matrix.system_names, rank(matrix, column.rule, ties=ties).ranks.tolist(), strict=True))
        assert {row.key: row.cells[k].rank for row in board.rows} == expected
