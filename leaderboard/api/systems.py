"""Systems of a benchmark and their scores: JSON for programs, files for tables."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django.http import Http404, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import (
    MANAGE,
    BenchmarkView,
    NamedSystemSerializer,
    OwnerView,
    PublishedSerializer,
    stamp_of,
)
from leaderboard.api.protocol.fields import ChoiceText, ReasonText, Shape
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.pagination import cut_sorted, page_links, window
from leaderboard.api.protocol.problems import NOT_WRITABLE, ApiError, wrong_parameter
from leaderboard.api.protocol.renderers import TABLES, EveryEvalEverRenderer, PreflibRenderer
from leaderboard.api.protocol.schema import (
    DRY_RUN,
    LONG,
    NAME_QUERY,
    PAGING,
    REVISION,
    SCORES_FORMAT,
    TABLE_FORMAT,
    WRITING,
    body_example,
    error,
    reading,
)
from leaderboard.api.separability import UnderRuleSerializer
from leaderboard.benchmarks.baselines import mark_baseline
from leaderboard.benchmarks.evaluation_records import records_zip
from leaderboard.benchmarks.folder_exports import FolderError
from leaderboard.boards.revision_exports import ExportError, Origin, orders_text, scores_export
from leaderboard.common.files import listed_export
from leaderboard.common.names import is_called
from leaderboard.models import Baseline, Score, System
from leaderboard.models.systems import PROVISIONAL
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.predictions import predictions_in_time
from leaderboard.rankings.published import published_board, rank_row
from leaderboard.rankings.redaction import redacted, seen_systems
from leaderboard.rankings.scores import NOT_SUBMITTED, BoardSystem, systems_at
from leaderboard.rankings.systems import about_systems
from leaderboard.rankings.tables import TableCell, score_rows, scores_csv, scores_long_csv
from ranking_engine.files.metadata import COLUMN_PREFIX, MetadataField

BASELINE_EXAMPLE = body_example("People solved the tasks", {"baseline": "human", "reason": "Nangia and Bowman 2019"})
SYSTEM_COLUMNS = ("system", "name", "organisation", "url", "description", "tags", "baseline")
MISSING = [*Score.MissingReason.choices, (NOT_SUBMITTED, "not submitted")]


class SystemEntrySerializer(Shape):
    """A system on the board."""

    system = s.CharField(help_text="Its key, which never changes.")
    name = s.CharField()
    organisation = s.CharField(source="about.organisation", allow_blank=True)
    url = s.CharField(source="about.url", allow_blank=True)
    description = s.CharField(source="about.description", allow_blank=True)
    tags = s.ListField(child=s.CharField(), source="about.tags")
    metadata = s.DictField(
        source="about.metadata",
        help_text="By the key of one of the benchmark's `metadata_fields`: a number, true or false, or a text. What is "
        "not known is left out.",
    )
    baseline = s.ChoiceField(
        choices=Baseline.choices,
        source="about.baseline",
        help_text="Whether the owners marked it as one that others are measured against.",
    )


class SystemPageSerializer(PublishedSerializer):
    """A page of systems, by key."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = SystemEntrySerializer(many=True)


class ScoreCellSerializer(Shape):
    """One score, or why there is none."""

    value = s.FloatField(allow_null=True)
    missing = s.ChoiceField(choices=MISSING, allow_null=True)
    standard_error = s.FloatField(allow_null=True, help_text="As its submitter stated it.")
    n_instances = s.IntegerField(allow_null=True, help_text="On how many instances it was measured, where known.")
    submission = s.UUIDField(source="submission_uuid", allow_null=True, help_text="The submission that it comes from.")

    def value_of_missing(self, cell: TableCell) -> str | None:
        """The reason, if there is one."""
        return cell.missing_reason or None


class SystemRankSerializer(UnderRuleSerializer):
    """A system under one rule."""

    rule = s.CharField()


class PredictedScoreSerializer(Shape):
    """A score that no one measured, predicted from the other scores."""

    value = s.FloatField()
    half_width = s.FloatField(help_text="90 % of the predictions of held-out scores of the task are within it.")
    error = s.FloatField(help_text="The root mean square error of these predictions, in the units of the task.")


class SystemDetailSerializer(PublishedSerializer, SystemEntrySerializer):
    """A system: its scores by task key, and its rank under every rule."""

    scores = s.DictField(child=ScoreCellSerializer())
    predicted = s.DictField(
        child=PredictedScoreSerializer(),
        help_text="By task, the predicted scores that ranks rest on. Empty unless the owners chose to predict missing "
        "scores.",
    )
    ranks = SystemRankSerializer(many=True)


class ScoreRowSerializer(NamedSystemSerializer):
    """One system's scores by task key."""

    scores = s.DictField(child=ScoreCellSerializer())


class ScorePageSerializer(PublishedSerializer):
    """A page of the score matrix: rows are systems by key."""

    tasks = s.ListField(child=s.CharField(), help_text="The keys of the tasks, in the benchmark's order.")
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = ScoreRowSerializer(many=True)


class SystemsView(BenchmarkView):
    """The systems of a benchmark."""

    renderer_classes = TABLES
    is_open_to_restricted = True

    @extend_schema(
        operation_id="systems",
        summary="List a benchmark's systems",
        tags=["systems"],
        parameters=[REVISION, NAME_QUERY, TABLE_FORMAT, *PAGING],
        responses=reading(SystemPageSerializer, table=f"{', '.join(SYSTEM_COLUMNS)}."),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """The systems on the board of the revision, by key."""
        publication = self.publication()
        wanted, words = window(request.query_params), request.query_params.get("q", "").strip()[:200]
        systems = systems_at(publication.revision) if publication else []
        seen = seen_systems(systems, self.audience)
        systems = [system for system in seen if is_called(words, system.name, system.key)]
        if self.file_format:
            rows = [SystemEntrySerializer.render(entry) for entry in self._entries(systems)]
            fields = self.benchmark.fields_of_systems
            rows = [
                row
                | {"tags": " ".join(row["tags"])}
                | {f"{COLUMN_PREFIX}{field.key}": field.written(row["metadata"].get(field.key, "")) for field in fields}
                for row in rows
            ]
            columns = (*SYSTEM_COLUMNS, *(f"{COLUMN_PREFIX}{field.key}" for field in fields))
            table = listed_export(f"{self.benchmark.key}-systems", f"{self.benchmark.name}: systems.", columns, rows)
            return self.named_file(self.answer_here(lambda: self.written(table)), table.stem)
        page = cut_sorted(systems, wanted, lambda system: system.key)
        number = publication.revision.number if publication else None
        content = {
            **self.stamp(publication),
            **page_links(request, page, revision=number),
            "results": self._entries(page.items),
        }
        return self.answer_here(lambda: SystemPageSerializer.render(content))

    def _entries(self, systems: Iterable[BoardSystem]) -> list[dict[str, Any]]:
        """What is said of systems; of those whose names are hidden, nothing but what they are called here."""
        known = self.own if not self.audience.sees_names else None
        return _described(systems, known, self.benchmark.fields_of_systems)


class BaselineBodySerializer(Shape):
    """Whether a system is a baseline."""

    baseline = ChoiceText(Baseline.values)
    reason = ReasonText(help_text="Kept with the change.")


class SystemView(OwnerView):
    """One system."""

    scopes: ClassVar = {"PATCH": MANAGE}
    owned_methods = ("PATCH",)

    @extend_schema(
        operation_id="system",
        summary="Read a system",
        tags=["systems"],
        parameters=[REVISION],
        responses=reading(SystemDetailSerializer),
    )
    def get(self, request: Request, key: str, system_key: str) -> HttpResponseBase:
        """A system's scores, and its rank under every rule with interval or reason."""
        publication = self.published()
        systems = systems_at(publication.revision)
        place = next((i for i, system in enumerate(systems) if system.key == system_key), None)
        if self.audience.is_restricted and (place is None or systems[place].id not in self.own):
            raise Http404(
                f"No system {system_key!r} is open to you: this board hides scores of other people's systems."
            )
        if place is None:
            raise Http404(f"No system {system_key!r} is on the board of revision {publication.revision.number}.")
        system = systems[place]

        def build() -> dict[str, Any]:
            board, visible = redacted(published_board(publication), systems, self.audience)
            i = next(place for place, one in enumerate(visible) if one.id == system.id)
            is_predicted = not self.audience.is_restricted and any(column.predicted_of(i) for column in board.columns)
            predictions = predictions_in_time(publication.revision) if is_predicted else None
            return SystemDetailSerializer.render(
                {
                    **self.stamp(publication),
                    **_described([system], None, self.benchmark.fields_of_systems)[0],
                    "scores": score_rows(publication.revision, [system])[0],
                    "predicted": predictions.of_system(system.id) if predictions else {},
                    "ranks": [rank_row(column, i, system) | {"rule": column.rule} for column in board.columns],
                }
            )

        return self.answer_here(build)

    @extend_schema(
        operation_id="mark_baseline",
        summary="Mark a system as a baseline",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=BaselineBodySerializer,
        examples=[BASELINE_EXAMPLE],
        responses={200: SystemEntrySerializer, **WRITING},
    )
    def patch(self, request: Request, key: str, system_key: str) -> Response:
        """Say whether others are measured against this system. No ranking depends on it; the trail keeps it."""
        body = BaselineBodySerializer.read(request.data)
        system = self.benchmark.systems.filter(key=system_key).exclude(key__startswith=PROVISIONAL).first()
        if system is None:
            raise Http404(f"No system {system_key!r} is on the board.")

        def step() -> dict[str, Any]:
            mark_baseline(system, author=self.user, **body)
            keys = {field.key for field in self.benchmark.fields_of_systems}
            system.metadata = {key: value for key, value in system.metadata.items() if key in keys}
            return SystemEntrySerializer.render({"system": system.key, "name": system.name, "about": system})

        return self.carry_out(step)


def _described(
    systems: Iterable[BoardSystem], known: frozenset[int] | None, fields: Sequence[MetadataField]
) -> list[dict[str, Any]]:
    """Systems for `SystemEntrySerializer`.

    Args:
        systems: which.
        known: those of which more is told than what they are called; None for all.
        fields: of their metadata; values of others are not told.
    """
    systems = list(systems)
    about = about_systems([system.id for system in systems])
    for system in about.values():
        system.metadata = {field.key: system.metadata[field.key] for field in fields if field.key in system.metadata}
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

    renderer_classes = [*TABLES, PreflibRenderer, EveryEvalEverRenderer]
    is_open_to_restricted = True
    needs_ranks = False

    @extend_schema(
        operation_id="scores",
        summary="Read the scores",
        tags=["systems"],
        parameters=[REVISION, SCORES_FORMAT, LONG, *PAGING],
        responses=reading(
            ScorePageSerializer,
            table="All rows; as CSV a scores.csv, which imports again.",
            files=[
                ("text/x-preflib", "The order of every voting task, as often as its weight says."),
                (EveryEvalEverRenderer.media_type, "A zip with a record of Every Eval Ever for each system."),
            ],
        )
        | {422: error("The format cannot carry these scores or weights, or there is nothing to write.")},
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Every score of the revision, or why there is none, with the submission that it comes from.

        Where owners hide scores, others than moderators get those of their own systems.
        """
        publication = self.publication()
        if self.file_format:
            published = self.published()
            table_revision = published.revision
            origin = Origin.of(self.benchmark, table_revision)
            if self.file_format == PreflibRenderer.format:
                if self.audience.is_restricted:
                    raise ApiError(403, "Where scores are hidden, the orders of the tasks are hidden, too.")
                try:
                    return self.table(published, "orders", lambda: orders_text(origin)[0])
                except ExportError as problem:
                    raise ApiError(422, str(problem), code=NOT_WRITABLE) from problem
            if self.file_format == EveryEvalEverRenderer.format:
                if self.audience.is_restricted and not self.own:
                    raise ApiError(403, "Scores are hidden here, and you have no system of your own on the board.")
                try:
                    response = self.table(published, "scores", lambda: records_zip(table_revision, self._only()))
                except FolderError as problem:
                    raise ApiError(422, str(problem), code=NOT_WRITABLE) from problem
                name = f"{self.benchmark.key}-every-eval-ever-r{table_revision.number}.zip"
                response["Content-Disposition"] = f'attachment; filename="{name}"'
                return response
            if self.is_csv:
                write = scores_long_csv if self.truth("long") else scores_csv
                return self.stored_scores(published, "scores", lambda: write(table_revision, self._only()))
            if self.truth("long"):
                raise wrong_parameter("long", "`long` is for CSV alone; leave it out, or ask for `format=csv`.")
            return self.table(published, "scores", lambda: self.written(scores_export(origin, self._only())))
        wanted = window(request.query_params)

        def build() -> dict[str, Any]:
            if publication is None:
                return ScorePageSerializer.render(
                    {**stamp_of(None), "tasks": [], "count": 0, "next": None, "results": []}
                )
            revision, only = publication.revision, self._only()
            systems = [system for system in systems_at(revision) if only is None or system.id in only]
            page = cut_sorted(systems, wanted, lambda system: system.key)
            rows = zip(page.items, score_rows(revision, page.items), strict=True)
            return ScorePageSerializer.render(
                {
                    **self.stamp(publication),
                    "tasks": [task.key for task in configuration_of(revision).tasks],
                    **page_links(request, page, revision=revision.number),
                    "results": [{"system": system.key, "name": system.name, "scores": row} for system, row in rows],
                }
            )

        return self.answer_here(build)

    def _only(self) -> frozenset[int] | None:
        """The systems whose scores are shown; None for all."""
        return self.own if self.audience.is_restricted else None
