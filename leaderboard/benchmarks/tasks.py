"""Changing what ranks depend on: tasks, groups, directions, weights, scales, policies. Previewed first.

The preview makes the change, reads the configuration that comes of it and rolls it back, so that the same checks hold.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audit import Change, changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.benchmarks.create import (
    group_fields,
    prepare_group,
    prepare_task,
    record_configuration_change,
    task_fields,
    weight_problems,
)
from leaderboard.common.hashing import content_hash
from leaderboard.common.text import decimal_text
from leaderboard.computing.rankings import split_rules
from leaderboard.models import AuditEntry, Benchmark, Configuration, Revision, Task, TaskGroup, User
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import BoardConfiguration, present_configuration
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.submissions.preview.draft import BoardState, latest_state, rankings_of_both
from leaderboard.submissions.preview.table import TableEffect, table_effect
from ranking_engine.text.names import fold_name

MAX_TASKS = 1000
COPIED = (  # from an entry to its row; the group is looked up, the key stays
    "name", "direction", "weight", "metric", "unit", "minimum", "maximum", "chance", "precision", "cluster",
    "is_archived",
)  # fmt: skip
COUNTING = ("missing_policy", "aggregation", "gamma", "replacement", "variants")


@dataclass(frozen=True)
class GroupEdit:
    """A task group as it is to be; the `key` of a new one may be left to its name."""

    name: str
    weight: Decimal = Decimal(1)
    key: str = ""


@dataclass(frozen=True)
class TaskEdit:
    """A task as it is to be; the `key` of a new one may be left to its name. `group` is the name of one, or empty."""

    name: str
    direction: int = Task.Direction.HIGHER
    weight: Decimal = Decimal(1)
    group: str = ""
    metric: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    chance: float | None = None
    precision: Decimal | None = None
    cluster: str = ""
    is_archived: bool = False
    key: str = ""


@dataclass(frozen=True)
class Proposal:
    """All of what ranks depend on beside the scores, as it is to be. Tasks are in their order.

    `variants` are keys of variants of rules as someone writes them; writing the proposal brings them into one form.
    """

    tasks: Sequence[TaskEdit]
    groups: Sequence[GroupEdit]
    missing_policy: str
    aggregation: str
    replacement: str
    gamma: float | None = None
    variants: Sequence[str] = ()


class ProposalError(ValueError):
    """A proposal that cannot be stored; `problems` are (where, number of the row from 0 or None, field, message)."""

    def __init__(self, problems: Sequence[tuple[str, int | None, str, str]]) -> None:
        super().__init__("; ".join(message for *_, message in problems))
        self.problems = list(problems)


class StaleProposalError(ValueError):
    """What was previewed is not what is asked for now, or the benchmark has changed since."""


@dataclass(frozen=True)
class ProposalPreview:
    """What a proposal would change."""

    token: str  # says what was previewed, and against what
    revision_number: int
    changes: list[Change]
    changes_ranking: bool  # whether a revision would be made
    effects: list[TableEffect] = field(default_factory=list)
    too_large: str = ""  # why no ranks are shown

    @property
    def n_ranks_changed(self) -> int:
        """Over all rules."""
        return sum(effect.n_ranks_changed for effect in self.effects)


def present_proposal(benchmark: Benchmark) -> Proposal:
    """The benchmark as it is, as a proposal that changes nothing."""
    return Proposal(
        tasks=[
            TaskEdit(
                name=task.name,
                direction=task.direction,
                weight=task.weight,
                group=task.group.name if task.group else "",
                metric=task.metric,
                unit=task.unit,
                minimum=task.minimum,
                maximum=task.maximum,
                chance=task.chance,
                precision=task.precision,
                cluster=task.cluster,
                is_archived=task.is_archived,
                key=task.key,
            )
            for task in benchmark.tasks.select_related("group")
        ],
        groups=[GroupEdit(group.name, group.weight, group.key) for group in benchmark.groups.all()],
        **{name: getattr(benchmark, name) for name in COUNTING},
    )


def preview_proposal(benchmark: Benchmark, proposal: Proposal) -> ProposalPreview:
    """What `proposal` would change, and which ranks under which rule.

    Raises:
        ProposalError: it cannot be stored.
    """
    with transaction.atomic():
        before = present_configuration(benchmark)
        changes = write_proposal(Benchmark.objects.get(pk=benchmark.pk), proposal)
        after = present_configuration(Benchmark.objects.get(pk=benchmark.pk))
        transaction.set_rollback(True)
    preview = ProposalPreview(
        token=proposal_token(benchmark, proposal),
        revision_number=benchmark.last_revision_number,
        changes=changes,
        changes_ranking=before != after and benchmark.last_revision_number > 0,
    )
    if not preview.changes_ranking:
        return preview
    old, new = latest_state(benchmark), state_under(benchmark, after)
    n_systems, n_tasks = len(old.systems), max(old.values.shape[1], new.values.shape[1])
    size = 2 * n_systems * n_tasks * len(split_rules(n_systems, n_tasks, after.variants).quick)
    if size > settings.ON_DEMAND_BUDGET:
        text = gettext("A board of %(n)s systems x %(n_tasks)s tasks is too large to rank twice while you wait.")
        return replace(preview, too_large=text % {"n": n_systems, "n_tasks": n_tasks})
    names = [system.name for system in old.systems]
    try:
        old_rankings, new_rankings = rankings_of_both(old, new)
    except TooLargeError as error:
        return replace(preview, too_large=str(error))
    return replace(
        preview,
        effects=[
            table_effect(rule, old_rankings.get(rule), ranking, len(names), names)
            for rule, ranking in new_rankings.items()
        ],
    )


def proposed_changes(benchmark: Benchmark, proposal: Proposal) -> list[Change]:
    """What `proposal` would change, field by field; it is written and rolled back.

    Raises:
        ProposalError: it cannot be stored.
    """
    with transaction.atomic():
        changes = write_proposal(Benchmark.objects.get(pk=benchmark.pk), proposal)
        transaction.set_rollback(True)
    return changes


def state_under(benchmark: Benchmark, configuration: BoardConfiguration) -> BoardState:
    """The benchmark's latest scores under another configuration."""
    number = benchmark.last_revision_number
    imagined = Revision(benchmark=benchmark, number=number, configuration=Configuration(content=configuration.content))
    matrix = revision_matrix(imagined)
    state = latest_state(benchmark)
    if matrix is None:
        return replace(state, configuration=configuration, systems=[])
    return replace(state, configuration=configuration, systems=matrix.systems, values=matrix.written)


@transaction.atomic
def apply_proposal(
    benchmark: Benchmark, proposal: Proposal, *, author: User, token: str, reason: str = ""
) -> Revision | None:
    """Make a previewed change: rows, trail, and where ranking may differ a revision with its author.

    Args:
        benchmark: whose.
        proposal: what was previewed.
        author: who changes it.
        token: of the preview.
        reason: why; the history shows it.

    Returns:
        The revision, or None where no rank can differ.

    Raises:
        StaleProposalError: the token is of another proposal, or the benchmark changed since.
        ProposalError: it cannot be stored.
    """
    locked = lock_as_owner(benchmark.pk, author)
    if token != proposal_token(locked, proposal):
        raise StaleProposalError(gettext("The benchmark or your entries have changed since the preview."))
    changes = write_proposal(locked, proposal)
    revision = record_configuration_change(locked, author=author, note=reason)
    record_changes(locked, changes, actor=author, reason=reason, revision=revision)
    return revision


def proposal_token(benchmark: Benchmark, proposal: Proposal) -> str:
    """Says which proposal is meant, and against what state of the benchmark: another of either has another token."""
    groups, tasks = (
        [
            {name: decimal_text(value) if isinstance(value, Decimal) else value for name, value in asdict(edit).items()}
            for edit in edits
        ]
        for edits in (proposal.groups, proposal.tasks)
    )
    rest = [getattr(proposal, name) for name in COUNTING]
    state = [benchmark.last_revision_number, present_configuration(benchmark).content]
    return content_hash([str(benchmark.pk), state, groups, tasks, rest])


# --- Writing ----------------------------------------------------------------------------------------------------


def write_proposal(benchmark: Benchmark, proposal: Proposal) -> list[Change]:
    """Store the proposal's rows, inside the caller's transaction; returns what differs from before.

    Raises:
        ProposalError: something cannot be stored; the transaction is to be rolled back.
    """
    # What is wrong with a proposal in itself.
    problems: list[tuple[str, int | None, str, str]] = []
    if len(proposal.tasks) > MAX_TASKS:
        text = gettext("%(n_tasks)s tasks; the limit is %(max_tasks)s.")
        counts = {"n_tasks": len(proposal.tasks), "max_tasks": MAX_TASKS}
        problems.append(("tasks", None, "", text % counts))
    names = {"tasks": [task.name for task in proposal.tasks], "groups": [group.name for group in proposal.groups]}
    for place, names_there in names.items():
        seen: set[str] = set()
        for i, name in enumerate(names_there):
            if fold_name(name) in seen:
                problems.append(
                    (place, i, "name", gettext("Another one already has the name %(name)s.") % {"name": repr(name)})
                )
            seen.add(fold_name(name))
    problems += weight_problems(proposal.tasks, proposal.groups, proposal.aggregation)
    known = {fold_name(group.name) for group in proposal.groups}
    for i, task in enumerate(proposal.tasks):
        if task.group and fold_name(task.group) not in known:
            problems.append(
                ("tasks", i, "group", gettext("There is no group %(group)s.") % {"group": repr(task.group)})
            )
    if problems:
        raise ProposalError(problems)
    writer = _Writer(benchmark)
    groups = [writer.group(i, edit) for i, edit in enumerate(proposal.groups)]
    by_name = {fold_name(group.name): group for group in groups if group}
    for i, edit in enumerate(proposal.tasks):
        writer.task(i, edit, by_name)
    before = {name: getattr(benchmark, name) for name in COUNTING}
    for name in COUNTING:
        setattr(benchmark, name, getattr(proposal, name))
    benchmark.variants = list(proposal.variants)
    try:
        benchmark.full_clean()
    except ValidationError as error:
        writer.note(error, "counting", None)
    if writer.problems:
        raise ProposalError(writer.problems)
    benchmark.save()
    Task.objects.bulk_create(writer.new_tasks)
    for name in COUNTING:
        after = {"value": getattr(benchmark, name)}
        writer.changes += changes_between(AuditEntry.Subject.SETTING, name, {"value": before[name]}, after)
    return writer.changes


class _Writer:
    """Checks rows one after the other by what it has read once; what is wrong with one is noted and the others go on.

    Stored rows that change are stored as they come, new tasks all at once.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.groups = {group.key: group for group in benchmark.groups.all()}
        self.tasks = {task.key: task for task in benchmark.tasks.select_related("group")}
        # Which row has a key or a name, the rows of this proposal among them.
        self.keys: dict[type[Task | TaskGroup], dict[str, Task | TaskGroup]]
        self.keys = {TaskGroup: {**self.groups}, Task: {**self.tasks}}
        self.task_names = {task.name_folded: task for task in self.tasks.values()}
        self.new_tasks: list[Task] = []
        self.changes: list[Change] = []
        self.problems: list[tuple[str, int | None, str, str]] = []

    def group(self, i: int, edit: GroupEdit) -> TaskGroup | None:
        """The group as it is to be, stored."""
        group = self.groups.get(edit.key) or TaskGroup(benchmark=self.benchmark, key=edit.key)
        before = group_fields(group) if group.pk else {}
        group.name, group.weight, group.order = edit.name, edit.weight, i
        if not self.passes(group, "groups", i):
            return None
        group.save()
        self.keys[TaskGroup][group.key] = group
        self.changes += changes_between(AuditEntry.Subject.GROUP, group.key, before, group_fields(group))
        return group

    def task(self, i: int, edit: TaskEdit, groups: dict[str, TaskGroup]) -> None:
        """Check the task as it is to be; a new one is stored with the others, at the end."""
        task = self.tasks.get(edit.key) or Task(benchmark=self.benchmark, key=edit.key)
        before, order_before, name_before = task_fields(task) if task.pk else {}, task.order, task.name_folded
        task.order, task.group = i, groups.get(fold_name(edit.group)) if edit.group else None
        for name in COPIED:
            setattr(task, name, getattr(edit, name))
        if not self.passes(task, "tasks", i):
            return
        changes = changes_between(AuditEntry.Subject.TASK, task.key, before, task_fields(task))
        self.changes += changes
        if task.pk is None:
            self.new_tasks.append(task)
        else:
            del self.task_names[name_before]
            if changes or order_before != i:
                task.save()
        self.keys[Task][task.key] = self.task_names[task.name_folded] = task

    def passes(self, row: Task | TaskGroup, place: str, i: int) -> bool:
        """Bring the row into the form that is stored, and note what is wrong with it; whether nothing is.

        The benchmark and the group were read or stored just now: for these and the constraints no query is needed.
        """
        errors: dict[str, list[ValidationError]] = {}
        try:
            prepare_task(row, self.keys[Task]) if isinstance(row, Task) else prepare_group(row, self.keys[TaskGroup])
        except ValidationError as error:
            self.note(error, place, i)
            return False
        try:
            row.full_clean(exclude=["benchmark", "group"], validate_unique=False, validate_constraints=False)
        except ValidationError as error:
            error.update_error_dict(errors)
        same_key, same_name = self.keys[type(row)].get(row.key, row), row
        if isinstance(row, Task):
            same_name = self.task_names.get(row.name_folded, row)
        for named, other in (("key", same_key), ("name_folded", same_name)):
            if other is not row and named not in errors:
                row.unique_error_message(type(row), ("benchmark", named)).update_error_dict(errors)
        if "weight" not in errors and row.weight < 0:
            constraints = type(row)._meta.constraints  # noqa: SLF001 -- Django documents `_meta`
            broken = next(one for one in constraints if one.name.endswith("weight_not_negative"))
            ValidationError(broken.get_violation_error_message()).update_error_dict(errors)
        if errors:
            self.note(ValidationError(errors), place, i)
        return not errors

    def note(self, error: ValidationError, place: str, i: int | None) -> None:
        """Keep what is wrong, with its place."""
        messages = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
        self.problems += [(place, i, name, text) for name, texts in messages.items() for text in texts]
