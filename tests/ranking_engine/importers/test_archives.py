"""Archives and folders: what is read of them, and that no archive costs more than its bounds."""

import gzip
import io
import json
import struct
import zipfile

import pytest

from ranking_engine.files.problems import InputError
from ranking_engine.importers import SourceFile, read_results
from ranking_engine.importers.archives import MAX_ENTRIES
from ranking_engine.importers.documents import MAX_BYTES, MAX_FILES, MAX_TOTAL, pieces, unpacked_files
from tests.ranking_engine.importers.examples import EXAMPLES, FILES, LM_EVAL, MTEB, archive, as_json

TABLE = b"system,Quiz\nOne,1\n"


def values(files):
    return {(record.system, *record.column): record.value for record in read_results(files).records}


@pytest.mark.parametrize("key", [key for key in EXAMPLES if key not in ("mteb", "helm-run", "folder")])
def test_an_archive_is_read_as_the_files_in_it(key):
    (file,) = EXAMPLES[key]
    assert values([SourceFile("a.zip", archive({f"run/{file.name}": file.data}))]) == values([file])


def test_a_folder_is_read_without_what_lies_beside_the_results():
    recognised = read_results([FILES["folder.zip"]])
    assert values([FILES["folder.zip"]]) == values(EXAMPLES["mteb"])
    assert "left out: folder.zip/run_settings.jsonl: not MTEB task results" in recognised.notes
    results = [*EXAMPLES["lm-eval"], SourceFile("samples_quiz.jsonl", b'{"doc_id": 0}\n{"doc_id": 1}\n')]
    assert values(results) == values(EXAMPLES["lm-eval"])
    hidden = archive({"__MACOSX/._a.csv": b"\0", "a/.DS_Store": b"\0", "a/a.csv": TABLE})
    assert values([SourceFile("a.zip", hidden)]) == values([SourceFile("a.csv", TABLE)])


def test_a_folder_of_a_thousand_files_is_read_in_pieces_that_all_know_the_model():
    files = [as_json(f"Task{k}.json", MTEB | {"task_name": f"Task{k}"}) for k in range(MAX_FILES - 1)]
    recognised = read_results([*files, EXAMPLES["mteb"][1]])
    assert len(recognised.records) == 2 * (MAX_FILES - 1)
    assert {(record.system, record.revision) for record in recognised.records} == {("lab/one", "abc")}
    assert len(list(pieces([*files, EXAMPLES["mteb"][1]]))) == 6


def test_runs_with_other_numbers_of_examples_are_other_columns_also_in_other_pieces():
    runs = [
        as_json(f"{k}.json", LM_EVAL | {"model_name": f"m{k}", "n-shot": {"quiz": 5 if k == 400 else 0}})
        for k in range(401)
    ]
    splits = {record.system: record.split for record in read_results(runs).records if record.task == "quiz"}
    assert (splits["m0"], splits["m400"]) == ("0-shot", "5-shot")


def test_a_helm_run_stays_with_its_description_in_every_piece():
    stats, spec, *_ = EXAMPLES["helm-run"]
    files = [
        SourceFile(f"run{k}_{name}", file.data)
        for k in range(150)
        for name, file in (("stats.json", stats), ("run_spec.json", spec))
    ]
    assert all(len(piece) % 2 == 0 for piece in pieces(files))


def many(n):
    return archive({f"{k}.csv": TABLE for k in range(n)}, zipfile.ZIP_STORED)


def encrypted():
    data = bytearray(archive({"a.csv": TABLE}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    return bytes(data)


def overlapping(n):
    """A directory that names one packed file many times."""
    whole = archive({"0.csv": b"0" * 2**20})
    start, end = whole.index(b"PK\x01\x02"), whole.index(b"PK\x05\x06")
    directory = whole[start:end] * n
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n, n, len(directory), start, 0)
    return whole[:start] + directory + tail


def other_size():
    data = bytearray(archive({"a.csv": TABLE}, zipfile.ZIP_STORED))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(signature) + offset
        data[place : place + 4] = struct.pack("<L", 5)
    return bytes(data)


HOSTILE = {
    "bomb": (archive({"a.json": b" " * 40 * 2**20}), "unpacks to more than 200 times its size"),
    "large bomb": (archive({"a.json": b" " * (MAX_TOTAL + 1)}), "unpacks to more than 50 MB"),
    "overlapping": (overlapping(60), "unpacks to more than"),
    "gzip bomb": (gzip.compress(b"0" * 30 * 2**20), "unpacks to more than 200 times its size"),
    "large gzip bomb": (gzip.compress(b"0" * (MAX_TOTAL + 1)), "unpacks to more than"),
    "in an archive": (archive({"b.zip": archive({"a.csv": TABLE})}), "an archive in an archive"),
    "gzip in an archive": (archive({"a.csv.gz": gzip.compress(TABLE)}), "an archive in an archive"),
    "many files": (many(MAX_FILES + 1), "1,001 files in the archive; the limit is 1,000"),
    "very many files": (many(MAX_ENTRIES + 1), "more than 5,000 entries"),
    "encrypted": (encrypted(), "'a.csv' in the archive is encrypted"),
    "cut off": (archive({"a.csv": TABLE})[:-30], "the archive is damaged"),
    "another size": (other_size(), "damaged"),
    "bzip2 inside": (archive({"a.csv": TABLE}, zipfile.ZIP_BZIP2), "packed in a way that is not read"),
    "no files": (archive({}), "the archive has no files"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + b"0" * 40, "only .zip and .gz are read"),
    "tar": (b"a.csv".ljust(257, b"\0") + b"ustar" + b"\0" * 250, "only .zip and .gz are read"),
    "large file": (
        archive({"a.csv": b"0" * (MAX_BYTES + 1)}, zipfile.ZIP_STORED),
        "more than 10 MB in one file",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_archive_that_costs_too_much_or_cannot_be_read_is_refused(name):
    data, message = HOSTILE[name]
    with pytest.raises(InputError, match=message):
        read_results([SourceFile("a.zip", data)])


@pytest.mark.parametrize("path", ["../../etc/passwd.csv", "/etc/a.csv", "C:\\a.csv", "a/\u202egnp.csv", "a\x07b.csv"])
def test_a_path_in_an_archive_is_a_name_and_nothing_is_written(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (record,) = read_results([SourceFile("a.zip", archive({path: TABLE}))]).records
    assert (record.system, record.value) == ("One", 1.0)
    assert "\u202e" not in record.source
    assert "\x07" not in record.source
    assert list(tmp_path.iterdir()) == []


def test_files_together_have_a_bound_whether_packed_or_not():
    half = SourceFile("a.csv", b"system,Quiz\n" + b" " * (MAX_BYTES - 20))
    with pytest.raises(InputError, match="more than 50 MB; import them in parts"):
        unpacked_files([half] * 6)
    with pytest.raises(InputError, match="more than 1,000 files; import them in parts"):
        unpacked_files([SourceFile("a.zip", many(600))] * 2)


@pytest.mark.parametrize("name", ["inspect_ai-0.3.285.eval", "inspect_ai-0.3.285.json"])
def test_logs_that_inspect_ai_wrote_are_read(name):
    n = 6 if name.endswith(".eval") else 3
    value, error = 0.666666666667, {6: 0.210818510678, 3: 0.333333333333}[n]
    results = read_results([FILES[name]])
    assert results.format_key == "inspect-ai"
    assert {(r.system, r.task, r.subset, r.metric): (r.value, r.standard_error, r.n) for r in results.records} == {
        ("mockllm/model", "quiz", scorer, "accuracy"): (value, error, n) for scorer in ("match", "includes")
    }
    assert list(results.warnings) == ([] if n == 6 else [f"{name}: run with a limit, so not on all instances"])


def test_a_log_in_an_archive_and_one_without_its_name_are_read_too():
    log = FILES["inspect_ai-0.3.285.eval"]
    expected = values([log])
    assert values([SourceFile("logs.zip", archive({"logs/a.eval": log.data}))]) == expected
    assert values([SourceFile("log", log.data)]) == expected


def test_a_log_that_is_cut_off_or_a_bomb_is_refused():
    log = FILES["inspect_ai-0.3.285.eval"].data
    for data, message in (
        (log[:-50], "damaged"),
        (archive({"header.json": b" " * 30 * 2**20}), "unpacks to more than"),
        (archive({"header.json": json.dumps({"a": 1})}), "not supported"),
    ):
        with pytest.raises(InputError, match=message):
            read_results([SourceFile("a.eval", data)])


def test_a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_read():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("[Content_Types].xml", b"")
        for k in range(21):
            opened.writestr(f"xl/{k}.xml", b"0" * 10 * 2**20)
    with pytest.raises(InputError, match="it unpacks to more than 200 MB"):
        read_results([SourceFile("a.xlsx", data.getvalue())])
