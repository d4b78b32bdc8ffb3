"""Every figure of every reference file is classed, and those to be compared are read by the tests that are named."""

from __future__ import annotations

import ast
import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.ranking_engine.reference_manifest import MANIFEST, Class, Entry
from tests.reference import READ_BY, every_key_path, reference_folder

SEPARATOR = " > "


def files() -> list[str]:
    return sorted(path.stem for path in (reference_folder() / "reference").glob("*.json"))


def fits(entry: Entry, file: str, keys: tuple[str, ...]) -> bool:
    if not fnmatchcase(file, entry.files):
        return False
    parts = entry.keys.split(SEPARATOR)
    if parts[-1].endswith("**"):
        depth = len(parts) - (parts[-1] == "**")
        parts, keys = [part.removesuffix("**") for part in parts[:depth]], keys[:depth]
    return len(parts) == len(keys) and all(map(fnmatchcase, keys, parts))


def entry_of(file: str, keys: tuple[str, ...]) -> Entry | None:
    return next((entry for entry in MANIFEST if fits(entry, file, keys)), None)


def test_every_value_of_every_file_is_classed_and_every_entry_classes_some():
    used = set()
    for file in files():
        for keys in every_key_path(file):
            entry = entry_of(file, keys)
            assert entry is not None, f"{file}: {SEPARATOR.join(keys)} is not classed"
            used.add(entry)
    assert [entry for entry in MANIFEST if entry not in used] == []


def test_whatever_is_left_out_says_why_and_whatever_is_compared_by_which_test():
    tests = {
        node.name
        for path in Path(__file__).parent.rglob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    for entry in MANIFEST:
        assert bool(entry.reason) == (entry.kind is Class.EXCLUDED), entry
        assert set(entry.tests) <= tests, entry
        assert bool(entry.tests) == (entry.kind is not Class.EXCLUDED), entry


def readers(file: str, keys: tuple[str, ...], kind: Class) -> set[str]:
    """The tests that have read a value; for feasibility, the keys of an object that it is in will do."""
    depths = range(1, len(keys) + 1) if kind is Class.FEASIBILITY else [len(keys)]
    return set().union(*(READ_BY.get((file, keys[:depth]), set()) for depth in depths))


def test_the_named_tests_read_what_they_are_to_compare(request):
    """Seen where the named tests have run before this one, in the same process."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("run in one process: others have read what this one did not")
    run = {item.originalname for item in request.session.items if hasattr(item, "originalname")}
    named = {test for entry in MANIFEST for test in entry.tests}
    if not named <= run:
        pytest.skip(f"run with all tests of the engine: {len(named - run)} named tests are not in this run")
    unread = []
    for file in files():
        for keys in every_key_path(file):
            entry = entry_of(file, keys)
            if entry is not None and entry.tests and not readers(file, keys, entry.kind) & set(entry.tests):
                unread.append(f"{file}: {SEPARATOR.join(keys)}")
    assert unread == []
