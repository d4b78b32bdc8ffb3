"""Systems of a benchmark and their scores: JSON for programs, files for tables."""

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.protocol.base import BenchmarkView, FigureView, NamedSystem, Published, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.pagination import Window, cut_sorted, next_url, window
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.renderers import TABLES, PreflibRenderer
from leaderboard.api.protocol.schema import (
    LONG,
    NAME_QUERY,
    PAGING,
    REVISION,
    SCORES_FORMAT,
    TABLE_FORMAT,
    error,
    reading,
)
from leaderboard.boards.filters import is_called
from leaderboard.boards.sheets import Origin, SheetError, orders_text, scores_sheet
from leaderboard.common.files import listed_sheet
from leaderboard.models import Publication, Score, System
from leaderboard.rankings.published import published_board, rank_row
from leaderboard.rankings.scores import NOT_SUBMITTED, BoardSystem, systems_at
from leaderboard.rankings.systems import about_systems
from leaderboard.rankings.tables import Cell, score_rows, scores_csv, scores_long_csv
from leaderboard.rankings.visibility import masked, seen_systems

SYSTEM_COLUMNS = ("system", "name", "organisation", "url", "description", "tags")
MISSING = [*Score.MissingReason.choices, (NOT_SUBMITTED, "not submitted")]


class SystemEntry(Shape):
    """A system on the board."""

    system = s.CharField(help_text="Its key, which never changes.")
    name = s.CharField()
    organisation = s.CharField(source="about.organisation", allow_blank=True)
    url = s.CharField(source="about.url", allow_blank=True)
    description = s.CharField(source="about.description", allow_blank=True)
    tags = s.ListField(child=s.CharField(), source="about.tags")


class SystemPage(Published):
    """A page of systems, by key."""

    next = s.URLField(allow_null=True)
    results = SystemEntry(many=True)


class ScoreCell(Shape):
    """One score, or why there is none."""

    value = s.FloatField(allow_null=True)
    missing = s.ChoiceField(choices=MISSING, allow_null=True)
    standard_error = s.FloatField(allow_null=True, help_text="As its submitter stated it.")
    n_instances = s.IntegerField(allow_null=True, help_text="On how many instances it was measured, where known.")
    submission = s.UUIDField(source="submission_uuid", allow_null=True, help_text="The submission that it comes from.")

    def value_of_missing(self, cell: Cell) -> str | None:
        """The reason, if there is one."""
        return cell.missing_reason or None


class SystemRank(Shape):
    """A system under one rule."""

    rule = s.CharField()
    rank = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True, help_text="The rule's own score; higher is better.")
    interval = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="Least and greatest rank if the same tasks were drawn anew with replacement; of it by itself.",
    )
    simultaneous_interval = s.ListField(
        child=s.IntegerField(), allow_null=True, help_text="Likewise, wide enough to hold for all systems at once."
    )
    possibly_best = s.BooleanField(
        allow_null=True, help_text="Whether no other system is clearly ahead; null where that is not computed."
    )
    reason = s.CharField(allow_null=True, help_text="Why it has no rank.")


class SystemDetail(Published, SystemEntry):
    """A system: its scores by task key, and its rank under every rule."""

    scores = s.DictField(child=ScoreCell())
    ranks = SystemRank(many=True)


class ScoreRow(NamedSystem):
    """One system's scores by task key."""

    scores = s.DictField(child=ScoreCell())


class ScorePage(Published):
    """A page of the score matrix: rows are systems by key."""

    tasks = s.ListField(child=s.CharField(), help_text="The keys of the tasks, in the benchmark's order.")
    next = s.URLField(allow_null=True)
    results = ScoreRow(many=True)


class SystemsView(BenchmarkView):
    """The systems of a benchmark."""

    renderer_classes = TABLES
    is_open_to_restricted = True

    @extend_schema(
        operation_id="systems",
        summary="List a benchmark's systems",
        tags=["systems"],
        parameters=[REVISION, NAME_QUERY, TABLE_FORMAT, *PAGING],
        responses=reading(SystemPage, table=f"{', '.join(SYSTEM_COLUMNS)}."),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """The systems on the board of the revision, by key."""
        publication = self.publication()
        wanted, words = window(request.query_params), request.query_params.get("q", "").strip()[:200]
        systems = systems_at(publication.revision) if publication else []
        seen = seen_systems(systems, self.audience)
        systems = [system for system in seen if is_called(system, words)]
        if self.file_format:
            rows = [SystemEntry.render(entry) for entry in self._entries(systems)]
            rows = [row | {"tags": " ".join(row["tags"])} for row in rows]
            sheet = listed_sheet(
                f"{self.benchmark.key}-systems", f"{self.benchmark.name}: systems.", SYSTEM_COLUMNS, rows
            )
            return self.named_file(self.answer_here(lambda: self.written(sheet)), sheet.stem)
        page = cut_sorted(systems, wanted, lambda system: system.key)
        number = publication.revision.number if publication else None
        content = {
            **self.stamp(publication),
            "next": next_url(request, page, revision=number),
            "results": self._entries(page.items),
        }
        return self.answer_here(lambda: SystemPage.render(content))

    def _entries(self, systems: Iterable[BoardSystem]) -> list[dict[str, Any]]:
        """What is said of systems; of those whose names are hidden, nothing but what they are called here."""
        return _described(systems, self.own if not self.audience.sees_names else None)


class SystemView(BenchmarkView):
    """One system."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="system",
        summary="Read a system",
        tags=["systems"],
        parameters=[REVISION],
        responses=reading(SystemDetail),
    )
    def get(self, request: Request, key: str, system_key: str) -> HttpResponseBase:
        """A system's scores, and its rank under every rule with interval or reason."""
        publication = self.published()
        systems = systems_at(publication.revision)
        place = next((i for i, system in enumerate(systems) if system.key == system_key), None)
        if place is None or (self.audience.is_restricted and systems[place].id not in self.own):
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        return self.answer_here(lambda: self._content(publication, systems, systems[place]))

    def _content(self, publication: Publication, systems: list[BoardSystem], system: BoardSystem) -> dict[str, Any]:
        board, seen = masked(published_board(publication), systems, self.audience)
        i = next(place for place, one in enumerate(seen) if one.id == system.id)
        return SystemDetail.render(
            {
                **self.stamp(publication),
                **_described([system], None)[0],
                "scores": score_rows(publication.revision, [system])[0],
                "ranks": [rank_row(column, i, system) | {"rule": column.rule} for column in board.columns],
            }
        )


def _described(systems: Iterable[BoardSystem], known: frozenset[int] | None) -> list[dict[str, Any]]:
    """Systems for `SystemEntry`.

    Args:
        systems: which.
        known: those of which more is told than what they are called; None for all.
    """
    systems = list(systems)
    about = about_systems([system.id for system in systems])
    return [
        {
            "system": system.key,
            "name": system.name,
            "about": about[system.id] if known is None or system.id in known else System(),
        }
        for system in systems
    ]


class ScoresView(FigureView):
    """The score matrix."""

    renderer_classes = [*TABLES, PreflibRenderer]
    is_open_to_restricted = True
    needs_ranks = False

    @extend_schema(
        operation_id="scores",
        summary="Read the scores",
        tags=["systems"],
        parameters=[REVISION, SCORES_FORMAT, LONG, *PAGING],
        responses=reading(
            ScorePage,
            table="All rows; as CSV a scores.csv, which imports again.",
            files=[("text/x-preflib", "The order of every voting task, as often as its weight says.")],
        )
        | {422: error("The weights cannot be told as numbers of voters, or nothing is ordered.")},
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Every score of the revision, or why there is none, with the submission that it comes from.

        Where owners hide scores, others than moderators get those of their own systems.
        """
        publication = self.publication()
        if self.file_format:
            return self._file(self.published())
        wanted = window(request.query_params)
        return self.figures(publication, lambda: self._page(publication, wanted))

    def _file(self, publication: Publication) -> HttpResponseBase:
        revision = publication.revision
        origin = Origin.of(self.benchmark, revision)
        if self.file_format == PreflibRenderer.format:
            if self.audience.is_restricted:
                raise ApiError(403, "Where scores are hidden, the orders of the tasks are hidden, too.")
            try:
                return self.table(publication, "orders", lambda: orders_text(origin)[0])
            except SheetError as problem:
                raise ApiError(422, str(problem)) from problem
        if self.is_csv:
            write = scores_long_csv if self.truth("long") else scores_csv
            return self.table(publication, "scores", lambda: write(revision, self._only()))
        return self.table(publication, "scores", lambda: self.written(scores_sheet(origin, self._only())))

    def _only(self) -> frozenset[int] | None:
        """The systems whose scores are shown; None for all."""
        return self.own if self.audience.is_restricted else None

    def _page(self, publication: Publication | None, wanted: Window) -> dict[str, Any]:
        if publication is None:
            return ScorePage.render({**stamp_of(None), "tasks": [], "next": None, "results": []})
        revision = publication.revision
        only = self._only()
        systems = [system for system in systems_at(revision) if only is None or system.id in only]
        page = cut_sorted(systems, wanted, lambda system: system.key)
        rows = score_rows(revision, page.items)
        return ScorePage.render(
            {
                **self.stamp(publication),
                "tasks": [task["key"] for task in revision.configuration.content["tasks"]],
                "next": next_url(self.request, page, revision=revision.number),
                "results": [
                    {"system": system.key, "name": system.name, "scores": row}
                    for system, row in zip(page.items, rows, strict=True)
                ],
            }
        )
