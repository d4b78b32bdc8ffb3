"""How exact differences are on single instances: what the page and the API say of it, worked out from the file."""

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.submissions.uploads import submit_upload
from tests.leaderboard.api.test_instances import SYSTEMS, TASKS, blocks_of, upload_of


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
    assert pair["detectable"] == pytest.approx((1.959964 + 0.841621) * error, rel=1e-6)
    assert pair["instance_share"] is None  # of two tasks it would be chance
    page = client.get(reverse("instances", args=[benchmark.key])).content.decode()
    assert f"With 80 common instances a true difference of {pair['detectable']:.4g} between" in page
    assert "by a test of this pair alone" in page
    assert "% instances, " not in page
