"""Under which licences the packages of the lock and the demonstration data are: it writes `docs/licences.md`."""

import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from config.installation.audit import LOCK, pins

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "licences.md"
DATA = ROOT / "leaderboard" / "demonstration"
LONGEST = 60  # characters of a licence's name; some packages state the whole text
CLASSIFIER = "License :: "
HEAD = """# Licences

Plurank is free software under the Apache License 2.0. This page lists what it uses: the packages of
`requirements.lock`, which are installed beside it and are not part of this repository, and the demonstration data,
which are.
`python -m config.installation.licences` writes it from what the packages and the data state themselves.

## Packages

| package | licence |
|---|---|
"""
BETWEEN = """
## Demonstration data

| board | source | licence |
|---|---|---|
"""


def packages() -> dict[str, str]:
    """The licence of each package of the lock that is installed here, by its name."""
    licences = {}
    for name in sorted(pins(LOCK.read_text(encoding="utf-8"))):
        try:
            about: Any = metadata.metadata(name)  # a mail's header, which may have a field several times
        except metadata.PackageNotFoundError:  # it is for another system
            continue
        classifiers = [
            line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith(CLASSIFIER)
        ]
        classified = ", ".join(line for line in classifiers if line != "OSI Approved")
        first_line = (about.get("License") or "").strip().splitlines()
        short = first_line[0] if first_line and len(first_line[0]) <= LONGEST else ""
        licences[name] = about.get("License-Expression") or short or classified or "not stated"
    return licences


def boards() -> Iterable[tuple[str, str, str]]:
    """Title, source and licence of each demonstration board."""
    for file in sorted(DATA.glob("*/benchmark.toml")):
        about = tomllib.loads(file.read_text(encoding="utf-8"))
        yield about["title"], about["source_url"], about["licence"]


def page() -> str:
    """The document."""
    rows = "".join(f"| {name} | {licence} |\n" for name, licence in packages().items())
    data = "".join(f"| {title} | <{source}> | {licence} |\n" for title, source, licence in boards())
    return f"{HEAD}{rows}{BETWEEN}{data}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
