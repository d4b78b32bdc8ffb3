"""What a board says of which systems can be told apart, against sign vectors counted one by one."""

import itertools

import pytest

from leaderboard.models import Job, Report
from leaderboard.selectors.audience import audience
from leaderboard.services import significance
from leaderboard.services.board import build_board
from leaderboard.services.board_query import BoardQuery
from leaderboard.services.job_runner import run_job
from leaderboard.services.significance import separability_sentence

# Ahead is far above the others on every task; Even and Odd lead each other in turn.
SPLIT = {
    "Ahead": [90, 91, 92, 93, 94, 95, 96, 97, 98, 99],
    "Even": [50, 43, 52, 44, 51, 45, 53, 46, 52, 47],
    "Odd": [44, 50, 45, 52, 46, 53, 44, 51, 47, 46],
}
ENOUGH = 10
REFERENCE = "borda"


def p_value_by_hand(first, second) -> float:
    """The share of sign vectors with at least the observed sum; all tasks have nearly the same deviation."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    signs = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(vector, differences, strict=True))) for vector in signs]
    return sum(value >= abs(sum(differences)) for value in sums) / len(sums)


def computed(make, scores, **fields):
    benchmark = make.benchmark(scores, default_rule=REFERENCE, **fields)
    benchmark = make.publish(benchmark)
    run_job(Job.objects.get(kind="significance", benchmark=benchmark).pk, worker="test")
    return benchmark


def shown(benchmark, **query):
    owner = benchmark.memberships.get(role="owner").user
    return build_board(benchmark, audience(owner, benchmark), BoardQuery(**query))


def inseparable(board) -> dict[str, str]:
    return {row.name: row.inseparable_text for row in board.rows}


def test_a_system_far_ahead_stands_alone_and_the_others_in_one_run(make):
    board = shown(computed(make, SPLIT))
    assert p_value_by_hand(SPLIT["Ahead"], SPLIT["Even"]) == 2 / 2**ENOUGH
    assert p_value_by_hand(SPLIT["Even"], SPLIT["Odd"]) > 0.5
    assert inseparable(board) == {"Ahead": "", "Even": "2–3", "Odd": "2–3"}
    assert board.separability.text == (
        "1 of 2 pairs of neighbours under Borda can be told apart at the 5 % level, by exact tests on 10 independent "
        "tasks; 2 of all 3 pairs."
    )


def test_the_stored_p_value_of_neighbours_is_that_of_the_definition(make):
    computed(make, SPLIT)
    report = Report.objects.get(kind="significance")
    told = report.summary["rules"][REFERENCE]["neighbours"]
    # Holm over two pairs: twice the least
    assert told["least_adjusted"] == pytest.approx(2 * 2 / 2**ENOUGH)
    assert told["n_separable"] == 1


def test_five_tasks_are_too_few_to_tell_and_that_is_not_called_a_tie(make):
    few = {name: values[:5] for name, values in SPLIT.items()}
    board = shown(computed(make, few))
    assert p_value_by_hand(few["Ahead"], few["Even"]) == 2 / 2**5 > 0.05
    assert inseparable(board) == {"Ahead": "", "Even": "", "Odd": ""}
    assert not board.separability.is_shown
    assert board.separability.text.startswith("5 independent tasks are too few to tell any two systems of this board")


def test_a_board_without_separable_neighbours_says_so():
    family = {"verdict": "none", "n_pairs": 3, "n_separable": 0}
    every = {"verdict": "some", "n_pairs": 6, "n_separable": 1}
    told = {"neighbours": family, "top": every, "every_pair": every}
    assert separability_sentence("Copeland", told, 12, 0.05) == (
        "No two neighbours under Copeland can be told apart at the 5 % level, by exact tests on 12 independent tasks; "
        "1 of all 6 pairs."
    )


def test_each_rule_has_its_own_neighbours_and_another_policy_none(make):
    benchmark = computed(make, SPLIT)
    assert inseparable(shown(benchmark, reference="copeland")) == {"Ahead": "", "Even": "2–3", "Odd": "2–3"}
    assert "under Copeland" in shown(benchmark, reference="copeland").separability.text
    other = shown(benchmark, policy="median")
    assert other.separability.text == ""
    assert not other.separability.is_shown


def test_a_benchmark_too_large_for_all_pairs_says_why_there_are_no_tests(make, monkeypatch):
    monkeypatch.setattr(significance, "MAX_SYSTEMS", 2)
    board = shown(computed(make, SPLIT))
    assert board.separability.text == (
        "Which systems can be told apart is not tested: not computed for more than 2 systems (here 3)."
    )


def test_the_pages_say_it_where_the_ranking_is_read(make, client):
    benchmark = computed(make, SPLIT)
    board = client.get(f"/b/{benchmark.key}/").content.decode()
    assert "Inseparable ranks" in board
    assert '<td class="number">2–3</td>' in board
    assert "1 of 2 pairs of neighbours under Borda can be told apart" in board
    rule = client.get(f"/b/{benchmark.key}/rules/copeland/").content.decode()
    assert rule.count('<td class="number">2–3</td>') == 2


def test_the_api_names_the_ranks_that_cannot_be_told_apart(make, client):
    benchmark = computed(make, SPLIT)
    found = client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/borda/").json()
    assert {row["name"]: row["inseparable"] for row in found["results"]} == {
        "Ahead": None, "Even": [2, 3], "Odd": [2, 3],
    }  # fmt: skip
    assert found["separability"] == shown(benchmark).separability.text
    other = client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/borda/?missing=median").json()
    assert (other["separability"], other["results"][1]["inseparable"]) == (None, None)


@pytest.mark.parametrize("scores", [{"Alone": [1.0, 2.0]}, {"A": [1.0], "B": [1.0]}])
def test_one_system_and_one_task_are_no_error(make, scores):
    board = shown(computed(make, scores))
    assert not board.separability.is_shown
    assert "One independent task is too few" in board.separability.text or len(scores) == 1
