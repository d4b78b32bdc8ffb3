"""Benchmarks as their owners make and change them: created, settings, tasks with the ranks that move, archived."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.hosting_bodies import archiving_of, benchmark_of, edition_of, proposal_of, settings_of
from leaderboard.api.hosting_examples import (
    ARCHIVE_EXAMPLE,
    BENCHMARK_EXAMPLE,
    EDITION_EXAMPLE,
    SETTINGS_EXAMPLE,
    TASKS_EXAMPLE,
)
from leaderboard.api.openapi import DRY_RUN, WRITING
from leaderboard.api.payloads import moment
from leaderboard.api.shapes import hosting as hosting_shapes
from leaderboard.api.views import benchmarks
from leaderboard.api.views.benchmarks import benchmark_content
from leaderboard.api.views.writing import OwnerView, WritingView
from leaderboard.models import ApiToken, User
from leaderboard.models import Benchmark as BenchmarkRow
from leaderboard.selectors.audience import audience
from leaderboard.services.audit import Change
from leaderboard.services.benchmark_drafts import create_described
from leaderboard.services.benchmark_settings import archive, change_settings
from leaderboard.services.benchmarks import told_key
from leaderboard.services.releases import new_edition
from leaderboard.services.table_preview import TableEffect
from leaderboard.services.task_changes import (
    apply_proposal,
    present_proposal,
    preview_proposal,
    proposal_token,
    proposed_changes,
)

MANAGE = (ApiToken.Scope.MANAGE,)
HOSTED = ("daily_cap", "total_cap", "decision_days", "rejects_overdue", "score_view", "is_archived")
MOMENTS = ("deadline", "embargo_until", "anonymous_until")


def hosted_content(row: BenchmarkRow, user: User, n_changed: int) -> dict[str, Any]:
    """A benchmark with what only its owners are told."""
    found = BenchmarkRow.objects.select_related("publication__revision__configuration").get(pk=row.pk)
    own = {name: getattr(found, name) for name in HOSTED} | {name: moment(getattr(found, name)) for name in MOMENTS}
    return benchmark_content(found, audience(user, found), user) | own | {"n_changed": n_changed}


def new_content(view: WritingView, row: BenchmarkRow, stated: Mapping[str, Any]) -> dict[str, Any]:
    """A benchmark that was just made; a dry run says no more of its key than anybody may know.

    Args:
        view: that made it.
        row: the benchmark.
        stated: among others its key, if one was stated.
    """
    told = {"key": told_key(view.user, row, stated.get("key", ""))} if view.truth("dry_run") else {}
    return hosted_content(row, view.user, 0) | told


class Benchmarks(WritingView, benchmarks.Benchmarks):
    """The benchmarks, and a new one."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="create_benchmark",
        summary="Create a benchmark",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=hosting_shapes.BenchmarkBody,
        examples=[BENCHMARK_EXAMPLE],
        responses={201: hosting_shapes.HostedBenchmark, 200: hosting_shapes.HostedBenchmark, **WRITING},
    )
    def post(self, request: Request) -> Response:
        """A benchmark with its tasks, which belongs to the token's user. Its scores come as a submission."""
        fields, proposal = benchmark_of(request.data)

        def step() -> dict[str, Any]:
            return new_content(self, create_described(self.user, proposal, fields), fields)

        made = self.carry_out(step, status=201)
        made["Location"] = request.build_absolute_uri(f"{request.path}{made.data['key']}/")
        return made


class Benchmark(OwnerView, benchmarks.Benchmark):
    """One benchmark, and its settings."""

    scopes: ClassVar = {"PATCH": MANAGE}
    owned_methods = ("PATCH",)

    @extend_schema(
        operation_id="change_settings",
        summary="Change settings",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=hosting_shapes.SettingsBody,
        examples=[SETTINGS_EXAMPLE],
        responses={200: hosting_shapes.HostedBenchmark, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """Change what no rank depends on; the trail keeps what, by whom and why."""
        values, reason = settings_of(request.data)

        def step() -> dict[str, Any]:
            n_changed = change_settings(self.benchmark, values, author=self.user, reason=reason)
            return hosted_content(self.benchmark, self.user, n_changed)

        return self.carry_out(step)


class Tasks(OwnerView, benchmarks.Tasks):
    """The tasks, and a change of them."""

    scopes: ClassVar = {"PATCH": MANAGE}
    owned_methods = ("PATCH",)

    @extend_schema(
        operation_id="change_tasks",
        summary="Add, change or archive tasks and groups",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=hosting_shapes.TasksBody,
        examples=[TASKS_EXAMPLE],
        responses={200: hosting_shapes.TaskChange, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """What ranks depend on. A dry run says which ranks would move; else a revision is made, with author and reason.

        Tasks and groups that are not named stay as they are.
        """
        return self.carry_out(self._preview if self.truth("dry_run") else self._apply)

    def _preview(self) -> dict[str, Any]:
        proposal, _ = proposal_of(self.request.data, present_proposal(self.benchmark))
        found = preview_proposal(self.benchmark, proposal)
        return {
            "dry_run": True,
            "revision": None,
            "changes_ranking": found.changes_ranking,
            "changes": [_change(change) for change in found.changes],
            "rules": [_effect(effect) for effect in found.effects],
            "too_large": found.too_large,
        }

    def _apply(self) -> dict[str, Any]:
        locked = BenchmarkRow.objects.select_for_update().get(pk=self.benchmark.pk)
        proposal, reason = proposal_of(self.request.data, present_proposal(locked))
        changes, token = proposed_changes(locked, proposal), proposal_token(locked, proposal)
        revision = apply_proposal(locked, proposal, author=self.user, token=token, reason=reason)
        return {
            "dry_run": False,
            "revision": revision.number if revision else None,
            "changes_ranking": revision is not None,
            "changes": [_change(change) for change in changes],
            "rules": [],
            "too_large": "",
        }


class Archive(OwnerView):
    """Archiving."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="archive_benchmark",
        summary="Archive a benchmark, or open it again",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=hosting_shapes.ArchiveBody,
        examples=[ARCHIVE_EXAMPLE],
        responses={200: hosting_shapes.HostedBenchmark, **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """An archived benchmark is read as before and takes no submissions."""
        archived, reason = archiving_of(request.data)
        before = self.benchmark.is_archived

        def step() -> dict[str, Any]:
            archive(self.benchmark, author=self.user, archived=archived, reason=reason)
            return hosted_content(self.benchmark, self.user, int(before != archived))

        return self.carry_out(step)


class Editions(OwnerView):
    """Further editions."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="create_edition",
        summary="Duplicate a benchmark as a new edition",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=hosting_shapes.EditionBody,
        examples=[EDITION_EXAMPLE],
        responses={
            201: hosting_shapes.HostedBenchmark,
            200: OpenApiResponse(hosting_shapes.HostedBenchmark, description="A dry run."),
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """The same tasks, groups and settings, private until its owner says otherwise; with the scores or without."""
        stated = edition_of(request.data)
        return self.carry_out(
            lambda: new_content(self, new_edition(self.benchmark, author=self.user, **stated), stated), status=201
        )


def _change(change: Change) -> dict[str, Any]:
    return {name: getattr(change, name) for name in ("subject", "of", "field", "before", "after")}


def _effect(effect: TableEffect) -> dict[str, Any]:
    return {
        "rule": effect.rule_name,
        "winner_before": effect.winner_before,
        "winner_after": effect.winner_after,
        "n_ranks_changed": effect.n_ranks_changed,
        "largest_moves": [
            {"name": move.system_name, "before": move.before, "after": move.after} for move in effect.moves
        ],
    }

