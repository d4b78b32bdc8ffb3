"""What a board with scores of single instances has once its studies are there, and what comes after it."""

from itertools import pairwise

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.releases import new_edition
from leaderboard.models import Job
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import owner_of
from tests.leaderboard.api.test_instances import SYSTEMS, blocks_of, some_scores, upload_of


@pytest.fixture(scope="module")
def studied(make_once):
    benchmark = make_once.benchmark({}, tasks=[TaskSpec("Task 1"), TaskSpec("Task 2", direction=-1)])
    submit_upload(benchmark, owner_of(benchmark), upload_of(some_scores()))
    return make_once.publish(make_once.publish(benchmark), studies=True)


@pytest.fixture
def benchmark(studied, make):
    """The same as it is in the database."""
    return make.publish(studied)


@pytest.fixture
def owner(benchmark):
    return owner_of(benchmark)


def test_neighbours_are_those_of_the_board_with_the_difference_of_their_means(api, benchmark):
    answer = api.get(f"benchmarks/{benchmark.key}/instances/").json()
    board = api.get(f"benchmarks/{benchmark.key}/rankings/{benchmark.default_rule}/").json()["results"]
    placed = [row["name"] for row in sorted(board, key=lambda row: (row["rank"], row["system"])) if row["rank"]]
    key = {row["system"]: row["name"] for row in answer["results"]}
    assert answer["neighbours_under"] == benchmark.default_rule
    assert [[key[system] for system in pair["systems"]] for pair in answer["neighbours"]] == [
        [a, b] for a, b in pairwise(placed)
    ]
    for pair in answer["neighbours"]:
        one, two = (SYSTEMS.index(key[system]) for system in pair["systems"])
        apart = [block[one] - block[two] for block in blocks_of(some_scores())]
        common = [row[~np.isnan(row)] for row in apart]
        assert pair["difference"] == pytest.approx(np.mean([row.mean() for row in common]), abs=1e-12)
        assert pair["n_common"] == sum(map(len, common))
        assert pair["lower"] <= pair["difference"] <= pair["upper"]
        assert 0 < pair["p_adjusted"] <= 1
        means = [row.mean() for row in common]
        assert pair["task_error"] == pytest.approx(np.std(means, ddof=1) / 2**0.5)
        # the second task has nine instances: too few for a standard error
        assert [pair[name] for name in ("standard_error", "detectable", "instance_share")] == [None] * 3


def test_a_new_row_without_instances_takes_the_old_ones_away(make, client, api, benchmark, owner):
    hashes = [api.get(f"benchmarks/{benchmark.key}/").json()["input_hash"]]
    for name in SYSTEMS:
        submit_upload(benchmark, owner, Upload(table=f"system,Task 1,Task 2\n{name},1,2\n".encode()))
    benchmark = make.publish(benchmark)
    assert not Job.objects.filter(kind="instances", sequence=benchmark.last_revision_number).exists()
    assert api.get(f"benchmarks/{benchmark.key}/instances/").json()["state"] == "none"
    assert b"/instances/" not in client.get(reverse("board", args=[benchmark.key])).content
    first = api.get(f"benchmarks/{benchmark.key}/instances/?revision=1").json()
    assert (first["state"], len(first["results"])) == ("there", 4)
    hashes.append(api.get(f"benchmarks/{benchmark.key}/").json()["input_hash"])
    assert len(set(hashes)) == 2


def test_a_new_edition_takes_the_instances_along(make, api, benchmark, owner):
    edition = new_edition(benchmark, author=owner, name="Second edition", with_scores=True)
    edition = make.publish(make.publish(edition), studies=True)
    assert edition.publication.revision.input_hash == benchmark.publication.revision.input_hash
    reader = api.as_user(owner)
    one, two = (reader.get(f"benchmarks/{b.key}/instances/").json() for b in (benchmark, edition))
    assert two["results"] == one["results"] != []
