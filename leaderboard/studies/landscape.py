"""All benchmarks on one plane: how much their tasks disagree, and how far changes that should not matter move them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Viewer, hides_nothing, listed_benchmarks
from leaderboard.common.charts.scatter import NARROW, ROOMY, WIDE, Point, Scatter, scatter
from leaderboard.common.language.numbers import localise
from leaderboard.models import Benchmark, Report
from leaderboard.papers.results import claim_on
from leaderboard.queue.kinds import STUDY
from leaderboard.studies.landscape_fit import Fit, fit
from leaderboard.studies.scale_ends import ScaleEnd, n_trials, random_top, scale_ends

DIVERSITY, CARDINAL, ORDINAL = "diversity", "cardinal_sensitivity", "ordinal_sensitivity"
PAGE_PLACES = 100  # as many dots as readers can distinguish
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
            return localise(self.lower, ".3f")
        ends = {"low": localise(self.lower, ".3f"), "high": localise(self.upper, ".3f")}
        return gettext("%(low)s to %(high)s") % ends


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
        if not self.n_imputed:
            return ""
        return gettext("%(n)s of %(n_cells)s scores filled in") % {"n": self.n_imputed, "n_cells": self.n_cells}


@dataclass(frozen=True)
class Plane:
    """One of the two planes.

    Attributes:
        fit: how diversity and sensitivity go together on all benchmarks that the viewer may list, of all pages.
        ends: the baselines that are marked.
        charts: the benchmarks of one page, drawn for a large screen, a small one and a phone.
        claim: what the recomputed papers say.
        section: of the papers page, where that is worked out.
        baselines_section: of the papers page, where the baselines are.
    """

    fit: Fit
    ends: list[ScaleEnd]
    charts: list[Scatter]
    claim: str
    section: str
    baselines_section: str


@dataclass(frozen=True)
class Landscape:
    """The plane, twice: for rankings by mean score and by win rate."""

    places: list[Place]  # of one page
    page: Page[Benchmark]
    cardinal: Plane
    ordinal: Plane
    n_trials: int  # over which the figures of the baselines are means
    random_top: int  # of so many systems the order is at stake on Random, for win rates


def landscape(viewer: Viewer, page: str | None = None) -> Landscape:
    """The benchmarks that the viewer may list and whose owners hide nothing, a page of them by name."""
    boards = open_boards(viewer)
    chosen = Paginator(boards.order_by("name", "key"), PAGE_PLACES).get_page(page)
    places = places_of(list(chosen))
    is_whole = chosen.paginator.num_pages == 1
    known = figures_of(places) if is_whole else figures_of_all(boards)
    relations = known.fits()
    return Landscape(
        places,
        chosen,
        _plane("cardinal", relations["cardinal"], [(place, place.cardinal) for place in places]),
        _plane("ordinal", relations["ordinal"], [(place, place.ordinal) for place in places]),
        n_trials(),
        random_top(),
    )


@dataclass(frozen=True)
class Figures:
    """Of each benchmark on a plane: its diversity, and the bounds of the share of reversed pairs."""

    cardinal: list[tuple[float, float, float]]
    ordinal: list[tuple[float, float, float]]

    def fits(self) -> dict[Literal["cardinal", "ordinal"], Fit]:
        """How diversity and sensitivity go together on each plane."""
        return {"cardinal": fit(self.cardinal), "ordinal": fit(self.ordinal)}


def figures_of(places: Sequence[Place]) -> Figures:
    """What a relation is computed from."""
    known = [(p.diversity, p.cardinal, p.ordinal) for p in places if p.diversity is not None]
    return Figures(
        [(diversity, bounds.lower, bounds.upper) for diversity, bounds, _ in known if bounds],
        [(diversity, bounds.lower, bounds.upper) for diversity, _, bounds in known if bounds],
    )


def figures_of_all(boards: QuerySet[Benchmark]) -> Figures:
    """The same of all pages: one query, which reads these figures alone and not the whole summaries."""
    reports = Report.objects.filter(
        revision__in=boards.order_by().values("publication__revision"),
        kind=STUDY,
        parameters__study__in=[DIVERSITY, CARDINAL, ORDINAL],
        # The version of what is published now. A revision is published once by each version.
        revision__publications__pk=F("revision__benchmark__publication"),
        engine_version=F("revision__publications__engine_version"),
    )
    diversity: dict[int, float] = {}
    shares: dict[str, dict[int, dict[str, float]]] = {CARDINAL: {}, ORDINAL: {}}
    columns = reports.values_list(
        "revision",
        "parameters__study",
        "summary__diversity_tie_corrected",
        "summary__n_tasks",
        f"summary__feasible__{FEASIBLE}__discordant_share",
        "summary__discordant_share",
        "summary__note",
    )
    for revision, study, tie_corrected, n_tasks, cardinal, ordinal, note in columns.order_by("revision"):
        share = cardinal if study == CARDINAL else None if note else ordinal
        if study == DIVERSITY and tie_corrected is not None and n_tasks != 1:
            diversity[revision] = float(tie_corrected)
        elif study != DIVERSITY and share is not None:
            shares[study][revision] = share
    return Figures(
        *(
            [
                (value, float(shares[study][revision]["lower"]), float(shares[study][revision]["upper"]))
                for revision, value in diversity.items()
                if revision in shares[study]
            ]
            for study in (CARDINAL, ORDINAL)
        )
    )


def places_by_key(viewer: Viewer, *, after: str, most: int) -> list[Benchmark]:
    """The benchmarks of the landscape whose keys come after this one, so many, for `places_of`."""
    return list(open_boards(viewer).filter(key__gt=after).order_by("key")[:most])


def places_of(benchmarks: Sequence[Benchmark]) -> list[Place]:
    """Where these benchmarks are: one query."""
    published = {b.publication.revision_id: b for b in benchmarks if b.publication is not None}
    summaries: dict[int, dict[str, dict[str, Any]]] = {benchmark.pk: {} for benchmark in benchmarks}  # by study
    studies = [DIVERSITY, CARDINAL, ORDINAL]
    reports = Report.objects.filter(revision_id__in=published, kind=STUDY, parameters__study__in=studies)
    for report in reports.defer("arrays").order_by("pk"):
        benchmark = published[report.revision_id]
        if benchmark.publication and report.engine_version == benchmark.publication.engine_version:
            summaries[benchmark.pk][report.parameters["study"]] = report.summary
    places = []
    for benchmark in benchmarks:
        of_study = summaries[benchmark.pk]
        of_diversity = of_study.get(DIVERSITY, {})
        # One task cannot disagree with itself: its 0 says nothing of the benchmark.
        diversity = None if of_diversity.get("n_tasks") == 1 else of_diversity.get("diversity_tie_corrected")
        n_scores = int(of_diversity.get("n_systems", 0)) * int(of_diversity.get("n_tasks", 0))
        places.append(
            Place(
                benchmark.key,
                benchmark.name,
                None if diversity is None else float(diversity),
                _bounds(of_study.get(CARDINAL, {}).get("feasible", {}).get(FEASIBLE, {})),
                _bounds(of_study.get(ORDINAL, {})),
                int(of_diversity.get("n_imputed", 0)),
                n_scores,
            )
        )
    return places


WORDS = {  # of each plane: what is ranked by, what can change
    "cardinal": (gettext_noop("mean score"), gettext_noop("other weights of the tasks")),
    "ordinal": (gettext_noop("win rate"), gettext_noop("other systems on the board")),
}


def _plane(kind: Literal["cardinal", "ordinal"], relation: Fit, bounds_of: list[tuple[Place, Bounds | None]]) -> Plane:
    ranking, change = map(gettext, WORDS[kind])
    ends = scale_ends(kind)
    points = [
        Point(place.key, place.name, place.diversity, bounds.lower, bounds.upper)
        for place, bounds in bounds_of
        if bounds is not None and place.diversity is not None
    ]
    line = (relation.reached.slope, relation.reached.intercept) if relation.reached else None
    charts = [
        scatter(
            gettext("Diversity and sensitivity of rankings by %(ranking)s") % {"ranking": ranking},
            gettext(
                "One dot per benchmark; a vertical line spans the lower and the upper bound for what %(change)s can "
                "do. Diamonds are made-up benchmarks, the two ends of the scale."
            )
            % {"change": change}
            + (gettext(" The dashed line is the least-squares fit through the dots.") if line else ""),
            points,
            x_label=gettext("diversity"),
            y_label=gettext("reversed pairs"),
            marks=[Point(end.name.lower(), end.name, end.diversity, end.reached, end.reached) for end in ends],
            line=line,
            form=form,
        )
        for form in (ROOMY, WIDE, NARROW)
    ]
    section = f"zhang-correlation-{kind}"
    return Plane(relation, ends, charts, claim_on(section), section, f"zhang-baselines-{kind}")


def _bounds(summary: dict[str, Any]) -> Bounds | None:
    # Of a board so small that its first two are studied and not its first fifth, this says nothing comparable.
    share = None if summary.get("note") else summary.get("discordant_share")
    return None if share is None else Bounds(float(share["lower"]), float(share["upper"]))


def open_boards(viewer: Viewer) -> QuerySet[Benchmark]:
    """The published benchmarks that `viewer` may list.

    Those that hide something are left out: what their studies say is for their moderators.
    """
    rows = listed_benchmarks(viewer).filter(hides_nothing(), publication__isnull=False)
    return rows.select_related("publication").defer("description", "citation")
