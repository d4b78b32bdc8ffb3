"""All benchmarks on one plane: how much their tasks disagree, and how far changes that should not matter move them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from leaderboard.access.audience import Viewer, hides_nothing, listed_benchmarks
from leaderboard.common.charts.scatter import Point, Scatter, scatter
from leaderboard.models import Benchmark, Report
from leaderboard.papers.results import claim_on
from leaderboard.queue.kinds import STUDY

DIVERSITY, CARDINAL, ORDINAL = "diversity", "cardinal_sensitivity", "ordinal_sensitivity"
PAGE_PLACES = 100  # as many dots as can be told apart
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

    places: list[Place]  # of one page
    page: Page[Benchmark]
    cardinal: Scatter
    ordinal: Scatter
    cardinal_claim: str
    ordinal_claim: str


def landscape(viewer: Viewer, page: str | None = None) -> Landscape:
    """The benchmarks that the viewer may list and whose owners hide nothing, a page of them by name."""
    found = Paginator(open_boards(viewer).order_by("name", "key"), PAGE_PLACES).get_page(page)
    places = places_of(list(found))
    return Landscape(
        places,
        found,
        _plane("mean score", "other weights of the tasks", [(place, place.cardinal) for place in places]),
        _plane("win rate", "other systems on the board", [(place, place.ordinal) for place in places]),
        claim_on("zhang-correlation-cardinal"),
        claim_on("zhang-correlation-ordinal"),
    )


def places_by_key(viewer: Viewer, *, after: str, most: int) -> list[Benchmark]:
    """The benchmarks of the landscape whose keys come after this one, so many, for `places_of`."""
    return list(open_boards(viewer).filter(key__gt=after).order_by("key")[:most])


def places_of(benchmarks: Sequence[Benchmark]) -> list[Place]:
    """Where these benchmarks stand: one query."""
    told = study_summaries(benchmarks, STUDY, (DIVERSITY, CARDINAL, ORDINAL))
    return [
        Place(b.key, b.name, _diversity(told[b.pk]), _cardinal(told[b.pk]), _ordinal(told[b.pk]), *_imputed(told[b.pk]))
        for b in benchmarks
    ]


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


def open_boards(viewer: Viewer) -> QuerySet[Benchmark]:
    """The published benchmarks that `viewer` may list.

    Those that hide something are left out: what their studies say is for their moderators.
    """
    rows = listed_benchmarks(viewer).filter(hides_nothing(), publication__isnull=False)
    return rows.select_related("publication").defer("description", "citation")


def study_summaries(
    benchmarks: Sequence[Benchmark], kind: str, studies: Sequence[str]
) -> dict[int, dict[str, dict[str, Any]]]:
    """Of each benchmark, by its id, the summaries of some studies of what is published, by study.

    Args:
        benchmarks: with their publications.
        kind: the kind of report that holds a study.
        studies: which studies.
    """
    published = {b.publication.revision_id: b for b in benchmarks if b.publication is not None}
    found: dict[int, dict[str, dict[str, Any]]] = {benchmark.pk: {} for benchmark in benchmarks}
    reports = Report.objects.filter(revision_id__in=published, kind=kind, parameters__study__in=list(studies))
    for report in reports.defer("arrays").order_by("pk"):
        benchmark = published[report.revision_id]
        if benchmark.publication and report.engine_version == benchmark.publication.engine_version:
            found[benchmark.pk][report.parameters["study"]] = report.summary
    return found
