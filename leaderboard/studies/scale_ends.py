"""The two ends of the landscape's scale: benchmarks without structure, read from the file that `make papers` wrote."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from django.utils.translation import gettext

from leaderboard.common.language.numbers import localise

ENDS = Path(__file__).with_name("scale_ends.json")


@dataclass(frozen=True)
class ScaleEnd:
    """A baseline of Zhang and Hardt 2024.

    Attributes:
        name: Constant (one task, repeated) or Random (every score drawn independently).
        n_systems, n_tasks: its size.
        diversity: 1 - Kendall's W, corrected for ties; a mean over trials, like `reached`.
        reached: the share of pairs that a search reversed: no more is known of the worst case.
    """

    name: str
    n_systems: int
    n_tasks: int
    diversity: float
    reached: float

    @property
    def size_text(self) -> str:
        """How large it is."""
        return gettext("%(n_systems)s systems, %(n_tasks)s tasks") % {
            "n_systems": localise(self.n_systems, ","),
            "n_tasks": self.n_tasks,
        }


@cache
def scale_ends(kind: Literal["cardinal", "ordinal"]) -> list[ScaleEnd]:
    """Return Constant and Random of a kind."""
    return [ScaleEnd(**line) for line in _stored()[kind]]


@cache
def n_trials() -> int:
    """Return over how many trials the figures are means."""
    return int(_stored()["n_trials"])


@cache
def random_top() -> int:
    """Return of how many systems the order is at stake on Random, for win rates."""
    return int(_stored()["random_top"])


@cache
def _stored() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(ENDS.read_text(encoding="utf-8"))
    return stored
