"""The scores tab: what stands in its cells, worked out again here, its orders, its folded groups, its queries."""

import re
from copy import deepcopy
from decimal import Decimal
from html import unescape

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.rankings import task_ranks
from leaderboard.rankings.task_ranks import CACHE_BYTES
from tests.markup import compact

pytestmark = pytest.mark.django_db
TASKS = [
    TaskSpec("Accuracy", key="accuracy", group="Quality"),
    TaskSpec("Recall", key="recall", group="Quality"),
    TaskSpec("Latency", key="latency", direction=-1),
]
SCORES = {"A": [0.9, 0.5, 30.0], "B": [0.8, None, 10.0], "C": [0.9, 0.7, None], "D": [0.1, 0.2, 20.0]}
# Class, title and content of a cell.
CELL = re.compile(r"<td(?: class=(\w+))?(?: title=\"([^\"]*)\")?>(.*?)</td>")


@pytest.fixture(autouse=True)
def unread(monkeypatch):
    """Scores that this test has read, and no other."""
    monkeypatch.setattr(task_ranks, "_kept", type(task_ranks._kept)(CACHE_BYTES))


@pytest.fixture(scope="module")
def made_once(make_once):
    return make_once.published(SCORES, tasks=TASKS, groups=[GroupSpec("Quality")])


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


def rows(client, benchmark, query=""):
    """{system: [(class, value or reason, whether it is bold)]}, in the order of the page."""
    body = compact(client.get(reverse("scores", args=[benchmark.key]) + query))
    cells_by_name = {}
    for row in re.findall(r"<tr><th scope=\"row\">.*?</tr>", body):
        name = unescape(re.search(r"<a [^>]*>([^<]*)</a>", row)[1])
        cells = [
            (mark, reason or re.sub(r"<i.*?</i>|<[^>]*>", "", text), "<b>" in text)
            for mark, reason, text in CELL.findall(row)
        ]
        cells_by_name[name] = cells
    return cells_by_name


def test_every_score_stands_there_the_best_of_its_task_is_bold_and_a_missing_one_says_why(client, benchmark):
    table = rows(client, benchmark)
    assert {name: [text for _, text, _ in cells] for name, cells in table.items()} == {
        "A": ["0.9", "0.5", "30"],
        "B": ["0.8", "not reported", "10"],
        "C": ["0.9", "0.7", "not reported"],
        "D": ["0.1", "0.2", "20"],
    }
    assert {(name, t) for name, cells in table.items() for t, (_, _, is_best) in enumerate(cells) if is_best} == {
        ("A", 0), ("C", 0), ("C", 1), ("B", 2),
    }  # fmt: skip


def test_the_tint_is_the_fifth_of_the_systems_that_a_score_is_in(client, make):
    scores = {f"S{i}": [float(i), -float(i)] for i in range(10)}
    tasks = [TaskSpec("Up", key="up"), TaskSpec("Down", key="down", direction=-1)]
    table = rows(client, make.published(scores, tasks=tasks))
    fifths = {i: (9 - i) * 5 // 9 for i in range(10)}  # of the systems above, of nine others
    expected = {f"S{i}": [f"t{4 - min(4, fifths[i])}" if min(4, fifths[i]) < 4 else ""] * 2 for i in range(10)}
    assert {name: [mark for mark, _, _ in cells] for name, cells in table.items()} == expected


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("task:accuracy", "ACBD"),
        ("-task:accuracy", "DBAC"),
        ("task:latency", "BDAC"),  # less is better, and who has no score is last in any case
        ("-task:latency", "ADBC"),
        ("name", "ABCD"),
        ("-name", "DCBA"),
    ],
)
def test_the_table_is_sorted_by_any_task_with_missing_scores_last(client, benchmark, sort, order):
    assert "".join(rows(client, benchmark, f"?sort={sort}")) == order


def test_it_begins_in_the_order_of_the_default_rule(client, benchmark):
    board = compact(client.get(reverse("board", args=[benchmark.key])))
    places = {name: place for place, name in re.findall(r'class="place">([^<]*)</span><a [^>]*>(\w)</a>', board)}
    assert places == {"A": "1", "D": "2", "B": "–", "C": "–"}  # B and C lack scores
    assert "".join(rows(client, benchmark)) == "ADBC"


def test_a_shared_rank_is_marked_on_the_board_on_its_scores_and_on_other_sites(client, make):
    tied = make.published({"A": [2.0], "B": [2.0], "C": [1.0]}, n_tasks=1)
    pages = [compact(client.get(reverse(name, args=[tied.key]))) for name in ("board", "scores", "embed")]
    places = [re.findall(r'<span class="place">([^<]*\d)</span>', page) for page in pages]
    assert places == [["=1", "=1", "3"]] * 3


def test_a_folded_group_is_one_column_of_mean_ranks_and_can_be_sorted_by(client, benchmark):
    table = rows(client, benchmark, "?fold=quality&sort=group:quality")
    # On accuracy A and C share ranks 1 and 2, B is 3rd, D 4th; on recall C, A, D.
    assert {name: cells[0][1] for name, cells in table.items()} == {
        "C": "1.2",
        "A": "1.8",
        "B": "3.01 of 2 tasks",
        "D": "3.5",
    }
    assert "".join(table) == "CABD"
    assert all(len(cells) == 2 for cells in table.values())


def test_the_best_of_a_folded_group_has_all_of_its_scores_and_tasks_without_a_vote_do_not_count(client, make):
    tasks = [TaskSpec(f"T{t}", key=f"t{t}", group="G") for t in range(3)]
    tasks.append(TaskSpec("Aside", key="aside", group="G", weight=Decimal(0)))
    scores = {"A": [9.0, None, None, 1.0], "B": [8.0, 2.0, 2.0, 2.0], "C": [7.0, 1.0, 1.0, 3.0]}
    benchmark = make.published(scores, tasks=tasks, groups=[GroupSpec("G")])
    cells = {name: texts[0][1:] for name, texts in rows(client, benchmark, "?fold=g").items()}
    assert cells == {"A": ("1.01 of 3 tasks", False), "B": ("1.3", True), "C": ("2.3", False)}
    assert "mean rank on 3 tasks" in compact(client.get(reverse("scores", args=[benchmark.key]) + "?fold=g"))


@pytest.mark.parametrize("query", ["?sort=task:none", "?sort=group:quality", "?fold=none", "?sort=rank:x"])
def test_what_there_is_not_is_a_bad_request(client, benchmark, query):
    assert client.get(reverse("scores", args=[benchmark.key]) + query).status_code == 400


def test_a_name_is_searched_for_and_empty_fields_leave_the_address(client, benchmark):
    assert "".join(rows(client, benchmark, "?q=b")) == "B"
    response = client.get(reverse("scores", args=[benchmark.key]) + "?q=&sort=name")
    assert response.headers["Location"] == f"/b/{benchmark.key}/scores/?sort=name"
    assert "No system matches" in compact(client.get(reverse("scores", args=[benchmark.key]) + "?q=zzz"))


def test_many_tasks_come_in_parts_and_many_systems_in_pages(client, make):
    tasks = [TaskSpec(f"T{t}", key=f"t{t}") for t in range(103)]
    benchmark = make.published({f"S{i:03d}": [float(i)] * 103 for i in range(102)}, tasks=tasks)
    first, last = rows(client, benchmark), rows(client, benchmark, "?page=2&part=2")
    assert (len(first), {len(cells) for cells in first.values()}) == (100, {100})
    assert (list(last), {len(cells) for cells in last.values()}) == (["S001", "S000"], {3})


def test_the_page_asks_the_database_so_often(client, benchmark):
    cache.clear()
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            rows(client, benchmark)
        counts.append(len(queries))
    # The benchmark, which reports there are, the submissions in force and their scores of this page; first the reports
    # themselves, the systems, and the scores of all.
    assert counts == [7, 4]


def test_an_empty_field_of_an_address_is_dropped_at_once(client, benchmark):
    path = reverse("scores", args=[benchmark.key])
    for query, target in [("?fold=", ""), ("?fold=&fold=quality&q=", "?fold=quality")]:
        answer = client.get(path + query)
        assert (answer.status_code, answer["Location"]) == (302, path + target)
        assert client.get(answer["Location"]).status_code == 200
