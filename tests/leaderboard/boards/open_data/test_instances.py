"""Scores of single instances in the archive of a frozen revision, and archives that are packed once."""

import csv
import hashlib
import io
import json
import zipfile
from copy import deepcopy

import pytest
from django.test import Client

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.boards.open_data import archive, instances
from leaderboard.boards.open_data.archive import release_zip
from leaderboard.boards.open_data.instances import archived_instances
from leaderboard.common.cache import BoundedCache
from leaderboard.models import Benchmark, Release, Submission
from leaderboard.submissions.moderation.takedowns import take_down
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import REFERENCES, add_references
from tests.signing_in import signed_in

CELLS = [
    ("ada", "speed", "q1", "1.0"), ("ada", "speed", "q,2", ""), ("bert", "speed", "q1", "0.5"),
    ("bert", "speed", "q,2", "0.25"), ("ada", "recall", "r", "3.0"), ("bert", "recall", "r", "2.0"),
]  # fmt: skip
UPLOADED = [(system.capitalize(), task.capitalize(), name, value) for system, task, name, value in CELLS]


@pytest.fixture
def packed(monkeypatch):
    """The archives that are kept, none at first."""
    monkeypatch.setattr(archive, "_packed", BoundedCache(archive.PACKED_BYTES))
    return archive._packed


@pytest.fixture(scope="module")
def frozen_once(make_once):
    benchmark = make_once.benchmark({}, tasks=[TaskSpec("Speed"), TaskSpec("Recall")], name="Bench")
    table = io.StringIO()
    csv.writer(table).writerows([("system", "task", "instance", "score"), *UPLOADED])
    given = Upload(table=table.getvalue().encode(), is_of_instances=True, creates_systems=True)
    submit_upload(benchmark, owner_of(benchmark), given)
    benchmark = make_once.publish(Benchmark.objects.get(pk=benchmark.pk))
    freeze_revision(benchmark, author=owner_of(benchmark), number=benchmark.published_number, name="First")
    return benchmark


@pytest.fixture
def benchmark(frozen_once, make, packed):
    return deepcopy(frozen_once)


def download(benchmark, client=None):
    return (client or Client()).get(f"/b/{benchmark.key}/releases/first/data.zip")


def files_of(response) -> dict[str, bytes]:
    assert response.status_code == 200, response.content
    with zipfile.ZipFile(io.BytesIO(response.content)) as unpacked:
        return {name.partition("/")[2]: unpacked.read(name) for name in unpacked.namelist()}


def in_archive(files) -> dict[str, list[tuple[str, ...]]]:
    return {
        name: [tuple(row.values()) for row in csv.DictReader(io.StringIO(content.decode()))]
        for name, content in files.items()
        if name.startswith("instances/")
    }


def test_scores_of_single_instances_are_as_they_were_given_in_a_file_a_task(benchmark):
    files = files_of(download(benchmark))
    assert {name: set(rows) for name, rows in in_archive(files).items()} == {
        "instances/speed-001.csv": set(CELLS[:4]),
        "instances/recall-001.csv": set(CELLS[4:]),
    }
    assert "| `instances/TASK-NUMBER.csv` |" in files["README.md"].decode()


def test_clusters_are_a_column_of_the_tasks_for_which_some_are_stated(make, packed):
    benchmark = make.benchmark({}, tasks=[TaskSpec("Speed"), TaskSpec("Recall")], name="Bench")
    cells = [(*cell, "text 1" if cell[1:3] == ("Speed", "q1") else "") for cell in UPLOADED]
    table = io.StringIO()
    csv.writer(table).writerows([("system", "task", "instance", "score", "cluster"), *cells])
    given = Upload(table=table.getvalue().encode(), is_of_instances=True, creates_systems=True)
    submit_upload(benchmark, owner_of(benchmark), given)
    benchmark = make.publish(Benchmark.objects.get(pk=benchmark.pk))
    freeze_revision(benchmark, author=owner_of(benchmark), number=benchmark.published_number, name="First")
    files = files_of(download(benchmark))
    clusters = {"q1": "text 1", "q,2": ""}
    assert {name: set(rows) for name, rows in in_archive(files).items()} == {
        "instances/speed-001.csv": {(*cell, clusters[cell[2]]) for cell in CELLS[:4]},
        "instances/recall-001.csv": set(CELLS[4:]),
    }
    records = {record["@id"]: record for record in json.loads(files["croissant.json"])["recordSet"]}
    named = {name: [field["name"] for field in records[name]["field"]] for name in records if "instances" in name}
    without = ["system", "task", "instance", "value"]
    assert named == {"instances/speed-001": [*without, "cluster"], "instances/recall-001": without}


def test_long_files_are_split_between_systems(benchmark, monkeypatch):
    monkeypatch.setattr(instances, "ROWS_A_FILE", 3)
    rows = in_archive(files_of(download(benchmark)))
    assert {name: {row[0] for row in rows[name]} for name in rows} == {
        "instances/speed-001.csv": {"ada"}, "instances/speed-002.csv": {"bert"},
        "instances/recall-001.csv": {"ada", "bert"},
    }  # fmt: skip
    assert sorted(row for part in rows.values() for row in part) == sorted(CELLS)


def test_croissant_has_a_record_set_for_each_file_with_its_hash(benchmark):
    files = files_of(download(benchmark))
    content = json.loads(files["croissant.json"])
    hashes = {file["@id"]: file["sha256"] for file in content["distribution"]}
    records = {record["@id"]: record for record in content["recordSet"]}
    for name in ("instances/speed-001", "instances/recall-001"):
        assert hashes[f"{name}.csv"] == hashlib.sha256(files[f"{name}.csv"]).hexdigest()
        assert [key["@id"] for key in records[name]["key"]] == [
            f"{name}/{column}" for column in ("system", "task", "instance")
        ]
        assert [(one["source"]["extract"]["column"], one["dataType"]) for one in records[name]["field"]] == [
            ("system", "sc:Text"), ("task", "sc:Text"), ("instance", "sc:Text"), ("value", "sc:Float"),
        ]  # fmt: skip
        assert {one["source"]["fileObject"]["@id"] for one in records[name]["field"]} == {f"{name}.csv"}


@pytest.mark.parametrize(("bound", "most"), [("MAX_SCORES", 5), ("MAX_BYTES", 200)])
def test_too_many_are_left_out_before_any_is_read_and_the_readme_says_so(benchmark, monkeypatch, bound, most):
    monkeypatch.setattr(instances, bound, most)
    monkeypatch.setattr(instances.InstanceFile, "table", None)
    files = files_of(download(benchmark))
    assert in_archive(files) == {}
    assert "Scores of single instances are not in the archive: " in files["README.md"].decode()
    assert "The API has them task by task." in files["README.md"].decode()


def test_the_bound_on_bytes_is_no_less_than_what_is_written(benchmark, monkeypatch):
    n_bytes = sum(len(data) for name, data in files_of(download(benchmark)).items() if name.startswith("instances/"))
    monkeypatch.setattr(instances, "MAX_BYTES", n_bytes - 1)
    assert in_archive(files_of(download(benchmark))) == {}


def test_where_references_are_hidden_not_even_owners_get_them_in_an_archive(benchmark):
    assert in_archive(files_of(download(benchmark)))
    add_references(benchmark.tasks.get(key="speed"), REFERENCES, "accuracy", by=owner_of(benchmark))
    for client in (Client(), signed_in(owner_of(benchmark))):
        files = files_of(download(benchmark, client))
        assert in_archive(files) == {}
        assert "q,2" not in "".join(data.decode("latin1") for data in files.values())
        assert "the benchmark has hidden references" in files["README.md"].decode()


def test_an_archive_is_packed_once(benchmark, packed):
    release = Release.objects.get(benchmark=benchmark)
    first, second = (release_zip(release, benchmark.publication, "a hash") for _ in range(2))
    assert first is second
    assert release_zip(release, benchmark.publication, None) != first
    assert (len(packed), packed.n_bytes) == (2, len(first) + len(release_zip(release, benchmark.publication, None)))


def test_what_is_taken_down_is_not_served_from_what_was_packed(benchmark, packed):
    assert b"ada" in files_of(download(benchmark))["scores.csv"]
    lost = Submission.objects.filter(benchmark=benchmark, system__key="ada").latest("pk")
    take_down(lost, actor=owner_of(benchmark), reason="No right to it.")
    assert len(packed) == 1
    assert download(benchmark).status_code == 410


def test_what_was_packed_is_asked_for_by_the_rows_that_are_there_now(benchmark):
    """So that it would not be served even if a revision that lost scores were still shown."""
    publication = benchmark.publication
    before = archived_instances(benchmark, publication)
    lost = Submission.objects.filter(benchmark=benchmark, system__key="ada").latest("pk")
    take_down(lost, actor=owner_of(benchmark), reason="No right to it.")
    after = archived_instances(benchmark, publication)
    assert [[system[0] for system in file.systems] for file in before.files] == [["ada", "bert"]] * 2
    assert [[system[0] for system in file.systems] for file in after.files] == [["bert"]] * 2


@pytest.mark.parametrize("changes", [{"visibility": "private"}, {"score_view": "ranks"}])
def test_who_may_no_longer_read_gets_nothing_of_what_was_packed(benchmark, packed, changes):
    assert download(benchmark).status_code == 200
    Benchmark.objects.filter(pk=benchmark.pk).update(**changes)
    assert download(benchmark).status_code in (403, 404)


def test_what_owners_change_is_in_the_next_archive(benchmark, packed):
    before = files_of(download(benchmark))
    Benchmark.objects.filter(pk=benchmark.pk).update(description="Said later.", licence="CC0-1.0")
    benchmark.systems.filter(key="ada").update(organisation="Renamed later")
    after = files_of(download(benchmark))
    assert b"Said later." not in before["CITATION.cff"]
    assert b"Said later." in after["CITATION.cff"]
    assert b"Renamed later" in after["systems.csv"]
    assert in_archive(after) == in_archive(before)
