"""Fields of the systems' metadata and their values: what is read, what is refused, and that files keep it."""

from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from ranking_engine.files.benchmark_file import read_benchmark
from ranking_engine.files.metadata import (
    KINDS,
    LEAST,
    MAX_CHOICES,
    MAX_FIELDS,
    MAX_TEXT,
    STARTER,
    MetadataField,
    read_fields,
    read_values,
)
from ranking_engine.files.tables import TableError, read_table

FIELDS = {
    "text": MetadataField("licence", "Licence"),
    "number": MetadataField("parameters", "Parameters", "number"),
    "date": MetadataField("released", "Released", "date"),
    "yes_no": MetadataField("open", "Open", "yes_no"),
    "choice": MetadataField("kind", "Kind", "choice", choices=("model", "Human")),
    "link": MetadataField("paper", "Paper", "link"),
}


@pytest.mark.parametrize(
    ("kind", "written", "value", "text"),
    [
        ("number", "7B", 7 * 10**9, "7 B"), ("number", "1.3k", 1300, "1300"), ("number", "1,300", 1300, "1300"),
        ("number", Decimal("11e9"), 11 * 10**9, "11 B"), ("number", 0.15, 0.15, "0.15"), ("number", "-2", -2, "−2"),
        ("number", 128000, 128000, "128,000"), ("number", "70 b", 70 * 10**9, "70 B"), ("number", "", None, ""),
        ("date", "2024", "2024", "2024"), ("date", 2024, "2024", "2024"), ("date", " 2024-05 ", "2024-05", "2024-05"),
        ("date", "2024-02-29", "2024-02-29", "2024-02-29"), ("yes_no", "Yes", True, "yes"),
        ("yes_no", False, False, "no"),
        ("yes_no", "0", False, "no"), ("choice", "HUMAN", "Human", "Human"), ("text", " MIT ", "MIT", "MIT"),
        ("link", "https://a.example/b?c", "https://a.example/b?c", "https://a.example/b?c"), ("text", None, None, ""),
    ],
)  # fmt: skip
def test_a_value_is_read_as_people_write_it_and_told_as_they_read_it(kind, written, value, text):
    read = FIELDS[kind].read(written)
    assert (read, type(read)) == (value, type(value))
    assert value is None or FIELDS[kind].text(read) == text


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("number", "0,15"), ("number", "seven"), ("number", "1e99"), ("number", 10**18 - 1),
        pytest.param("number", 10**5000, id="many digits"), ("number", float("inf")),
        ("number", Decimal("1e999999")), ("number", "9" * 41), ("number", True), ("number", "1e999999999"),
        ("date", "2024-13"), ("date", "2023-02-29"), ("date", "0001"), ("date", "9999"), ("date", 2024.5),
        ("yes_no", "maybe"), ("choice", "robot"), ("link", "javascript:alert(1)"), ("link", "https://" + "a." * 200),
        ("text", "x" * (MAX_TEXT + 1)), ("text", "x" * 10**6), ("text", "a\nb"), ("text", "=1+1"), ("text", 5),
        ("text", ["a"]), ("choice", {}), ("link", "http://nowhere"), ("text", "\u202ea"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused(kind, written):
    with pytest.raises(ValueError, match=r"^(it|'.*' is not) "):
        FIELDS[kind].read(written)


@pytest.mark.parametrize("written", ["1e-320", 1e-320, -5e-324, "9.9e-19", Decimal("1e-999999"), "-1e-500"])
def test_a_number_that_is_all_but_0_is_refused_with_the_reason(written):
    with pytest.raises(ValueError, match=r"^it is closer to 0 than 1e-18; write 0, or use a smaller unit$"):
        FIELDS["number"].read(written)
    assert [FIELDS["number"].read(text) for text in ("0", "1e-18", "0e-400")] == [0, 1e-18, 0]


@given(st.integers(-(10**17), 10**17) | st.floats(LEAST, 1e17) | st.floats(-1e17, -LEAST))
def test_a_number_that_was_written_reads_back(number):
    field = FIELDS["number"]
    value = field.read(number)
    assert value is not None
    assert field.read(field.written(value)) == value
    assert value == pytest.approx(number, rel=1e-11)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("text", "they are no list"),
        ([{"name": f"F{i}"} for i in range(MAX_FIELDS + 1)], f"{MAX_FIELDS + 1} fields; at most {MAX_FIELDS} are kept"),
        ([5], "field 1 is no object"),
        ([{"name": "A", "colour": "red"}], "field 1 says 'colour'"),
        ([{"name": 5}], "field 1 has a name that is no text"),
        ([{"name": ""}], "is empty"),
        ([{"name": "x" * 61}], "has a name of 61 characters"),
        ([{"name": "名"}], "has the key ''"),
        ([{"name": "A", "key": "x" * 31}], "has the key"),
        (
            [{"name": "A", "kind": "choice", "choices": ["MIT", "GPL, or later"]}],
            "the field 'A' has the choice 'GPL, or later'; a choice has no comma",
        ),
        ([{"name": "Tags"}], "every system has that anyway"),
        ([{"name": "A", "kind": "colour"}], "is of the kind 'colour'"),
        ([{"name": "A", "unit": "x" * 41}], "has a unit of 41 characters"),
        ([{"name": "A", "is_column": "yes"}], "has an `is_column`"),
        ([{"name": "A", "kind": "choice"}], "has no choices"),
        ([{"name": "A", "choices": ["b"]}], "has choices, and is of the kind text"),
        ([{"name": "A", "kind": "choice", "choices": "ab"}], "has choices that are no list"),
        ([{"name": "A", "kind": "choice", "choices": [str(i) for i in range(MAX_CHOICES + 1)]}], "41 choices"),
        ([{"name": "A", "kind": "choice", "choices": ["x" * 81]}], "no line of 1 to 80"),
        ([{"name": "A", "kind": "choice", "choices": ["b", "B"]}], "has a choice twice"),
        ([{"name": "A"}, {"name": "a", "key": "b"}], "two fields are called"),
        ([{"name": "A"}, {"name": "A!"}], "two fields have the key 'a'"),
    ],
)
def test_what_is_no_field_is_refused_by_name(declared, message):
    with pytest.raises(ValueError, match=message):
        read_fields(declared)


def test_the_usual_fields_can_be_declared_and_are_stored_as_they_are():
    declared = [field.declaration for field in STARTER]
    assert read_fields(declared) == STARTER
    assert tuple(MetadataField.stored(declaration) for declaration in declared) == STARTER
    assert {field.kind for field in STARTER} == KINDS.keys()


def test_values_are_named_by_key_or_name_once_and_what_has_no_field_is_named():
    fields = tuple(FIELDS.values())
    assert read_values(fields, {"PARAMETERS": "7B", "Kind": "model", "licence": ""}) == (
        {"parameters": 7 * 10**9, "kind": "model"}, [])  # fmt: skip
    _, problems = read_values(fields, {"open": "yes", "Open": "no", "colour": "red"})
    assert problems == [
        ("Open", "'Open' is the field that 'open' names already"),
        (
            "colour",
            "'colour' is no field of the systems; the fields are licence, parameters, released, open, kind, paper",
        ),
    ]


def test_columns_of_metadata_are_no_tasks_wherever_they_stand():
    table = read_table(b"system,meta:licence,A,meta: Parameters,B\nx,MIT,1,7B,2\ny,,3,,\n")
    assert (table.task_names, table.values.tolist()[0]) == (("A", "B"), [1.0, 2.0])
    assert table.metadata == {"licence": ("MIT", ""), "Parameters": ("7B", "")}
    semicolons = read_table(b"system;meta:note;A\nx;1,5 or 2.5;0,5\n")
    assert (semicolons.values.tolist(), semicolons.metadata) == ([[0.5]], {"note": ("1,5 or 2.5",)})


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (["meta:a"], "no task: every column but the first begins with 'meta:'"),
        (["A", *(f"meta:f{i}" for i in range(MAX_FIELDS + 1))], "25 columns that begin with 'meta:'"),
    ],
)
def test_a_table_has_tasks_and_no_more_than_so_many_fields(header, message):
    with pytest.raises(TableError, match=message):
        read_table(f"system,{','.join(header)}\nx{',1' * len(header)}\n".encode())


TOML = b"""
[[field]]
name = "Parameters"
kind = "number"

[[field]]
name = "Released"
kind = "date"

[[system]]
name = "A"
metadata = { parameters = 7e9, released = 2024-05-01 }
"""


def test_a_benchmark_file_declares_fields_and_states_their_values():
    described = read_benchmark(TOML)
    assert described.metadata_fields == (MetadataField("parameters", "Parameters", "number"),
                                         MetadataField("released", "Released", "date"))  # fmt: skip
    assert described.system_metadata == {"A": {"parameters": 7 * 10**9, "released": "2024-05-01"}}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b"parameters = 7e9", b"parameters = 'many'", "line 12: metadata, parameters: 'many' is not a number"),
        (b"{ parameters = 7e9, released = 2024-05-01 }", b"5", "line 12: metadata is no table"),
        (b'kind = "date"', b'kind = "day"', "of the kind 'day'"),
        (b'kind = "date"', b"kind = 5", "a kind that is no text"),
    ],
)
def test_what_a_benchmark_file_cannot_say_is_told_with_its_line(before, after, message):
    with pytest.raises(TableError, match=message):
        read_benchmark(TOML.replace(before, after))
