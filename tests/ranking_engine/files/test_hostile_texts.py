"""Texts that would keep a pattern busy for minutes, and packed files that would fill the memory: all end at once."""

import zipfile
from io import BytesIO

import pytest

from ranking_engine.files.grids import rows_of_records, rows_of_text
from ranking_engine.files.number_forms import cell_number
from ranking_engine.files.problems import InputError
from ranking_engine.files.roles import about_role
from ranking_engine.files.workbooks import sheets_of, table_kind
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
