"""How exact differences are on single instances: what the page and the API say of it, worked out from the file."""

import numpy as np
import pytest
from django.urls import reverse
from scipy.special import stdtrit

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.submissions.uploads import submit_upload
from ranking_engine.core.instances import InstanceScores
from ranking_engine.stability.resampling.two_levels import DESIGNS, two_level_intervals
from tests.factories import owner_of
from tests.leaderboard.api.test_instances import SYSTEMS, TASKS, blocks_of, confirm, long_form, send, upload_of
from tests.markup import compact


def test_the_page_says_how_small_a_difference_the_instances_can_show(make, client):
    benchmark = make.benchmark({}, n_tasks=2, tasks=[TaskSpec("Task 1"), TaskSpec("Task 2", direction=-1)])
    owner = benchmark.memberships.get(role="owner").user
    random = np.random.default_rng(2)
    cells = {
        (system, task, f"q{u:02}"): float(random.random() < 0.5 + 0.3 * (system == "Ada") * (task == "Task 1"))
        for task in TASKS for system in SYSTEMS[:2] for u in range(40)
    }  # fmt: skip
    submit_upload(benchmark, owner, upload_of(cells))
    benchmark = make.publish(make.publish(benchmark), studies=True)
    address = reverse("api:instances", args=[benchmark.key])
    [pair] = client.get(address).json()["neighbours"]
    apart = [block[0] - block[1] for block in blocks_of(cells, SYSTEMS[:2])]
    error = sum(row.var(ddof=1) / 40 for row in apart) ** 0.5 / 2
    assert pair["standard_error"] == pytest.approx(error)
    assert pair["detectable"] == pytest.approx((stdtrit(79, 0.975) + stdtrit(79, 0.8)) * error)
    assert pair["instance_share"] is None  # of two tasks it would be chance
    page = client.get(reverse("instances", args=[benchmark.key])).content.decode()
    assert f"With 80 common instances a true difference of {pair['detectable']:.4g} between" in page
    assert "by a test of this pair alone" in page
    assert "% instances, " not in page


def test_the_page_and_the_api_have_rank_intervals_if_instances_tasks_or_both_are_drawn_again(make, client):
    tasks = [f"Task {t}" for t in range(1, 10)]
    benchmark = make.benchmark({}, n_tasks=9)
    owner = benchmark.memberships.get(role="owner").user
    random = np.random.default_rng(4)
    cells = {
        (system, task, f"q{u:02}"): float(random.random() < 0.3 + 0.2 * k)
        for task in tasks for k, system in enumerate(SYSTEMS[:3]) for u in range(12)
    }  # fmt: skip
    submit_upload(benchmark, owner, upload_of(cells))
    benchmark = make.publish(make.publish(benchmark), studies=True)
    answer = client.get(reverse("api:instances", args=[benchmark.key])).json()
    blocks = [np.array([[cells[s, task, f"q{u:02}"] for u in range(12)] for s in SYSTEMS[:3]]) for task in tasks]
    parameters = answer["parameters"]
    expected = two_level_intervals(
        InstanceScores(SYSTEMS[:3], tuple(tasks), tuple(blocks)),
        n_resamples=answer["n_redrawn"], level=1 - parameters["level"], seed=parameters["seed"],
    )  # fmt: skip
    rows = {row["name"]: row["rank_intervals"] for row in answer["results"]}
    for statistic, intervals in expected.items():
        for i, name in enumerate(SYSTEMS[:3]):
            figures = rows[name][statistic]
            assert figures["rank"] == intervals.ranks[i]
            assert figures["instance_share"] == pytest.approx(intervals.instance_share[i])
            for design in DESIGNS:
                assert figures[design] == [intervals.lower[design][i], intervals.upper[design][i]]
    page = client.get(reverse("instances", args=[benchmark.key])).content.decode()
    assert "For the median system" in page
    assert 'aria-label="Rank intervals: Mean of the tasks’ means"' in page


def test_where_one_task_of_three_has_instances_the_page_says_so_and_leaves_out_what_is_the_same(make, client):
    """On the board the first is Bert, on the instances of Task 1 it is Ada."""
    benchmark = make.benchmark({}, n_tasks=3)
    cells = {
        (system, "Task 1", f"q{u:02}"): float(u < n)
        for system, n in {"Ada": 30, "Bert": 20, "Cleo": 5}.items() for u in range(40)
    }  # fmt: skip
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    table = "system,Task 2,Task 3\nAda,1,1\nBert,3,3\nCleo,2,2\n"
    confirm(client, benchmark, send(client, benchmark, long_form(cells), table))
    benchmark = make.publish(make.publish(benchmark), studies=True)
    answer = client.get(reverse("instances", args=[benchmark.key]))
    page, text = answer.context["page"], compact(answer)
    assert page.sentence == (
        "1 of 3 tasks has scores of single instances: Task 1. On Task 1, all three methods put Ada first."
    )
    assert "The first places" not in text
    assert text.count("Rank intervals: ") == 1
    needed = "needs 8 tasks with 10 instances each; here 1 task has scores of single instances."
    assert (needed in text, "Other tasks</th>" in text) == (True, False)
    assert "The order is that of the board, which has 3 tasks; the differences are on Task 1 alone." in text
    # Verdicts are in the words of the field; programs read what they always read.
    verdicts = {
        pair["verdict"] for pair in client.get(reverse("api:instances", args=[benchmark.key])).json()["neighbours"]
    }
    assert verdicts == {"contradicted", "separable"}
    assert "<td>significant</td>" in text
    assert "separable" not in text


def test_ties_have_an_equals_sign_in_the_tables_of_rank_intervals_too(make, client):
    scores = {"Ada": [3.0] * 9, "Bert": [2.0] * 9, "Cleo": [2.0] * 9}
    benchmark = make.publish(make.benchmark(scores), studies=True)
    stability = compact(client.get(reverse("stability", args=[benchmark.key])))
    intervals = stability.partition('id="rank-intervals"')[2].partition("</table>")[0]
    head_to_head = compact(client.get(reverse("head_to_head", args=[benchmark.key])))
    for text in (intervals, head_to_head.partition('class="heat')[2]):
        assert text.count('<span class="tie" aria-hidden="true">=</span>2') == 2
