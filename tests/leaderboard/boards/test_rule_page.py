"""The page of one rule: order, scores, gaps and words."""

import re

import pytest
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from tests.markup import compact


def rows(response) -> list[tuple]:
    """(rank, name, rule score, task scores) of every row, as the template shows them."""
    rule_rows = response.context["page"].rows
    return [
        (row.rank, row.name, row.score_text, [cell.value_text or cell.reason for cell in row.cells])
        for row in rule_rows
    ]


def page(client, benchmark, rule, **parameters):
    return client.get(reverse("rule", args=[benchmark.key, rule]), parameters)


def test_the_toy_under_borda_stands_in_order_with_its_scores(make, client):
    response = page(client, make.published(), "borda")
    assert rows(response) == [
        (1, "B", "9", ["3", "1", "4", "3", "3"]),
        (2, "C", "8", ["2", "3", "2", "4", "2"]),
        (3, "D", "7", ["1", "2", "3", "2", "4"]),
        (4, "A", "6", ["4", "4", "1", "1", "1"]),
    ]
    assert response.content.count(b'scope="row"') == 4


def test_figures_of_a_column_have_as_many_decimals_on_every_page_and_all_digits_where_pointed_at(make, client):
    benchmark = make.published({"A": [5 / 6, 1.0], "B": [0.5, 0.25]}, n_tasks=2, default_rule="mean")
    response = page(client, benchmark, "mean")
    assert [(row.score_text, [cell.text for cell in row.cells]) for row in response.context["page"].rows] == [
        ("0.9167", ["0.8333", "1.00"]),
        ("0.3750", ["0.5000", "0.25"]),
    ]
    key = benchmark.key
    pages = [reverse("rule", args=[key, "mean"]), reverse("scores", args=[key]), reverse("system", args=[key, "a"]),
             reverse("task", args=[key, "task-1"])]  # fmt: skip
    for text in (compact(client.get(address)) for address in pages):
        assert re.findall(r'title="0.833333333333">(?:<b>)?([\d.]+)<', text) == ["0.8333"]
    assert "<dd>A: 0.8333</dd>" in text  # the best on the task


@pytest.mark.parametrize(
    ("scores", "rule", "sentence"),
    [
        (None, "borda", "Winner under Borda: B."),
        ({"A": [1, None], "B": [2, 5], "C": [3, 4]}, "mean", "Winner under Mean: B and C; it ranks 2 of 3 systems."),
        ({"A": [1, 3], "B": [2, 2], "C": [3, 1]}, "condorcet", "No winner under Condorcet."),
        ({name: [1.0] for name in "ABCD"}, "borda", "Winner under Borda: 4 systems jointly."),
    ],
)
def test_whom_the_rule_elects_stands_before_the_table_and_its_meaning_after_it(make, client, scores, rule, sentence):
    body = compact(page(client, make.published(scores) if scores else make.published(), rule))
    places = [body.index(text) for text in ("<h1>", 'class="tabs', f"<p>{sentence}</p>", "<table", 'id="meaning"')]
    assert places == sorted(places)


def test_a_missing_score_shows_its_reason_and_the_policy_is_in_force(make, client):
    benchmark = make.published({"A": [1, None], "B": [2, 5], "C": [3, 4]})
    assert rows(page(client, benchmark, "mean")) == [
        (1, "B", "3.5", ["2", "5"]),
        (1, "C", "3.5", ["3", "4"]),
        (None, "A", "", ["1", "not reported"]),
    ]
    filled = rows(page(client, benchmark, "mean", policy="worst"))
    assert filled == [
        (1, "B", "3.5", ["2", "5"]),
        (1, "C", "3.5", ["3", "4"]),
        (3, "A", "2.5", ["1", "not reported"]),
    ]


def test_the_page_says_whether_leaving_out_a_score_can_pay_under_the_policy_in_force(make, client):
    benchmark = make.published({"A": [1, None], "B": [2, 5], "C": [3, 4]})

    def said(rule, **parameters):
        return dict(page(client, benchmark, rule, **parameters).context["page"].meaning)["Leaving out a score"]

    assert said("borda") == (
        "A system never gains by leaving out a score: a system that lacks a score on a task of weight above 0 gets no "
        "rank."
    )
    assert said("borda", policy="median") == (
        "If the median is filled in, a system can gain under Borda by leaving out its worst score."
    )
    assert (
        said("copeland")
        == "A system can gain under Copeland by leaving out its worst score: only common tasks are compared."
    )


def test_a_task_that_does_not_vote_is_shown_and_says_so(make, client):
    tasks = [TaskSpec("Speed", direction=-1), TaskSpec("Size", direction=0)]
    benchmark = make.published({"A": [1, 7], "B": [2, 3]}, tasks=tasks)
    response = page(client, benchmark, "borda")
    assert [row[:2] for row in rows(response)] == [(1, "A"), (2, "B")]
    assert b"lower is better" in response.content
    assert b"not counted" in response.content


@pytest.mark.parametrize("rule", ["bordo", "positional-x"])
def test_an_unknown_rule_is_not_there(make, client, rule):
    assert page(client, make.published(), rule).status_code == 404


def test_an_unknown_policy_is_refused(make, client):
    assert page(client, make.published(), "borda", policy="zero").status_code == 400


def test_an_empty_benchmark_says_that_there_is_nothing_yet(make, client):
    response = page(client, make.benchmark({}, n_tasks=2), "borda")
    assert response.status_code == 200
    assert b"Nothing to rank yet" in response.content


@pytest.mark.parametrize("n_systems", [3, 90])
def test_the_page_takes_the_same_queries_however_long(make, client, django_assert_num_queries, n_systems):
    benchmark = make.published({f"S{i:03}": [i, -i] for i in range(n_systems)})
    with django_assert_num_queries(7):
        page(client, benchmark, "borda")


def test_the_board_says_with_each_policy_what_leaving_out_a_score_can_do(make, client):
    benchmark = make.published({"A": [1, None], "B": [2, 5], "C": [3, 4]})
    board = compact(client.get(reverse("board", args=[benchmark.key])))
    assert board.count("A system never gains by leaving out a score.") == 2
    assert board.count("Under each of these rules a system can gain by leaving out its worst score.") == 3
    assert (
        "Rules that need no policy (Compatible Borda, Condorcet, Copeland, Minimax, Schulze, Ranked pairs, Maximal"
        in board
    )
