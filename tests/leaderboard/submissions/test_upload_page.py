"""Many systems at once: a table comes in, is previewed, and changes the board; a bad one names its places."""

import re
from copy import deepcopy
from html import unescape
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Batch, Benchmark, Draft, Revision, Score
from leaderboard.rankings.published import published_board
from ranking_engine.importers import FORMATS
from tests.markup import compact

HEADER = "system,Task 1,Task 2\n"


@pytest.fixture(scope="module")
def board_once(make_once):
    return make_once.published({"A": [1, 4], "B": [2, 3]})


@pytest.fixture
def board(board_once, make) -> Benchmark:
    return deepcopy(board_once)


@pytest.fixture
def uploader(board, client):
    user = board.memberships.get(role="owner").user
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return user


def send(client, benchmark, content, *, pasted=False):
    data = content.encode() if isinstance(content, str) else content
    what = {"text": content} if pasted else {"file": SimpleUploadedFile("scores.csv", data)}
    return client.post(reverse("upload", args=[benchmark.key]), what)


@pytest.mark.parametrize("pasted", [False, True])
def test_a_table_is_previewed_confirmed_and_on_the_board(make, client, board, uploader, pasted):
    response = send(client, board, HEADER + "A,5,5\nC,1.5,\n", pasted=pasted)
    draft = Draft.objects.get()
    assert response["Location"] == reverse("draft", args=[draft.uuid])
    preview = client.get(response["Location"]).context["preview"]
    assert (preview.n_systems, preview.n_new, preview.n_unchanged) == (2, 1, 0)
    assert [(row.system_name, row.is_new, row.n_scores, row.n_missing, row.n_changed) for row in preview.rows] == [
        ("C", True, 1, 1, 1),
        ("A", False, 2, 0, 2),
    ]
    copeland = next(effect for effect in preview.effects if effect.rule_name == "Copeland")
    # Before, A and B each win one task. After, A wins both against B and its only one against C; B beats C on task 1.
    assert (copeland.winner_before, copeland.winner_after, copeland.n_ranks_changed) == ("A and B", "A", 1)
    assert [(c.system_name, c.before, c.after) for c in copeland.moves] == [("B", 1, 2)]
    assert [(c.system_name, c.before, c.after) for c in copeland.arrivals] == [("C", None, 3)]
    confirmed = client.post(response["Location"], {"action": "confirm", "previewed_number": "1", "create_system": "1"})
    batch = Batch.objects.get(uuid=UUID(confirmed["Location"].strip("/").split("/")[-1]))
    assert (batch.source, batch.submissions.count()) == ("csv", 2)
    published = published_board(make.publish(board).publication)
    ranks = {column.rule: column.ranks.tolist() for column in published.columns}
    assert ranks["copeland"] == [1, 2, 3]
    assert ranks["borda"] == [1, 2, -1]
    gap = Score.objects.get(submission__system__key="c", task__key="task-2")
    assert (gap.value, gap.missing_reason) == (None, "not_reported")


BAD = {
    "text": (HEADER + "A,high,1\n", "line 2, column 'Task 1': 'high' is not a number"),
    "nan": (HEADER + "A,1,nan?\n", "line 2, column 'Task 2': 'nan?' is not a number"),
    "infinite": (HEADER + "A,1,inf\n", "line 2, column 'Task 2': 'inf'"),
    "too large": (HEADER + "A,1,1e999\n", "line 2, column 'Task 2'"),
    "out of range": (HEADER + "A,1,101\n", "line 2, column 'Task 2': 101 is above 100, the maximum score of Task 2"),
    "unknown task": ("system,Task 1,Tusk 2\nA,1,2\n", "line 1, column 'Tusk 2': 'Tusk 2' is not a task"),
    "task twice": ("system,Task 1,task-1\nA,1,2\n", "line 1, column 'task-1': this is the second column of its task"),
    "system twice": (HEADER + "A,1,2\nB,1,2\na,3,4\n", "line 4"),
    "formula": (HEADER + "=SUM(A1),1,2\n", "line 2"),
    "no name": (HEADER + ",1,2\n", "line 2"),
    "ragged": (HEADER + "A,1\n", "line 2"),
    "no rows": (HEADER, "no system"),
    "empty": ("\n", "empty"),
    "unclear comma": ("system;Task 1;Task 2\nA;1,234;2\n", "line 2, column 'Task 1': '1,234' may be a decimal number"),
    "no text": (b"system,Task 1\nCaf\x81,1\n", "UTF-8"),
    "nothing given": (HEADER + "A,,\n", "line 2: there are no scores"),
    "NUL": (b"system,Task 1\nA\0,1\n", "line 2"),
}


@pytest.fixture(scope="module")
def bounded(make_once):
    tasks = [TaskSpec("Task 1"), TaskSpec("Task 2", maximum=100)]
    return make_once.benchmark({"A": [1, 4], "B": [2, 3]}, tasks=tasks)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_gets_one_message_with_its_place_and_nothing_is_stored(make, bounded, client, name):
    content, message = BAD[name]
    benchmark = deepcopy(bounded)
    user = benchmark.memberships.get(role="owner").user
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    stored = [model.objects.count() for model in (Draft, Revision, Score)]
    response = send(client, benchmark, content)
    assert response.status_code == 400
    errors = response.context["errors"] or [str(text) for text in response.context["form"].errors.values()]
    assert len(errors) == 1, errors
    assert message in errors[0]
    assert [model.objects.count() for model in (Draft, Revision, Score)] == stored
    assert stored[0] == 0


def test_a_spreadsheet_may_write_semicolons_and_decimal_commas(client, board, uploader):
    assert send(client, board, "system;Task 1;Task 2\nA;1,5;\n").status_code == 302
    (row,) = Draft.objects.get().rows
    assert row["scores"]["task-1"] == {"value": 1.5}
    assert row["scores"]["task-2"].get("value") is None


def test_a_negative_number_is_a_number(client, board, uploader):
    assert send(client, board, HEADER + "A,-1.5,+2\n").status_code == 302
    assert Draft.objects.get().rows[0]["scores"] == {"task-1": {"value": -1.5}, "task-2": {"value": 2.0}}


def test_every_bad_row_is_named_at_once(client, board, uploader):
    response = send(client, board, HEADER + "A,x,1\nB,1,y\n")
    assert [error.split(":")[0] for error in response.context["errors"]] == [
        "line 2, column 'Task 1'",
        "line 3, column 'Task 2'",
    ]


def test_header_cells_ranges_and_owners_are_told_in_one_pass(make, client):
    tasks = [TaskSpec("CB"), TaskSpec("RTE"), TaskSpec("MultiRC", maximum=100)]
    benchmark = make.published({"A": [1, 2, 3], "B": [4, 5, 6]}, tasks=tasks)
    client.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    table = "system,CB,RTA,MultiRC\nNew,abc,1,2\nA,1,2,995\nOther,1,,99\n"
    response = send(client, benchmark, table)
    assert response.status_code == 400
    assert response.context["errors"] == [
        "line 1, column 'RTA': 'RTA' is not a task of this benchmark; did you mean 'RTE'?",
        "line 2, column 'CB': 'abc' is not a number",
        (
            "line 3: A was submitted by another account; only that account, a moderator or an owner can replace its "
            "scores. Choose another name, or ask the benchmark's owners."
        ),
        "line 3, column 'MultiRC': 995 is above 100, the maximum score of MultiRC",
    ]


def test_one_cause_in_many_lines_is_counted_once_with_its_first_places(make, client):
    tasks = [TaskSpec("CB"), TaskSpec("MultiRC", maximum=100)]
    benchmark = make.published({f"S{k}": [k, k] for k in range(12)}, tasks=tasks)
    client.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    table = "system,CB,MultiRC\n" + "".join(f"S{k},greedy,{995 + k}\n" for k in range(12))
    assert send(client, benchmark, table).context["errors"] == [
        "line 2, column 'CB': 12 cells are not numbers, first on lines 2, 3, 4: 'greedy' is not a number",
        (
            "12 systems were submitted by other accounts; only these, a moderator or an owner can replace their "
            "scores; first on lines 2, 3, 4"
        ),
        "column 'MultiRC': 12 scores are above 100, the maximum score of MultiRC; first on lines 2, 3, 4",
    ]


def test_a_refused_file_stays_on_the_page_as_text_for_another_try(client, board, uploader):
    page = send(client, board, HEADER + "A,x,1\n")
    assert "The table of scores.csv is in" in compact(page)
    kept = page.context["form"]["text"].value()
    assert kept == HEADER + "A,x,1\n"
    assert send(client, board, kept.replace("x", "5"), pasted=True).status_code == 302


@pytest.mark.parametrize("content", [HEADER + "A,x,1\n" + "\n" * 500_000, (HEADER + "Café,x,1\n").encode("latin-1")])
def test_a_file_too_large_for_a_field_or_no_text_is_to_be_chosen_again(client, board, uploader, content):
    page = send(client, board, content)
    assert page.status_code == 400
    assert not page.context["form"]["text"].value()
    assert "Please choose it again" in compact(page)


def test_a_near_miss_is_pointed_out_and_not_created_without_the_tick(client, board, uploader):
    make_long = HEADER + "Language model,1,2\n"
    address = send(client, board, make_long)["Location"]
    client.post(address, {"action": "confirm", "previewed_number": "1", "create_system": "1"})
    address = send(client, board, HEADER + "Langauge model,3,4\n")["Location"]
    assert client.get(address).context["preview"].rows[0].near_misses == ["Language model"]
    client.post(address, {"action": "confirm", "previewed_number": "2"})
    assert board.revisions.count() == 2


def test_a_file_of_50_mb_is_refused_with_one_message(client, board, uploader):
    response = send(client, board, b"system,Task 1\n" + b"A,1\n" * 13_000_000)
    assert response.status_code in (400, 413)
    assert b"the limit is 10 MB" in response.content
    assert Draft.objects.count() == 0


def test_a_cell_may_say_why_there_is_no_score(client, board, uploader):
    response = send(client, board, HEADER + "A,5,Not applicable\nB,failed,1\nC,,2\nD,with-held,3\n")
    assert "line 5, column 'Task 1': 'with-held' is not a number" in compact(response).replace("&#x27;", "'")
    response = send(client, board, HEADER + "A,5,Not applicable\nB,failed,1\nC,,2\n")
    cells = [row["scores"] for row in Draft.objects.get().rows]
    client.post(response["Location"], {"action": "confirm", "previewed_number": "1", "create_system": "1"})
    stored = Score.objects.filter(value=None).values_list("submission__system__key", "task__key", "missing_reason")
    assert cells[0] == {"task-1": {"value": 5.0}, "task-2": {"missing": "not_applicable"}}
    reasons = {("a", "task-2", "not_applicable"), ("b", "task-1", "failed"), ("c", "task-1", "not_reported")}
    assert set(stored) == reasons


def test_the_page_names_every_format_that_is_read_one_added_to_the_registry_too(client, board, uploader, monkeypatch):
    trial = SimpleNamespace(key="trial", name="A trial & its results")
    monkeypatch.setattr("leaderboard.submissions.importing.views.FORMATS", [*FORMATS, trial])
    page = compact(client.get(reverse("upload", args=[board.key])))
    listed = [unescape(name) for name in re.findall(r"<li>([^<]+)</li>", page)]
    names = [*(one.name for one in FORMATS), "A trial & its results"]
    assert [name for name in listed if name in names] == names


def sent_again(page, **files):
    """What a browser sends of the page with the kept text: its fields with their line breaks, and the chosen files."""
    form = page.context["form"]
    return {"text": form["text"].value().replace("\n", "\r\n"), "kept": form["kept"].value()} | {
        name: SimpleUploadedFile("scores.csv", content.encode()) for name, content in files.items()
    }


def test_after_an_error_a_corrected_file_replaces_the_text_of_the_refused_one(client, board, uploader):
    address = reverse("upload", args=[board.key])
    refused = send(client, board, HEADER + "A,high,1\n")
    assert "choose the corrected file" in compact(refused)
    again = client.post(address, sent_again(refused, file=HEADER + "A,low,1\n"))
    assert "&#x27;low&#x27; is not a number" in compact(again), "the second file was read, too"
    assert again.context["form"]["text"].value() == HEADER + "A,low,1\n"
    assert client.post(address, sent_again(again, file=HEADER + "A,5,1\n")).status_code == 302
    assert Draft.objects.get().rows[0]["scores"]["task-1"] == {"value": 5.0}
    # A result file instead is read, too.
    results = client.post(address, sent_again(again, results='{"results": 1}'))
    assert "Choose either result files or a table." not in compact(results)


def test_a_file_beside_a_text_that_someone_changed_is_refused_with_what_to_do(client, board, uploader):
    refused = send(client, board, HEADER + "A,high,1\n")
    sent = sent_again(refused, file=HEADER + "A,5,1\n")
    page = compact(client.post(reverse("upload", args=[board.key]), sent | {"text": HEADER + "A,6,1\n"}))
    assert "To send the file, empty the field and choose the file again." in page
    assert not Draft.objects.exists()
    corrected = sent_again(refused) | {"text": HEADER + "A,6,1\n"}
    assert client.post(reverse("upload", args=[board.key]), corrected).status_code == 302


def test_a_new_benchmark_takes_a_corrected_file_after_an_error(client, uploader):
    bad, good = (SimpleUploadedFile("t.csv", f"system,a\nx,{cell}\ny,2\n".encode()) for cell in ("foo", "1"))
    refused = client.post(reverse("new"), {"name": "B2", "file": bad})
    assert refused.status_code == 400
    sent = sent_again(refused) | {"name": "B2", "file": good}
    assert client.post(reverse("new"), sent | {"text": "system,a\nz,3\n"}).status_code == 400
    good.seek(0)
    assert client.post(reverse("new"), sent)["Location"].startswith("/new/")
