"""Scores are decimals at every door and on every page; what an earlier release stored of dust ties, too."""

import csv
import io
import json

import pytest
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.demonstration import FOLDER
from leaderboard.benchmarks.folder_exports import folder_of
from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Revision, Score
from leaderboard.models.submissions import Source
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import hash_anew, input_hash, revision_matrix
from leaderboard.rankings.tables import scores_csv, scores_long_csv
from leaderboard.submissions.lifecycle import accept_batch, store_batch
from leaderboard.submissions.score_rows import insert_scores

DUST = 92.19999999999999


def pair(client, benchmark, first: str, second: str) -> dict[str, str]:
    """Who is ahead on each task, as the page says it."""
    comparison = (
        client.get(reverse("head_to_head", args=[benchmark.key]), {"a": first, "b": second}).context["page"].pair
    )
    return {task.name: task.outcome for task in comparison.tasks}


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [
        ("freelb-roberta-ensemble", "hire-roberta", "STS-B"),
        ("macalbert-dkm", "electra-large-standard-tricks", "STS-B"),
    ],
)
def test_on_glue_two_systems_with_one_decimal_are_level(make, client, first, second, level):
    benchmark = make.publish(import_folder(FOLDER / "glue", owner=make.user("owner")))
    comparison = client.get(reverse("head_to_head", args=["glue"]), {"a": first, "b": second}).context["page"].pair
    same = {task.name for task in comparison.tasks if task.first_text == task.second_text}
    assert level in same
    assert {name for name, outcome in pair(client, benchmark, first, second).items() if outcome == "level"} == same


def earlier_rows(make, scores: dict[str, list[float]], **about):
    """A benchmark of two tasks with scores as a release stored them that rounded nothing."""
    benchmark = make.benchmark({}, n_tasks=2, **about)
    owner = benchmark.memberships.get().user
    tasks = list(benchmark.tasks.order_by("order"))
    rows = [
        {"system": {"name": name, "organisation": "", "url": "", "description": ""}, "scores": {}, "line": None}
        for name in scores
    ]
    batch = store_batch(benchmark, owner, rows, source=Source.API)
    for submission, values in zip(batch.submissions.order_by("position"), scores.values(), strict=True):
        insert_scores((submission.pk, t.pk, value, "", None, None) for t, value in zip(tasks, values, strict=True))
    return accept_batch(batch, actor=owner)


def test_what_an_earlier_release_stored_is_rounded_wherever_it_is_read(make, client):
    revision = earlier_rows(make, {"A": [DUST, 1.0], "B": [92.2, 1.0], "C": [90.0, 2.0]})
    benchmark = make.publish(revision.benchmark)
    assert sorted(Score.objects.values_list("value", flat=True))[-2:] == [DUST, 92.2], "rows stay as they are"
    table = revision_matrix(benchmark.publication.revision)
    assert table.matrix.values[:, 0].tolist() == table.written[:, 0].tolist() == [92.2, 92.2, 90]
    assert pair(client, benchmark, "a", "b") == {"Task 1": "level", "Task 2": "level"}
    ranks = client.get(f"/api/v1/benchmarks/{benchmark.key}/rankings/borda/").json()["results"]
    assert {row["system"]: row["rank"] for row in ranks}["a"] == {row["system"]: row["rank"] for row in ranks}["b"]
    page = client.get(f"/api/v1/benchmarks/{benchmark.key}/scores/").json()
    assert str(DUST) not in json.dumps(page)
    files = scores_csv(revision), scores_long_csv(revision), folder_of(revision)["scores.csv"]
    for text in map("".join, files):
        assert "92.2" in text
        assert str(DUST) not in text


def test_a_hash_of_an_earlier_release_is_found_again_and_a_changed_score_is_not(make):
    """That release hashed every bit; from 0.5.0 on the hash is of twelve digits."""
    revision = earlier_rows(make, {"A": [DUST, 1.0], "B": [92.2, 1.0]})
    earlier = input_hash(revision_matrix(revision, as_stored=True), configuration_of(revision))
    present = input_hash(revision_matrix(revision), configuration_of(revision))
    assert earlier != present
    assert hash_anew(revision) == present, "nothing is stored yet"
    Revision.objects.filter(pk=revision.pk).update(input_hash=earlier)
    revision.refresh_from_db()
    assert hash_anew(revision) == earlier
    other = earlier_rows(make, {"A": [DUST, 1.0], "B": [92.3, 1.0]}, name="Other")
    other.input_hash = earlier
    assert hash_anew(other) != earlier


def test_a_board_of_dust_exports_to_one_with_the_hash_that_is_computed_today(make, tmp_path):
    revision = earlier_rows(make, {"A": [DUST, 1.0], "B": [92.2, 1.0]})
    for name, text in folder_of(revision).items():
        (tmp_path / name).write_text("".join(text), encoding="utf-8")
    again = import_folder(tmp_path, owner=make.user(), key="again").revisions.get()
    assert hash_anew(again) == hash_anew(revision)


# --- Doors ----------------------------------------------------------------------------------------------------------


def test_every_door_rounds_what_it_stores(make, client):
    benchmark = make.published({"A": [1.0, 2.0]}, n_tasks=2)
    owner = benchmark.memberships.get().user
    make.submitted(benchmark, "Typed", [str(DUST), "0.30000000000000004"], by=owner)
    make.accepted(benchmark, {"Stored": [DUST, 0.1 + 0.2]})
    client.force_login(owner)
    table = f"system,Task 1,Task 2\nUploaded,{DUST},0.30000000000000004\n"
    answer = client.post(f"/b/{benchmark.key}/upload/", {"text": table}, follow=True)
    note = "2 scores are rounded to 12 significant digits: 92.19999999999999 is read as 92.2."
    assert [str(message) for message in answer.context["messages"]] == [note]
    draft = answer.context["draft"]
    assert [score["value"] for score in draft.rows[0]["scores"].values()] == [92.2, 0.3]
    stored = Score.objects.exclude(submission__system__name="A").values_list("submission__system__name", "value")
    assert sorted(stored) == [("Stored", 0.3), ("Stored", 92.2), ("Typed", 0.3), ("Typed", 92.2)]


def test_a_new_benchmark_says_what_it_rounds(make, client):
    client.force_login(make.user())
    table = f"system,F,G\nA,{DUST},1\nB,92.2,2\n"
    answer = client.post("/new/", {"name": "Dusty", "text": table}, follow=True)
    assert "1 score is rounded to 12 significant digits: 92.19999999999999 is read as 92.2." in answer.content.decode()


def test_a_table_that_is_tried_says_what_it_rounds(client):
    about = '[[task]]\nname = "F"\nprecision = 0.5\n[[task]]\nname = "G"\n'
    table = f"system,F,G\nA,{DUST},1\nB,92.2,2\nC,91.9,3\n"
    answer = client.post("/try/", {"text": table, "about": about})
    text = answer.content.decode()
    assert "92.19999999999999 is read as 92.2" in text
    assert "F to 0.5" in text
    ranks = client.post("/try/", {"text": table.replace(str(DUST), "92.2"), "about": about})
    before, after = ([(row.name, row.cells) for row in page.context["board"].rows] for page in (answer, ranks))
    assert before == after


# --- Precision ------------------------------------------------------------------------------------------------------


def test_scores_within_a_tasks_precision_tie_and_pages_show_them_so_while_downloads_do_not(make, client):
    tasks = [TaskSpec("F", precision="0.5"), TaskSpec("G", precision="0.5")]
    benchmark = make.published({"A": [71.26, 1.0], "B": [71.4, 1.1], "C": [60.0, 3.0]}, tasks=tasks)
    assert revision_matrix(benchmark.publication.revision).matrix.values.tolist() == [[71.5, 1], [71.5, 1], [60, 3]]
    assert pair(client, benchmark, "a", "b") == {"F": "level", "G": "level"}
    note = (
        "Scores are rounded to the precision of their tasks before ranking, and shown rounded: all to 0.5. "
        "Downloads have them as submitted."
    )
    for path in ("", "systems/a/", "rules/borda/", "head-to-head/?a=a&b=b"):
        assert note in client.get(f"/b/{benchmark.key}/{path}").content.decode(), path
    groups = client.get(f"/b/{benchmark.key}/systems/a/").context["page"].score_groups
    assert [score.cell.value_text for group in groups for score in group.scores] == ["71.5", "1"]
    cells = client.get(f"/b/{benchmark.key}/rules/borda/").context["page"].rows
    assert {row.name: [cell.value_text for cell in row.cells] for row in cells}["A"] == ["71.5", "1"]
    rows = list(csv.reader(io.StringIO("".join(scores_csv(benchmark.publication.revision)))))
    assert rows[1] == ["A", "71.26", "1"]
    data = client.get(f"/b/{benchmark.key}/what-if/data.json").json()
    assert (data["values"][0], data["tasks"][0]["precision"]) == ([71.5, 1.0], "0.5")
