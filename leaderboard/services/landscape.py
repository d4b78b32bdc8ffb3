"""All benchmarks on one plane: how much their tasks disagree, and how far changes that should not matter move them."""

from dataclasses import dataclass
from typing import Any

from leaderboard.charts.scatter import Point, Scatter, scatter
from leaderboard.selectors.audience import Viewer
from leaderboard.selectors.landscape import studied_benchmarks
from leaderboard.services.job_kinds import STUDY
from leaderboard.services.papers import claim_on

DIVERSITY, CARDINAL, ORDINAL = "diversity", "cardinal_sensitivity", "ordinal_sensitivity"
FEASIBLE = "scaled"  # the weights of the released code


@dataclass(frozen=True)
class Bounds:
    """What is known of a share: at least, at most."""

    lower: float
    upper: float

    @property
    def text(self) -> str:
        """As a reader takes it in: one number where it is proven."""
        if self.upper - self.lower <= 1e-9:
            return f"{self.lower:.3f}"
        return f"{self.lower:.3f} to {self.upper:.3f}"


@dataclass(frozen=True)
class Place:
    """One benchmark on the plane; what is None is not computed, or says nothing of it."""

    key: str
    name: str
    diversity: float | None
    cardinal: Bounds | None
    ordinal: Bounds | None
    n_imputed: int = 0  # the missing scores that diversity had filled in from the nearest systems
    n_cells: int = 0  # of so many, with them

    @property
    def imputed_text(self) -> str:
        """How many of the scores that diversity rests on were filled in; empty where none were."""
        return f"{self.n_imputed} of {self.n_cells} scores filled in" if self.n_imputed else ""


@dataclass(frozen=True)
class Landscape:
    """The plane, twice: for rankings by mean score and by win rate; and what the recomputed papers say of either."""

    places: list[Place]
    cardinal: Scatter
    ordinal: Scatter
    cardinal_claim: str
    ordinal_claim: str


def landscape(viewer: Viewer) -> Landscape:
    """Every benchmark that the viewer may list and whose owners hide nothing."""
    places = [
        Place(benchmark.key, benchmark.name, _diversity(told), _cardinal(told), _ordinal(told), *_imputed(told))
        for benchmark, told in studied_benchmarks(viewer, STUDY, (DIVERSITY, CARDINAL, ORDINAL))
    ]
    return Landscape(
        places,
        _plane("mean score", "other weights of the tasks", [(place, place.cardinal) for place in places]),
        _plane("win rate", "other systems on the board", [(place, place.ordinal) for place in places]),
        claim_on("zhang-correlation-cardinal"),
        claim_on("zhang-correlation-ordinal"),
    )


def _plane(ranking: str, change: str, found: list[tuple[Place, Bounds | None]]) -> Scatter:
    return scatter(
        f"Diversity and sensitivity of rankings by {ranking}",
        f"One dot a benchmark; a line where what {change} can do is known between two bounds.",
        [
            Point(place.key, place.name, place.diversity, bounds.lower, bounds.upper)
            for place, bounds in found
            if bounds is not None and place.diversity is not None
        ],
        x_label="diversity",
        y_label="pairs turned round",
    )


def _diversity(told: dict[str, Any]) -> float | None:
    value = told.get(DIVERSITY, {}).get("diversity_tie_corrected")
    return None if value is None else float(value)


def _imputed(told: dict[str, Any]) -> tuple[int, int]:
    """How many scores were filled in for diversity, and of how many."""
    found = told.get(DIVERSITY, {})
    return int(found.get("n_imputed", 0)), int(found.get("n_systems", 0)) * int(found.get("n_tasks", 0))


def _cardinal(told: dict[str, Any]) -> Bounds | None:
    return _bounds(told.get(CARDINAL, {}).get("feasible", {}).get(FEASIBLE, {}))


def _ordinal(told: dict[str, Any]) -> Bounds | None:
    return _bounds(told.get(ORDINAL, {}))


def _bounds(found: dict[str, Any]) -> Bounds | None:
    share = found.get("discordant_share")
    return None if share is None else Bounds(float(share["lower"]), float(share["upper"]))
