"""A model over all boards: its ranks and scores, its strengths by kind of task, its places on Pareto fronts.

Of each board a reader is told what its own pages would tell them: nothing of boards that lists may not mention to them
or that hide which system is which, and ranks alone where scores are hidden.
"""

from dataclasses import dataclass, replace

import numpy as np
from django.core.paginator import Page, Paginator
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Viewer, audience_of, naming_benchmarks
from leaderboard.boards.pareto.front import STANDINGS, figures_across, standings_of
from leaderboard.boards.pareto.uprights import Upright, with_intervals_of_all
from leaderboard.boards.rows import score_text
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.paging import with_parameters
from leaderboard.explore.identities.over_time import ModelOverTime, model_over_time
from leaderboard.explore.identities.strengths import (
    MAX_KINDS,
    CellBudget,
    KindOfTask,
    TaskShare,
    kinds_of,
    task_shares,
)
from leaderboard.models import Benchmark, System
from leaderboard.rankings.confidence.intervals import interval_text
from leaderboard.rankings.published import published_board
from leaderboard.rankings.redaction import hidden_text, redacted
from leaderboard.rankings.scores import systems_at
from leaderboard.rankings.systems import described_systems_at, names_on_boards

BOARDS_A_PAGE = 20
MAX_CELLS = 2_000_000  # systems x tasks whose scores one page reads, over its boards
NO_MODEL = gettext_noop("There is no model of this name, or you have no access to it.")


@dataclass(frozen=True)
class ParetoPlace:
    """Whether the system is on a front of its board: ranks under a rule against one field, where less is better."""

    field_name: str
    standing: str  # a key of STANDINGS
    url: str

    @property
    def standing_text(self) -> str:
        """In words."""
        return gettext(STANDINGS[self.standing] or "not on the front")


@dataclass(frozen=True)
class ModelOnBoard:
    """The model on one board, as the reader may see it."""

    benchmark: Benchmark
    system_key: str
    name: str  # as it is called there
    rule_name: str
    rank: int | None
    is_tied: bool
    n_ranked: int
    interval_text: str
    score_text: str
    reason: str  # why it has no rank
    hidden_text: str  # what is kept from the reader; empty where nothing is
    shares: list[TaskShare] | None  # None where its scores are too many to be read for this page
    pareto: list[ParetoPlace]
    n_predicted: int = 0  # scores that its rank rests on and no one measured

    @property
    def is_open(self) -> bool:
        """Whether the reader may open the page of the system there."""
        return not self.hidden_text


@dataclass(frozen=True)
class ModelPage:
    """Everything that the page shows."""

    key: str
    name: str
    other_names: list[str]  # on other boards
    rule: str  # empty: each board's own
    boards: list[ModelOnBoard]
    page: Page[System]  # which of the pages of boards it is
    kinds: list[KindOfTask]  # the strongest
    n_kinds: int
    over_time: ModelOverTime | None = None

    @property
    def n_boards(self) -> int:
        """On how many boards the reader sees it."""
        return self.page.paginator.count

    @property
    def n_too_large(self) -> int:
        """How many boards of this page the strengths leave out, because their scores are too many."""
        return sum(one.shares is None for one in self.boards)

    @property
    def has_pareto(self) -> bool:
        """Whether it has a place on a front, or none there, on a board of this page."""
        return any(one.pareto for one in self.boards)

    @property
    def has_predictions(self) -> bool:
        """Whether its rank on a board of this page rests on predicted scores of its own."""
        return any(one.n_predicted for one in self.boards)

    @property
    def has_intervals(self) -> bool:
        """Whether its rank on a board of this page has an interval."""
        return any(one.interval_text for one in self.boards)

    @property
    def n_first(self) -> int:
        """On how many boards of this page it is first."""
        return sum(one.rank == 1 for one in self.boards)


def model_page(
    viewer: Viewer, key: str, *, rule: str = "", page: str | None = None, with_history: bool = False
) -> ModelPage:
    """A model as a reader may see it.

    Args:
        viewer: who reads.
        key: of the model.
        rule: the key of the rule that ranks on every board; each board's own where empty.
        page: which page of its boards.
        with_history: with its ranks over time.

    Raises:
        Http404: there is none, or they see none of its systems.
    """
    benchmarks = naming_benchmarks(viewer).filter(publication__isnull=False)
    linked = System.objects.filter(identity__key=key, benchmark__in=benchmarks)
    linked = linked.select_related("benchmark__publication__revision__configuration", "identity")
    systems = list(linked.order_by("benchmark__name", "benchmark__key"))
    names = names_on_boards([system.pk for system in systems])
    systems = [system for system in systems if system.pk in names]
    if not systems:
        raise Http404(gettext(NO_MODEL))
    boards_page = Paginator(systems, BOARDS_A_PAGE).get_page(page)
    budget = CellBudget(MAX_CELLS)
    boards = [on_board(viewer, system, names[system.pk], rule, budget) for system in boards_page]
    called = [names[system.pk] for system in systems]
    kinds = kinds_of([(one.benchmark, one.shares or []) for one in boards])
    # Owners name their own systems, so what most boards call it is what anyone with many boards likes.
    identity = systems[0].identity
    name = names.get(identity.made_for_id or 0, "") if identity else ""
    name = name or max(sorted(set(called)), key=called.count)
    return ModelPage(
        key=key,
        name=name,
        other_names=sorted(set(called) - {name}),
        rule=rule,
        boards=boards,
        page=boards_page,
        kinds=kinds[:MAX_KINDS],
        n_kinds=len(kinds),
        over_time=model_over_time(viewer, list(boards_page), rule) if with_history else None,
    )


def on_board(viewer: Viewer, system: System, name: str, rule: str, budget: CellBudget) -> ModelOnBoard:
    """A system on its board, as a reader may see it who sees it by its name.

    Args:
        viewer: who reads.
        system: with its benchmark and the publication of that, on whose board it is.
        name: of the system on that board.
        rule: the key of a rule; the board's own where empty.
        budget: of the page; the scores of this board are taken from it.
    """
    benchmark = system.benchmark
    publication, audience = benchmark.publication, audience_of(viewer, benchmark)
    if publication is None:
        raise ValueError(f"nothing is published of {benchmark.key}")
    board = published_board(publication)
    if audience.is_restricted:
        board, _ = redacted(board, systems_at(publication.revision), audience)
    i = int(np.flatnonzero(board.system_ids == system.pk)[0])
    wanted = rule or benchmark.default_rule
    nothing = ModelOnBoard(
        benchmark=benchmark, system_key=system.key, name=name, rule_name=rule_name(wanted), rank=None,
        is_tied=False, n_ranked=0, interval_text="", score_text="", reason=gettext("It is not a column of this board."),
        hidden_text=hidden_text(audience), shares=[], pareto=[],
    )  # fmt: skip
    if not audience.is_restricted:
        shares = task_shares(publication.revision, i, n_systems=len(board.system_ids), budget=budget)
        nothing = replace(nothing, shares=shares)
    column = next((column for column in board.columns if column.rule == wanted), None)
    if column is None:
        return nothing
    rank = int(column.ranks[i])
    if rank < 1:
        return replace(nothing, n_ranked=column.n_ranked, reason=in_page_language(column.reason_of(i)))
    # Where it is on the fronts of its board: its rank against every number and date that is known of it.
    fields = [one for one in benchmark.fields_of_systems if one.kind in ("number", "date")]
    fields = [one for one in fields if one.key in system.metadata and not audience.is_restricted]
    places = []
    if fields:
        described = described_systems_at(board.revision)
        with_intervals = with_intervals_of_all(board).columns
        upright = Upright.of_column(next(one for one in with_intervals if one.rule == wanted), "rank", "")
        for field in fields:
            across = figures_across(field, described.systems, described.about)
            both = np.flatnonzero(~np.isnan(across) & ~np.isnan(upright.values))
            standings = standings_of(across[both], upright, both, is_less_better=True)
            by_id = {described.systems[i].id: standing for i, standing in zip(both.tolist(), standings, strict=True)}
            if system.pk in by_id:
                url = with_parameters(reverse("pareto", args=[benchmark.key]), x=field.key, y=f"rank.{wanted}")
                places.append(ParetoPlace(field.name, by_id[system.pk], url))
    return replace(
        nothing,
        rank=rank,
        is_tied=int((column.ranks == rank).sum()) > 1,
        n_ranked=column.n_ranked,
        interval_text=interval_text(column, i),
        score_text=score_text(float(column.scores[i]), column.rule),
        reason="",
        n_predicted=column.predicted_of(i),
        pareto=places,
    )
