"""The page that asks what the columns of a table are, and what is kept of the answers for the next time."""

from copy import deepcopy

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Draft, ImportChoices
from tests.leaderboard.submissions.test_imports_page import answer, choose, fields_of, sign_in
from tests.ranking_engine.importers.examples import FILES, SourceFile

EVALAI = SourceFile("board.csv", b"Rank,Participant Team,Acc,Time\n1,One,0.6,0.12\n2,Two,0.5,0.1\n")


@pytest.fixture(scope="module")
def board_once(make_once):
    return make_once.published({"A": [0.2, 0.4], "B": [0.3, 0.1]}, tasks=[TaskSpec("Quiz"), TaskSpec("Sums")])


@pytest.fixture
def board(board_once, make):
    return deepcopy(board_once)


@pytest.fixture(autouse=True)
def _signed_in(board, client):
    sign_in(client, board)


def rows():
    return [(row["system"]["name"], {key: score.get("value") for key, score in row["scores"].items()})
            for row in Draft.objects.latest("pk").rows]  # fmt: skip


def test_a_table_that_is_not_clear_is_asked_about_and_then_imported(client, board):
    page = choose(client, board, [EVALAI], note="Two seeds.")
    assert page.status_code == 200
    assert [(column.name, column.role) for column in page.context["columns"]] == [
        ("Rank", "ignored"), ("Participant Team", "system"), ("Acc", "score"), ("Time", "ignored"),
    ]  # fmt: skip
    assert Draft.objects.count() == 0
    page = answer(client, board, page, role_3="score")
    assert [column.task for column in page.context["columns"]] == ["Acc", "Time"]
    assert fields_of(page)["imported"]
    response = answer(client, board, page, task_0="Quiz", task_1="Sums", note="Two seeds.")
    assert response.status_code == 302
    assert rows() == [("One", {"quiz": 0.6, "sums": 0.12}), ("Two", {"quiz": 0.5, "sums": 0.1})]
    assert Draft.objects.get().note.startswith("Two seeds.\nImported from table")


def test_what_was_said_is_filled_in_the_next_time_and_only_for_the_same_person_and_benchmark(client, board, make):
    page = answer(client, board, choose(client, board, [EVALAI]), role_3="score")
    answer(client, board, page, task_0="Quiz", task_1="Sums", scale_0="times-100", system_0="First")
    assert {row.format_key: sorted(row.choices) for row in ImportChoices.objects.all()} == {
        "table": ["columns", "scales", "systems", "tasks"]
    }
    page = choose(client, board, [SourceFile("later.csv", EVALAI.data.replace(b"0.6", b"0.7"))])
    assert page.context["is_kept"]
    assert [column.role for column in page.context["columns"]] == ["ignored", "system", "score", "score"]
    page = answer(client, board, page)
    assert page.context["n_kept"] == 2
    fields = fields_of(page)
    assert [fields[name] for name in ("task-0", "task-1", "scale-0", "system-0", "system-1")] == [
        "Quiz", "Sums", "times-100", "First", "Two",
    ]  # fmt: skip
    other = make.published({"A": [0.2, 0.4], "B": [0.3, 0.1]}, tasks=[TaskSpec("Quiz"), TaskSpec("Sums")])
    sign_in(client, other)
    assert not choose(client, other, [EVALAI]).context["is_kept"]


def test_what_was_said_of_a_program_is_filled_in_the_next_time(client, board):
    lines = "system,task,metric,score\nOne,q,acc,0.5\nOne,s,acc,0.25\n"
    page = choose(client, board, [SourceFile("a.csv", lines.encode())])
    answer(client, board, page, task_0="Quiz", task_1="Sums")
    page = choose(client, board, [SourceFile("b.csv", lines.replace("One", "Two").encode())])
    assert [fields_of(page)[name] for name in ("task-0", "task-1")] == ["Quiz", "Sums"]


def test_a_task_that_is_gone_is_not_filled_in(client, board):
    page = choose(client, board, [SourceFile("a.csv", b"system,q,s\nOne,0.5,1\n")])
    answer(client, board, page, task_0="Quiz", task_1="Sums")
    board.tasks.filter(key="sums").update(is_archived=True)
    page = choose(client, board, [SourceFile("a.csv", b"system,q,s\nOne,0.5,1\n")])
    assert [fields_of(page)[name] for name in ("task-0", "task-1")] == ["Quiz", ""]


def test_a_wrong_answer_shows_the_page_again_with_what_is_wrong(client, board):
    page = choose(client, board, [EVALAI])
    again = answer(client, board, page, role_1="ignored")
    assert again.status_code == 400
    assert "no column names the systems" in again.content.decode()
    again = answer(client, board, page, role_3="stderr", about_3="no such column")
    assert "write the column that it is about behind a colon" in again.content.decode()
    assert ImportChoices.objects.count() == 0
    refused = answer(client, board, page, sheet="no such sheet")
    assert refused.status_code == 400
    assert "there is no sheet &#x27;no such sheet&#x27; with cells" in refused.content.decode()


def test_the_sheet_of_a_workbook_is_chosen(client, board):
    page = choose(client, board, [FILES["openpyxl-3.1.5.xlsx"]])
    assert page.context["sheets"] == ["Notes", "Results"]
    sheet_page = answer(client, board, page, sheet="Results", show="sheet")
    assert [column.name for column in sheet_page.context["columns"]] == ["system", "Quiz", "Sums"]
    page = answer(client, board, sheet_page)
    assert answer(client, board, page, scale_1="as-is").status_code == 302
    assert rows() == [("One", {"quiz": 0.5, "sums": None}), ("Two", {"quiz": 0.25, "sums": 3.0})]


@pytest.mark.parametrize(
    "pasted", ["| Model | Quiz |\n|---|---|\n| One | 0.6 |\n", "Model,Quiz,Quiz_stderr\nOne,0.6,0.1\n"]
)
def test_a_pasted_table_of_another_shape_is_recognised_as_in_a_file(client, board, pasted):
    page = client.post(reverse("upload", args=[board.key]), {"text": pasted})
    assert [(column.task, column.given) for column in page.context["columns"]] == [("Quiz", "Quiz")]


def test_someone_can_ask_to_be_asked(client, board):
    page = choose(client, board, [SourceFile("a.csv", b"system,Quiz\nOne,0.5\n")], asks_columns="on")
    assert [column.role for column in page.context["columns"]] == ["system", "score"]


def test_a_table_of_someone_else_is_not_taken(client, board, make):
    page = choose(client, board, [EVALAI])
    other = make.published({"A": [0.2, 0.4], "B": [0.3, 0.1]}, tasks=[TaskSpec("Quiz"), TaskSpec("Sums")])
    sign_in(client, other)
    response = client.post(reverse("upload", args=[other.key]), fields_of(page))
    assert response.status_code == 400
    assert "belongs to another account" in response.content.decode()


def test_a_table_that_is_not_clear_and_too_large_to_ask_about_is_refused(client, board):
    noise = "".join(f"{k},n{k * 7919},{(k * 104729) % 999983},{(k * 15485863) % 999979}\n" for k in range(90_000))
    file = SimpleUploadedFile("a.csv", f"Rank,Team,Acc,Time\n{noise}".encode())
    page = client.post(reverse("upload", args=[board.key]), {"results": [file]})
    assert page.status_code == 400
    assert "too large to ask" in page.content.decode()
