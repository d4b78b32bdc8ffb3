"""Instances as items of a test: what the page and the API say is what the engine finds in the file."""

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.submissions.uploads import submit_upload
from ranking_engine.stability.items.task_items import task_items
from tests.leaderboard.api.test_instances import upload_of

SYSTEMS = [f"System {k:02}" for k in range(16)]


@pytest.fixture
def responses():
    """Right and wrong on 40 instances; all get the first right, none the second, and the third has a wrong label."""
    random = np.random.default_rng(8)
    ability, difficulty = np.linspace(-2, 2, 16), random.normal(0, 1, 40)
    block = (random.random((16, 40)) < 1 / (1 + np.exp(-2 * (ability[:, None] - difficulty)))).astype(float)
    block[:, 0], block[:, 1], block[:, 2] = 1.0, 0.0, ability < 0
    return block


def test_the_page_and_the_api_say_what_the_engine_finds(make, client, responses):
    benchmark = make.benchmark({}, n_tasks=2)
    owner = benchmark.memberships.get(role="owner").user
    cells = {(s, "Task 1", f"q{u:02}"): float(responses[k, u]) for k, s in enumerate(SYSTEMS) for u in range(40)}
    cells |= {(s, "Task 2", f"q{u:02}"): k + u / 10 for k, s in enumerate(SYSTEMS) for u in range(10)}
    submit_upload(benchmark, owner, upload_of(cells))
    benchmark = make.publish(make.publish(benchmark), studies=True)
    answer = client.get(reverse("api:instances", args=[benchmark.key])).json()
    first, second = answer["items"]
    items = task_items(responses, seed=answer["parameters"]["seed"])
    assert (first["n_items"], first["n_all_right"], first["n_none_right"]) == (40, 2, 1)
    assert [one["instance"] for one in first["suspects"]] == [f"q{j:02}" for j in items.suspects]
    assert first["suspects"][0]["instance"] == "q02"
    assert first["suspects"][0]["discrimination"] == pytest.approx(items.model.discrimination[2], abs=1e-6)
    assert [(cost["n_items"], cost["error"]) for cost in first["costs"]] == [
        (one.n_items, pytest.approx(one.error)) for one in items.errors
    ]
    assert [one["instance"] for one in first["anchors"]] == [f"q{j:02}" for j in items.anchors.items]
    assert (second["task"], second["reason"]) == ("task-2", "its scores are not all 0 or 1")
    page = client.get(reverse("instances", args=[benchmark.key])).content.decode()
    assert "Of 50 instances every system gets 2 right, and none gets 1 right. On 1 instance, better systems" in page
    assert "With few systems some are listed by chance, and the chances stated are too high." in page
    assert 'aria-label="Fewer instances of Task 1"' in page
    assert "Not fitted: its scores are not all 0 or 1." in page
