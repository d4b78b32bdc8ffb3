"""Files that are read in pieces say what they say when they are read at once."""

from dataclasses import fields, replace

import pytest

from ranking_engine.importers import SourceFile, documents, read_results
from ranking_engine.importers.documents import COMPANIONS, pieces
from ranking_engine.importers.records import Recognised
from tests.ranking_engine.importers.examples import EXAMPLES, LONG_TABLE

MARKED_TABLE = [SourceFile("wide.csv", b"system,Quiz,meta:Parameters,meta:Licence\nOne,0.30000000000000004,7B,mit\n")]
RUNS = EXAMPLES | {"long table": LONG_TABLE, "marked table": MARKED_TABLE}
# What another run of the same systems is called in the files of each format: other tasks, and fewer facts.
OTHER = (
    (b'"quiz', b'"more'), (b'"sums', b'"bits'), (b"quiz:", b"more:"), (b'"Quiz - EM"', b'"More - EM"'),
    (b'"Web - BPB"', b'"Net - BPB"'), (b'"Pairs"', b'"Couples"'), (b'"riddles', b'"jokes'), (b"name: DS", b"name: D2"),
    (b'"all": {"acc', b'"each": {"acc'), (b'"all": [', b'"each": ['), (b"lab/quiz", b"lab/more"), (b"quiz,", b"more,"),
    (b"sums,", b"bits,"), (b",quiz\n", b",more\n"), (b",sums\n", b",bits\n"), (b"Quiz", b"More"), (b"Sums", b"Bits"),
    (b'"model_num_parameters": 6738415616', b'"model_num_parameters": null'), (b"base_model: lab/zero\n", b""),
    (b"7B,mit", b"-,mit"),
)  # fmt: skip


def runs_of(example):
    """Two runs in one folder, beside the one file that describes it."""
    shared = [file for file in example if file.base in COMPANIONS]
    first = [file for file in example if file.base not in COMPANIONS]
    second = []
    for file in first:
        data = file.data
        for old, new in OTHER:
            data = data.replace(old, new)
        second.append(SourceFile(f"other_{file.name}", data))
    return [*first, *second, *shared]


def facts(recognised):
    return {field.name: getattr(recognised, field.name) for field in fields(Recognised)}


# A folder is one table, and votes are one file.
@pytest.mark.parametrize("key", [key for key in RUNS if key not in ("folder", "votes")])
def test_pieces_of_one_run_say_all_that_the_files_say_at_once(key, monkeypatch):
    files = runs_of(RUNS[key])
    whole = read_results(files)
    assert len(list(pieces(files))) == 1
    monkeypatch.setattr(documents, "MAX_FILES_AT_A_TIME", len(RUNS[key]))
    assert len(list(pieces(files))) == 2
    in_pieces = read_results([replace(file) for file in files])
    assert facts(in_pieces) == facts(whole)
    assert len(whole.records) == 2 * len(read_results(RUNS[key]).records)


def test_what_is_rounded_is_counted_over_all_pieces(monkeypatch):
    monkeypatch.setattr(documents, "MAX_FILES_AT_A_TIME", 1)
    notes = [f"system,Task {k}\nOne,92.19999999999999\n".encode() for k in range(3)]
    recognised = read_results([SourceFile(f"{k}.csv", data) for k, data in enumerate(notes)])
    assert recognised.notes == ["3 scores are rounded to 12 significant digits: 92.19999999999999 is read as 92.2"]
