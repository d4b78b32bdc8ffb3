"""Where the published leaderboards and the peers' answers are, for the tests that compare with them.

PLURANK_REFERENCE_DATA names a folder that holds `data/` and `reference/`; the default is `../shared` relative
to the repository. Where it is absent such tests are skipped, visibly; with PLURANK_CI=1 they fail instead.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import read_table

REPOSITORY = Path(__file__).resolve().parent.parent


def reference_folder() -> Path:
    """Return the folder, or skip (fail where PLURANK_CI=1) the test that asks."""
    folder = Path(os.environ.get("PLURANK_REFERENCE_DATA") or REPOSITORY.parent / "shared")
    if (folder / "data").is_dir() and (folder / "reference").is_dir():
        return folder
    message = f"no reference data in {folder}: set PLURANK_REFERENCE_DATA to the folder with data/ and reference/"
    if os.environ.get("PLURANK_CI") == "1":
        pytest.fail(message)
    pytest.skip(message)


KeyPath = tuple[str, ...]

# Which test functions have read each value of each file of `reference/`, or the keys of an object of it:
# {(file, keys down to it): tests}.
READ_BY: dict[tuple[str, KeyPath], set[str]] = {}


def reference_answers(name: str) -> Answers:
    """Return the JSON of one file of `reference/`, named without its ending; it notes in READ_BY what is read of it."""
    return Answers(_stored_answers(name), name, ())


def every_key_path(name: str) -> Iterator[KeyPath]:
    """Yield the keys that lead to each value of one file of `reference/`; a list is one value."""
    return _paths(_stored_answers(name), ())


def _stored_answers(name: str) -> dict[str, Any]:
    return json.loads((reference_folder() / "reference" / f"{name}.json").read_bytes())


def _paths(stored: Any, keys: KeyPath) -> Iterator[KeyPath]:
    if isinstance(stored, dict) and stored:
        for key, value in stored.items():
            yield from _paths(value, (*keys, key))
    else:
        yield keys


class Answers(dict):
    """A JSON object that notes which test reads which of its values."""

    def __init__(self, stored: dict[str, Any], file: str, keys: KeyPath) -> None:
        super().__init__(stored)
        self.file, self.keys_above = file, keys

    def __getitem__(self, key: str) -> Any:
        value, keys = super().__getitem__(key), (*self.keys_above, key)
        if isinstance(value, dict) and value:
            return Answers(value, self.file, keys)
        self._note(keys)
        return value

    def __iter__(self) -> Iterator[str]:
        self._note(self.keys_above)
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def items(self) -> list[tuple[str, Any]]:
        return [(key, self[key]) for key in super().__iter__()]

    def values(self) -> list[Any]:
        return [self[key] for key in super().__iter__()]

    def _note(self, keys: KeyPath) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[-1].split("[")[0].split(" ")[0]
        READ_BY.setdefault((self.file, keys), set()).add(test)

    def __eq__(self, other: object) -> bool:
        return dict(self.items()) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


def reference_matrix(name: str) -> ScoreMatrix:
    """Return one leaderboard of `data/`."""
    folder = reference_folder() / "data" / name
    return to_matrix(read_table(folder / "scores.csv"), read_benchmark(folder / "benchmark.toml"))


def reference_leaderboards() -> list[str]:
    """Return the names of all leaderboards of `data/`."""
    return sorted(path.parent.name for path in (reference_folder() / "data").glob("*/scores.csv"))
