"""What the papers describe, item by item, and where it is here. The items are in `items.toml`, in the papers' order."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "items.toml"
PAPERS = {
    "rofin": "Vote'n'Rank",
    "zhang": "Diversity and stability",
    "colombo": "What are the best systems?",
    "pavao": "Judging competitions",
    "design": "the site's design",
}
WORKS, PARTLY, MISSING = STATES = ("works", "partly", "missing")


@dataclass(frozen=True)
class Item:
    """One thing that a paper describes.

    Attributes:
        number: from 1.
        paper: a key of `PAPERS`.
        place: as "section 2.2.1"; empty where it is no single place.
        what: it is, in our words.
        state: one of `STATES`.
        where: it is here, as pairs of a kind and a name.
        lacks: what is not here, where the state is not "works".
    """

    number: int
    paper: str
    place: str
    what: str
    state: str
    where: tuple[tuple[str, str], ...]
    lacks: str = ""


def items() -> list[Item]:
    """Return all items, in the order of the file."""
    listed = tomllib.loads(FILE.read_text(encoding="utf-8"))["items"]
    return [Item(**item | {"where": tuple(pair for each in item["where"] for pair in each.items())}) for item in listed]


def state_counts(listed: Sequence[Item]) -> dict[str, int]:
    """Return how many of the items are in each state."""
    return {state: sum(item.state == state for item in listed) for state in STATES}
