"""What a board says of which systems can be told apart, against sign vectors counted one by one."""

import itertools

import numpy as np
import pytest

from jobs.runner import run_job
from leaderboard.access.audience import audience_of
from leaderboard.boards.board import build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.models import Job, Report
from leaderboard.rankings.confidence import significance
from leaderboard.rankings.confidence.separability import separability_sentence, short_sentence
from tests.markup import compact

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


def board_of(benchmark, **query):
    owner = benchmark.memberships.get(role="owner").user
    return build_board(audience_of(owner, benchmark), BoardQuery(**query))


def inseparable(board) -> dict[str, str]:
    return {row.name: row.inseparable_text for row in board.rows}


def test_a_system_far_ahead_stands_alone_and_the_others_in_one_run(make):
    board = board_of(computed(make, SPLIT))
    assert p_value_by_hand(SPLIT["Ahead"], SPLIT["Even"]) == 2 / 2**ENOUGH
    assert p_value_by_hand(SPLIT["Even"], SPLIT["Odd"]) > 0.5
    assert inseparable(board) == {"Ahead": "", "Even": "2–3", "Odd": "2–3"}
    assert board.separability.text == (
        "1 of 2 pairs of neighbours under Borda differ significantly at the 5 % level, by sign-flip tests on 10 tasks, "
        "taken as independent; 2 of all 3 pairs. Tested: what each task adds to the score under Borda, weights "
        "included."
    )


def test_the_stored_p_value_of_neighbours_is_that_of_the_definition(make):
    computed(make, SPLIT)
    report = Report.objects.get(kind="significance")
    neighbours = report.summary["rules"][REFERENCE]["neighbours"]
    # Holm over two pairs: twice the least
    assert neighbours["least_adjusted"] == pytest.approx(2 * 2 / 2**ENOUGH)
    assert neighbours["n_separable"] == 1


def test_five_tasks_are_too_few_to_tell_and_that_is_not_called_a_tie(make):
    few = {name: values[:5] for name, values in SPLIT.items()}
    board = board_of(computed(make, few))
    assert p_value_by_hand(few["Ahead"], few["Even"]) == 2 / 2**5 > 0.05
    assert inseparable(board) == {"Ahead": "", "Even": "", "Odd": ""}
    assert not board.separability.is_shown
    assert board.separability.text.startswith(
        "Among 3 pairs at once, 5 tasks, taken as independent, are too few to show a significant difference between "
        "any two systems of this board"
    )


def family(n_pairs, n_separable=0, n_contradicted=0, n_tied=0, verdict=""):
    return {
        "verdict": verdict or ("some" if n_separable else "none"), "n_pairs": n_pairs, "n_separable": n_separable,
        "n_contradicted": n_contradicted, "n_tied": n_tied,
    }  # fmt: skip


BY_MEANS = {"tested": "mean_differences", "tested_text": "mean differences", "n_clusters": 12, "n_tasks": 14}


@pytest.mark.parametrize(
    ("neighbours", "every", "sentence", "short"),
    [
        (
            family(3),
            family(6, 1),
            (
                "No two neighbours under Copeland differ significantly at the 5 % level, by sign-flip tests on 12 "
                "clusters of "
                "tasks, by group or as the owners declared; 1 of all 6 pairs. Tested: mean differences."
            ),
            "no two neighbours differ significantly, but 1 of all 6 pairs do",
        ),
        (
            family(106, 18, n_contradicted=16),
            family(5671, 2900, n_contradicted=30),
            (
                "18 of 106 pairs of neighbours under Copeland differ significantly at the 5 % level, by sign-flip "
                "tests on 12 "
                "clusters of tasks, by group or as the owners declared; 2,900 of all 5,671 pairs. In 16 pairs of "
                "neighbours and 30 of "
                "all pairs the system ranked lower is ahead by more than chance would explain: they contradict the "
                "ranking. "
                "Tested: mean differences."
            ),
            "18 of 106 pairs of neighbours differ significantly; 16 pairs of neighbours contradict the ranking",
        ),
        (
            family(86, verdict="too_few_tasks"),
            family(3741, verdict="too_few_tasks"),
            (
                "Among 3,741 pairs at once, 12 clusters of tasks, by group or as the owners declared, are too few to "
                "show a significant difference between any two systems of this board at the 5 % level: even a system "
                "that is ahead on all of them could be so by chance. That is not the same as a tie; a single pair that "
                "you choose beforehand can be tested: see Head to head. "
                "Tested: mean differences."
            ),
            ("12 clusters of tasks are too few to show any significant difference (3,741 pairs at once)"),
        ),
        (
            family(0),
            family(3, n_tied=3),
            "All systems share one rank under Copeland: there are no differences to test.",
            "all systems share one rank",
        ),
        (family(0), family(0), "", ""),
    ],
)
def test_what_can_be_told_apart_and_what_contradicts_the_ranking_is_said_at_length_and_shortly(
    neighbours, every, sentence, short
):
    summary = BY_MEANS | {"neighbours": neighbours, "top": every, "every_pair": every}
    assert separability_sentence("Copeland", summary, 0.05) == sentence
    assert short_sentence(summary) == short


def test_a_report_of_an_earlier_engine_is_not_read_as_if_it_were_of_this_one():
    """It counted pairs that share a rank, and pairs that point the wrong way."""
    counts = {"verdict": "some", "n_pairs": 2, "n_separable": 2, "n_not_separable": 0, "n_too_few_tasks": 0}
    stored = {"neighbours": counts, "top": counts, "every_pair": counts}
    summary = {"status": "there", "reason": "", "level": 0.05, "n_clusters": 9, "rules": {"borda": stored}}
    arrays = {"order_borda": np.arange(3), "from_borda": np.zeros(3, int), "to_borda": np.zeros(3, int),
              "p_borda": np.zeros(2), "adjusted_borda": np.zeros(2)}  # fmt: skip
    statement = significance.separability(summary, arrays, "borda", "Borda", np.array([1, 2, 3]))
    assert (statement.text, statement.short_text, statement.is_shown) == (significance.OUTDATED, "", False)
    assert significance.neighbour_tests(arrays, "borda") == []


def test_a_reference_rule_that_means_contradict_says_so_on_the_board_and_counts_it_on_the_stability_page(make, client):
    """Spiky is ahead of Mid on all tasks but one, on which it is last: the threshold rule ranks it lower for that."""
    seldom_last = {
        "Steady": [5.0] * 12, "Spiky": [9.0] * 11 + [4.0], "Low": [4.5] * 11 + [4.2], "Mid": [5.5] * 11 + [5.4],
    }  # fmt: skip
    benchmark = computed(make, seldom_last)
    board = board_of(benchmark, reference="threshold")
    report = Report.objects.get(kind="significance").summary["rules"]["threshold"]
    assert report["tested"] == "mean_differences"
    assert report["every_pair"]["n_contradicted"] > 0
    assert "they contradict the ranking" in board.separability.text
    page = compact(client.get(f"/b/{benchmark.key}/stability/?rule=threshold"))
    assert '<th scope="col" class="number">Contradicted</th>' in page
    assert "as likely with either sign" in page
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/separability/?rule=threshold").json()
    assert answer["every_pair"]["n_contradicted"] == report["every_pair"]["n_contradicted"]
    assert answer["tested"] == "mean_differences"
    assert answer["tested_text"].endswith("because Threshold is no sum over tasks")
    verdicts = [test["verdict"] for test in answer["results"]]
    assert verdicts.count("contradicted") == report["neighbours"]["n_contradicted"]


def test_board_and_head_to_head_name_their_family_and_do_not_contradict_each_other(make, client):
    """With 9 tasks even a system ahead on all of them has p = 0.0039: enough for one pair, not for 190 at once."""
    benchmark = computed(make, {f"System {k:02}": [float(k + t % 3) for t in range(9)] for k in range(20)})
    board = compact(client.get(f"/b/{benchmark.key}/"))
    assert "9 tasks are too few to show any significant difference (190 pairs at once)." in board
    assert "a single pair that you choose beforehand can be tested: see Head to head" in board
    stability = compact(client.get(f"/b/{benchmark.key}/stability/"))
    assert (
        "Among 190 pairs at once, 9 tasks, taken as independent, are too few to show a significant difference "
        "between any two systems"
    ) in stability
    pair = compact(client.get(f"/b/{benchmark.key}/head-to-head/?a=system-19&b=system-00"))
    assert (
        "On 9 tasks, taken as independent, System 19 is ahead of System 00 on average by more than chance would "
        "explain: p = 0.00391 by the exact sign-flip test, if you chose this pair beforehand."
    ) in pair
    assert "as likely with either sign" in pair


def test_each_rule_has_its_own_neighbours_and_another_policy_none(make):
    benchmark = computed(make, SPLIT)
    assert inseparable(board_of(benchmark, reference="copeland")) == {"Ahead": "", "Even": "2–3", "Odd": "2–3"}
    assert "under Copeland" in board_of(benchmark, reference="copeland").separability.text
    other = board_of(benchmark, policy="median")
    assert other.separability.text == ""
    assert not other.separability.is_shown


def test_a_benchmark_too_large_for_all_pairs_says_why_there_are_no_tests(make, monkeypatch):
    monkeypatch.setattr(significance, "MAX_SYSTEMS", 2)
    board = board_of(computed(make, SPLIT))
    assert board.separability.text == (
        "Significant differences were not tested: not computed for more than 2 systems (here 3)."
    )


def test_the_pages_say_it_where_the_ranking_is_read(make, client):
    benchmark = computed(make, SPLIT)
    board = compact(client.get(f"/b/{benchmark.key}/"))
    assert "Not significantly different ranks" in board
    assert "tied with 2" not in board
    assert '<td class="number">2–3</td>' in board
    assert "1 of 2 pairs of neighbours under Borda differ significantly" in board
    rule = compact(client.get(f"/b/{benchmark.key}/rules/copeland/"))
    assert rule.count('<td class="number">2–3</td>') == 2


def test_the_api_names_the_ranks_that_cannot_be_told_apart(make, client):
    benchmark = computed(make, SPLIT)
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/borda/").json()
    assert {row["name"]: row["inseparable"] for row in answer["results"]} == {
        "Ahead": None, "Even": [2, 3], "Odd": [2, 3],
    }  # fmt: skip
    assert answer["separability"] == board_of(benchmark).separability.text
    other = client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/borda/?missing=median").json()
    assert (other["separability"], other["results"][1]["inseparable"]) == (None, None)


@pytest.mark.parametrize("scores", [{"Alone": [1.0, 2.0]}, {"A": [1.0], "B": [1.0]}])
def test_one_system_and_one_task_are_no_error(make, scores):
    board = board_of(computed(make, scores))
    assert not board.separability.is_shown
    assert board.separability.text in ("", "All systems share one rank under Borda: there are no differences to test.")
