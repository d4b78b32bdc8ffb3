"""How far the rules agree: the lines hold the board's ranks, the squares Kendall's tau-b counted pair by pair."""

import csv
import io
import itertools
import math

import pytest
from django.urls import reverse

from leaderboard.common.charts.rank_lines import RankedSystem, rank_lines
from leaderboard.common.text import in_words
from tests.markup import compact


def page(client, benchmark, **parameters):
    return client.get(reverse("agreement", args=[benchmark.key]), parameters)


def table(client, benchmark, name) -> list[dict[str, str]]:
    text = page(client, benchmark, format="csv", table=name).content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def tau_b(first: dict[str, int], second: dict[str, int]) -> float:
    """Kendall's tau-b, pair by pair."""
    balance = untied_first = untied_second = 0
    for a, b in itertools.combinations(first.keys() & second.keys(), 2):
        x, y = first[a] - first[b], second[a] - second[b]
        balance += (x * y > 0) - (x * y < 0)
        untied_first += x != 0
        untied_second += y != 0
    return balance / math.sqrt(untied_first * untied_second) if untied_first and untied_second else math.nan


SCORES = {"A": [5, 1, 4, 2], "B": [4, 4, 1, 3], "C": [3, 3, 4, 4], "D": [2, 4, 2, 5], "E": [1, 2, None, 1]}


def test_the_squares_hold_the_agreement_of_every_two_rules(make, client):
    benchmark = make.published(SCORES)
    board = list(csv.DictReader(io.StringIO(client.get(reverse("board_csv", args=[benchmark.key])).content.decode())))
    rows = table(client, benchmark, "tau")
    rules = [row["rule"] for row in rows]
    ranks = {rule: {row["system"]: int(row[f"{rule}_rank"]) for row in board if row[f"{rule}_rank"]} for rule in rules}
    assert len(rules) > 10
    for row in rows:
        for other in rules:
            expected = tau_b(ranks[row["rule"]], ranks[other])
            assert row[other] == ("–" if math.isnan(expected) else f"{expected:.2f}".replace("-", "−"))


def test_rules_that_tie_all_systems_have_no_square_and_are_named(make, client):
    """Two systems that win a task each tie, except under rules that read how far ahead they are."""
    view = page(client, make.published({"A": [1, 2], "B": [3, 1]}, n_tasks=2)).context["page"]
    squares = [row.name for row in view.heat.rows]
    tied = [column.name for column, figures, mean in view.tau if mean == "–"]
    assert (len(squares) > 1, len(tied) > 1) == (True, True)
    assert set(squares) | set(tied) == {column.name for column in view.columns}
    assert f"Not shown, because no figure with another rule is defined: {in_words(tied)}." in view.sentence


def test_where_every_rule_ties_all_systems_a_sentence_replaces_the_squares(make, client):
    text = compact(page(client, make.published({"A": [1.0], "B": [1.0]}, n_tasks=1)))
    assert "No correlation is defined here: of every two rules, at least one ties all systems." in text
    assert 'id="tau-chart"' not in text


def test_the_lines_hold_the_ranks_of_the_board(make, client):
    benchmark = make.published(SCORES)
    board = list(csv.DictReader(io.StringIO(client.get(reverse("board_csv", args=[benchmark.key])).content.decode())))
    by_system = {row["system"]: row for row in table(client, benchmark, "ranks")}
    lines = {line.name: line for line in page(client, benchmark).context["page"].bump.lines}
    for row in board:
        if row["system"] == "E" or row["system"] not in by_system:
            continue
        ranks = {name.removesuffix("_rank"): rank for name, rank in row.items() if name.endswith("_rank")}
        assert {rule: rank for rule, rank in by_system[row["system"]].items() if rule != "system"} == {
            rule: ranks[rule] for rule in by_system[row["system"]] if rule != "system"
        }
        assert f"Borda {row['borda_rank']}" in lines[row["system"]].said


def test_rules_stand_beside_those_most_like_them(make, client):
    rows = table(client, make.published(SCORES), "tau")
    rules = [row["rule"] for row in rows]
    assert rules[0] == "borda"
    first = {rule: float(rows[0][rule].replace("−", "-")) for rule in rules[1:]}
    assert first[rules[1]] == max(first.values())


def test_a_pinned_system_is_drawn_last_and_its_name_unpins_it(make, client):
    benchmark = make.published(SCORES)
    view = page(client, benchmark, pin="c").context["page"]
    line = view.bump.lines[-1]
    assert (line.name, line.pinned, line.url) == ("C", 1, "?#ranks")
    assert [name for name, _ in view.pinned] == ["C"]
    assert next(other for other in view.bump.lines if other.name == "A").url == "?pin=c&pin=a#ranks"


def test_only_the_first_thirty_are_drawn_with_whoever_is_pinned(make, client):
    benchmark = make.published({f"S{i:02}": [float(-i)] for i in range(40)})
    view = page(client, benchmark, pin="s39").context["page"]
    assert (view.n_shown, view.n_systems) == (31, 40)
    assert {line.name for line in view.bump.lines} == {f"S{i:02}" for i in [*range(30), 39]}


def test_a_line_is_broken_where_there_is_no_rank_and_ranks_stand_from_the_top():
    chart = rank_lines("", "", ["X", "Y", "Z"], [
        RankedSystem("a", "A", [1.0, None, 2.0], "A"), RankedSystem("b", "B", [2.0, 1.0, 1.0], "B"),
    ])  # fmt: skip
    first, second = (line.path for line in chart.lines)
    assert first.count("M") == 2
    assert second.count("M") == 1
    heights = [float(point.split()[1]) for point in second[1:].split("L")]
    assert heights[0] > heights[1] == heights[2]


def test_names_never_lie_on_each_other_where_ranks_are_shared():
    systems = [RankedSystem(name, name, [2.5], name) for name in "ABCD"]
    places = sorted(float(line.label_y) for line in rank_lines("", "", ["X"], systems).lines)
    assert all(low + 12 <= high for low, high in itertools.pairwise(places))


def test_before_the_first_board_there_is_nothing_to_compare(make, client):
    assert "No rule ranks yet" in page(client, make.benchmark({}, n_tasks=2)).content.decode()


def test_an_unknown_table_is_refused(make, client):
    assert page(client, make.published(), format="csv", table="taus").status_code == 400


@pytest.mark.parametrize("n", [3, 60])
def test_the_page_takes_as_many_queries_for_many_systems_as_for_few(make, client, n, django_assert_num_queries):
    benchmark = make.published({f"S{i:03}": [float(i), float(-i)] for i in range(n)})
    with django_assert_num_queries(6):  # three of them for the scores, and one for the systems, which are read once
        page(client, benchmark)
    with django_assert_num_queries(3):
        page(client, benchmark)


WITHOUT_KEMENY = "Without Kemeny, where other orders are equally good: rank 1."


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ({"x": [1, 1], "y": [1, 1], "z": [1, 1]}, "z depends most on the rule: ranks 1 to 3. " + WITHOUT_KEMENY),
        ({"x": [3, 1, 3], "y": [1, 2, 1], "z": [2, 3, 2]}, "x depends most on the rule: ranks 1 to 2."),
    ],
    ids=["all tied", "no order is as good"],
)
def test_ranks_that_differ_by_one_of_several_equal_orders_alone_are_said_to(make, client, scores, sentence):
    benchmark = make.published(scores, n_tasks=len(scores["x"]))
    page = client.get(f"/b/{benchmark.key}/agreement/")
    assert page.context["page"].ranks_sentence == sentence
