"""Large files: sent while they are made, with the same bytes and the same headers as small ones."""

import csv
import io
import json
import random
import tracemalloc
import zipfile

import pytest
from django.db import OperationalError, connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from leaderboard.benchmarks.folder_exports import folder_of
from leaderboard.boards.revision_exports import Origin, scores_export
from leaderboard.common import file_parts
from leaderboard.common.files import EXPORT_FORMATS, json_text
from leaderboard.rankings import tables as score_table
from leaderboard.rankings.tables import scores_csv, scores_long_csv
from ranking_engine import ScoreMatrix
from ranking_engine.files.tables import write_table
from tests.rows_read import rows_read

pytestmark = pytest.mark.usefixtures("make")  # which forgets the boards of tests before
N_SYSTEMS, N_TASKS = 45, 6


@pytest.fixture(scope="module")
def scores():
    draw = random.Random(4)
    return {
        f"System {i:02}, ü": [draw.choice([None, 0.0, 3.0, 1e22, round(draw.gauss(0, 1), 9)]) for _ in range(N_TASKS)]
        for i in range(N_SYSTEMS)
    }


@pytest.fixture(scope="module")
def board(make_once, scores):
    return make_once.published(scores)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(file_parts, "PART_BYTES", 300)


def whole(response):
    assert response.status_code == 200
    return b"".join(response.streaming_content) if response.streaming else response.content


FILES = [
    *(f"exports/{table}.{kind}" for table in ("scores", "ranks", "margins") for kind in EXPORT_FORMATS),
    *(f"board.{kind}" for kind in EXPORT_FORMATS),
    *(f"board.csv?{query}" for query in ("scores=1", "sort=-borda", "pin=system-07-u&pin=system-03-u", "page=2")),
]
API_FILES = [
    *(f"scores/?format={kind}" for kind in ("csv", "tex", "md")),
    "scores/?format=csv&long=true",
    *(f"{what}/?format={kind}" for what in ("rankings/borda", "margins") for kind in ("csv", "tex", "md")),
]


def headers_of(answer):
    """Without the id, which is of one request, and without how many requests are left."""
    return {name: value for name, value in answer.headers.items() if name not in ("X-Request-ID", "RateLimit")}


def test_every_file_in_parts_has_the_bytes_and_the_headers_of_one_sent_whole(client, board, monkeypatch):
    for path in [
        *(f"/b/{board.key}/{name}" for name in FILES),
        *(f"/api/v1/benchmarks/{board.key}/{name}" for name in API_FILES),
    ]:
        monkeypatch.setattr(file_parts, "PART_BYTES", 10**9)
        at_once = client.get(path)
        monkeypatch.setattr(file_parts, "PART_BYTES", 300)
        in_parts = client.get(path)
        assert (path, at_once.streaming, in_parts.streaming) == (path, False, True)
        assert len(at_once.content) > 600
        assert whole(in_parts) == at_once.content, path
        headers = headers_of(at_once)
        assert headers.pop("Content-Length") == str(len(at_once.content))
        assert headers_of(in_parts) == headers
        head = client.head(path)
        assert (head.status_code, whole(head), headers_of(head)) == (200, b"", headers)


def test_a_large_file_that_somebody_has_is_not_sent_again(client, board, small_parts):
    path = f"/api/v1/benchmarks/{board.key}/scores/?format=csv"
    first = client.get(path)
    again = client.get(path, HTTP_IF_NONE_MATCH=first["ETag"])
    assert (first.streaming, again.status_code, again.content) == (True, 304, b"")
    assert [again[name] for name in ("ETag", "Cache-Control")] == [first[name] for name in ("ETag", "Cache-Control")]


def test_scores_are_written_as_the_engine_writes_them(client, board, scores, small_parts):
    names = sorted(scores)
    tasks = [task["name"] for task in board.publication.revision.configuration.content["tasks"]]
    values = [[float("nan") if value is None else value for value in scores[name]] for name in names]
    expected = write_table(ScoreMatrix(values, system_names=names, task_names=tasks))
    assert whole(client.get(f"/api/v1/benchmarks/{board.key}/scores/?format=csv")).decode() == expected
    assert "".join(folder_of(board.publication.revision)["scores.csv"]) == expected


def test_long_scores_have_a_line_for_every_cell_whatever_is_read_at_a_time(client, board, scores, monkeypatch):
    path = f"/api/v1/benchmarks/{board.key}/scores/?format=csv&long=true"
    at_once = whole(client.get(path))
    monkeypatch.setattr(score_table, "CHUNK_ROWS", 4 * N_TASKS)
    monkeypatch.setattr(file_parts, "PART_BYTES", 300)
    assert whole(client.get(path)) == at_once
    rows = list(csv.DictReader(io.StringIO(at_once.decode())))
    cells = {(row["system"], row["task"]): (row["score"], row["missing"]) for row in rows}
    tasks = [task["name"] for task in board.publication.revision.configuration.content["tasks"]]
    assert cells == {
        (name, task): ("", "not_reported") if value is None else (repr(value).removesuffix(".0"), "")
        for name, row in scores.items()
        for task, value in zip(tasks, row, strict=True)
    }


def test_json_in_parts_is_json_written_at_once(client, board, small_parts):
    for name in ("exports/scores.json", "exports/margins.json", "board.json"):
        text = whole(client.get(f"/b/{board.key}/{name}")).decode()
        assert text == json_text(json.loads(text))


def test_json_of_a_table_without_rows_is_written_as_at_once(make):
    empty = make.benchmark({}, n_tasks=2)
    make.accepted(empty, {"A": [1.0, 2.0]})
    table = scores_export(Origin.of(empty, empty.revisions.latest("number")), only=())
    text = "".join(EXPORT_FORMATS["json"][1](table))
    assert text == json_text(json.loads(text))
    assert json.loads(text)["rows"] == []


def test_few_scores_are_read_before_the_first_of_them_are_sent(client, board, monkeypatch):
    monkeypatch.setattr(score_table, "CHUNK_ROWS", 5 * N_TASKS)
    monkeypatch.setattr(file_parts, "PART_BYTES", 300)
    with rows_read("leaderboard_score") as read:
        response = client.get(f"/api/v1/benchmarks/{board.key}/scores/?format=csv&long=true")
        assert read.numbers == [5 * N_TASKS]
        parts = list(response.streaming_content)
    assert read.numbers == [5 * N_TASKS] * 9
    assert len(parts) > 20


def test_sending_the_scores_of_a_board_asks_nothing_of_the_database(client, board, small_parts):
    response = client.get(f"/api/v1/benchmarks/{board.key}/scores/?format=csv")
    with CaptureQueriesContext(connection) as queries:
        assert len(list(response.streaming_content)) > 4
    assert len(queries) == 0


def test_a_database_that_fails_before_the_first_byte_is_told_as_an_error(client, board):
    def fail(execute, sql, parameters, many, context):
        if "leaderboard_score" in sql:
            raise OperationalError("the connection is gone")
        return execute(sql, parameters, many, context)

    client.raise_request_exception = False
    for long in ("", "&long=true"):
        with connection.execute_wrapper(fail):
            response = client.get(f"/api/v1/benchmarks/{board.key}/scores/?format=csv{long}")
        assert response.status_code >= 500
        assert "error" in response.json()


@pytest.mark.parametrize("write", [scores_csv, scores_long_csv])
def test_memory_does_not_grow_with_the_file(make, monkeypatch, write):
    """What is allocated at most while the parts of a file are taken, and of one that is six times as long."""
    monkeypatch.setattr(file_parts, "PART_BYTES", 2_000)
    # Not fewer: psycopg remembers the texts of its last 128 queries, and every chunk has one of its own.
    monkeypatch.setattr(score_table, "CHUNK_ROWS", 250)
    draw, sizes, peaks = random.Random(0), [], []
    for n_systems in (50, 300):
        benchmark = make.benchmark({f"System {i}": [draw.gauss(0, 1) for _ in range(10)] for i in range(n_systems)})
        revision = benchmark.revisions.select_related("configuration").latest("number")
        response = file_parts.file_response(RequestFactory().get("/"), write(revision), "text/csv")
        tracemalloc.start()
        try:
            sizes.append(sum(len(part) for part in response.streaming_content))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert sizes[1] > 5 * sizes[0]
    assert peaks[1] < 3 * peaks[0]


def test_a_folder_beyond_what_is_taken_back_is_refused_and_one_within_is_the_same_zip(client, board, settings):
    path = f"/api/v1/benchmarks/{board.key}/folder/"
    packed = client.get(path).content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = {name.rpartition("/")[2]: archive.read(name).decode() for name in archive.namelist()}
    assert files == {name: "".join(lines) for name, lines in folder_of(board.publication.revision).items()}
    at_once = io.BytesIO()
    with zipfile.ZipFile(at_once, "w") as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(f"{board.key}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, text, compress_type=zipfile.ZIP_DEFLATED)
    assert packed == at_once.getvalue()
    size = sum(len(text.encode()) for text in files.values())
    settings.UPLOAD_BYTES = size
    assert client.get(path).content == packed
    settings.UPLOAD_BYTES = size - 1
    refused = client.get(path)
    assert refused.status_code == 422
    assert f"more than the {size - 1:,} bytes" in refused.json()["error"]["message"]
