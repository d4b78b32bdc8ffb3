"""Results of sections, kept under var/papers so that a run that was cut short goes on where it stopped.

A result is found again by what it depends on: the engine's version, the section's code and published figures, and the
bytes of the leaderboards that it reads. The engine's own code is not among these: raise its version, or use --force.
What takes long within a section, and what several sections share, is kept by itself (`kept`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import ranking_engine
from reproduction import tables
from reproduction.boards import REPOSITORY, files_of
from reproduction.tables import PUBLISHED, Result, Section

FOLDER = REPOSITORY / "var" / "papers"


def key_of(section: Section) -> str:
    """Return the hash of all that a section depends on.

    Raises:
        NoDataError: a leaderboard is not on this machine.
    """
    module = _module_of(section.compute)
    files = [*sorted(_code_of(module)), Path(str(tables.__file__)), *sorted(PUBLISHED.glob("*.toml"))]
    for name in section.boards:
        files += files_of(name)
    return _hashed(files)


def _module_of(compute: Callable[..., Any]) -> ModuleType:
    return sys.modules[inspect.unwrap(getattr(compute, "func", compute)).__module__]


def _code_of(module: ModuleType) -> set[Path]:
    """Return the files of a module and of those of this package that it takes names from."""
    paths = {Path(str(module.__file__))}
    names = {getattr(value, "__module__", "") for value in vars(module).values()}
    for name in sorted(str(name) for name in names):
        if name.startswith("reproduction.") and Path(str(sys.modules[name].__file__)) not in paths:
            paths.add(Path(str(sys.modules[name].__file__)))
    return paths


def _hashed(files: Iterable[Path]) -> str:
    digest = hashlib.sha256(ranking_engine.__version__.encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def load(section: Section, key: str) -> Result | None:
    """Return the stored result, or None where there is none."""
    path = _path(section, key)
    return Result.from_plain(json.loads(path.read_bytes())) if path.is_file() else None


def save(section: Section, key: str, result: Result) -> None:
    """Store a result, whole or not at all, and forget the section's older ones."""
    _write(_path(section, key), result.plain())


def kept(name: str, boards: Iterable[str], compute: Callable[[], Any]) -> Any:
    """Return what `compute` returned before for the same leaderboards and the same code of it, or compute it now.

    Args:
        name: says what it is; one name, one meaning.
        boards: the leaderboards that it reads.
        compute: returns JSON.
    """
    module = _module_of(compute)
    key = _hashed([Path(str(module.__file__)), *(path for board in boards for path in files_of(board))])
    path = FOLDER / f"{name}@{key}.json"
    if path.is_file():
        return json.loads(path.read_bytes())
    _write(path, compute())
    return json.loads(path.read_bytes())


def forget_all() -> None:
    """Forget whatever was kept."""
    for path in FOLDER.glob("*@*.json"):
        path.unlink()


def _write(path: Path, content: Any) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob(f"{path.name.partition('@')[0]}@*.json"):
        old.unlink()
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.replace(path)


def _path(section: Section, key: str) -> Path:
    return FOLDER / f"{section.key}@{key}.json"
