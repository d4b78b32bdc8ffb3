"""Scores of single instances, from the file to the page: every figure against the file itself, counted by hand."""

import csv
import io
from copy import deepcopy
from decimal import Decimal
from uuid import UUID

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Batch, Benchmark, Draft, InstanceScores, InstanceSet, Score
from leaderboard.rankings.instances import unpack_names
from leaderboard.submissions.instances.vectors import unpack_vector
from leaderboard.submissions.lifecycle import accept_batch
from leaderboard.submissions.uploads import Upload, submit_upload
from ranking_engine.core import instances as engine
from ranking_engine.files.problems import InputError
from tests.markup import compact
from tests.ranking_engine.core.test_instances import naive_points
from tests.ranking_engine.stability.test_instance_subsets import naive_curves

HEADER = "system,task,instance,score\n"
SYSTEMS = ("Ada", "Bert", "Cleo", "Dora")
TASKS = ("Task 1", "Task 2")


def long_form(scores: dict[tuple[str, str, str], float | None]) -> str:
    """A file in the long form, in the order of its dictionary."""
    out = io.StringIO()
    out.write(HEADER)
    csv.writer(out, lineterminator="\n").writerows(
        [*key, "" if score is None else repr(score)] for key, score in scores.items()
    )
    return out.getvalue()


def some_scores() -> dict[tuple[str, str, str], float | None]:
    """Four systems on 12 and 9 instances, shuffled, with ties and some missing."""
    random = np.random.default_rng(5)
    cells = {
        (system, task, f"q{u:02}"): None if random.random() < 0.1 else float(random.integers(0, 4)) / 4 + s * 0.05
        for task, n in zip(TASKS, (12, 9), strict=True)
        for s, system in enumerate(SYSTEMS)
        for u in range(n)
    }
    order = random.permutation(len(cells))
    return {list(cells)[k]: list(cells.values())[k] for k in order}


@pytest.fixture(scope="module")
def made_once(make_once):
    return make_once.benchmark({}, n_tasks=2, tasks=[TaskSpec("Task 1"), TaskSpec("Task 2", direction=-1)])


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


@pytest.fixture
def owner(benchmark, client):
    user = benchmark.memberships.get(role="owner").user
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return user


def send(client, benchmark, text: str, table: str = "", **fields):
    data = {"instances": SimpleUploadedFile("instances.csv", text.encode()), "text": table, **fields}
    return client.post(reverse("upload", args=[benchmark.key]), data)


def confirm(client, benchmark, response) -> Batch:
    benchmark.refresh_from_db()
    number = str(benchmark.last_revision_number)
    form = {"action": "confirm", "previewed_number": number, "create_system": "1"}
    confirmed = client.post(response["Location"], form)
    return Batch.objects.get(uuid=UUID(confirmed["Location"].strip("/").split("/")[-1]))


def blocks_of(cells, systems=SYSTEMS) -> list[np.ndarray]:
    """Systems x instances of each task, higher is better, straight from the file."""
    blocks = []
    for task, sign in zip(TASKS, (1, -1), strict=True):
        names = sorted({name for _, of, name in cells if of == task})
        rows = [[cells.get((system, task, name)) for name in names] for system in systems]
        blocks.append(sign * np.array([[np.nan if x is None else x for x in row] for row in rows]))
    return blocks


def columns_of(block: np.ndarray) -> list[list[float | None]]:
    return [[None if np.isnan(x) else x for x in column] for column in block.T]


def places(points) -> list[int]:
    return [1 + sum(other > own for other in points) for own in points]


def test_a_file_becomes_scores_vectors_ranks_a_page_and_an_answer(make, client, api, benchmark, owner):
    table = some_scores()
    response = send(client, benchmark, long_form(table))
    preview = client.get(response["Location"]).context["preview"]
    assert (preview.n_systems, preview.n_with_instances, preview.differing) == (4, 4, [])
    batch = confirm(client, benchmark, response)
    # What is stored: the mean of each row, and the vectors in the order of the sorted names.
    for score in Score.objects.select_related("submission__system", "task"):
        own = [
            x
            for (system, task, _), x in table.items()
            if (system, task) == (score.submission.system.name, score.task.name) and x is not None
        ]
        assert score.value == pytest.approx(sum(own) / len(own), abs=1e-12)
        assert score.n_instances == len(own)
    assert (InstanceSet.objects.count(), InstanceScores.objects.count()) == (2, 8)
    for row in InstanceScores.objects.select_related("instance_set", "submission__system", "task"):
        names = unpack_names(row.instance_set.names)
        assert names == sorted({name for _, task, name in table if task == row.task.name})
        given = [table[row.submission.system.name, row.task.name, name] for name in names]
        expected = [None if x is None else float(f"{x:.12g}") for x in given]
        scores = [None if np.isnan(x) else x for x in unpack_vector(row.values)]
        assert scores == expected
    # Before the job: the page says that it is being computed; after it, the ranks.
    benchmark = make.publish(benchmark)
    page = reverse("instances", args=[benchmark.key])
    assert b"Being computed" in client.get(page).content
    assert page.encode() in client.get(reverse("board", args=[benchmark.key])).content
    benchmark = make.publish(benchmark, studies=True)
    blocks = blocks_of(table)
    points = [naive_points(columns_of(block)) for block in blocks]
    expected = {
        "two_level": list(naive_points([[of_task[i] for i in range(4)] for of_task in points]).values()),
        "one_level": [sum(of_task[i] for of_task in points) for i in range(4)],
        "mean": np.mean([np.nanmean(block, axis=1) for block in blocks], axis=0).tolist(),
    }
    answer = api.get(f"benchmarks/{benchmark.key}/instances/").json()
    rows = {row["name"]: row for row in answer["results"]}
    for key, values in expected.items():
        assert [rows[name][key]["score"] for name in SYSTEMS] == pytest.approx([float(x) for x in values], abs=1e-12)
        assert [rows[name][key]["rank"] for name in SYSTEMS] == places(values)
    assert [rows[name]["n_instances"] for name in SYSTEMS] == [
        sum(int((~np.isnan(block[i])).sum()) for block in blocks) for i in range(4)
    ]
    assert [(task["task"], task["n_instances"], task["n_systems"]) for task in answer["tasks"]] == [
        ("task-1", 12, 4), ("task-2", 9, 4)]  # fmt: skip
    assert [(one["first"], one["second"]) for one in answer["first_places"]] == [
        ("two_level", "one_level"), ("two_level", "mean"), ("one_level", "mean"),
    ]  # fmt: skip
    for one in answer["first_places"]:
        first, second = (places(expected[one[which]]) for which in ("first", "second"))
        both = [sum(a <= k and b <= k for a, b in zip(first, second, strict=True)) for k in (1, 2, 3, 4)]
        assert (one["places"], one["n_common"], one["agreement"][-1]) == ([1, 2, 3, 4], both, 1.0)
    by_hand = engine.InstanceScores(tuple(SYSTEMS), ("task-1", "task-2"), tuple(map(np.array, blocks)))
    for key, curve in naive_curves(by_hand, 100, 0).items():
        assert answer["task_subsets"][key] == pytest.approx(curve)
    assert answer["n_task_subset_draws"] == 100
    assert b'id="task-subsets"' in client.get(page).content
    table_of_places = client.get(page).content.decode().partition('id="first-places"')[2].partition("</table>")[0]
    assert table_of_places.count('<th scope="rowgroup"') == 3
    view = client.get(page).context["page"]
    assert [row.name for row in view.rows] == [row["name"] for row in answer["results"]]
    assert batch.submissions.count() == 4


def upload_of(cells, **fields) -> Upload:
    text = cells if isinstance(cells, str) else long_form(cells)
    return Upload(table=text.encode(), is_of_instances=True, creates_systems=True, **fields)


def test_a_stated_score_is_kept_and_flagged_where_it_is_not_the_mean(make, client, benchmark, owner):
    text = HEADER + "Ada,Task 1,a,1\nAda,Task 1,b,0\nBert,Task 1,a,1\nBert,Task 1,b,1\n"
    means = "system,Task 1,Task 2\nAda,0.5000009,3\nBert,0.99,\n"
    response = send(client, benchmark, text, means)
    page = client.get(response["Location"])
    assert [(d.system_name, d.task_name, d.score, d.mean) for d in page.context["preview"].differing] == [
        ("Bert", "Task 1", 0.99, 1.0)
    ]
    text = compact(page)
    assert "They are stored as stated" in text
    assert text.count("<li>Bert, Task 1: stated 0.99, mean 1.0</li>") == 1
    confirm(client, benchmark, response)
    assert {(s.submission.system.name, s.task.key): s.value for s in Score.objects.all()} == {
        ("Ada", "task-1"): 0.5000009, ("Ada", "task-2"): 3.0, ("Bert", "task-1"): 0.99, ("Bert", "task-2"): None,
    }  # fmt: skip


def test_the_form_of_colombo_is_read_with_its_swapped_labels(client, benchmark, owner):
    text = "System,Utterance,Task 1,Task 2\n0,Ada,1,5\n0,Bert,0,6\n1,Ada,0.5,\n1,Bert,0,7\n"
    response = send(client, benchmark, text, system_column="Utterance")
    rows = {row["system"]["name"]: row for row in Draft.objects.get().rows}
    assert response.status_code == 302
    assert {name: {k: s["value"] for k, s in row["scores"].items()} for name, row in rows.items()} == {
        "Ada": {"task-1": 0.75, "task-2": 5.0}, "Bert": {"task-1": 0.0, "task-2": 6.5},
    }  # fmt: skip


BAD = {
    "number": (HEADER + "Ada,Task 1,a,1\nAda,Task 1,b,high\n", "line 3, column 'score': 'high' is not a number"),
    "twice": (HEADER + "Ada,Task 1,a,1\nAda,Task 1,a,2\n", "line 3: system 'Ada' has instance 'a' of task 'Task 1' tw"),
    "task": (HEADER + "Ada,Task 1,a,1\nAda,Tusk 2,a,2\n", "line 3: 'Tusk 2' is not a task of this benchmark; did you"),
    "no name": (HEADER + "Ada,Task 1,a,1\nAda,Task 1, ,1\n", "line 3: an instance has no name"),
    "long name": (HEADER + f"Ada,Task 1,{'a' * 101},1\n", "line 2: the instance"),
    "control": (HEADER + "Ada,Task 1,a\0b,1\n", "line 2"),
    "same name": (HEADER + "Ada,Task 1,a,1\nAda,Task 1,a ,1\n", "line 3: the instance 'a' is also in line 2"),
    "case": (HEADER + "Ada,Task 1,a,1\nADA,Task 1,b,1\n", "differ only in upper and lower case"),
    "ragged": (HEADER + "Ada,Task 1,a\n", "line 2: 3 cells; the header has 4"),
    "nothing": (HEADER + "Ada,Task 1,a,\n", "line 2: there are no scores"),
    "range": (HEADER + "Ada,Task 1,a,1\nBert,Task 1,a,400\n", "line 3, column 'Task 1': 400 is above 100"),
    "formula": (HEADER + "=A1,Task 1,a,1\n", "line 2: the system name '=A1' begins with '='"),
    "columns": ("system,Task 1\nAda,1\n", "no column is called 'instance or utterance'"),
    "empty": ("\n", "the table is empty"),
    "cells": (HEADER + "".join(f"Ada,Task 1,{u},1\nBert,Task 1,{u},1\n" for u in range(6)), "2 systems on these inst"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_message_with_its_place_and_nothing_is_stored(make, client, settings, name):
    settings.INSTANCE_CELLS = 10
    text, message = BAD[name]
    benchmark = make.benchmark({}, tasks=[TaskSpec("Task 1", maximum=100), TaskSpec("Task 2")])
    user = benchmark.memberships.get(role="owner").user
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    response = send(client, benchmark, text)
    assert response.status_code == 400
    assert len(response.context["errors"]) == 1, response.context["errors"]
    assert message in response.context["errors"][0]
    assert (Draft.objects.count(), InstanceSet.objects.count(), Score.objects.count()) == (0, 0, 0)


def test_the_same_set_is_stored_once_in_whatever_order_it_comes(benchmark, owner):
    submit_upload(benchmark, owner, upload_of(HEADER + "Ada,Task 1,a,1\nAda,Task 1,b,0\n"))
    submit_upload(benchmark, owner, upload_of(HEADER + "Bert,Task 1,b,0.25\nBert,Task 1,a,\n"))
    assert InstanceSet.objects.count() == 1
    vectors = {row.submission.system.name: unpack_vector(row.values).tolist() for row in InstanceScores.objects.all()}
    assert vectors["Ada"] == [1.0, 0.0]
    assert (np.isnan(vectors["Bert"][0]), vectors["Bert"][1]) == (True, 0.25)
    assert Score.objects.get(submission__system__name="Bert").value == 0.25


def test_where_scores_are_hidden_an_error_does_not_say_how_many_instances_were_guessed(make, benchmark, owner):
    submit_upload(benchmark, owner, upload_of(HEADER + "".join(f"Ada,Task 1,q{u},1\n" for u in range(5))))
    type(benchmark).objects.update(score_view="ranks")
    benchmark.refresh_from_db()
    with pytest.raises(InputError, match="these instances are not those of the board") as refusal:
        submit_upload(benchmark, make.user(), upload_of(HEADER + "Bert,Task 1,q1,1\nBert,Task 1,z,1\n"))
    assert "match" not in str(refusal.value)


def test_another_set_is_an_error_that_counts_the_matches_unless_it_replaces_all(client, benchmark, owner):
    submit_upload(benchmark, owner, upload_of(HEADER + "".join(f"Ada,Task 1,q{u},1\n" for u in range(5))))
    other = HEADER + "".join(f"Bert,Task 1,q{u},1\n" for u in (1, 3, 7))
    response = send(client, benchmark, other)
    assert response.status_code == 400
    (message,) = response.context["errors"]
    assert message.startswith("line 2, column 'Task 1': these 3 instances are not those of the board, which ")
    assert "which has 5: 2 of the names match." in message
    with pytest.raises(InputError, match="2 of the names match"):
        submit_upload(benchmark, owner, upload_of(other))
    # Ada's own scores are replaced, so there is nobody left to compare with.
    both = other + "".join(f"Ada,Task 1,q{u},0\n" for u in (1, 3, 7))
    submit_upload(benchmark, owner, upload_of(both))
    assert InstanceSet.objects.count() == 2


def test_of_two_sets_on_the_board_that_of_most_systems_counts_and_the_other_is_told(make, api, benchmark, owner):
    Benchmark.objects.filter(pk=benchmark.pk).update(submission_policy="moderated")
    waiting = {}
    for name, ids in (("Ada", "ab"), ("Bert", "ab"), ("Cleo", "xy")):  # each was fine when it was submitted
        text = HEADER + "".join(f"{name},Task 1,{u},{len(waiting)}\n" for u in ids)
        waiting[name] = submit_upload(benchmark, make.user(name), upload_of(text))[0]
    for batch in waiting.values():
        accept_batch(batch, actor=owner)
    benchmark = make.publish(make.publish(benchmark), studies=True)
    answer = api.get(f"benchmarks/{benchmark.key}/instances/").json()
    assert answer["tasks"] == [{"task": "task-1", "n_instances": 2, "n_clusters": 2, "n_systems": 2, "n_other_set": 1}]
    assert [(row["name"], row["two_level"]["rank"]) for row in answer["results"]] == [("Bert", 1), ("Ada", 2)]


def test_programs_send_instances_with_their_rows(make, api, benchmark, owner):
    sender = api.as_user(owner)
    body = {
        "systems": [
            {"name": "Ada", "instances": {"Task 1": {"a": 1, "b": 0.5}, "task-2": {"x": None, "y": 3}}},
            {"name": "Bert", "scores": {"Task 1": 0.7}, "instances": {"task-1": {"b": 0.5, "a": 0}}},
        ],
        "create_systems": True,
    }
    path = f"benchmarks/{benchmark.key}/submissions/"
    preview = sender.post(path, body, query="dry_run=true").json()
    assert preview["differing_scores"] == [{"name": "Bert", "task": "task-1", "stated": 0.7, "mean": 0.25}]
    assert InstanceScores.objects.count() == 0
    assert sender.post(path, body).status_code == 201
    assert {(s.submission.system.name, s.task.key): (s.value, s.n_instances) for s in Score.objects.all()} == {
        ("Ada", "task-1"): (0.75, 2), ("Ada", "task-2"): (3.0, 1), ("Bert", "task-1"): (0.7, 2),
    }  # fmt: skip
    wrong = {
        "systems": [
            {"name": "Cleo", "instances": {"Task 9": {"a": 1}}},
            {"name": "Dora", "instances": {"Task 1": {"a": "1"}}},
        ]
    }
    error = sender.post(path, wrong).json()["error"]
    assert error["details"][0]["place"] == "systems[1].instances.Task 1.a"
    del wrong["systems"][1]
    error = sender.post(path, wrong | {"create_systems": True}).json()["error"]
    assert error["details"][0]["place"] == "systems[0].instances.Task 9"
    other = {"systems": [{"name": "Cleo", "instances": {"Task 1": {"a": 1, "c": 1}}}], "create_systems": True}
    assert "1 of the names match" in sender.post(path, other).json()["error"]["message"]


def test_programs_send_a_file_of_instances(api, benchmark, owner):
    sender = api.as_user(owner)
    path = f"benchmarks/{benchmark.key}/submissions/"
    query = "instances=true&create_systems=true"
    text = HEADER + "Ada,Task 1,a,1\nAda,Task 1,b,0\n"
    first = sender.post(path, text, kind="text/csv", query=query, Idempotency_Key="one")
    again = sender.post(path, text, kind="text/csv", query=query, Idempotency_Key="one")
    assert (first.status_code, again.status_code, first.json()["uuid"]) == (201, 200, again.json()["uuid"])
    assert sender.post(path, text + "Ada,Task 1,c,0\n", kind="text/csv", query=query,
                       Idempotency_Key="one").status_code == 409  # fmt: skip
    error = sender.post(path, HEADER + "Ada,Task 1,a,x\n", kind="text/csv", query=query).json()["error"]
    assert error["details"] == [{"message": "'x' is not a number", "line": 2, "column": "score"}]


def test_tasks_that_do_not_vote_have_no_say(make, api, owner):
    tasks = [TaskSpec("Task 1"), TaskSpec("Weightless", weight=Decimal(0)), TaskSpec("Unordered", direction=0)]
    benchmark = make.benchmark({}, tasks=tasks, owner=owner)
    rows = [f"{system},{task.name},{u},{score}" for task, scores in zip(tasks, ("12", "91", "91"), strict=True)
            for system, score in zip(("Ada", "Bert"), scores, strict=True) for u in "ab"]  # fmt: skip
    submit_upload(benchmark, owner, upload_of(HEADER + "\n".join(rows)))
    benchmark = make.publish(make.publish(benchmark), studies=True)
    answer = api.get(f"benchmarks/{benchmark.key}/instances/").json()
    assert [task["task"] for task in answer["tasks"]] == ["task-1"]
    assert [(row["name"], row["mean"]["score"], row["n_instances"]) for row in answer["results"]] == [
        ("Bert", 2.0, 2), ("Ada", 1.0, 2)]  # fmt: skip


def test_the_input_hash_knows_the_instances_and_not_their_order_in_the_file(make, owner, benchmark):
    def digest(text: str) -> str:
        other = make.benchmark({}, n_tasks=1, owner=owner)
        submit_upload(other, owner, upload_of(text))
        return make.publish(other).publication.revision.input_hash

    one = digest(HEADER + "Ada,Task 1,a,1\nAda,Task 1,b,0\n")
    assert digest(HEADER + "Ada,Task 1,b,-0.0\nAda,Task 1,a,1\n") == one
    assert digest(HEADER + "Ada,Task 1,a,0\nAda,Task 1,b,1\n") != one
    assert digest(HEADER + "Ada,Task 1,a,1\nAda,Task 1,c,0\n") != one
