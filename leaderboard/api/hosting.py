"""Benchmarks as their owners make and change them: created, settings, tasks with the ranks that move, archived."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.access.audience import audience_of
from leaderboard.api.benchmarks import BenchmarkDetailSerializer, BenchmarksView, OneBenchmarkView, benchmark_content
from leaderboard.api.hosting_tasks import CountingSerializer, GroupBodySerializer, TaskBodySerializer, changed_proposal
from leaderboard.api.protocol.base import MANAGE, OwnerView, WritingView
from leaderboard.api.protocol.fields import (
    IS_MISSING,
    ChoiceText,
    Listing,
    Moment,
    ReasonText,
    Shape,
    Text,
    Truth,
    Whole,
)
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example
from leaderboard.benchmarks.create import visible_key
from leaderboard.benchmarks.drafts import create_described
from leaderboard.benchmarks.releases import new_edition
from leaderboard.benchmarks.settings import SETTINGS, archive, change_settings
from leaderboard.benchmarks.tasks import COUNTING, Proposal
from leaderboard.models import Benchmark, User

TEXT_LENGTH = 20_000
BENCHMARK_EXAMPLE = body_example(
    "Two groups of tasks",
    {
        "name": "Reading and counting",
        "key": "reading-and-counting",
        "visibility": "private",
        "submission_policy": "moderated",
        "groups": [{"name": "Reading", "weight": "2"}, {"name": "Counting"}],
        "tasks": [
            {"name": "BoolQ", "group": "Reading", "minimum": 0, "maximum": 100},
            {"name": "GSM8K", "group": "Counting"},
            {"name": "Latency", "direction": -1, "unit": "ms", "weight": "0.5"},
        ],
    },
)
SETTINGS_EXAMPLE = body_example(
    "Close it at the end of the year",
    {"deadline": "2026-12-31T23:59:59Z", "daily_cap": 5, "reason": "Announced with the call."},
)
ARCHIVE_EXAMPLE = body_example("It is solved", {"archived": True, "reason": "It is solved."})
EDITION_EXAMPLE = body_example("The next year's", {"name": "GLUE 2027", "with_scores": True})


class SettingsSerializer(Shape):
    """Settings that no rank depends on."""

    name = Text(most=TEXT_LENGTH, required=False)
    description = Text(most=TEXT_LENGTH, is_line=False, required=False, allow_blank=True, help_text="Markdown.")
    visibility = ChoiceText(Benchmark.Visibility.values, required=False)
    submission_policy = ChoiceText(Benchmark.SubmissionPolicy.values, required=False)
    daily_cap = Whole(required=False, allow_null=True, min_value=0)
    total_cap = Whole(required=False, allow_null=True, min_value=0)
    deadline = Moment(required=False, allow_null=True)
    embargo_until = Moment(required=False, allow_null=True)
    decision_days = Whole(required=False, min_value=1, max_value=365, help_text="For a moderator to decide.")
    rejects_overdue = Truth(required=False, help_text="Whether overdue submissions are rejected.")
    submitters_withdraw = Truth(
        required=False,
        help_text="Whether submitters withdraw accepted scores themselves while submissions are open; else they ask.",
    )
    shows_submitters = Truth(required=False, help_text="Whether readers see how many systems each submitter entered.")
    score_view = ChoiceText(Benchmark.ScoreView.values, required=False)
    anonymous_until = Moment(required=False, allow_null=True)
    default_rule = Text(most=TEXT_LENGTH, required=False)
    source_url = Text(most=TEXT_LENGTH, required=False, allow_blank=True)
    licence = Text(most=TEXT_LENGTH, required=False, allow_blank=True)
    citation = Text(most=TEXT_LENGTH, is_line=False, required=False, allow_blank=True)
    doi = Text(most=200, required=False, allow_blank=True, help_text="Such as `10.5281/zenodo.1234567`.")
    tags = Listing(child=Text(most=80), most=50, required=False)


class SettingsBodySerializer(SettingsSerializer):
    """Settings that are to change; what is left out stays."""

    reason = ReasonText(help_text="Kept with the change.")


class BenchmarkBodySerializer(SettingsSerializer, CountingSerializer):
    """A new benchmark."""

    name = Text(most=TEXT_LENGTH, error_messages=IS_MISSING)
    key = Text(most=80, required=False, help_text="Used in URLs, permanent; made from the name if it is left out.")
    tasks = TaskBodySerializer(many=True, error_messages=IS_MISSING)
    groups = GroupBodySerializer(many=True, required=False)

    def get_fields(self) -> dict[str, Any]:
        """The fields in the order in which an error lists them."""
        fields = super().get_fields()
        return {name: fields[name] for name in (*SETTINGS, "key", "tasks", "groups", *COUNTING)}


class HostedBenchmarkSerializer(BenchmarkDetailSerializer):
    """A benchmark with what only its owners are told."""

    daily_cap = s.IntegerField(allow_null=True, source="benchmark.daily_cap")
    total_cap = s.IntegerField(allow_null=True, source="benchmark.total_cap")
    deadline = s.DateTimeField(allow_null=True, source="benchmark.deadline")
    embargo_until = s.DateTimeField(allow_null=True, source="benchmark.embargo_until")
    decision_days = s.IntegerField(source="benchmark.decision_days")
    rejects_overdue = s.BooleanField(source="benchmark.rejects_overdue")
    submitters_withdraw = s.BooleanField(source="benchmark.submitters_withdraw")
    shows_submitters = s.BooleanField(source="benchmark.shows_submitters")
    score_view = s.ChoiceField(choices=Benchmark.ScoreView.values, source="benchmark.score_view")
    anonymous_until = s.DateTimeField(allow_null=True, source="benchmark.anonymous_until")
    is_archived = s.BooleanField(source="benchmark.is_archived")
    n_changed = s.IntegerField(help_text="How many settings this call changed.")


class ArchiveBodySerializer(Shape):
    """Whether a benchmark is to be archived."""

    archived = Truth()
    reason = ReasonText()


class EditionBodySerializer(Shape):
    """Another benchmark with the same tasks."""

    name = Text(most=200)
    key = Text(most=80, absent="")
    with_scores = Truth(absent=False)


def read_benchmark(data: Any) -> tuple[dict[str, Any], Proposal]:  # noqa: ANN401
    """A benchmark that is to be: its settings and key, and its tasks with how they count.

    Raises:
        ApiError: the body has another shape.
    """
    body = BenchmarkBodySerializer.read(data, tasks=(), groups=())
    has_groups = bool(body.get("groups")) or any(task.get("group") for task in body["tasks"])
    aggregation = Benchmark.Aggregation.BALANCED if has_groups else Benchmark.Aggregation.BASIC
    nothing = Proposal([], [], Benchmark.MissingPolicy.DROP_SYSTEMS, aggregation, Benchmark.Replacement.ROW)
    return {name: body[name] for name in (*SETTINGS, "key") if name in body}, changed_proposal(body, nothing)


def _hosted_content(row: Benchmark, user: User, n_changed: int) -> dict[str, Any]:
    """A benchmark with what only its owners are told."""
    benchmark = Benchmark.objects.select_related("publication__revision__configuration").get(pk=row.pk)
    content = benchmark_content(audience_of(user, benchmark))
    return HostedBenchmarkSerializer.render(content | {"n_changed": n_changed})


def _new_content(view: WritingView, row: Benchmark, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A benchmark that was just made; a dry run says no more of its key than anyone may know.

    Args:
        view: that made it.
        row: the benchmark.
        fields: among others its key, if one was stated.
    """
    content = _hosted_content(row, view.user, 0)
    return content | {"key": visible_key(view.user, row, fields.get("key", ""))} if view.truth("dry_run") else content


class HostedBenchmarksView(WritingView, BenchmarksView):
    """The benchmarks, and a new one."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="create_benchmark",
        summary="Create a benchmark",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=BenchmarkBodySerializer,
        examples=[BENCHMARK_EXAMPLE],
        responses={201: HostedBenchmarkSerializer, 200: HostedBenchmarkSerializer, **WRITING},
    )
    def post(self, request: Request) -> Response:
        """A benchmark with its tasks, which belongs to the token's user. Its scores come as a submission."""
        fields, proposal = read_benchmark(request.data)

        def step() -> dict[str, Any]:
            return _new_content(self, create_described(self.user, proposal, fields), fields)

        made = self.carry_out(step, status=201)
        made["Location"] = request.build_absolute_uri(f"{request.path}{made.data['key']}/")
        return made


class HostedBenchmarkView(OwnerView, OneBenchmarkView):
    """One benchmark, and its settings."""

    scopes: ClassVar = {"PATCH": MANAGE}
    owned_methods = ("PATCH",)

    @extend_schema(
        operation_id="change_settings",
        summary="Change settings",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=SettingsBodySerializer,
        examples=[SETTINGS_EXAMPLE],
        responses={200: HostedBenchmarkSerializer, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """Change what no rank depends on; the trail keeps what, by whom and why."""
        values = SettingsBodySerializer.read(request.data)
        reason = values.pop("reason")

        def step() -> dict[str, Any]:
            n_changed = change_settings(self.benchmark, values, author=self.user, reason=reason)
            return _hosted_content(self.benchmark, self.user, n_changed)

        return self.carry_out(step)


class ArchiveView(OwnerView):
    """Archiving."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="archive_benchmark",
        summary="Archive a benchmark, or open it again",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=ArchiveBodySerializer,
        examples=[ARCHIVE_EXAMPLE],
        responses={200: HostedBenchmarkSerializer, **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """An archived benchmark is read as before and takes no submissions."""
        body = ArchiveBodySerializer.read(request.data)
        before = self.benchmark.is_archived

        def step() -> dict[str, Any]:
            archive(self.benchmark, author=self.user, **body)
            return _hosted_content(self.benchmark, self.user, int(before != body["archived"]))

        return self.carry_out(step)


class EditionsView(OwnerView):
    """Further editions."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="create_edition",
        summary="Duplicate a benchmark as a new edition",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=EditionBodySerializer,
        examples=[EDITION_EXAMPLE],
        responses={
            201: HostedBenchmarkSerializer,
            200: OpenApiResponse(HostedBenchmarkSerializer, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """The same tasks, groups and settings, private until its owner says otherwise; with the scores or without.

        Of a benchmark that collects votes neither the votes nor the scores that are computed from them are copied.
        """
        body = EditionBodySerializer.read(request.data)
        return self.carry_out(
            lambda: _new_content(self, new_edition(self.benchmark, author=self.user, **body), body), status=201
        )
