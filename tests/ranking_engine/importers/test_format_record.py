"""The record of a format: how its files are read, and that every module has one."""

import importlib
import pkgutil

import pytest

from ranking_engine import importers
from ranking_engine.files.problems import InputError
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers import FORMATS, SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import Record

FILES = [SourceFile("a", b"1"), SourceFile("b", b"2")]


def add(collect, file):
    collect.add(Record("S", file.name, "m", float(file.text), source=collect.source))


def test_files_are_read_one_after_the_other_each_as_the_source_of_its_records():
    trial = Format("trial", "A trial", lambda files: True, file_by_file(add))
    read = trial.read([FILES], ColumnChoices())
    assert (read.format_key, read.format_name) == ("trial", "A trial")
    assert [(record.task, record.value, record.source) for record in read.records] == [("a", 1, "a"), ("b", 2, "b")]


def test_what_was_said_of_columns_reaches_formats_that_take_it_and_they_may_name_themselves():
    def read_files(collect, files, columns):
        collect.closer_name = f"a table with {columns.sheet}"
        add(collect, files[0])

    trial = Format("trial", "A trial", lambda files: True, read_files, takes_columns=True)
    assert trial.read([FILES], ColumnChoices(sheet="Scores")).format_name == "a table with Scores"


def test_files_without_scores_are_refused():
    with pytest.raises(InputError, match="these files contain no scores"):
        Format("trial", "A trial", lambda files: True, lambda collect, files: None).read([FILES])


def test_the_record_of_every_module_is_in_the_list_and_no_key_is_there_twice():
    modules = [
        importlib.import_module(f"{importers.__name__}.{one.name}") for one in pkgutil.iter_modules(importers.__path__)
    ]
    records = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    assert set(records) == set(FORMATS)
    keys = [key for one in FORMATS for key in (one.key, *one.old_keys)]
    assert len(keys) == len(set(keys))
