"""Head to head: margins, the majority relation and any two systems, against sums and sign vectors in plain Python."""

import csv
import io
import itertools
import re
import statistics

import pytest
from django.urls import reverse

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from tests.factories import TOY

GAPS = {"A": [1.0, 5.0, 3.0], "B": [2.0, 5.0, None], "C": [3.0, None, 1.0]}


def page(client, benchmark, **parameters):
    return client.get(reverse("head_to_head", args=[benchmark.key]), parameters)


def table(client, benchmark, **parameters) -> list[dict[str, str]]:
    text = page(client, benchmark, format="csv", **parameters).content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def counted(scores, weights) -> dict[tuple[str, str], tuple[float, float]]:
    """{(system, rival): weight ahead, weight behind}, summed task by task."""
    total = sum(weights)
    shares = {}
    for first, second in itertools.permutations(scores, 2):
        pairs = list(zip(scores[first], scores[second], weights, strict=True))
        common = [(x, y, w) for x, y, w in pairs if x is not None and y is not None]
        ahead, behind = (sum(w for x, y, w in common if (x - y) * side > 0) / total for side in (1, -1))
        shares[first, second] = (ahead, behind)
    return shares


@pytest.mark.parametrize(("scores", "weights"), [(TOY, [1] * 5), (GAPS, [1] * 3)])
def test_the_margins_are_the_weights_of_the_tasks_won_less_those_lost(make, client, scores, weights):
    benchmark = make.published(scores)
    rows = table(client, benchmark)
    expected = counted(scores, weights)
    margins = {(r["system"], r["rival"]): (float(r["ahead"]), float(r["behind"])) for r in rows}
    assert margins.keys() == expected.keys()
    assert [margins[pair] for pair in expected] == [pytest.approx(shares) for shares in expected.values()]
    view = page(client, benchmark).context["page"]
    for row, cells in zip(view.rows, view.heat.rows, strict=True):
        for rival, cell in zip(view.columns, cells.cells, strict=True):
            if row.system.name == rival.name:
                assert cell.level == "none"
                continue
            ahead, behind = expected[row.system.name, rival.name]
            assert cell.level[0] == ("z" if ahead == behind else "p" if ahead > behind else "m")
            assert f"ahead on {100 * ahead:.0f} %" in cell.said


@pytest.mark.parametrize(("aggregation", "ahead", "behind"), [("balanced", "0.5", "0.5"), ("basic", 2 / 3, 1 / 3)])
def test_the_aggregation_of_the_benchmark_weighs_the_tasks(make, client, aggregation, ahead, behind):
    tasks = [TaskSpec("X", group="one"), TaskSpec("Y", group="one"), TaskSpec("Z", group="two")]
    scores = {"A": [2.0, 2.0, 1.0], "B": [1.0, 1.0, 2.0]}
    groups = [GroupSpec("one"), GroupSpec("two")]
    for other in ("basic", "weighted", "balanced"):  # an answer that was kept is not one about other weights
        page(client, make.published(scores, tasks=tasks, groups=groups, aggregation=other))
    benchmark = make.published(scores, tasks=tasks, groups=groups, aggregation=aggregation)
    shares = {(r["system"], r["rival"]): (r["ahead"], r["behind"]) for r in table(client, benchmark)}
    assert tuple(map(float, shares["A", "B"])) == pytest.approx((float(ahead), float(behind)))


def test_every_pair_against_the_order_has_one_arc_and_the_smith_set_is_marked(make, client):
    benchmark = make.published()
    view = page(client, benchmark).context["page"]
    expected = counted(TOY, [1] * 5)
    order = [row.system.name for row in view.rows]
    against = {
        (low, high)
        for k, low in enumerate(order)
        for high in order[:k]
        if expected[low, high][0] > expected[low, high][1]
    }
    arcs = [arc.said for node in view.graph.nodes for arc in node.upsets]
    drawn = {tuple(re.fullmatch(r"(.+) beats (.+)", said).groups()) for said in arcs}
    assert drawn == against
    beaten = {name: sum(expected[name, o][0] > expected[name, o][1] for o in TOY if o != name) for name in TOY}
    assert {row.system.name: row.n_beaten for row in view.rows} == beaten
    assert {node.name for node in view.graph.nodes if node.is_marked} == smith_set(expected)


def smith_set(counts) -> set[str]:
    """The smallest set of the toy's systems whose members beat everybody outside it, by trying all sets."""
    for size in range(1, len(TOY) + 1):
        for chosen in map(set, itertools.combinations(TOY, size)):
            if all(counts[a, b][0] > counts[a, b][1] for a in chosen for b in set(TOY) - chosen):
                return chosen
    raise AssertionError("all of them are such a set")


def test_a_tie_alone_is_counted_beside_no_pair_against_the_order(make, client):
    graph = page(client, make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]})).context["page"].graph
    assert graph.description == (
        "Each of the 2 systems beats every one below it, except where an arc shows something else. Pairs against the "
        "order (an arrow on the right, from the winner up to the loser): 0 of 1. Tied pairs (a dotted arc on the "
        "left): 1."
    )


def test_pairs_without_a_common_task_are_no_ties_and_systems_without_scores_no_rivals(make, client):
    view = page(client, make.published({"A": [3.0, 1.0, None], "B": [2.0, 3.0, None], "C": [None] * 3})).context["page"]
    assert [node.name for node in view.graph.nodes] == ["A", "B"]
    assert view.graph.description.endswith("0 of 1. Tied pairs (a dotted arc on the left): 1.")
    assert view.sentence == "No system beats every other, and no set of systems beats all the rest."
    graph = page(client, make.published({"A": [3.0, None], "B": [2.0, None], "C": [None, 1.0]})).context["page"].graph
    assert graph.description.endswith(
        "0 of 3. Tied pairs (a dotted arc on the left): 0. Pairs without a common task, which cannot be compared (a "
        "dashed arc on the left): 2."
    )
    assert sorted(arc.said for node in graph.nodes for arc in node.apart) == [
        f"{name} and C share no task of weight above 0" for name in "AB"
    ]


def test_verdicts_without_a_condorcet_winner_count_the_pairs_that_no_task_compares(make, client):
    benchmark = make.published({"A": [1.0, None, None], "B": [None, 1.0, None], "C": [None] * 3})
    apart = "1 pair cannot be compared."
    nobody = "no system beats every other head to head (no Condorcet winner)"
    verdict = client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/").json()["verdict"]
    assert verdict.endswith(f"; {nobody}; {apart}")
    for name in ("board", "badge"):
        assert f"{nobody}; {apart}" in client.get(reverse(name, args=[benchmark.key])).content.decode()
    assert page(client, benchmark).context["page"].sentence == (
        f"No system beats every other, and no set of systems beats all the rest. {apart}"
    )
    assert (
        "No Condorcet winner; the Smith set is A, B. Pairs of systems that share no task that counts, so that neither "
        "beats the other: 1."
    ) in client.get(reverse("what_if", args=[benchmark.key])).content.decode()


def test_two_systems_are_tested_by_every_sign_vector(make, client):
    names = ["A", "B", "C"]
    scores = {"A": [9, 8, 7, 9, 8, 9, 3], "B": [5, 4, 6, 5, 2, 6, 4], "C": [1, 9, 2, 6, 5, 5, 9]}
    benchmark = make.published({name: [float(x) for x in scores[name]] for name in names})
    response = page(client, benchmark, a="a", b="b")
    pair = response.context["page"].pair
    spread = [statistics.pstdev(column) for column in zip(*scores.values(), strict=True)]
    apart = [(x - y) / s for x, y, s in zip(scores["A"], scores["B"], spread, strict=True)]
    sums = [abs(sum(sign * d for sign, d in zip(signs, apart, strict=True))) for signs in
            itertools.product((1, -1), repeat=7)]  # fmt: skip
    expected = sum(total >= abs(sum(apart)) - 1e-9 for total in sums) / len(sums)
    assert pair.p_value == pytest.approx(expected)
    assert expected == 4 / 128
    assert pair.probability == 1 - 9 / 256  # all but 7 or 8 heads in 8 throws
    assert (pair.probability_text, pair.units_text) == ("96.5 %", "6 ahead, 1 behind, 0 tied")
    assert "more than chance would explain: p = 0.0312" in pair.test_sentence
    assert response.content.count(b"0.0312") == 1  # not once more beside the sentence
    assert pair.sentence == "A is ahead on 6 of 7 common tasks, B on 1. By weight A beats B, 86 % against 14 %."
    assert [task.outcome for task in pair.tasks] == ["first"] * 6 + ["second"]
    assert {(rank.first, rank.second) for rank in pair.ranks if rank.rule == "mean"} == {(1, 3)}


def test_tasks_on_which_two_systems_are_level_are_left_out_of_the_probability_and_counted(make, client):
    scores = {"A": [9, 8, 7, 9, 8, 9, 3, 5], "B": [5, 4, 6, 5, 2, 6, 3, 5], "C": [1, 9, 2, 6, 5, 5, 9, 4]}
    benchmark = make.published({name: [float(x) for x in row] for name, row in scores.items()})
    pair = page(client, benchmark, a="a", b="b").context["page"].pair
    assert pair.probability == 1 - 1 / 128  # ahead on 6 of 6
    assert pair.units_text == "6 ahead, 0 behind, 2 tied"
    answer = client.get(f"/api/v1/benchmarks/{benchmark.key}/head-to-head/?a=a&b=b").json()
    assert [answer[name] for name in ("n_ahead", "n_behind", "n_level", "n_units")] == [6, 0, 2, 8]


def test_five_tasks_are_too_few_and_that_is_no_tie(make, client):
    pair = page(client, make.published(), a="a", b="b").context["page"].pair
    assert pair.test_sentence.startswith("5 tasks, taken as independent, are too few to tell")


def test_the_dots_stand_between_the_worst_and_the_best_score_with_lower_is_better_turned_round(make, client):
    tasks = [TaskSpec("Points"), TaskSpec("Seconds", direction=-1)]
    benchmark = make.published({"A": [10.0, 4.0], "B": [20.0, 2.0], "C": [30.0, 10.0]}, tasks=tasks)
    profile = page(client, benchmark, a="a", b="b").context["page"].pair.profile
    left, right = profile.left + 8, profile.right - 8
    at = [[(float(x) - left) / (right - left) for _, x in line.dots] for line in profile.lines]
    assert at[0] == pytest.approx([0.0, 0.5], abs=1e-3)
    assert at[1] == pytest.approx([0.75, 1.0], abs=1e-3)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"a": "a", "b": "nobody"}, "There is no system &#x27;nobody&#x27; on this board."),
        ({"a": "a", "b": "A"}, "A cannot be compared with itself. Choose two different systems."),
    ],
)
def test_a_pair_that_there_is_not_is_said_and_the_page_stays(make, client, query, problem):
    answer = page(client, make.published(), **query)
    assert answer.status_code == 200
    assert problem in answer.content.decode()


def test_a_name_serves_as_well_as_a_key(make, client):
    benchmark = make.published({"Größe 1": [1.0], "Other": [2.0]})
    assert page(client, benchmark, a="grösse 1", b="other").context["page"].pair.first.name == "Größe 1"


def test_large_boards_show_a_part_of_the_order_at_a_time(make, client):
    benchmark = make.published({f"S{i:03}": [float(-i)] for i in range(70)})
    view = page(client, benchmark, rows="2", columns="3").context["page"]
    assert [row.system.name for row in view.rows] == [f"S{i:03}" for i in range(30, 60)]
    assert [system.name for system in view.columns] == [f"S{i:03}" for i in range(60, 70)]
    assert {row.n_beaten for row in view.rows} == set(range(10, 40))
    assert view.graph is None
    assert [part.name for part in view.row_parts] == ["1–30", "31–60", "61–70"]


def test_a_board_beyond_the_budget_is_refused_with_the_limit(make, client, settings):
    benchmark = make.published()
    settings.ON_DEMAND_BUDGET = 10
    answer = page(client, benchmark)
    assert answer.status_code == 422
    assert "up to 10 can be computed on demand" in answer.content.decode()


@pytest.mark.parametrize(
    ("query", "status"), [({"rule": "bordo"}, 400), ({"revision": "x"}, 400), ({"revision": "9"}, 404)]
)
def test_what_there_is_not_is_refused(make, client, query, status):
    assert page(client, make.published(), **query).status_code == status


def test_before_the_first_board_there_is_nobody_to_compare(make, client):
    assert "Nothing to compare yet" in page(client, make.benchmark({}, n_tasks=2)).content.decode()


@pytest.mark.parametrize("n", [3, 90])
def test_the_page_takes_as_many_queries_for_many_systems_as_for_few(make, client, n, django_assert_num_queries):
    benchmark = make.published({f"S{i:03}": [float(i), float(-i)] for i in range(n)})
    with django_assert_num_queries(10):  # the scores are read twice where nothing is kept: margins, and choice sets
        page(client, benchmark)
