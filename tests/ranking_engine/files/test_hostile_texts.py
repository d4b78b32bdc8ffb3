"""Texts that would keep a pattern busy for minutes, and packed files that would fill the memory: all end at once."""

import subprocess
import sys
import zipfile
from io import BytesIO

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from ranking_engine.files.grids import rows_of_records, rows_of_text
from ranking_engine.files.limited_process import limited_command
from ranking_engine.files.number_forms import cell_number
from ranking_engine.files.problems import InputError
from ranking_engine.files.roles import about_role
from ranking_engine.files.workbooks import MEMORY, PROGRAM, details_of, sheets_of, table_kind
from ranking_engine.importers import MAX_BINARY_TABLES, SourceFile, read_results
from ranking_engine.importers.archives import ArchiveError, unpacked
from tests.plurank.test_readers import workbook


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a|b\n" + " " * 1_200 + "-" + " " * 2_400 + "x|-\n", ("CSV", 2)),
        ("a|b\n-|-\n" + ("[" * 3_900 + "|1\n") * 100, ("Markdown", 101)),
    ],
    ids=["spaces around a rule", "open brackets"],
)
def test_what_is_nearly_markdown_is_read_at_once(text, read):
    kind, rows = rows_of_text(text)
    assert (kind, len(rows)) == read


@pytest.mark.parametrize("command", ["cline{", "cmidrule(", "addlinespace["])
def test_latex_that_never_closes_is_read_at_once(command):
    text = "\\begin{tabular}{l}\n" + f"\\{command}" * 130_000
    assert rows_of_text(text)[0] == "LaTeX"


@pytest.mark.parametrize("cell", ["x" + " " * 3_998 + "y", "1±" + " " * 3_900 + "(", "(" * 4_000, "1 " * 2_000 + "±"])
def test_what_is_nearly_a_number_with_a_spread_is_none(cell):
    assert [cell_number(cell) for _ in range(2_000)] == [None] * 2_000


def test_a_long_name_of_a_column_is_about_no_other():
    names = ["a" + "_" * 3_980 + f"b{i}" for i in range(2_000)]
    assert {about_role(name, name, {}) for name in names} == {""}


def test_halves_of_characters_and_nul_in_json_are_no_part_of_names_and_cells():
    rows = rows_of_records([(1, {"model\ud800": "A\0", "x": {"\udfff": "b\ud800"}})])
    assert rows == [(1, ["model_", "x._"]), (1, ["A_", "b_"])]


def test_a_workbook_whose_cells_share_one_long_text_is_too_large():
    shared = "é" * 300
    with pytest.raises(ValueError, match=r"more than 20,000,000 characters"):
        sheets_of(workbook([["system", *map(str, range(9))], *([shared] * 10 for _ in range(7_000))]), "workbook")


def test_an_archive_with_a_large_directory_is_refused_before_it_is_opened():
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number:0>90}", b"")
    data = bytearray(content.getvalue())
    end = data.rfind(b"PK\x05\x06")
    data[end + 8 : end + 12] = b"\x01\0\x01\0"  # says that there is one entry
    assert table_kind(bytes(data)) == ""
    with pytest.raises(ArchiveError, match="more than 5,000 entries"):
        unpacked("a.zip", bytes(data), 10, 10**6)


def test_so_many_workbooks_are_read_at_once_and_no_more():
    data = workbook([["system", "QA"], ["A", 1.0]])
    files = [SourceFile(f"{number}.xlsx", data) for number in range(MAX_BINARY_TABLES + 1)]
    with pytest.raises(InputError, match=f"more than {MAX_BINARY_TABLES} workbooks and Parquet files"):
        read_results(files)


SCATTERED = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1000000"><c r="BC1000000"><v>2</v></c></row>'


def scattered_workbook():
    """A workbook of 1.4 kB with two cells, far from each other."""
    packed = BytesIO()
    with zipfile.ZipFile(BytesIO(workbook([["system"]]))) as plain, zipfile.ZipFile(packed, "w") as archive:
        for name in plain.namelist():
            text = plain.read(name).decode()
            head, tail = text.partition("<sheetData>")[:2], "</sheetData></worksheet>"
            archive.writestr(name, "".join((*head, SCATTERED, tail)) if "<sheetData>" in text else text)
    return packed.getvalue()


def parquet(table, **options):
    packed = BytesIO()
    pq.write_table(pa.table(table), packed, **options)
    return packed.getvalue()


def one_text():
    """A column of one text of 400 kB in 4,000 rows, which takes no more memory than the text."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * 4_000, pa.int32()), ["x" * 400_000])


PACKED = {
    "cells far apart": ("a.xlsx", scattered_workbook),
    "one text": ("a.parquet", lambda: parquet({"system": one_text(), "QA": [1.0] * 4_000}, store_schema=False)),
    "one text in a struct": (
        "a.parquet",
        lambda: parquet({"row": pa.StructArray.from_arrays([one_text()], ["system"])}, store_schema=False),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PACKED)
def test_a_small_file_that_unpacks_to_much_takes_little_memory(name):
    """A workbook of 1.4 kB took 1.7 GB, a Parquet file of 769 bytes 0.6 GB."""
    data = PACKED[name][1]()
    kind = table_kind(data)
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, *limited_command(PROGRAM, 20, kind, "500000", memory=MEMORY[kind])],
        input=data, capture_output=True, check=True,
    )  # fmt: skip
    assert int(ran.stdout) < 200_000  # kB


MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=sys.stdin, capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_the_largest_tables_are_read_within_the_same_bounds():
    header, names = ["system", *(f"t{t}" for t in range(47))], [f"A system with the number {k}" for k in range(10_000)]
    rows = [[name, *(f"{k * t} of {t}" for t in range(47))] for k, name in enumerate(names)]
    assert len(sheets_of(workbook([header, *rows]), "workbook")["s"]) == 10_001
    texts = {f"t{t}": [f"{t} {k:038}" for k in range(60_000)] for t in range(7)}  # each another one
    assert len(sheets_of(parquet(texts), "parquet")[""]) == 60_001
    columns = {"system": names} | {f"t{t}": [k * t / 7 for k in range(10_000)] for t in range(47)}
    assert len(sheets_of(parquet(columns), "parquet")[""]) == 10_001


def test_texts_in_structs_are_read_from_a_file_of_several_groups_of_rows():
    table = {"doc": [{"id": str(k), "task_name": "t"} for k in range(3_000)], "metric": [{"acc": 1.0}] * 3_000}
    data = parquet(table, row_group_size=1_000)
    rows = sheets_of(data, "parquet")[""]
    assert (rows[0], len(rows)) == ((1, ["doc.id", "doc.task_name", "metric.acc"]), 3_001)
    assert rows[3_000] == (3_001, ["2999", "t", "1"])
    details = [(1, ["id", "task_name", "acc"]), *((k + 2, [str(k), "t", "1"]) for k in range(3_000))]
    assert details_of([data], 500_000) == [details]


def test_texts_of_parquet_are_those_of_its_rows():
    table = {"row": pa.array([{"system": "A", "QA": 1.5}, {"system": None, "QA": 2.0}]), "note": ["x", "x"]}
    table["kind"] = pa.array(["b", None]).dictionary_encode()
    rows = sheets_of(parquet(table), "parquet")[""]
    assert rows == [(1, ["row.system", "row.QA", "note", "kind"]), (2, ["A", "1.5", "x", "b"]), (3, ["", "2", "x", ""])]
