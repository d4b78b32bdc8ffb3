"""Changing what ranks depend on: tasks, groups, directions, weights, scales, policies. Previewed first.

The preview makes the change, reads the configuration that comes of it and rolls it back, so that the same checks hold.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audit import Change, changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.benchmarks.create import prepare_group, prepare_task, record_configuration_change, weightless
from leaderboard.common.hashing import content_hash
from leaderboard.common.language.stored import in_english
from leaderboard.common.text import decimal_text
from leaderboard.computing.rankings import split_rules
from leaderboard.models import AuditEntry, Benchmark, Configuration, Revision, Task, TaskGroup, User
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import BoardConfiguration, present_configuration
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.submissions.preview.draft import BoardState, latest_state, rankings_of_both
from leaderboard.submissions.preview.table import TableEffect, table_effect
from ranking_engine.core.weights import GROUPED_BITS, sum_bits
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
    problems += _weight_problems(proposal)
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
    writer.attempt(benchmark, "counting", None)
    if writer.problems:
        raise ProposalError(writer.problems)
    for name in COUNTING:
        after = {"value": getattr(benchmark, name)}
        writer.changes += changes_between(AuditEntry.Subject.SETTING, name, {"value": before[name]}, after)
    return writer.changes


def _weight_problems(proposal: Proposal) -> list[tuple[str, int | None, str, str]]:
    """Weights of which none is above 0, or that have so many digits, once groups are evened out, that no rule is
    computed with them in time."""
    if empty := weightless(proposal.tasks, proposal.groups, proposal.aggregation):
        return [(*empty[:2], "weight", empty[2])]
    weights = [task.weight for task in proposal.tasks] + [group.weight for group in proposal.groups]
    if proposal.aggregation not in ("weighted", "balanced") or not all(map(_is_storable, weights)):
        return []  # what cannot be stored is found with its row
    groups = {fold_name(group.name): Fraction(group.weight) for group in proposal.groups}
    members: dict[str, list[Fraction]] = {}
    for task in proposal.tasks:
        members.setdefault(fold_name(task.group), []).append(Fraction(task.weight))
    shares = [
        groups.get(group, Fraction(1)) * weight / (sum(those) or 1 if group in groups else 1)
        for group, those in members.items()
        for weight in those
    ]
    if sum_bits(shares) <= GROUPED_BITS:
        return []
    text = gettext(
        "The weights of tasks within groups have too many digits to balance exactly: use fewer digits, or let every "
        "task count its own weight."
    )
    return [("tasks", None, "", text)]


def _is_storable(weight: Decimal) -> bool:
    """Whether a weight is as short as the field that keeps it."""
    return weight.is_finite() and abs(weight.adjusted()) <= 20 and len(weight.as_tuple().digits) <= 20


class _Writer:
    """Stores rows one by one; what is wrong with one is noted and the others go on."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.groups = {group.key: group for group in benchmark.groups.all()}
        self.tasks = {task.key: task for task in benchmark.tasks.select_related("group")}
        self.changes: list[Change] = []
        self.problems: list[tuple[str, int | None, str, str]] = []

    def group(self, i: int, edit: GroupEdit) -> TaskGroup | None:
        """The group as it is to be, stored."""
        group = self.groups.get(edit.key) or TaskGroup(benchmark=self.benchmark, key=edit.key)
        before = group_fields(group) if group.pk else {}
        group.name, group.weight, group.order = edit.name, edit.weight, i
        if not self.attempt(group, "groups", i):
            return None
        self.changes += changes_between(AuditEntry.Subject.GROUP, group.key, before, group_fields(group))
        return group

    def task(self, i: int, edit: TaskEdit, groups: dict[str, TaskGroup]) -> None:
        """Store the task as it is to be."""
        task = self.tasks.get(edit.key) or Task(benchmark=self.benchmark, key=edit.key)
        before = task_fields(task) if task.pk else {}
        task.order, task.group = i, groups.get(fold_name(edit.group)) if edit.group else None
        for name in COPIED:
            setattr(task, name, getattr(edit, name))
        if self.attempt(task, "tasks", i):
            self.changes += changes_between(AuditEntry.Subject.TASK, task.key, before, task_fields(task))

    def attempt(self, row: Benchmark | Task | TaskGroup, place: str, i: int | None) -> bool:
        """Bring the row into its stored form, check it and store it."""
        try:
            if isinstance(row, Task):
                prepare_task(row)
            elif isinstance(row, TaskGroup):
                prepare_group(row)
            row.full_clean()
        except ValidationError as error:
            messages = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
            self.problems += [(place, i, name, text) for name, texts in messages.items() for text in texts]
            return False
        row.save()
        return True


def group_fields(group: TaskGroup) -> dict[str, Any]:
    """What the trail tells of a group."""
    return {"name": group.name, "weight": group.weight}


def task_fields(task: Task) -> dict[str, Any]:
    """What the trail tells of a task."""
    return {
        "name": task.name,
        "direction": in_english(Task.Direction(task.direction).label),
        "weight": task.weight,
        "group": task.group.name if task.group else "",
        "metric": task.metric,
        "unit": task.unit,
        "minimum": task.minimum,
        "maximum": task.maximum,
        "chance": task.chance,
        "precision": task.precision,
        "cluster": task.cluster,
        "archived": task.is_archived,
    }
