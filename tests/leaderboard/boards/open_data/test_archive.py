"""A frozen revision as one zip: its tables say what the board says, and its metadata describe exactly these files."""

import csv
import hashlib
import io
import json
import re
import zipfile

import numpy as np
import pytest
import yaml
from django.db import transaction
from django.test import Client

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.boards.open_data import tables
from leaderboard.models import Benchmark
from leaderboard.rankings.published import published_board
from ranking_engine import ScoreMatrix
from ranking_engine.prospects import prospects
from tests.factories import Factory, owner_of

NAME = 'Odd & <b>"name"</b>'
DOI = "10.5281/zenodo.1234567"


@pytest.fixture(scope="module")
def frozen(django_db_setup, django_db_blocker):
    """A board of three systems on two tasks, one score missing, frozen, with every study that ends at once."""
    with django_db_blocker.unblock(), transaction.atomic():
        make = Factory()
        tasks = [TaskSpec("Speed", weight="1.5", direction=-1, unit="s"), TaskSpec("Recall", weight=1)]
        scores = {"A": [0.1 + 0.2, 7.0], "B": [0.1, None], "C": [2.0, 7.0]}
        about = {"description": "What it is.", "licence": "CC-BY-4.0", "doi": DOI, "tags": ["speech"]}
        benchmark = make.publish(make.benchmark(scores, tasks=tasks, name=NAME, **about), studies=True)
        freeze_revision(benchmark, author=owner_of(benchmark), number=1, name="2026.1")
        yield benchmark
        transaction.set_rollback(True)


@pytest.fixture
def path(frozen, make):
    return f"/b/{frozen.key}/releases/2026-1/"


def files_of(response) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(response.content)) as packed:
        return {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}


def rows_of(text: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.decode())))


def test_the_zip_has_the_same_bytes_each_time_and_one_folder(client, path):
    first, second = client.get(f"{path}data.zip"), client.get(f"{path}data.zip")
    assert (first.status_code, first["Content-Type"], first["Cache-Control"]) == (
        200, "application/zip", "private, no-store",
    )  # fmt: skip
    assert first.content == second.content
    with zipfile.ZipFile(io.BytesIO(first.content)) as packed:
        assert {name.partition("/")[0] for name in packed.namelist()} == {"odd-bnameb-2026-1"}
    names = ("systems", "tasks", "scores", "rules", "ranks", "prospects", "studies")
    assert set(files_of(first)) == {
        "README.md", "CITATION.cff", "croissant.json", *(f"{name}.csv" for name in names),
        *(f"parquet/{name}.parquet" for name in names),
    }  # fmt: skip


def test_scores_and_tasks_are_as_they_were_given(client, path):
    files = files_of(client.get(f"{path}data.zip"))
    assert [tuple(row.values()) for row in rows_of(files["scores.csv"])] == [
        ("a", "speed", "0.3", "", "", ""), ("a", "recall", "7.0", "", "", ""),
        ("b", "speed", "0.1", "", "", ""), ("b", "recall", "", "", "", "not_reported"),
        ("c", "speed", "2.0", "", "", ""), ("c", "recall", "7.0", "", "", ""),
    ]  # fmt: skip
    tasks = rows_of(files["tasks.csv"])
    assert [(row["key"], row["direction"], row["weight"], row["unit"]) for row in tasks] == [
        ("speed", "lower", "1.5", "s"), ("recall", "higher", "1", ""),
    ]  # fmt: skip
    assert [(row["key"], row["name"]) for row in rows_of(files["systems.csv"])] == [("a", "A"), ("b", "B"), ("c", "C")]


def test_ranks_are_those_of_every_rule_of_the_board(client, frozen, path):
    files = files_of(client.get(f"{path}data.zip"))
    board = published_board(frozen.publication)
    ranks = {(row["rule"], row["system"]): row["rank"] for row in rows_of(files["ranks.csv"])}
    assert ranks == {
        (column.rule, key): str(rank) if rank > 0 else ""
        for column in board.columns
        if column.status == "ranked"
        for key, rank in zip("abc", column.ranks.tolist(), strict=True)
    }
    assert [(row["key"], row["status"]) for row in rows_of(files["rules.csv"])] == [
        (column.rule, column.status) for column in board.columns
    ]
    assert len(rows_of(files["studies.csv"])) > 10


def test_who_can_win_is_as_the_engine_says_of_the_same_table(client, path):
    """B lacks a score; C is dominated by A on speed and equals it on recall."""
    files = files_of(client.get(f"{path}data.zip"))
    matrix = ScoreMatrix([[0.3, 7.0], [0.1, np.nan], [2.0, 7.0]], system_names=list("abc"), directions=[-1, 1])
    assert {row["system"]: row["verdict"] for row in rows_of(files["prospects.csv"])} == {
        one.system: one.verdict for one in prospects(matrix).systems
    }


def test_parquet_has_the_rows_of_the_csv_with_types(client, path):
    parquet = pytest.importorskip("pyarrow.parquet")
    files = files_of(client.get(f"{path}data.zip"))
    table = parquet.read_table(io.BytesIO(files["parquet/scores.parquet"]))
    assert [str(kind) for kind in table.schema.types] == ["string", "string", "double", "double", "double", "string"]
    assert table.column("value").to_pylist() == [0.3, 7.0, 0.1, None, 2.0, 7.0]
    ranks = parquet.read_table(io.BytesIO(files["parquet/ranks.parquet"]))
    assert (str(ranks.schema.field("rank").type), ranks.num_rows) == ("int64", len(rows_of(files["ranks.csv"])))


def test_croissant_describes_each_file_with_its_hash_and_each_column(client, path):
    files = files_of(client.get(f"{path}data.zip"))
    content = json.loads(files["croissant.json"])
    assert (content["@type"], content["conformsTo"]) == ("sc:Dataset", "http://mlcommons.org/croissant/1.0")
    assert {file["@id"]: file["sha256"] for file in content["distribution"]} == {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name.endswith((".csv", ".parquet"))
    }
    columns = {
        record["@id"]: [field["source"]["extract"]["column"] for field in record["field"]]
        for record in content["recordSet"]
    }
    assert columns == {name: list(rows_of(files[f"{name}.csv"])[0]) for name in columns}
    known = {field["@id"] for record in content["recordSet"] for field in record["field"]}
    named = {key["@id"] for record in content["recordSet"] for key in record.get("key", [])}
    named |= {f["references"]["field"]["@id"] for r in content["recordSet"] for f in r["field"] if "references" in f}
    assert named <= known


def test_the_file_of_citation_is_yaml_and_names_the_licence_and_the_doi(client, frozen, path):
    files = files_of(client.get(f"{path}data.zip"))
    content = yaml.safe_load(files["CITATION.cff"])
    assert {name: content[name] for name in ("cff-version", "type", "title", "license", "authors")} == {
        "cff-version": "1.2.0", "type": "dataset", "title": f"{NAME}, 2026.1", "license": "CC-BY-4.0",
        "authors": [{"name": f"Contributors to {NAME}"}],
    }  # fmt: skip
    digest = frozen.publication.revision.input_hash
    assert [(one["value"], one["description"]) for one in content["identifiers"]] == [
        (DOI, "The benchmark"), (f"sha256:{digest}", "The scores, tasks, weights and groups"),
    ]  # fmt: skip
    readme = files["README.md"].decode()
    assert f"- Scores, tasks, weights and groups, SHA-256: {digest}\n" in readme
    assert f"Revision 1, scores and tasks SHA-256 {digest}" in readme
    assert "CC-BY-4.0" in readme
    assert "<b>" not in readme.partition("## How to cite it")[0]


@pytest.mark.parametrize("page", ["board", "release"])
def test_pages_carry_a_dataset_that_no_name_can_break_out_of(client, frozen, path, page):
    text = client.get(path if page == "release" else f"/b/{frozen.key}/").content.decode()
    blocks = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, flags=re.DOTALL)
    content = json.loads(blocks[0])
    assert len(blocks) == 1
    assert not set("<>&") & set(blocks[0])
    assert (content["@type"], content["identifier"]) == ("Dataset", f"https://doi.org/{DOI}")
    assert content["name"] == (f"{NAME}, 2026.1" if page == "release" else NAME)
    assert content["license"] == {"@type": "CreativeWork", "name": "CC-BY-4.0"}
    assert content["variableMeasured"] == ["Speed", "Recall"]
    addresses = [one["contentUrl"].removeprefix("http://testserver") for one in content["distribution"]]
    assert {client.get(address).status_code for address in addresses} == {200}
    assert (f"{path}data.zip" in addresses) == (page == "release")


def test_what_some_readers_do_not_see_is_no_dataset_and_no_file(frozen, path):
    Benchmark.objects.filter(pk=frozen.pk).update(score_view="ranks")
    for page in (path, f"/b/{frozen.key}/"):
        text = Client().get(page).content.decode()
        assert ("ld+json" in text, "data.zip" in text) == (False, False)
    assert Client().get(f"{path}data.zip").status_code == 403


def test_a_board_that_is_too_long_for_one_archive_is_refused_before_any_table_is_made(client, path, monkeypatch):
    monkeypatch.setattr(tables, "MAX_ROWS", 50)
    refused = client.get(f"{path}data.zip")
    assert (refused.status_code, refused["Content-Type"]) == (422, "text/plain; charset=utf-8")
    assert "3 systems with 2 tasks" in refused.content.decode()


def test_a_board_and_its_studies_say_how_to_cite_them(client, frozen):
    text = client.get(f"/b/{frozen.key}/").content.decode()
    assert f"@misc{{{frozen.key}-r1," in text
    assert f"http://testserver/b/{frozen.key}/?revision=1" in text
    assert f"doi          = {{{DOI}}}" in text
    studies = client.get(f"/b/{frozen.key}/stability/").content.decode()
    assert f"@misc{{{frozen.key}-r1-significance," in studies
    assert f"http://testserver/b/{frozen.key}/stability/?revision=1#study-significance" in studies
    prospects = client.get(f"/b/{frozen.key}/prospects/?verdict=all").content.decode()
    assert f"@misc{{{frozen.key}-r1-prospects," in prospects
    assert f"{{http://testserver/b/{frozen.key}/prospects/?verdict=all&amp;revision=1}}" in prospects
