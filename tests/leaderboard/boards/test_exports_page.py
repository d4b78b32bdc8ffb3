"""Files of a revision: every table in every format says the same figures, and the folder imports again."""

import csv
import io
import json
import re
import zipfile

import pytest
from django.test import override_settings

from jobs.runner import run_job
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Benchmark, Job, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import input_hash, revision_matrix

TABLES = {
    "scores": "", "ranks": "?rule=copeland", "margins": "", "prospects": "", "studies": "",
    "studies ": "?study=significance",
}  # fmt: skip


@pytest.fixture
def board(make):
    """Three systems on two tasks of weights 3 and 2, one score missing, one system called oddly."""
    tasks = [TaskSpec("Speed | %", weight="1.5", direction=-1), TaskSpec("Recall", weight=1)]
    scores = {"A_1 & co": [0.1 + 0.2, 7.0], "B": [0.1, None], "C": [2.0, 7.0]}
    benchmark = make.published(scores, tasks=tasks)
    with override_settings(JOB_LEASE_SECONDS=600):
        for job in Job.objects.filter(benchmark=benchmark, kind__in=["prospects", "significance"]):
            run_job(job.pk, worker="test")
    return benchmark


def file_of(client, benchmark, name, query=""):
    return client.get(f"/b/{benchmark.key}/exports/{name.strip()}{query}")


def read_csv(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode())))


@pytest.mark.parametrize("table", TABLES)
def test_all_formats_have_the_same_rows(client, board, table):
    responses = {
        kind: file_of(client, board, f"{table.strip()}.{kind}", TABLES[table]) for kind in ("csv", "json", "tex", "md")
    }
    assert {response.status_code for response in responses.values()} == {200}
    rows, content = read_csv(responses["csv"]), json.loads(responses["json"].content)
    assert [list(row) for row in rows] == [content["columns"]] * len(content["rows"])
    assert [[_same(value) for value in row.values()] for row in content["rows"]] == [list(row.values()) for row in rows]
    assert (content["benchmark"], content["revision"]) == (board.key, 1)
    assert len(rows) > 2
    latex, markdown = responses["tex"].content.decode(), responses["md"].content.decode()
    body = latex[latex.index(r"\midrule") : latex.index(r"\bottomrule")].splitlines()[1:]
    n_columns = len(content["columns"])
    assert [len(re.findall(r"(?<!\\)&", line)) + 1 for line in body] == [n_columns] * len(rows)
    lines = markdown.splitlines()[4:]
    assert [len(re.findall(r"(?<!\\)\|", line)) - 1 for line in lines] == [n_columns] * len(rows)
    name = responses["tex"]["Content-Disposition"]
    assert re.fullmatch(rf'attachment; filename="{board.key}-\w+-r1\.tex"', name), name


def _same(value) -> str:
    """A value of JSON as CSV writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def test_scores_and_margins_are_those_of_the_toy(client, board):
    """By hand: of the weight 2.5, speed has 0.6 and B has only that; A and C tie on recall."""
    scores = {row["system"]: row["recall"] for row in read_csv(file_of(client, board, "scores.csv"))}
    assert scores == {"A_1 & co": "7.0", "B": "", "C": "7.0"}
    margins = {(row["system"], row["rival"]): row for row in read_csv(file_of(client, board, "margins.csv"))}
    assert {pair: (row["ahead"], row["behind"], row["verdict"]) for pair, row in margins.items()} == {
        ("A_1 & co", "B"): ("0.0", "0.6", "loses"), ("A_1 & co", "C"): ("0.6", "0.0", "beats"),
        ("B", "A_1 & co"): ("0.6", "0.0", "beats"), ("B", "C"): ("0.6", "0.0", "beats"),
        ("C", "A_1 & co"): ("0.0", "0.6", "loses"), ("C", "B"): ("0.0", "0.6", "loses"),
    }  # fmt: skip


def test_the_orders_of_the_tasks_are_voters_of_preflib(client, board):
    response = file_of(client, board, "orders.preflib")
    text = response.content.decode()
    assert [line for line in text.splitlines() if not line.startswith("#")] == ["3: 2,1,3", "2: {1,3}"]
    assert "# ALTERNATIVE NAME 1: A_1 & co" in text
    assert f'filename="{board.key}-r1.toi"' in response["Content-Disposition"]


def test_the_folder_imports_again_to_the_same_inputs(client, board, tmp_path):
    response = file_of(client, board, "folder.zip")
    assert (response["Content-Type"], response["Cache-Control"]) == ("application/zip", "private, no-store")
    with zipfile.ZipFile(io.BytesIO(response.content)) as packed:
        packed.extractall(tmp_path)
    copy = import_folder(tmp_path / board.key, owner=board.memberships.get().user, key="copy")
    assert hash_of(copy) == hash_of(board) == board.publication.revision.input_hash
    assert file_of(client, board, "folder.zip").content == response.content
    with override_settings(UPLOAD_BYTES=100):
        refused = file_of(client, board, "folder.zip")
    assert (refused.status_code, refused["Content-Type"]) == (422, "text/plain; charset=utf-8")


def hash_of(benchmark: Benchmark) -> str:
    revision = Revision.objects.select_related("configuration").filter(benchmark=benchmark).latest("number")
    return input_hash(revision_matrix(revision), configuration_of(revision))


def test_what_there_is_not_is_a_404(client, board):
    wrong = ["scores.zip", "nothing.csv", "folder.csv", "orders.csv"]
    assert {file_of(client, board, name).status_code for name in wrong} == {404}
    files = [("ranks.csv", "?rule=nothing"), ("studies.csv", "?study=nothing"), ("scores.csv", "?revision=9")]
    assert {file_of(client, board, *pair).status_code for pair in files} == {404}


def test_pages_link_to_their_files(client, board):
    links = {
        f"/b/{board.key}/": ["scores.tex", "orders.preflib", "folder.zip"],
        f"/b/{board.key}/rules/borda/": ["ranks.tex?rule=borda"],
        f"/b/{board.key}/head-to-head/": ["margins.md"],
        f"/b/{board.key}/prospects/": ["prospects.tex"],
        f"/b/{board.key}/stability/": ["studies.csv", "studies.csv?study=significance"],
    }
    for page, names in links.items():
        body = client.get(page).content.decode()
        for name in names:
            url = f"/b/{board.key}/exports/{name}"
            assert url in body, (page, url)
            assert client.get(url).status_code == 200
