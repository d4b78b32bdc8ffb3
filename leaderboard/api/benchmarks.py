"""Benchmarks, their tasks, and a whole benchmark as a folder, which imports again."""

from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_serializer
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.access.audience import Audience
from leaderboard.api.protocol.base import (
    REVISION_TEXT,
    ApiView,
    BenchmarkView,
    JobStateSerializer,
    PublishedSerializer,
    job_states,
    stamp_of,
)
from leaderboard.api.protocol.deprecation import deprecated
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.pagination import cut, cut_sorted, page_links, window
from leaderboard.api.protocol.problems import NOT_WRITABLE, ApiError
from leaderboard.api.protocol.renderers import TABLES, ZipRenderer
from leaderboard.api.protocol.schema import (
    PAGING,
    READING,
    REVISION,
    TABLE_FORMAT,
    UPDATED_SINCE,
    error,
    reading,
    text_shape,
)
from leaderboard.benchmarks.folder_exports import FolderError, folder_zip
from leaderboard.benchmarks.listing import ListedBenchmark, by_key, lines
from leaderboard.common.files import listed_export
from leaderboard.models import Benchmark, Task
from leaderboard.rankings.configuration import ConfiguredTask, configuration_of, present_configuration
from leaderboard.rankings.published import published_board
from ranking_engine.files.metadata import KINDS

JSON = "application/json"  # of errors, whatever was asked for
TASK_COLUMNS = (
    "key", "name", "group", "metric", "unit", "direction", "weight", "minimum", "maximum", "chance", "precision",
    "cluster",
)  # fmt: skip


class ListedBenchmarkSerializer(Shape):
    """One benchmark of the list."""

    key = s.CharField()
    name = s.CharField()
    summary = s.CharField(allow_blank=True, help_text="The first paragraph of the description, shortened.")
    visibility = s.ChoiceField(choices=Benchmark.Visibility.values)
    revision = s.IntegerField(allow_null=True, help_text=REVISION_TEXT)
    published_at = s.DateTimeField(source="updated_at", allow_null=True)
    is_computing = s.BooleanField(help_text="A newer revision waits to be published.")
    n_systems = s.IntegerField()
    n_tasks = s.IntegerField()
    default_rule = s.CharField()
    is_failed = s.BooleanField(help_text="The newest revision could not be computed.")
    winner_names = s.ListField(child=s.CharField(), help_text="Of the default rule, at most 20.")
    n_winners = s.IntegerField()
    n_rules_electing = s.IntegerField()
    n_rules_electing_others = s.IntegerField(
        source="n_rules_elsewhere", help_text="Rules with another winner than the default rule."
    )

    def value_of_revision(self, line: ListedBenchmark) -> int | None:
        """The number of the published one."""
        return line.revision_number or None


DERIVED_GAMMA = (
    "The optimality threshold if none is stated: 95 % of the maximum, if all tasks that count state the same one and "
    "higher is better on all of them."
)


class BenchmarkPageSerializer(Shape):
    """A page of benchmarks, by key."""

    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = ListedBenchmarkSerializer(many=True)


class MetadataFieldSerializer(Shape):
    """One thing that may be said of every system."""

    key = s.CharField(help_text="Lower-case letters, digits and hyphens.")
    name = s.CharField()
    kind = s.ChoiceField(choices=list(KINDS.items()))
    unit = s.CharField(allow_blank=True, help_text="Of a number.")
    choices = s.ListField(child=s.CharField(), help_text="The possible values, if the kind is `choice`.")
    is_column = s.BooleanField(help_text="Whether boards have a column of it unless a reader chooses others.")

    def value_of_unit(self, field: dict[str, Any]) -> str:
        """The unit."""
        return str(field.get("unit", ""))

    def value_of_choices(self, field: dict[str, Any]) -> list[str]:
        """The choices."""
        return list(field.get("choices", []))

    def value_of_is_column(self, field: dict[str, Any]) -> bool:
        """Whether it is one."""
        return bool(field.get("is_column", False))


class AnnouncementSerializer(Shape):
    """What the owners of a benchmark tell its readers."""

    text = s.CharField()
    at = s.DateTimeField()


@extend_schema_serializer(deprecate_fields=["condorcet_winner"])
class BenchmarkDetailSerializer(PublishedSerializer):
    """A benchmark, and the state of its board."""

    key = s.CharField(source="benchmark.key")
    name = s.CharField(source="benchmark.name")
    description = s.CharField(allow_blank=True, help_text="Markdown.", source="benchmark.description")
    visibility = s.ChoiceField(choices=Benchmark.Visibility.values, source="benchmark.visibility")
    submission_policy = s.ChoiceField(choices=Benchmark.SubmissionPolicy.values, source="benchmark.submission_policy")
    replacement = s.ChoiceField(choices=Benchmark.Replacement.values, source="benchmark.replacement")
    default_rule = s.CharField(source="benchmark.default_rule")
    missing_policy = s.ChoiceField(choices=Benchmark.MissingPolicy.values, source="benchmark.missing_policy")
    aggregation = s.ChoiceField(choices=Benchmark.Aggregation.values, source="benchmark.aggregation")
    gamma = s.FloatField(allow_null=True, source="benchmark.gamma", help_text="The stated optimality threshold.")
    variants = s.ListField(
        child=s.CharField(),
        source="benchmark.variants",
        help_text="Keys of variants of rules, which have columns next to the rules, such as `copeland[variant=lower]`.",
    )
    metadata_fields = MetadataFieldSerializer(
        many=True,
        source="benchmark.metadata_fields",
        help_text="The declared metadata fields of its systems.",
    )
    derived_gamma = s.FloatField(allow_null=True, help_text=f"{DERIVED_GAMMA} Of the published board.")
    source_url = s.CharField(allow_blank=True, source="benchmark.source_url")
    licence = s.CharField(allow_blank=True, source="benchmark.licence")
    citation = s.CharField(allow_blank=True, source="benchmark.citation")
    doi = s.CharField(allow_blank=True, source="benchmark.doi", help_text="Without a resolver before it.")
    organisation = s.CharField(
        source="benchmark.organisation.key", allow_null=True, help_text="The key of the organisation that owns it."
    )
    tags = s.ListField(child=s.CharField(), source="benchmark.tags")
    announcements = AnnouncementSerializer(
        many=True, source="benchmark.announcements", help_text="What the owners tell readers, newest first."
    )
    created_at = s.DateTimeField(source="benchmark.created_at")
    last_revision = s.IntegerField(
        source="benchmark.last_revision_number",
        help_text="The last revision, published or not; 0 before the first scores.",
    )
    is_computing = s.BooleanField()
    n_systems = s.IntegerField()
    n_tasks = s.IntegerField()
    n_voting_tasks = s.IntegerField()
    n_missing = s.IntegerField(help_text="Missing scores on voting tasks.")
    condorcet_winner = s.CharField(allow_null=True, help_text="As `condorcet_winner_name`, which is the name to use.")
    condorcet_winner_name = s.CharField(
        source="condorcet_winner",
        allow_null=True,
        help_text="The name of who wins every head-to-head; null where no one does, and under two-step aggregation.",
    )
    may_submit = s.BooleanField(
        source="audience.may_submit", help_text="Whether the user of this request may submit here."
    )
    jobs = JobStateSerializer(many=True)

    def value_of_is_computing(self, content: dict[str, Any]) -> bool:
        """Whether a newer revision waits to be published."""
        benchmark: Benchmark = content["benchmark"]
        return benchmark.last_revision_number > benchmark.published_number


class TaskEntrySerializer(Shape):
    """A task as it was at the revision."""

    key = s.CharField()
    name = s.CharField()
    group = s.CharField(allow_null=True, help_text="The key of its group.")
    direction = s.ChoiceField(choices=Task.Direction.values, help_text="1 higher is better, -1 lower, 0 never counts.")
    weight = s.CharField(help_text="A decimal, exactly.")
    metric = s.CharField(allow_blank=True)
    unit = s.CharField(allow_blank=True)
    minimum = s.FloatField(allow_null=True)
    maximum = s.FloatField(allow_null=True)
    chance = s.FloatField(allow_null=True, help_text="The score of guessing.")
    precision = s.CharField(
        allow_null=True,
        help_text="A decimal: the smallest difference that means anything; scores are rounded to its multiples.",
    )
    cluster = s.CharField(
        allow_blank=True,
        help_text="Tasks of one cluster are not independent; where it is empty, the tasks of one group are one.",
    )

    def value_of_cluster(self, task: ConfiguredTask) -> str:
        """The stated one."""
        return task.cluster or ""


class GroupEntrySerializer(Shape):
    """A task group as it was at the revision."""

    key = s.CharField()
    name = s.CharField()
    weight = s.CharField()


class TaskPageSerializer(Shape):
    """A page of tasks, by key, with all groups."""

    revision = s.IntegerField(allow_null=True, help_text=f"{REVISION_TEXT} Then the tasks are the present ones.")
    groups = GroupEntrySerializer(many=True)
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = TaskEntrySerializer(many=True)


class BenchmarksView(ApiView):
    """The benchmarks that the user may know of."""

    @extend_schema(
        operation_id="benchmarks",
        summary="List benchmarks",
        tags=["benchmarks"],
        parameters=[
            OpenApiParameter(
                "q", text_shape(), description="Only those whose name, key or first line says this, in any case."
            ),
            OpenApiParameter(
                "search", text_shape(), description="The same as `q`, which is the name to use.", deprecated=True
            ),
            OpenApiParameter("tag", text_shape(80), description="Only those with this tag."),
            UPDATED_SINCE,
            *PAGING,
        ],
        responses=reading(BenchmarkPageSerializer),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The public benchmarks, and with a token those that its user is a member of, by key."""
        query = request.query_params
        wanted = window(query)
        words = (query.get("q") or query.get("search", "")).strip()[:200]
        order = by_key(
            request.user,
            query=words,
            tag=query.get("tag", "").strip()[:80],
            after=wanted.after,
            most=wanted.size + 1,
            since=self.moment("updated_since"),
        )
        page = cut(order.benchmarks, wanted, lambda benchmark: benchmark.key, order.count)

        def build() -> dict[str, Any]:
            results = lines(request.user, list(page.items))
            return BenchmarkPageSerializer.render({**page_links(request, page), "results": results})

        return deprecated(self.answer(build, is_public=True), when="search" in query)


class OneBenchmarkView(BenchmarkView):
    """One benchmark."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="benchmark",
        summary="Read a benchmark",
        tags=["benchmarks"],
        responses=reading(BenchmarkDetailSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """What a benchmark says of itself, and the state of its board."""
        return self.answer_here(lambda: BenchmarkDetailSerializer.render(benchmark_content(self.audience)))


def benchmark_content(audience: Audience) -> dict[str, Any]:
    """What `BenchmarkDetailSerializer` renders of a benchmark as `audience` may see it."""
    benchmark = audience.benchmark
    publication = benchmark.publication
    board = published_board(publication) if publication and not audience.is_restricted else None
    configuration = configuration_of(publication.revision) if publication else present_configuration(benchmark)
    n_voting = sum(task.votes for task in configuration.tasks)
    facts = board.facts if board else {"n_tasks": len(configuration.tasks), "n_voting_tasks": n_voting}
    return {
        "benchmark": benchmark,
        "audience": audience,
        **stamp_of(publication),
        **({"input_hash": None} if audience.is_restricted else {}),
        **{name: facts.get(name, 0) for name in ("n_systems", "n_tasks", "n_voting_tasks", "n_missing")},
        "condorcet_winner": facts.get("condorcet_winner"),
        "derived_gamma": configuration.gamma_derived if publication else None,
        "jobs": [job | {"error": ""} if audience.is_restricted else job for job in job_states(publication)],
    }


class TasksView(BenchmarkView):
    """The tasks of a benchmark."""

    renderer_classes = TABLES
    is_open_to_restricted = True

    @extend_schema(
        operation_id="tasks",
        summary="List a benchmark's tasks",
        tags=["benchmarks"],
        parameters=[REVISION, TABLE_FORMAT, *PAGING],
        responses=reading(TaskPageSerializer, table=f"{', '.join(TASK_COLUMNS)}."),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """The tasks as they were at the revision, by key; the present ones while nothing is published."""
        publication = self.publication()
        configuration = configuration_of(publication.revision) if publication else present_configuration(self.benchmark)
        tasks = sorted(configuration.tasks, key=lambda task: task.key)
        if self.file_format:
            rows = [TaskEntrySerializer.render(task) for task in tasks]
            table = listed_export(f"{self.benchmark.key}-tasks", f"{self.benchmark.name}: tasks.", TASK_COLUMNS, rows)
            return self.named_file(self.answer_here(lambda: self.written(table)), table.stem)
        page = cut_sorted(tasks, window(request.query_params), lambda task: task.key)
        number = publication.revision.number if publication else None
        following = page_links(request, page, revision=number)
        answer = {"revision": number, "groups": configuration.groups, **following, "results": page.items}
        return self.answer_here(lambda: TaskPageSerializer.render(answer))


class FolderView(FigureView):
    """The folder."""

    renderer_classes = [ZipRenderer]
    needs_ranks = False

    @extend_schema(
        operation_id="folder",
        summary="Download a benchmark",
        tags=["benchmarks"],
        parameters=[REVISION],
        responses={
            (200, "application/zip"): OpenApiResponse(
                OpenApiTypes.BINARY, description="A zip of a folder with `scores.csv` and `benchmark.toml`."
            ),
            (422, JSON): error("There is nothing to write, or more than is sent."),
            **{(status, JSON) if answer.response else status: answer for status, answer in READING.items()},
        },
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Scores, tasks, groups and settings of a revision. Imported again they give the same `input_hash`.

        Notes, descriptions and the history stay behind.
        """
        publication = self.published()
        try:
            return self.table(publication, "folder", lambda: folder_zip(publication.revision))
        except FolderError as problem:
            raise ApiError(422, f"This revision has no folder: {problem}.", code=NOT_WRITABLE) from problem
