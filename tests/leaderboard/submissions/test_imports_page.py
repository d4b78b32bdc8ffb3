"""Result files of other programs: recognised, asked about, previewed, confirmed, and on the board."""

import copy
import json
from copy import deepcopy
from html.parser import HTMLParser

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Batch, Draft, Revision, Score
from leaderboard.rankings.published import published_board
from ranking_engine.importers import SourceFile
from tests.ranking_engine.importers import examples
from tests.ranking_engine.importers.examples import EXAMPLES

QUIZ = TaskSpec("Quiz", metric="acc", minimum=0, maximum=1)
SUMS = TaskSpec("Sums")


@pytest.fixture(scope="module")
def board_once(make_once):
    return make_once.published({"A": [0.2, 0.4], "B": [0.3, 0.1]}, tasks=[QUIZ, SUMS])


@pytest.fixture
def board(board_once, make):
    return deepcopy(board_once)


@pytest.fixture(autouse=True)
def _signed_in(board, client):
    sign_in(client, board)


def sign_in(client, benchmark):
    user = benchmark.memberships.get(role="owner").user
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")


def choose(client, benchmark, files, **more):
    chosen = [SimpleUploadedFile(file.name, file.data) for file in files]
    return client.post(reverse("upload", args=[benchmark.key]), {"results": chosen} | more)


class Fields(HTMLParser):
    """The fields of the import page as a browser would send them back."""

    def __init__(self):
        super().__init__()
        self.values, self.select = {}, None

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "input" and given.get("name") != "csrfmiddlewaretoken":
            self.values[given.get("name")] = given.get("value", "")
        elif tag == "select":
            self.select = given["name"]
        elif tag == "option" and "selected" in given:
            self.values[self.select] = given["value"]


def fields_of(response):
    fields = Fields()
    fields.feed(response.content.decode())
    return {name: value for name, value in fields.values.items() if name}


def answer(client, benchmark, response, **changes):
    said = {name.replace("_", "-"): value for name, value in changes.items()}
    return client.post(reverse("upload", args=[benchmark.key]), fields_of(response) | said)


def test_scores_standard_errors_and_counts_come_onto_the_board(make, client, board):
    page = choose(client, board, examples.LONG_TABLE, note="Two seeds.")
    assert page.status_code == 200
    assert Draft.objects.count() == 0
    assert fields_of(page)["task-0"] == "Quiz"
    response = answer(client, board, page, note="Two seeds.")
    draft = Draft.objects.get()
    assert response["Location"] == reverse("draft", args=[draft.uuid])
    preview = client.get(response["Location"]).context["preview"]
    lines = [(row.system_name, row.is_new, row.line) for row in preview.rows]
    assert lines == [("One", True, None), ("Two", True, None)]
    client.post(response["Location"], {"action": "confirm", "previewed_number": "1", "create_system": "1"})
    batch = Batch.objects.get(source="importer")
    assert batch.note.startswith("Two seeds.\nImported from table with one row per score: long.csv (SHA-256 ")
    stored = Score.objects.filter(submission__batch=batch).values_list(
        "submission__system__name", "task__key", "value", "missing_reason", "standard_error", "n_instances"
    )
    assert set(stored) == {
        ("One", "quiz", 0.61, "", 0.01, 500),
        ("One", "sums", None, "not_reported", None, None),
        ("Two", "quiz", 0.5, "", None, 500),
    }
    columns = {column.rule: column for column in published_board(make.publish(board).publication).columns}
    assert columns["copeland"].ranks.tolist()[2:] == [1, 2]  # 0.61 and 0.5 against 0.2 and 0.3 on the only shared task


@pytest.mark.parametrize("key", EXAMPLES)
def test_every_format_is_asked_about_and_stores_nothing_before_the_answer(client, board, key):
    page = choose(client, board, EXAMPLES[key])
    assert page.status_code == 200
    assert page.context["found"].format_name in page.content.decode()
    assert (Draft.objects.count(), Revision.objects.count()) == (0, 1)


def test_what_is_left_out_and_a_limited_run_are_said_before_the_answer(client, board):
    page = choose(client, board, EXAMPLES["lm-eval"])
    text = page.content.decode()
    assert "all is a group: its mean is used only if you choose it" in text
    assert "a mean over a group, whose parts are columns as well" in text
    assert {column.task: column.given for column in page.context["columns"]}["all"] == ""
    assert "run with a limit, on 20 of 100 instances" in text


def test_a_mean_over_a_group_is_stored_where_someone_chooses_it(client, board):
    page = choose(client, board, EXAMPLES["lm-eval"])
    columns = {column.task: column.number for column in page.context["columns"]}
    answer(client, board, page, **{f"task_{columns['all']}": "Sums", f"scale_{columns['all']}": "as-is"})
    (row,) = Draft.objects.get().rows
    assert row["scores"]["sums"] == {"value": 0.4, "standard_error": 0.02}


def test_too_many_files_are_refused_in_words(client, board):
    files = [SourceFile(f"{n}.json", b"{}") for n in range(1001)]
    page = choose(client, board, files)
    assert page.status_code == 400
    assert "You chose more than 1,000 files. Upload them in parts." in page.content.decode()
    assert Draft.objects.count() == 0


def test_a_limited_run_is_said_in_the_note(client, board):
    page = choose(client, board, EXAMPLES["lm-eval"])
    answer(client, board, page, task_1="Sums", scale_1="as-is")
    note = Draft.objects.get().note
    assert "results_2026.json, sums: run with a limit, on 20 of 100 instances" in note


def test_columns_and_names_are_what_the_user_says(client, board):
    page = choose(client, board, EXAMPLES["lm-eval"])
    sent = fields_of(page)
    # Two filters of sums could be the task Sums, so neither is suggested; quiz alone is the task Quiz.
    assert (sent["task-0"], sent["task-1"], sent["task-2"], sent["system-0"]) == ("Quiz", "", "", "lab/one")
    answer(client, board, page, task_2="sums", task_0="", system_0="B")
    (row,) = Draft.objects.get().rows
    assert (row["system"]["key"], row["scores"]) == ("b", {"sums": {"value": 0.5, "n_instances": 20}})


REFUSED = {
    "unknown task": ({"task_1": "Sumz"}, "did you mean &#x27;Sums&#x27;?"),
    "task twice": ({"task_1": "Sums", "task_2": "sums"}, "Sums is sums, strict, exact_match already"),
    "nothing assigned": ({"task_0": ""}, "no column is assigned to a task"),
    "nobody named": ({"system_0": " "}, "no system has a name"),
    "formula": ({"system_0": "=1"}, "which spreadsheets take for a formula"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_answer_in_doubt_is_refused_and_the_page_keeps_what_was_said(client, board, name):
    changes, message = REFUSED[name]
    page = answer(client, board, choose(client, board, EXAMPLES["lm-eval"]), **changes)
    assert page.status_code == 400
    assert message in page.content.decode()
    kept = fields_of(page)
    assert {place: kept[place.replace("_", "-")] for place in changes} == changes
    assert Draft.objects.count() == 0


def test_a_scale_is_asked_and_never_guessed(make, client):
    tasks = [TaskSpec("Quiz", metric="acc", maximum=100), TaskSpec("Sums")]
    benchmark = make.benchmark({"A": [20, 40], "B": [30, 10]}, tasks=tasks)
    sign_in(client, benchmark)
    files = copy.deepcopy(examples.LM_EVAL)
    files["results"]["quiz"]["acc,none"] = 0.07
    page = choose(client, benchmark, [examples.as_json("a.json", files)])
    # Quiz states that it goes to 100; of Sums the board shows scores up to 40.
    page = answer(client, benchmark, page, task_2="Sums")
    text = page.content.decode()
    assert "from 0.07 to 0.07, and those of Quiz go up to 100" in text
    assert "from 0.5 to 0.5, and those of Sums go up to 40" in text
    answer(client, benchmark, page, scale_0="times-100", scale_2="as-is")
    (row,) = Draft.objects.get().rows
    assert row["scores"] == {
        "quiz": {"value": 7.0, "standard_error": 1.0, "n_instances": 500},
        "sums": {"value": 0.5, "n_instances": 20},
    }


def test_a_direction_that_is_not_the_tasks_is_an_error(make, client):
    benchmark = make.benchmark({"A": [1], "B": [2]}, tasks=[TaskSpec("Quiz", direction=-1)])
    sign_in(client, benchmark)
    page = answer(client, benchmark, choose(client, benchmark, EXAMPLES["folder"]), scale_0="as-is")
    assert page.status_code == 400
    assert "the file states that higher is better, but Quiz states: lower is better" in page.content.decode()
    assert Draft.objects.count() == 0


def test_a_score_out_of_range_names_its_system_and_task(client, board):
    page = choose(client, board, [examples.SourceFile("a.csv", b"system,Quiz\nOne,0.5\nTwo,1.2\n")])
    page = answer(client, board, page)
    assert "Two, Quiz: 1.2 is above 1, the maximum score of Quiz" in page.content.decode()


def test_two_names_for_one_system_join_unless_both_have_a_score(client, board):
    page = choose(client, board, [examples.SourceFile("a.csv", b"system,task,score\nx,Quiz,0.5\ny,Sums,0.6\n")])
    answer(client, board, page, system_1="X")
    assert [len(row["scores"]) for row in Draft.objects.get().rows] == [2]
    page = choose(client, board, EXAMPLES["table"])
    page = answer(client, board, page, system_1="One")
    assert "One has two scores on the task of Quiz" in page.content.decode()


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"", b"{", b"a: &a [*a]", b"system,Quiz\nA,x\nB,1\n", b"\xff"])
def test_broken_files_are_refused_with_a_message_and_nothing_is_stored(client, board, data):
    page = choose(client, board, [examples.SourceFile("a.json" if data == b"{" else "a.csv", data)])
    assert page.status_code == 400
    assert page.context["errors"]
    assert (Draft.objects.count(), Score.objects.count()) == (0, 4)


def test_files_and_a_table_at_once_are_refused(client, board):
    page = choose(client, board, EXAMPLES["lm-eval"], text="system,Quiz\nA,1\n")
    assert "Choose either result files or a table" in page.content.decode()


def test_another_users_page_or_one_that_was_changed_is_refused(make, client, board):
    page = choose(client, board, EXAMPLES["lm-eval"])
    changed = fields_of(page)["imported"][:-2] + "xx"
    client.force_login(make.member(board, "owner"), backend="django.contrib.auth.backends.ModelBackend")
    for response in (answer(client, board, page), answer(client, board, page, imported=changed)):
        assert response.status_code == 400
        assert "choose the files again" in response.content.decode()
    assert Draft.objects.count() == 0


def test_a_table_of_many_systems_comes_back_through_the_page(make, client):
    tasks = [TaskSpec(f"T{t}") for t in range(30)]
    benchmark = make.benchmark({"A": [1.0] * 30, "B": [2.0] * 30}, tasks=tasks)
    sign_in(client, benchmark)
    header = ",".join(["system", *(task.name for task in tasks)])
    lines = [",".join([f"S{i}", *(repr(1 + i / 7 + t / 3) for t in range(30))]) for i in range(200)]
    page = choose(client, benchmark, [examples.SourceFile("a.csv", "\n".join([header, *lines]).encode())])
    assert answer(client, benchmark, page).status_code == 302
    rows = Draft.objects.get().rows
    assert [len(row["scores"]) for row in rows] == [30] * 200
    assert rows[7]["scores"]["t3"] == {"value": 1 + 7 / 7 + 3 / 3}
    assert json.dumps(rows[7]["line"]) == "null"


def test_what_files_say_of_systems_is_kept_where_the_benchmark_has_such_a_field(make, client, board):
    board.metadata_fields = [
        {"key": "parameters", "name": "Parameters", "kind": "number"},
        {"key": "licence", "name": "Licence", "kind": "choice", "choices": ["Apache-2.0"]},
        {"key": "open", "name": "Open-weights", "kind": "text"},
    ]
    board.save()
    meta = examples.MTEB_META | {"adapted_from": "lab/zero"}
    quiz = examples.MTEB | {"task_name": "Quiz", "scores": {"test": [{"main_score": 0.7}]}}
    page = choose(client, board, [examples.as_json("quiz.json", quiz), examples.as_json("model_meta.json", meta)])
    assert page.context["notes"] == [
        "The files also state Parameters, Open-weights of systems; it is kept with the scores.",
        "Left out: released, base-model of systems; this benchmark declares no such fields.",
        "Left out: Licence of lab/one: 'mit' is not one of Apache-2.0.",
    ]
    answer(client, board, page)
    (row,) = Draft.objects.get().rows
    assert row["system"]["metadata"] == {"parameters": 7_000_000_000, "open": "yes"}


def test_the_organisation_that_files_state_is_that_of_the_system(make, client, board):
    files = [examples.as_json("core.json", examples.HELM_TABLE), EXAMPLES["helm-run"][2]]
    page = choose(client, board, files)
    answer(client, board, page, task_0="Quiz", task_1="", system_1="")
    (row,) = Draft.objects.get().rows
    assert (row["system"]["name"], row["system"]["organisation"]) == ("One", "The Lab")
