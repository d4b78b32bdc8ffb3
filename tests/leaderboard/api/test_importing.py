"""Result files of other programs by the API: recognised, mapped, and then checked as every upload is."""

import json
import math
from copy import deepcopy

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.api.imports import IMPORT_EXAMPLE, ImportBodySerializer, assignment_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Batch, Draft, ImportChoices, InstanceScores, Score
from leaderboard.rankings.instances import unpack_names
from leaderboard.submissions.imports import Assignment, read_import
from leaderboard.submissions.instances.vectors import unpack_vector
from tests.leaderboard.api.conftest import error_of
from tests.ranking_engine.importers.examples import FILES as FILES_OF_PROGRAMS
from tests.ranking_engine.importers.test_samples import sample, samples_of

RESULTS = {
    "results": {"arc_easy": {"acc,none": 0.71, "acc_stderr,none": 0.009, "alias": "arc_easy"}},
    "versions": {"arc_easy": 1.0},
    "n-shot": {"arc_easy": 0},
    "config": {"model": "hf", "model_args": "pretrained=acme/deep-thought"},
}
FILES = [{"name": "results.json", "text": json.dumps(RESULTS)}]


@pytest.fixture(scope="module")
def board_once(make_once):
    tasks = [TaskSpec("ARC easy", maximum=100), TaskSpec("Other")]
    return make_once.published({"Old": [70.0, 1.0]}, tasks=tasks)


@pytest.fixture
def board(board_once, make):
    return deepcopy(board_once)


def path_of(benchmark) -> str:
    return f"benchmarks/{benchmark.key}/imports/"


def test_a_dry_run_says_what_was_recognised_and_what_has_to_be_said(api, board):
    sender = api.as_user(board.memberships.get().user)
    answer = sender.post(path_of(board), {"files": FILES}, query="dry_run=true").json()
    column = answer["columns"][0]
    assert (column["task"], column["metric"], column["n_scores"], column["least"]) == ("arc_easy", "acc", 1, 0.71)
    assert [line["message"] for line in answer["problems"]] == ["no column is assigned to a task; assign at least one"]
    assert (answer["preview"], Batch.objects.count(), Draft.objects.count()) == (None, 1, 0)
    request = {"files": FILES, "mapping": {"tasks": {column["column"]: "ARC easy"}}}
    scale = sender.post(path_of(board), request, query="dry_run=true").json()["problems"]
    assert [line["place"] for line in scale] == [f"mapping.scales.{column['column']}"]
    assert error_of(sender.post(path_of(board), request))["details"] == scale


def mapped(api, board, **more):
    """A body with everything that has to be said."""
    sender = api.as_user(board.memberships.get().user)
    answer = sender.post(path_of(board), {"files": FILES}, query="dry_run=true").json()
    column, system = answer["columns"][0]["column"], answer["systems"][0]["system"]
    mapping = {"tasks": {column: "ARC easy"}, "scales": {column: "times-100"}, "systems": {system: "Deep Thought"}}
    return sender, {"files": FILES, "mapping": mapping, **more}


def test_with_a_mapping_it_is_previewed_and_stored_once_as_an_import(api, board):
    sender, body = mapped(api, board)
    refused = sender.post(path_of(board), body, query="dry_run=true").json()
    assert ["create_systems" in line["message"] for line in refused["problems"]] == [True]
    body["create_systems"] = True
    preview = sender.post(path_of(board), body, query="dry_run=true").json()["preview"]
    assert [(system["name"], system["is_new"]) for system in preview["systems"]] == [("Deep Thought", True)]
    first = sender.post(path_of(board), body, Idempotency_Key="one")
    again = sender.post(path_of(board), body, Idempotency_Key="one")
    assert (first.status_code, again.status_code, first.json()["source"]) == (201, 200, "importer")
    batch = Batch.objects.get(uuid=first.json()["uuid"])
    score = batch.submissions.get().scores.get(task__name="ARC easy")
    assert (score.value, score.standard_error) == (71.0, 0.9)
    assert "results.json" in batch.note
    other = sender.post(path_of(board), body | {"note": "Another."}, Idempotency_Key="one")
    assert error_of(other)["code"] == "idempotency_key_reused"


def test_a_form_with_files_says_the_same(api, board):
    sender, body = mapped(api, board, create_systems=True)
    data = {
        "files": SimpleUploadedFile("results.json", FILES[0]["text"].encode()),
        "mapping": json.dumps(body["mapping"]), "create_systems": "true",
    }  # fmt: skip
    client = Client(headers=sender._headers({}))
    response = client.post(f"/api/v1/{path_of(board)}", data)
    assert (response.status_code, response.json()["source"]) == (201, "importer")


def test_a_table_that_is_not_clear_is_refused_until_the_mapping_says_what_its_columns_are(api, board):
    sender = api.as_user(board.memberships.get().user)
    body = {
        "files": [{"name": "board.csv", "text": 'Rank,Team,ARC easy\n1,One,"61,5 ± 0,5"\n'}],
        "create_systems": True,
    }
    (problem,) = error_of(sender.post(path_of(board), body))["details"]
    assert problem["place"] == "mapping.columns"
    assert "'Rank': ignored, 'Team': system, 'ARC easy': score" in problem["message"]
    body["mapping"] = {"columns": {"Rank": "ignored", "Team": "system", "ARC easy": "score"}, "spread": "stderr"}
    assert sender.post(path_of(board), body).status_code == 201
    score = Score.objects.get(submission__system__name="One", value__isnull=False)
    assert (score.value, score.standard_error) == (61.5, 0.5)
    body["mapping"]["columns"]["Rank"] = "place"
    assert "'Rank' cannot be 'place'" in error_of(sender.post(path_of(board), body))["details"][0]["message"]


def test_a_workbook_comes_as_a_form_with_the_sheet_that_is_meant(api, board):
    sender = api.as_user(board.memberships.get().user)
    file = FILES_OF_PROGRAMS["openpyxl-3.1.5.xlsx"]
    mapping = {"sheet": "Results", "tasks": {"Quiz": "ARC easy"}, "scales": {"Quiz": "times-100"}}
    data = {"files": SimpleUploadedFile(file.name, file.data), "mapping": json.dumps(mapping)}
    client = Client(headers=sender._headers({}))
    preview = client.post(f"/api/v1/{path_of(board)}?dry_run=true", data).json()
    assert [(column["column"], column["n_scores"], column["assigned"]) for column in preview["columns"]] == [
        ("Quiz", 2, "ARC easy"),
        ("Sums", 1, ""),
    ]


def test_instances_come_as_files_of_a_form_with_their_folders(api, make):
    board = make.published({"A": [0.2]}, tasks=[TaskSpec("Quiz")])
    client = Client(headers=api.as_user(board.memberships.get().user)._headers({}))
    file = samples_of([sample(0, acc=1), sample(1, acc=0)])

    def sent(names):
        data = {"files": SimpleUploadedFile("a.jsonl", file.data), "names": names, "create_systems": "true"}
        return client.post(f"/api/v1/{path_of(board)}", data)

    assert sent(json.dumps([file.name])).status_code == 201
    (row,) = InstanceScores.objects.select_related("submission__system", "instance_set")
    assert (row.submission.system.name, unpack_names(row.instance_set.names)) == ("lab/one", ["0", "1"])
    assert unpack_vector(row.values).tolist() == [1, 0]
    for names in ('["a", "b"]', "[1]", "{}", json.dumps(["a" * 256])):
        assert "`names`" in error_of(sent(names))["message"]


def test_with_kept_what_was_said_once_need_not_be_said_again_not_even_for_a_csv_of_submissions(api, board, make):
    user = board.memberships.get().user
    sender, text = api.as_user(user), "Rank,Team,ARC easy,Sums\n1,One,{score},7\n"
    mapping = {
        "columns": {"Rank": "ignored", "Team": "system", "ARC easy": "score", "Sums": "score"},
        "tasks": {"Sums": "Other"}, "scales": {"ARC easy": "as-is", "Sums": "as-is"}, "systems": {"One": "First"},
    }  # fmt: skip

    def imports(score, query, **more):
        body = {"files": [{"name": "board.csv", "text": text.format(score=score)}], "create_systems": True, **more}
        return sender.post(path_of(board), body, query=query)

    def submits(score, query):
        kind, path = "text/csv", f"benchmarks/{board.key}/submissions/"
        return sender.post(path, text.format(score=score), query=query, kind=kind)

    def stored():
        scores = Score.objects.filter(submission__system__name="First").order_by("-submission_id", "task__key")
        return list(scores.values_list("task__key", "value"))[:2]

    assert error_of(submits(61, "kept=true"))["details"][0]["place"] == "file"  # nothing was said yet
    assert imports(61, "", mapping=mapping).status_code == 201
    assert not ImportChoices.objects.exists()
    assert imports(62, "kept=true&dry_run=true", mapping=mapping).status_code == 200
    assert not ImportChoices.objects.exists()
    assert imports(62, "kept=true", mapping=mapping).status_code == 201
    assert imports(63, "kept=true").status_code == 201
    assert stored() == [("arc-easy", 63.0), ("other", 7.0)]
    assert submits(64, "kept=true").status_code == 201
    assert stored() == [("arc-easy", 64.0), ("other", 7.0)]
    assert Batch.objects.latest("pk").note.startswith("Imported from table")
    assert imports(65, "").status_code == 400
    assert submits(65, "").status_code == 400
    other = api.as_user(make.member(board, "owner"))
    refused = other.post(
        f"benchmarks/{board.key}/submissions/", text.format(score=65), query="kept=true", kind="text/csv"
    )
    assert refused.status_code == 400  # what is kept is someone's own


def test_a_form_with_too_many_files_is_refused_in_words(api, board):
    sender = api.as_user(board.memberships.get().user)
    data = {"files": [SimpleUploadedFile(f"{n}.json", b"{}") for n in range(1001)]}
    error = error_of(Client(headers=sender._headers({})).post(f"/api/v1/{path_of(board)}", data))
    assert (error["status"], error["message"]) == (400, "The form has more than 1,000 files.")


@pytest.mark.parametrize(
    ("body", "query", "place"),
    [
        ({}, "", "files"),
        ({"files": [{"name": "x.json", "text": 3}]}, "", "files[0].text"),
        ({"files": [{"name": "x.bin", "text": "\u0000"}]}, "", "files"),
        ({"files": FILES}, "importer=mteb", "files"),
        ({"files": FILES}, "importer=nothing", "files"),
        ({"files": FILES, "mapping": {"tasks": {"nothing": "Other"}}}, "", "mapping.tasks.nothing"),
        ({"files": FILES, "mapping": []}, "", "mapping"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place_and_stores_nothing(api, board, body, query, place):
    sender = api.as_user(board.memberships.get().user)
    error = error_of(sender.post(path_of(board), body, query=query))
    assert (error["status"], error["details"][0]["place"]) == (400, place)
    assert (Batch.objects.count(), Draft.objects.count()) == (1, 0)


def test_what_is_wrong_in_a_file_is_said_once_with_the_place_in_the_file(api, board):
    sender = api.as_user(board.memberships.get().user)

    def refused(text):
        error = error_of(sender.post(path_of(board), {"files": [{"name": "b.csv", "text": text}]}))
        return error["message"], error["details"]

    place, message = "b.csv, line 3, column 'ARC easy'", "'x' is not a number"
    assert refused("system,ARC easy\nOne,61\nTwo,x\n") == (
        f"Nothing was stored: 1 problem. {place}: {message}",
        [{"message": f"{place}: {message}", "place": "files", "file": place}],
    )
    doubt = (
        "b.csv: 1 column may have scores or not: 'Speed' (line 2: 'x' is not a number). Say what the columns are; so "
        "far: 'system': system, 'ARC easy': score, 'Speed': ignored"
    )
    assert refused("system,ARC easy,Speed\nOne,61,x\n") == (
        f"Nothing was stored: 1 problem. {doubt}",
        [{"message": doubt, "place": "mapping.columns", "file": "b.csv"}],
    )


def test_where_submissions_are_closed_nothing_is_read(api, make):
    closed = make.published(submission_policy="owners")
    assert error_of(api.as_user(make.user()).post(path_of(closed), {"files": FILES}))["status"] == 403


def test_the_example_in_the_schema_maps_what_its_file_holds():
    body = ImportBodySerializer.read(IMPORT_EXAMPLE.value)
    results = read_import(body["files"])
    assignment, problems = assignment_of(body["mapping"], results, Assignment())
    assert (assignment.tasks, assignment.names, problems) == ({0: "ARC easy"}, {0: "Deep Thought"}, [])


def test_votes_on_pairs_become_scores_of_a_board(api, make):
    board = make.published({"Old": [1000.0, 990.0]}, tasks=[TaskSpec("quiz"), TaskSpec("sums")])
    sender = api.as_user(board.memberships.get().user)
    rows = [f"{pair},{winner},{task}" for task in ("quiz", "sums") for pair, winner in (
        *[("One,Two", "model_a")] * 9, *[("Two,One", "model_a")] * 3, ("One,Two", "tie"),
    )]  # fmt: skip
    text = "model_a,model_b,winner,category\n" + "\n".join(rows) + "\n"
    body = {"files": [{"name": "battles.csv", "text": text}], "create_systems": True}
    answer = sender.post(path_of(board), body, query="dry_run=true").json()
    assert answer["importer"] == "Votes on pairs of systems"
    assert "26 votes, 2 of them ties" in answer["notes"][0]
    tasks = {column["column"]: column["task"] for column in answer["columns"]}
    assert tasks == {"quiz, points": "quiz", "sums, points": "sums"}
    body["mapping"] = {"tasks": tasks, "systems": {part["system"]: part["system"] for part in answer["systems"]}}
    stored = sender.post(path_of(board), body, Idempotency_Key="votes")
    assert stored.status_code == 201, stored.json()
    scores = Score.objects.filter(submission__batch__uuid=stored.json()["uuid"], task__name="quiz")
    values = {score.submission.system.name: (score.value, score.standard_error) for score in scores}
    # 9.5 wins to 3.5: half the odds' logarithm on either side.
    points = 200 * math.log10(9.5 / 3.5)
    assert [values[name][0] for name in ("One", "Two")] == pytest.approx([1000 + points, 1000 - points])
    assert values["One"][1] == pytest.approx(values["Two"][1])
