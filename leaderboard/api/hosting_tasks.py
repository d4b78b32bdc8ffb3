"""Changes of a benchmark's tasks and groups, and of how they count: with the ranks that move."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.access.locks import lock_benchmark
from leaderboard.api.benchmarks import TasksView
from leaderboard.api.protocol.base import MANAGE, OwnerView
from leaderboard.api.protocol.fields import (
    ChoiceText,
    Listing,
    ReasonText,
    ScoreField,
    Shape,
    Strict,
    Text,
    Truth,
    kind_of,
)
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example
from leaderboard.benchmarks.tasks import (
    COUNTING,
    MAX_TASKS,
    GroupEdit,
    Proposal,
    TaskEdit,
    apply_proposal,
    present_proposal,
    preview_proposal,
    proposal_token,
    proposed_changes,
)
from leaderboard.models import Benchmark, Task
from ranking_engine.catalogue.registry import MAX_VARIANTS
from ranking_engine.catalogue.variants import LONGEST_KEY
from ranking_engine.text.names import clean_name, fold_name

DIGITS, PLACES = 20, 10  # of a weight, in all and behind the point
NEEDS_NAME = "it is missing: what is new has a name, and `key` names nothing that there is"
TASKS_EXAMPLE = body_example(
    "A weight, a task more and one less",
    {
        "tasks": [
            {"key": "boolq", "weight": "0.5"},
            {"name": "MATH", "group": "Counting"},
            {"key": "gsm8k", "is_archived": True},
        ],
        "reason": "GSM8K is solved.",
    },
)


@extend_schema_field({"type": ["string", "number"]})
class Exact(Strict, s.CharField):
    """A decimal as text, or a number; kept exactly as it is written."""

    def __init__(self, *, called: str = "weight", **kwargs: Any) -> None:  # noqa: ANN401
        """A decimal that is `called` so where it cannot be read."""
        self.called = called
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401
        """The decimal."""
        text = data if isinstance(data, str) else repr(data)
        if isinstance(data, bool) or not isinstance(data, (str, int, float)) or not text.isascii():
            raise s.ValidationError(f'expected a decimal such as "0.5", found {kind_of(data)}')
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("NaN")
        if value.is_finite() and 0 <= value < 10 ** (DIGITS - PLACES):
            exponent = value.normalize().as_tuple().exponent
            if isinstance(exponent, int) and exponent >= -PLACES:
                return abs(value)  # -0 is 0
        limits = f"{DIGITS - PLACES} digits before the point and {PLACES} behind it"
        raise s.ValidationError(
            f"{text[:30]!r} is no {self.called}: a decimal that is not negative, with at most {limits}"
        )


class Direction(Strict, s.ChoiceField):
    """The direction of a task."""

    def to_internal_value(self, data: Any) -> int:  # type: ignore[override]  # noqa: ANN401
        """1, -1 or 0."""
        if isinstance(data, int) and not isinstance(data, bool) and data in Task.Direction.values:
            return data
        expected = "expected 1 (higher is better), -1 (lower) or 0 (never votes)"
        raise s.ValidationError(f"{expected}, found {kind_of(data)}")


class TextOrNull(Text):
    """A text, which null empties."""

    def run_validation(self, data: Any = None) -> str:  # noqa: ANN401
        """The text."""
        return "" if data is None else super().run_validation(data)


class GroupBodySerializer(Shape):
    """A task group. `key` names one that there is; what is left out stays."""

    most = MAX_TASKS

    name = Text(most=200, required=False)
    weight = Exact(required=False, help_text="A decimal as text; a number is taken, too.")
    key = Text(most=200, required=False)

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """What is new has a name."""
        if values.get("key") not in self.context["groups"] and not values.get("name"):
            yield "name", NEEDS_NAME


class TaskBodySerializer(Shape):
    """A task. `key` names one that there is, and what is left out stays; a new one has a name."""

    most = MAX_TASKS

    name = Text(most=200, required=False)
    direction = Direction(choices=Task.Direction.values, required=False)
    weight = Exact(required=False, help_text="A decimal as text; a number is taken, too.")
    group = TextOrNull(
        most=200, required=False, allow_null=True, help_text="The name or key of a group; null for none."
    )
    metric = Text(most=200, required=False, allow_blank=True)
    unit = Text(most=200, required=False, allow_blank=True)
    minimum = ScoreField(required=False, allow_null=True)
    maximum = ScoreField(required=False, allow_null=True)
    chance = ScoreField(required=False, allow_null=True)
    precision = Exact(
        called="precision",
        required=False,
        allow_null=True,
        help_text="The smallest difference that means anything: a decimal as text; null for none.",
    )
    cluster = TextOrNull(
        most=200,
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="Tasks of one cluster are not independent of each other; null for none.",
    )
    is_archived = Truth(required=False, help_text="An archived task keeps its scores and no longer counts.")
    key = Text(most=200, required=False)

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """What is new has a name."""
        if values.get("key") not in self.context["tasks"] and not values.get("name"):
            yield "name", NEEDS_NAME


class CountingSerializer(Shape):
    """How scores count."""

    missing_policy = ChoiceText(Benchmark.MissingPolicy.values, required=False)
    aggregation = ChoiceText(Benchmark.Aggregation.values, required=False)
    gamma = ScoreField(
        required=False,
        allow_null=True,
        help_text="The optimality threshold; with null it is derived where the tasks' scales allow it.",
    )
    replacement = ChoiceText(Benchmark.Replacement.values, required=False)
    variants = Listing(
        child=Text(most=LONGEST_KEY),
        most=MAX_VARIANTS,
        required=False,
        help_text="Rules under other options, or with your own points, as further columns, such as "
        "`copeland[variant=lower]` or `positional[vector=12,10,8]`.",
    )


class TasksBodySerializer(CountingSerializer):
    """Tasks and groups that are new or change, and how they count."""

    tasks = TaskBodySerializer(many=True, required=False)
    groups = GroupBodySerializer(many=True, required=False)
    reason = ReasonText(help_text="The history shows it.")

    def get_fields(self) -> dict[str, Any]:
        """The fields in the order in which an error lists them."""
        fields = super().get_fields()
        return {name: fields[name] for name in ("tasks", "groups", *COUNTING, "reason")}


class ChangeEntrySerializer(Shape):
    """One field of one thing, before and after."""

    subject = s.CharField()
    of = s.CharField()
    field = s.CharField()
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)


class MovedSystemSerializer(Shape):
    """A system whose rank would change; null is unranked."""

    name = s.CharField(source="system_name")
    before = s.IntegerField(allow_null=True)
    after = s.IntegerField(allow_null=True)


class RuleEffectSerializer(Shape):
    """What a change would do under one rule."""

    rule = s.CharField(source="rule_name", help_text="The rule's name.")
    winner_before = s.CharField(allow_blank=True)
    winner_after = s.CharField(allow_blank=True)
    n_ranks_changed = s.IntegerField()
    largest_moves = MovedSystemSerializer(many=True, source="moves")


class TaskChangeSerializer(Shape):
    """What a change of tasks did, or would do."""

    dry_run = s.BooleanField()
    changes_ranking = s.BooleanField(help_text="Whether ranks can depend on it, so that a revision is made.")
    revision = s.IntegerField(allow_null=True, help_text="The revision that was made.")
    changes = ChangeEntrySerializer(many=True)
    rules = RuleEffectSerializer(many=True, help_text="Of a dry run.")
    too_large = s.CharField(allow_blank=True, help_text="Why a dry run shows no ranks.")


def _read_proposal(data: Any, present: Proposal) -> tuple[Proposal, str]:  # noqa: ANN401
    """Changes of tasks and groups as what is to be, and the reason.

    Args:
        data: the body; of tasks and groups it names those that change or are new, of each the fields that change.
        present: the existing fields.

    Raises:
        ApiError: the body has another shape.
    """
    tasks, groups = {edit.key for edit in present.tasks}, {edit.key for edit in present.groups}
    body = TasksBodySerializer.read(data, tasks=tasks, groups=groups)
    return changed_proposal(body, present), body["reason"]


def changed_proposal(body: Mapping[str, Any], present: Proposal) -> Proposal:
    """The existing fields, with the changes of a body."""
    groups: dict[str, GroupEdit] = _changed(present.groups, body.get("groups", []), GroupEdit)
    known = {fold_name(group.name) for group in groups.values()}
    by_key = {group.key: group.name for group in groups.values() if group.key}
    tasks = []
    for edit in _changed(present.tasks, body.get("tasks", []), TaskEdit).values():
        group = clean_name(edit.group)
        group = by_key.get(group, group) if fold_name(group) not in known else group
        if group and fold_name(group) not in known:  # a group that only tasks name weighs 1
            known.add(fold_name(group))
            groups[f"~{group}"] = GroupEdit(group)
        tasks.append(replace(edit, group=group))
    counting = {name: body.get(name, getattr(present, name)) for name in COUNTING}
    return Proposal(tasks=tasks, groups=list(groups.values()), **counting)


def _changed(present: Iterable[Any], entries: Iterable[dict[str, Any]], kind: Any) -> dict[str, Any]:  # noqa: ANN401
    """Tasks or groups by key, with those that are new by a number of their own."""
    edits = {edit.key: edit for edit in present}
    for i, fields in enumerate(entries):
        key = fields.get("key", "")
        edit = replace(edits[key], **fields) if key in edits else kind(**fields)
        edits[key if key in edits else f"~{i}"] = edit
    return edits


class HostedTasksView(OwnerView, TasksView):
    """The tasks, and a change of them."""

    scopes: ClassVar = {"PATCH": MANAGE}
    owned_methods = ("PATCH",)

    @extend_schema(
        operation_id="change_tasks",
        summary="Add, change or archive tasks and groups",
        tags=["hosting"],
        parameters=[DRY_RUN],
        request=TasksBodySerializer,
        examples=[TASKS_EXAMPLE],
        responses={200: TaskChangeSerializer, **WRITING},
    )
    def patch(self, request: Request, key: str) -> Response:
        """What ranks depend on. A dry run says which ranks would move; else a revision is made, with author and reason.

        Tasks and groups that are not named stay as they are.
        """
        return self.carry_out(self._preview if self.truth("dry_run") else self._apply)

    def _preview(self) -> dict[str, Any]:
        proposal, _ = _read_proposal(self.request.data, present_proposal(self.benchmark))
        preview = preview_proposal(self.benchmark, proposal)
        return TaskChangeSerializer.render(
            {
                "dry_run": True,
                "revision": None,
                "changes_ranking": preview.changes_ranking,
                "changes": preview.changes,
                "rules": preview.effects,
                "too_large": preview.too_large,
            }
        )

    def _apply(self) -> dict[str, Any]:
        locked = lock_benchmark(self.benchmark.pk)
        proposal, reason = _read_proposal(self.request.data, present_proposal(locked))
        changes, token = proposed_changes(locked, proposal), proposal_token(locked, proposal)
        revision = apply_proposal(locked, proposal, author=self.user, token=token, reason=reason)
        return TaskChangeSerializer.render(
            {
                "dry_run": False,
                "revision": revision.number if revision else None,
                "changes_ranking": revision is not None,
                "changes": changes,
                "rules": [],
                "too_large": "",
            }
        )
