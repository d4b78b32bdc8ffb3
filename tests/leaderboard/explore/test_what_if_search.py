"""Many tasks on the what-if page: a search, and one step that multiplies the weights of all that it means."""

import re
from copy import deepcopy

import pytest

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from tests.markup import compact

pytestmark = pytest.mark.django_db
N_TASKS = 16


@pytest.fixture(scope="module")
def made_once(make_once):
    """Sixteen tasks; the first four are of the group Reasoning, the next two of the cluster law."""
    tasks = [
        TaskSpec(f"Task {t}", key=f"t{t}", group="reasoning" if t < 4 else None, cluster="law" if t in (4, 5) else "")
        for t in range(N_TASKS)
    ]
    scores = {name: [float((k + t) % 5) for t in range(N_TASKS)] for k, name in enumerate("ABCDE")}
    return make_once.published(scores, tasks=tasks, groups=[GroupSpec("Reasoning", key="reasoning")])


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


def multiply(client, benchmark, **parameters):
    return client.get(f"/b/{benchmark.key}/what-if/", {"factor": "3", "search": "", **parameters})


@pytest.mark.parametrize(
    ("parameters", "weights"),
    [
        ({"search": "reasoning"}, "t0:3,t1:3,t2:3,t3:3"),
        ({"search": "LAW"}, "t4:3,t5:3"),
        ({"search": "law, task 15"}, "t4:3,t5:3,t15:3"),
        ({"search": "t7", "factor": "0,5"}, "t7:0.5"),
        ({"search": "t7", "weights": "t7:2,t8:4"}, "t7:6,t8:4"),
        ({"search": "law", "chosen": ["t1", "t9"]}, "t1:3,t9:3"),
        ({"search": "law", "factor": "0"}, "t4:0,t5:0"),
    ],
)
def test_the_weights_that_are_searched_for_or_chosen_are_multiplied(client, benchmark, parameters, weights):
    response = multiply(client, benchmark, **parameters)
    assert response["Location"] == f"/b/{benchmark.key}/what-if/?weights={weights}"
    assert client.get(response["Location"]).status_code == 200


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"search": "chemistry"}, "No task matches this search"),
        ({"search": ""}, "No task matches this search"),
        ({"search": "x" * 201}, "The search has 201 characters; at most 200 are read."),
        ({"search": "law", "factor": "1001"}, "The factor is a number from 0 to 1,000"),
        ({"search": "law", "factor": "-1"}, "a weight is never negative"),
        ({"search": "law", "factor": "9" * 5000}, "The factor"),
        ({"search": "law", "factor": "much"}, "The factor is"),
        ({"chosen": ["nobody"]}, "The benchmark has no task of the key"),
    ],
)
def test_what_cannot_be_multiplied_is_refused_with_a_reason(client, benchmark, parameters, problem):
    response = multiply(client, benchmark, **parameters)
    assert response.status_code == 400
    assert problem in compact(response)


def test_the_search_is_offered_where_there_are_many_tasks_alone(make, client, benchmark):
    many = compact(client.get(f"/b/{benchmark.key}/what-if/"))
    assert 'id="multiply"' in many
    assert '<option value="law">' in many
    assert many.count('name="chosen"') == N_TASKS
    assert 'id="multiply"' not in compact(client.get(f"/b/{make.published().key}/what-if/"))


@pytest.mark.parametrize(
    ("parameters", "silent"),
    [
        ({"kin": "Reasoning", "take": "only"}, range(4, N_TASKS)),
        ({"kin": "Reasoning", "take": "without"}, range(4)),
        ({"kin": "law", "take": "without", "weights": "t7:2"}, (4, 5)),  # it starts with the benchmark's own weights
    ],
)
def test_a_group_or_cluster_counts_alone_or_not_at_all(client, benchmark, parameters, silent):
    response = client.get(f"/b/{benchmark.key}/what-if/", parameters)
    weights = ",".join(f"t{t}:0" for t in silent)
    assert response["Location"] == f"/b/{benchmark.key}/what-if/?weights={weights}"
    shares = re.findall(r'data-key="(t\d+)".*?<output[^>]*>([^<]*)</output>', compact(client.get(response["Location"])))
    assert [key for key, share in shares if share == "0.0 %"] == [f"t{t}" for t in silent]


@pytest.mark.parametrize("kin", ["chemistry", "", "x" * 5000])
def test_a_group_that_is_none_is_refused(client, benchmark, kin):
    response = client.get(f"/b/{benchmark.key}/what-if/", {"kin": kin, "take": "only"})
    assert response.status_code == 400
    assert "There is no group or cluster" in compact(response)


def test_a_group_that_has_every_task_is_not_offered(make, client):
    tasks = [TaskSpec(f"Task {t}", key=f"t{t}", group="all", cluster="first" if t == 0 else "") for t in range(3)]
    scores = {name: [float(k), 1.0, 2.0] for k, name in enumerate("ABC")}
    whole = make.published(scores, tasks=tasks, groups=[GroupSpec("All", key="all")])
    form = re.search(r'id="restrict".*?</form>', compact(client.get(f"/b/{whole.key}/what-if/")))[0]
    assert re.findall(r"<option>([^<]*)</option>", form) == ["first"]


def test_what_it_would_take_is_asked_of_the_runner_up_at_first(make, client):
    body = compact(client.get(f"/b/{make.published().key}/what-if/"))
    names = re.findall(r"<option( selected)?>([^<]*)</option>", re.search(r'id="takes-of">.*?</select>', body)[0])
    places = re.findall(r'<a href="[^"]*/systems/[^"]*"[^>]*>([^<]*)</a>', body[body.index('id="rows"') :])
    assert [name for _, name in names] == places[: len(names)]
    assert [name for selected, name in names if selected] == [places[1]]
