"""Choice sets, the lottery and cycles on the head-to-head page, on the lottery's page and in the API."""

import pytest
from django.urls import reverse

from ranking_engine import copy_proof_ratings
from ranking_engine.core.synthetic import random_matrix
from tests.factories import TOY
from tests.ranking_engine import naive, naive_consensus

CIRCLE = {"A": [3.0, 1.0, 2.0], "B": [2.0, 3.0, 1.0], "C": [1.0, 2.0, 3.0], "D": [0.0, 0.0, 0.0]}


def test_the_page_has_a_column_for_each_set_and_draws_the_cycle(make, client):
    benchmark = make.published(CIRCLE)
    response = client.get(reverse("head_to_head", args=[benchmark.key]))
    page = response.context["page"]
    assert page.set_names == ["Smith set", "Schwartz set", "Uncovered set", "Essential set"]
    assert {row.system.name: (row.sets, row.lottery_text) for row in page.rows} == {
        **dict.fromkeys("ABC", ([True] * 4, "33 %")), "D": ([False] * 4, ""),
    }  # fmt: skip
    assert page.cycles.lines == ["A beats B by 33 %, B beats C by 33 %, C beats A by 33 %"]
    assert [node.name for node in page.cycles.graph.nodes] == ["A", "B", "C"]
    drawn = [arrow.said for arrow in page.cycles.graph.arrows]
    assert drawn == ["A beats B by 33 %", "B beats C by 33 %", "C beats A by 33 %"]
    assert [row.rating_text for row in page.rows] == ["0.667"] * 3 + ["0.000"]
    text = response.content.decode()
    assert "Task 1 33 %, Task 2 33 %" in text
    assert 'aria-labelledby="cycles-title cycles-desc"' in text
    assert " style=" not in text


def test_the_page_of_the_lottery_draws_the_cycles_and_that_of_another_rule_does_not(make, client):
    benchmark = make.published(CIRCLE)
    addresses = [reverse("rule", args=[benchmark.key, rule]) for rule in ("maximal_lotteries", "borda")]
    lottery, borda = map(client.get, addresses)
    assert len(lottery.context["page"].cycles.lines) == 1
    assert "C beats A by 33 %" in lottery.content.decode()
    assert borda.context["page"].cycles is None


def test_a_board_without_a_cycle_says_so(make, client):
    benchmark = make.published(TOY)
    response = client.get(reverse("head_to_head", args=[benchmark.key]))
    cycles = response.context["page"].cycles
    assert (cycles.lines, cycles.graph) == ([], None)
    assert "There is no cycle" in response.content.decode()


@pytest.mark.parametrize("seed", range(2))
def test_the_api_has_the_sets_of_the_definitions(make, client, seed):
    matrix = random_matrix(7, 4, seed=seed, kind="uniform", n_levels=4)
    names = [f"S{i}" for i in range(7)]
    benchmark = make.published({name: row.tolist() for name, row in zip(names, matrix.values, strict=True)})
    answer = client.get(reverse("api:margins", args=[benchmark.key])).json()
    rows = {row["name"]: row["sets"] for row in answer["results"]}
    expected = {
        "smith_set": naive.smith_set(matrix),
        "schwartz_set": naive_consensus.schwartz_set(matrix),
        "uncovered_set": naive_consensus.uncovered_set(matrix, "mckelvey"),
    }
    members = {key: tuple(i for i, name in enumerate(names) if rows[name][key]) for key in expected}
    assert members == expected
    assert {name for name in names if rows[name]["essential_set"]} == {n for n in names if rows[n]["lottery"]}
    rated = copy_proof_ratings(matrix)
    assert [rows[name]["copy_proof_rating"] for name in names] == pytest.approx(rated.ratings.tolist(), abs=1e-6)
    assert list(answer["task_mixture"].values()) == pytest.approx(rated.task_weights.tolist(), abs=1e-6)
    better = naive.beats(matrix)
    places = {f"s{i}": i for i in range(7)}
    for cycle in answer["cycles"]:
        steps = [(places[a], places[b]) for a, b in
                 zip(cycle["systems"], [*cycle["systems"][1:], cycle["systems"][0]], strict=True)]  # fmt: skip
        assert all(better[i, j] for i, j in steps)
        assert all(margin > 0 for margin in cycle["margins"])
