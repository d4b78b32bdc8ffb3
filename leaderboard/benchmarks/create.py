"""Making and changing benchmarks: the one way for the pages, the admin, the API and the importer."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext

from leaderboard.common.hashing import content_hash
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.stored import in_english
from leaderboard.common.names import make_key
from leaderboard.models import Benchmark, Membership, Revision, Task, TaskGroup, User
from leaderboard.rankings.configuration import check_default_rule, present_configuration
from leaderboard.rankings.revisions import next_revision
from ranking_engine.core.weights import GROUPED_BITS, sum_bits
from ranking_engine.text.names import check_name, fold_name


@dataclass(frozen=True)
class GroupSpec:
    """A task group that is to be."""

    name: str
    weight: Decimal = Decimal(1)
    key: str = ""


@dataclass(frozen=True)
class TaskSpec:
    """A task that is to be. `group` is the name of a group, or empty."""

    name: str
    direction: int = Task.Direction.HIGHER
    weight: Decimal = Decimal(1)
    group: str = ""
    key: str = ""
    metric: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    chance: float | None = None
    precision: Decimal | None = None
    cluster: str = ""


def weightless(tasks: Sequence[Any], groups: Sequence[Any], aggregation: str) -> tuple[str, int, str] | None:
    """Where the weights are to be mended of which none is above 0, the groups' counted in; None where one is.

    Args:
        tasks: specs or edits of tasks; archived ones do not count. Without any there is nothing to weigh.
        groups: specs or edits of groups; a group that is not among them weighs 1.
        aggregation: how tasks and groups count; under `basic` the weights of groups make no difference.

    Returns:
        `tasks` or `groups`, the number there from 0 of the first one without weight, and what is wrong in a sentence.
    """
    counted = [(i, task) for i, task in enumerate(tasks) if not getattr(task, "is_archived", False)]
    if tasks and not counted:
        return "tasks", 0, gettext("Leave at least one task that is not archived; or archive the benchmark.")
    if counted and not any(task.weight for _, task in counted):
        return "tasks", counted[0][0], gettext("At least one task needs a weight above 0.")
    if aggregation == Benchmark.Aggregation.BASIC:
        return None
    empty = {fold_name(group.name): i for i, group in reversed([*enumerate(groups)]) if not group.weight}
    left_out = [empty.get(fold_name(task.group)) for _, task in counted if task.weight]
    if not left_out or None in left_out:
        return None
    return "groups", left_out[0] or 0, gettext("At least one task needs a weight above 0, and so does its group.")


@transaction.atomic
def create_benchmark(
    *,
    name: str,
    owner: User,
    key: str = "",
    groups: Sequence[GroupSpec] = (),
    tasks: Sequence[TaskSpec] = (),
    is_limited: bool = True,
    **fields: Any,  # noqa: ANN401
) -> Benchmark:
    """Store a benchmark with its groups and tasks, owned by `owner`. Its first revision comes with its first scores.

    Args:
        name: what pages call it.
        owner: who decides about it.
        key: what addresses call it; made from the name where empty, and another one where it belongs to a benchmark
            that the owner may not know of.
        groups: its task groups.
        tasks: its tasks, in order.
        is_limited: whether it counts among those that its owner may make.
        fields: any other field of `Benchmark`.

    Raises:
        ValidationError: a field is not valid, no task has weight, the key is taken, or the owner has made as many as
            they may.
    """
    if problem := weightless(tasks, groups, fields.get("aggregation", Benchmark.Aggregation.BASIC)):
        raise ValidationError({problem[0]: problem[2]})
    if is_limited:
        # Count one more benchmark of its maker by one conditional UPDATE: two at once never both take the last place.
        rows = User.objects.filter(pk=owner.pk)
        if not owner.is_staff:
            rows = rows.filter(n_benchmarks_made__lt=settings.BENCHMARKS_PER_ACCOUNT)
        if not rows.update(n_benchmarks_made=F("n_benchmarks_made") + 1):
            raise ValidationError(
                gettext(
                    "An account can create %(benchmarks_per_account)s benchmarks here, and yours has reached the "
                    "limit. Archived ones count too. The operator of this site can raise the limit, or create one for "
                    "you."
                )
                % {"benchmarks_per_account": settings.BENCHMARKS_PER_ACCOUNT}
            )
    # Where the stated key belongs to a private benchmark that the owner may not know of, another is given: a refusal
    # would cost nothing, and tell that it is there. So every guess costs one of the benchmarks of an account.
    taken = set(Benchmark.objects.values_list("key", flat=True))
    is_hidden = key in taken and key not in _known_keys(owner)
    if key in taken and not is_hidden:
        text = gettext("There is a benchmark with the key “%(key)s” already; another one needs another key.")
        raise ValidationError({"key": text % {"key": key}})
    key = make_key(key, taken) if is_hidden else key or make_key(name, taken)
    benchmark = Benchmark(key=key, name=check_name(name, "benchmark"), **fields)
    benchmark.clean_fields()
    check_default_rule(benchmark)
    benchmark.full_clean()
    benchmark.save()
    Membership.objects.create(user=owner, benchmark=benchmark, role=Membership.Role.OWNER)
    by_name: dict[str, TaskGroup] = {}
    for order, spec in enumerate(groups):
        group = TaskGroup(benchmark=benchmark, name=spec.name, key=spec.key, weight=spec.weight, order=order)
        prepare_group(group)
        group.full_clean()
        group.save()
        by_name[fold_name(group.name)] = group
    _save_tasks(benchmark, tasks, by_name)
    return benchmark


def _known_keys(viewer: User) -> set[str]:
    """The keys of the benchmarks that someone may find out about: all but other people's private ones."""
    private = Benchmark.objects.filter(visibility=Benchmark.Visibility.PRIVATE).exclude(memberships__user=viewer)
    return set(Benchmark.objects.exclude(pk__in=private.values("pk")).values_list("key", flat=True))


def visible_key(viewer: User, made: Benchmark, key: str = "") -> str:
    """The key that a dry run says for a new benchmark: one that a private benchmark has passes for free.

    Args:
        viewer: who asks.
        made: the benchmark, stored until the dry run rolls it back.
        key: the one that is stated, if any.
    """
    return key or make_key(made.name, _known_keys(viewer) - {made.key})


def prepare_group(group: TaskGroup, taken: Container[str] | None = None) -> TaskGroup:
    """Bring a group's name and key into the form that is stored.

    Args:
        group: which is changed.
        taken: the keys of the benchmark's other groups; looked up where it is None.

    Raises:
        ValidationError: the name cannot be stored.
    """
    try:
        group.name = check_name(group.name, "group")
    except ValueError as problem:
        raise ValidationError({"name": in_page_language(str(problem))}) from problem
    if not group.key:
        if taken is None:
            taken = set(TaskGroup.objects.filter(benchmark_id=group.benchmark_id).values_list("key", flat=True))
        group.key = make_key(group.name, taken)
    return group


def _save_tasks(benchmark: Benchmark, specs: Sequence[TaskSpec], groups: Mapping[str, TaskGroup]) -> None:
    """Store the tasks of a benchmark that has none yet, at once.

    Args:
        benchmark: the new one.
        specs: its tasks, in order.
        groups: its task groups by their folded names.

    Raises:
        ValidationError: a field of a task is not valid, or two tasks have the same key or name.
    """
    tasks: list[Task] = []
    taken: set[str] = set()
    for order, spec in enumerate(specs):
        task = Task(
            benchmark=benchmark,
            group=groups.get(fold_name(spec.group)) if spec.group else None,
            order=order,
            key=spec.key,
            name=spec.name,
            direction=spec.direction,
            weight=spec.weight,
            metric=spec.metric,
            unit=spec.unit,
            minimum=spec.minimum,
            maximum=spec.maximum,
            chance=spec.chance,
            precision=spec.precision,
            cluster=spec.cluster,
        )
        prepare_task(task, taken)
        # Both rows that it refers to were stored just now; the constraints are the database's to check.
        task.full_clean(exclude=["benchmark", "group"], validate_constraints=False)
        tasks.append(task)
        taken.add(task.key)
    try:
        with transaction.atomic():
            Task.objects.bulk_create(tasks)
    except IntegrityError:
        for task in tasks:  # one after the other, for the words that say which constraint does not hold
            task.full_clean()
            task.save()


def prepare_task(task: Task, taken: Container[str] | None = None) -> Task:
    """Bring a task's name, key and cluster into the form that is stored.

    Args:
        task: which is changed.
        taken: the keys of the benchmark's other tasks; looked up where it is None.

    Raises:
        ValidationError: a name cannot be stored.
    """
    try:
        task.name = check_name(task.name, "task")
    except ValueError as problem:
        raise ValidationError({"name": in_page_language(str(problem))}) from problem
    try:
        task.cluster = check_name(task.cluster, "cluster") if task.cluster.strip() else ""
    except ValueError as problem:
        raise ValidationError({"cluster": in_page_language(str(problem))}) from problem
    task.name_folded = fold_name(task.name)
    if not task.key:
        if taken is None:
            taken = set(Task.objects.filter(benchmark_id=task.benchmark_id).values_list("key", flat=True))
        task.key = make_key(task.name, taken)
    return task


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


def weight_problems(
    tasks: Sequence[Any], groups: Sequence[Any], aggregation: str
) -> list[tuple[str, int | None, str, str]]:
    """Weights of which none is above 0, or that have so many digits, once groups are evened out, that no rule is
    computed with them in time."""
    if empty := weightless(tasks, groups, aggregation):
        return [(*empty[:2], "weight", empty[2])]
    weights = [task.weight for task in tasks] + [group.weight for group in groups]
    if aggregation not in ("weighted", "balanced") or not all(map(_is_storable, weights)):
        return []  # what cannot be stored is found with its row
    of_groups = {fold_name(group.name): Fraction(group.weight) for group in groups}
    members: dict[str, list[Fraction]] = {}
    for task in tasks:
        members.setdefault(fold_name(task.group), []).append(Fraction(task.weight))
    shares = [
        of_groups.get(group, Fraction(1)) * weight / (sum(those) or 1 if group in of_groups else 1)
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


def record_configuration_change(benchmark: Benchmark, *, author: User | None, note: str = "") -> Revision | None:
    """After rows of the configuration were changed: take a revision if ranking may differ.

    Call inside the transaction that made the change. Before the first scores there is nothing to revise.

    Returns:
        The revision, or None where the stored configuration says the same as before.
    """
    last = benchmark.revisions.order_by("-number").select_related("configuration").first()
    if last is None or content_hash(present_configuration(benchmark).content) == last.configuration.content_hash:
        return None
    return next_revision(benchmark, cause=Revision.Cause.CONFIGURATION, author=author, note=note)
