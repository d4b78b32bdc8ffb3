"""Results of sections, kept under var/papers so that a run that was cut short goes on where it stopped.

A result is found again by what it depends on: the engine's version, the section's code and published figures, and the
bytes of the leaderboards that it reads. The engine's own code is not among these: raise its version, or use --force.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path

import ranking_engine
from benchmarks.papers import tables
from benchmarks.papers.boards import REPOSITORY, files_of
from benchmarks.papers.tables import PUBLISHED, Result, Section

FOLDER = REPOSITORY / "var" / "papers"


def key_of(section: Section) -> str:
    """Return the hash of all that a section depends on.

    Raises:
        NoDataError: a leaderboard is not on this machine.
    """
    found = hashlib.sha256(ranking_engine.__version__.encode())
    module = inspect.getmodule(getattr(section.compute, "func", section.compute))
    files = [Path(str(module.__file__)), Path(tables.__file__), *sorted(PUBLISHED.glob("*.toml"))]
    for name in section.boards:
        files += files_of(name)
    for path in files:
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def load(section: Section, key: str) -> Result | None:
    """Return the stored result, or None where there is none."""
    path = _path(section, key)
    return Result.from_plain(json.loads(path.read_bytes())) if path.is_file() else None


def save(section: Section, key: str, result: Result) -> None:
    """Store a result, whole or not at all, and forget the section's older ones."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = _path(section, key)
    for old in FOLDER.glob(f"{section.key}@*.json"):
        old.unlink()
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(result.plain()), encoding="utf-8")
    unfinished.replace(path)


def _path(section: Section, key: str) -> Path:
    return FOLDER / f"{section.key}@{key}.json"
