"""Rules in figures: the page and the API against a naive count of each figure, pair by pair and order by order."""

import csv
import io
import itertools
import math
from dataclasses import replace
from decimal import Decimal

import pytest
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.comparisons.places import Places
from leaderboard.comparisons.rule_figures import board_figures, optimum_of
from leaderboard.rankings.published import published_board
from leaderboard.rankings.reports import COMPUTING
from leaderboard.rankings.score_matrix import reader_of
from ranking_engine import RULES
from tests.leaderboard.comparisons.test_agreement_page import page, tau_b
from tests.markup import compact

WHOLE = {"A": [5, 1, 4, 2], "B": [4, 4, 1, 3], "C": [3, 3, 4, 4], "D": [2, 4, 2, 5], "E": [1, 2, 3, 1]}
GAPS = WHOLE | {"E": [1, 2, None, 1], "F": [2, None, 2, None]}
WEIGHTS = [2, 1, 1, 3]


@pytest.fixture(params=["whole", "gaps"])
def board(request, make):
    """A benchmark with weighted tasks, and its scores."""
    scores = WHOLE if request.param == "whole" else GAPS
    tasks = [TaskSpec(f"Task {t}", weight=Decimal(weight)) for t, weight in enumerate(WEIGHTS, start=1)]
    return make.published(scores, tasks=tasks, missing_policy="drop_systems"), scores


def figures(client, benchmark, **parameters) -> dict[str, dict[str, float | None]]:
    """The table of the page, by rule, as numbers."""
    text = page(client, benchmark, format="csv", table="figures", **parameters).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    return {row.pop("rule"): {name: float(cell) if cell else None for name, cell in row.items()} for row in rows}


def from_api(client, benchmark, **parameters):
    return client.get(reverse("api:agreement", args=[benchmark.key]), parameters)


def ranks_on_board(client, benchmark) -> dict[str, dict[str, int]]:
    """By rule, the ranks of its systems, as the board's own file has them."""
    rows = list(csv.DictReader(io.StringIO(client.get(reverse("board_csv", args=[benchmark.key])).content.decode())))
    rules = [name.removesuffix("_rank") for name in rows[0] if name.endswith("_rank")]
    return {rule: {row["system"]: int(row[f"{rule}_rank"]) for row in rows if row[f"{rule}_rank"]} for rule in rules}


def kendall(first: dict[str, float], second: dict[str, float]) -> float | None:
    """Pairs in opposite order, and half of those tied in one of the two; None without a common pair. Low is better."""
    pairs = list(itertools.combinations(first.keys() & second.keys(), 2))
    signs = [((first[a] > first[b]) - (first[a] < first[b]), (second[a] > second[b]) - (second[a] < second[b]))
             for a, b in pairs]  # fmt: skip
    return sum(abs(x - y) / 2 for x, y in signs) if pairs else None


def tasks_of(scores) -> list[dict[str, float]]:
    """By task, the systems with a score, lower is better."""
    width = len(next(iter(scores.values())))
    return [{name: -row[t] for name, row in scores.items() if row[t] is not None} for t in range(width)]


def weight_against(ranks: dict[str, float], scores) -> float:
    """The weight of the tasks that contradict an order, pair by pair."""
    total = 0.0
    for weight, task in zip(WEIGHTS, tasks_of(scores), strict=True):
        for a, b in itertools.permutations(ranks.keys() & task.keys(), 2):
            if task[a] < task[b]:
                total += weight * (1.0 if ranks[a] > ranks[b] else 0.5 if ranks[a] == ranks[b] else 0.0)
    return total


def share_among(ranks: dict[str, int], k: int, *, least: bool) -> dict[str, float]:
    """In what share of all orders that break the ties each system is among the first, or the last, k."""
    orders = [
        order for order in itertools.permutations(ranks)
        if all(ranks[a] <= ranks[b] for a, b in itertools.pairwise(order))
    ]  # fmt: skip
    chosen = [order[-k:] if least else order[:k] for order in orders]
    return {name: sum(name in part for part in chosen) / len(orders) for name in ranks}


def agreement(first: dict[str, int], second: dict[str, int], k: int, *, least: bool) -> float | None:
    common = first.keys() & second.keys()
    if len(common) < k:
        return None
    one, other = (share_among({name: ranks[name] for name in common}, k, least=least) for ranks in (first, second))
    return sum(min(one[name], other[name]) for name in common) / k


def expected_figures(ranks, scores, reference: str, top, least) -> dict[str, dict[str, float | None]]:
    orders = (dict(zip(order, itertools.count(1), strict=False)) for order in itertools.permutations(scores))
    least_weight = min(weight_against(order, scores) for order in orders)
    rows = {}
    for rule, own in ranks.items():
        tau, weight = tau_b(ranks[reference], own), weight_against(own, scores)
        distances = [distance for task in tasks_of(scores) if (distance := kendall(own, task)) is not None]
        optimum = least_weight if own.keys() == scores.keys() else None
        rows[rule] = {
            "kendall_tau": None if math.isnan(tau) else tau,
            **{f"agreement_top_{k}": agreement(ranks[reference], own, k, least=False) for k in top},
            **{f"agreement_least_{k}": agreement(ranks[reference], own, k, least=True) for k in least},
            "n_ranked": len(own),
            "n_tied": len(own) - len(set(own.values())),
            "n_in_ties": sum(list(own.values()).count(rank) > 1 for rank in own.values()),
            "dispersion_to": sum(distances) / len(distances),
            "weighted_distance": weight,
            "kemeny_excess": None if optimum is None else weight - optimum,
            "kemeny_excess_share": None if optimum is None else (weight - optimum) / optimum,
        }
    return rows


def test_every_figure_of_the_page_is_that_of_a_naive_count(board, client):
    benchmark, scores = board
    got = figures(client, benchmark, top="3,1,2,2", least="4, 1")
    ranks = {rule: own for rule, own in ranks_on_board(client, benchmark).items() if rule in got}
    expected = expected_figures(ranks, scores, "borda", (1, 2, 3), (1, 4))
    assert list(got) == [column.rule for column in published_board(benchmark.publication).columns if column.rule in got]
    assert len(got) > 10
    assert {rule: pytest.approx(row) for rule, row in got.items()} == expected


def test_two_tasks_are_as_far_apart_as_counted_pair_by_pair(board, client):
    benchmark, scores = board
    pairs = [kendall(a, b) for a, b in itertools.permutations(tasks_of(scores), 2)]
    expected = sum(pairs) / len(pairs)
    assert from_api(client, benchmark).json()["dispersion"] == pytest.approx(expected)
    assert f"Two tasks are {expected:,.1f} apart on average." in page(client, benchmark).content.decode()


@pytest.mark.parametrize("query", [{}, {"top": "2", "least": "1,4"}])
def test_the_api_has_the_figures_of_the_page(board, client, query):
    benchmark, scores = board
    answer, table = from_api(client, benchmark, **query).json(), figures(client, benchmark, **query)
    rows = {}
    for row in answer["results"]:
        ends = {f"agreement_{end}_{k}": rate for end in ("top", "least") for k, rate in row[f"agreement_{end}"].items()}
        own = {name: row[name] for name in table["borda"] if name in row and name != "kendall_tau"}
        rows[row["rule"]] = {"kendall_tau": row["kendall_tau"][answer["reference"]]} | ends | own
    assert rows == table
    assert [answer["top"], answer["least"]] == (
        [[2], [1, 4]] if query else [[1, 3], [1, 3]] if len(scores) == 5 else [[1, 3, 5]] * 2
    )
    file = list(csv.DictReader(io.StringIO(from_api(client, benchmark, format="csv", **query).content.decode())))
    names = [name for name in table["borda"] if name != "kendall_tau"]
    assert {row["rule"]: {name: float(row[name]) if row[name] else None for name in names} for row in file} == {
        rule: {name: row[name] for name in names} for rule, row in table.items()
    }


def test_kemeny_is_proven_and_the_page_says_how_much_worse_the_others_are(make, client):
    """The toy: Borda is as near as Kemeny with a weight of 12 against it, plurality has 16.5."""
    benchmark = make.published()
    answer = from_api(client, benchmark).json()
    assert answer["kemeny"] == {
        "status": "proven",
        "text": "Kemeny’s order is proven to be optimal: no other order disagrees less with the tasks.",
        "distance": 12,
        "spread": pytest.approx(0.28182, abs=1e-5),
        "spread_error": pytest.approx(0.31191, abs=1e-5),
        "no_spread": "",
    }
    words = compact(page(client, benchmark))
    assert "θ = 0.282 ± 0.312 (standard error), by Mallows’ model." in words
    assert "as Kemeny’s order does is 1.33 times as likely" in words
    rows = {row.column.rule: row for row in page(client, benchmark).context["page"].figure_rows}
    assert {rule: rows[rule].excess for rule in ("kemeny", "borda", "plurality")} == {
        "kemeny": "0", "borda": "0", "plurality": "37.5 % (+4.5)",
    }  # fmt: skip
    assert rows["plurality"].agreement == ["−0.71", "0 %", "67 %", "0 %", "67 %"]
    assert (rows["plurality"].ties, rows["plurality"].n_in_ties, rows["plurality"].distance) == ("2", "3", "3.3")


def test_a_missing_score_leaves_no_spread_and_the_page_says_why(make, client):
    benchmark = make.published({"A": [1, None, 3], "B": [2, 5, 1], "C": [3, 4, 2]})
    answer = from_api(client, benchmark).json()["kemeny"]
    reason = "some scores are missing: the model is about complete orders"
    assert (answer["spread"], answer["spread_error"], answer["no_spread"]) == (None, None, reason)
    assert f"Not given: {reason}." in compact(page(client, benchmark))


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"remark": "The best order found, not proven optimal: its distance is 12."}, "not_proven"),
        ({"status": COMPUTING}, "computing"),
        ({"status": "undefined", "reason": "no task has an order and a weight above 0"}, "undefined"),
    ],
)
def test_without_a_proven_order_no_rule_is_compared_with_the_optimum(make, changed, status):
    benchmark = make.published()
    stored = published_board(benchmark.publication)
    columns = [replace(column, **changed) if column.rule == "kemeny" else column for column in stored.columns]
    changed_board = replace(stored, columns=columns)
    reference, taus = next(column for column in columns if column.rule == "borda"), dict.fromkeys(RULES, 1.0)
    publication, level = benchmark.publication, f"public, {status}"
    read = reader_of(publication.revision)
    whole = board_figures(publication, changed_board, reference, taus, Places(), audience_level=level, read=read)
    assert (whole.optimum.status, whole.optimum.distance) == (status, None)
    assert {row.excess for row in whole.rows} == {None}
    assert all(row.dispersion_to > 0 for row in whole.rows)


def test_under_two_steps_nothing_is_compared_with_kemeny(make, client):
    tasks = [TaskSpec(f"Task {t}", weight=Decimal(1), group=f"G{t % 2}") for t in range(1, 6)]
    benchmark = make.published(tasks=tasks, aggregation="two_step")
    assert optimum_of(published_board(benchmark.publication)).status == "two_step"
    assert {row["kemeny_excess"] for row in figures(client, benchmark).values()} == {None}
    assert "Not given." in page(client, benchmark).content.decode()


@pytest.mark.parametrize(("n", "places"), [(1, []), (2, [1]), (4, [1, 3]), (11, [1, 3, 5, 10])])
def test_a_board_takes_as_many_places_as_leave_a_system_out(make, client, n, places):
    benchmark = make.published({f"S{i}": [float(i), float(i * i)] for i in range(n)})
    answer = from_api(client, benchmark).json()
    assert (answer["top"], answer["least"]) == (places, places)
    borda = next(row for row in answer["results"] if row["rule"] == "borda")
    assert borda["agreement_top"] == {str(k): 1.0 for k in places}
    assert (borda["n_ranked"], borda["n_tied"]) == (n, 0)
    assert borda["dispersion_to"] == (None if n == 1 else 0)
    # All tasks agree: nothing contradicts Kemeny's order, and nothing Borda's.
    assert (answer["kemeny"]["distance"], borda["kemeny_excess"], borda["kemeny_excess_share"]) == (0, 0, 0)
    heads = page(client, benchmark).content.decode()
    assert heads.count('<th scope="col" class="number">First ') == len(places)


def test_rules_that_rank_nobody_are_named_with_the_reason(make, client):
    benchmark = make.published(GAPS, missing_policy="undefined")
    answer = from_api(client, benchmark).json()
    compared = {row["rule"] for row in answer["results"]}
    columns = published_board(benchmark.publication).columns
    assert compared | set(answer["not_compared"]) == {column.rule for column in columns}
    assert compared & set(answer["not_compared"]) == set()
    assert answer["not_compared"]["borda"].startswith("3 missing scores")
    assert answer["reference"] in compared
    assert "Borda: 3 missing scores" in page(client, benchmark).content.decode()


def test_more_places_than_systems_have_no_agreement(make, client):
    row = next(iter(from_api(client, make.published(), top="4,5,9999").json()["results"]))
    assert row["agreement_top"] == {"4": 1.0, "5": None, "9999": None}


@pytest.mark.parametrize(
    "text", ["0", "-1", "1.5", "1e3", "a", ",", "1,,2", "1,2,3,4,5,6,7", "10000", "٣", "1" * 100_000, "1," * 50_000]
)
@pytest.mark.parametrize("end", ["top", "least"])
def test_what_is_no_short_list_of_places_is_refused_before_anything_is_computed(make, client, text, end, monkeypatch):
    benchmark = make.published()
    computed = []
    monkeypatch.setattr("leaderboard.comparisons.rule_figures.single_flight", lambda *_: computed.append(1))
    monkeypatch.setattr("leaderboard.comparisons.agreement.single_flight", lambda *_: computed.append(1))
    assert (page(client, benchmark, **{end: text}).status_code, computed) == (400, [])
    answer = from_api(client, benchmark, **{end: text})
    assert (answer.status_code, computed) == (400, [])
    assert answer.json()["error"]["message"].startswith(f"`{end}` is ")


def test_links_and_the_form_keep_places_pins_and_revision(make, client):
    benchmark = make.published()
    body = page(client, benchmark, top="1,2", least="3", pin="a", revision="1").content.decode()
    assert 'href="?revision=1&amp;top=1,2&amp;least=3&amp;format=csv&amp;table=figures"' in body
    assert f'href="/api/v1/benchmarks/{benchmark.key}/agreement/?revision=1&amp;top=1,2&amp;least=3"' in body
    assert '<input name="top" value="1,2"' in body
    assert '<input name="least" value="3"' in body
    assert '<input type="hidden" name="pin" value="a">' in body
    lines = {line.name: line.url for line in page(client, benchmark, top="1,2").context["page"].bump.lines}
    assert lines["B"] == "?pin=b&top=1,2#ranks"


def test_a_board_beyond_the_budget_has_all_but_the_distances(make, client, settings):
    settings.ON_DEMAND_BUDGET = 3
    benchmark = make.published()
    answer = from_api(client, benchmark).json()
    assert answer["no_distances"].startswith("This is 4 systems x 5 tasks = 20; up to 3 can be computed on demand.")
    plurality = next(row for row in answer["results"] if row["rule"] == "plurality")
    assert (plurality["n_tied"], plurality["agreement_top"]) == (2, {"1": 0.0, "3": pytest.approx(2 / 3)})
    assert (plurality["dispersion_to"], plurality["kemeny_excess"], answer["dispersion"]) == (None, None, None)
    assert "Not computed here. This is 4 systems x 5 tasks" in page(client, benchmark).content.decode()


def test_a_board_of_very_many_systems_has_no_figures(make, client, monkeypatch):
    for module in ("comparisons.agreement", "api.agreement"):
        monkeypatch.setattr(f"leaderboard.{module}.MAX_SYSTEMS", 3)
    benchmark = make.published()
    assert "Rules in figures" not in page(client, benchmark).content.decode()
    assert page(client, benchmark, format="csv", table="figures").content == b""
    assert from_api(client, benchmark).status_code == 422


def test_before_a_rule_ranks_the_api_says_why_none_does(make, client):
    benchmark = make.published(tasks=[TaskSpec("Task 1", weight=Decimal(1), direction=0)], scores={"A": [1.0]})
    answer = from_api(client, benchmark).json()
    assert (answer["results"], answer["kemeny"], answer["top"]) == ([], None, [])
    assert "no task has an order and a weight above 0" in answer["not_compared"]["borda"]
