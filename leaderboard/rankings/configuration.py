"""The configuration of a revision: tasks, groups, directions, weights, scales, γ and policy as they were."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from leaderboard.common.hashing import content_hash
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import in_language
from leaderboard.common.text import decimal_text, value_text
from leaderboard.computing.rankings import site_rules
from leaderboard.models import Benchmark, Configuration, Revision, Task, TaskGroup
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.core.missing import MISSING_POLICIES, PREDICTED
from ranking_engine.core.threshold import DerivedGamma, derived_gamma
from ranking_engine.text.names import shorten


@dataclass(frozen=True, slots=True)
class ConfiguredTask:
    """A task as it was at a revision.

    Attributes:
        id: of the row in the database.
        key: in addresses and files.
        name: for people.
        group: the key of its group; None where it is in none.
        direction: 1 where higher is better, -1 where lower is, 0 where the task has no order and does not vote.
        weight: an exact decimal or fraction, as text.
        metric: what is measured.
        unit: in which it is measured.
        minimum, maximum, chance: the scale, in this unit; None where no one stated it.
        precision: the step to which scores are rounded before they are ranked, as an exact text.
        cluster: the name of the tasks that depend on each other, of which it is one.
    """

    id: int
    key: str
    name: str
    group: str | None
    direction: int
    weight: str
    metric: str
    unit: str
    minimum: float | None
    maximum: float | None
    chance: float | None
    precision: str | None = None
    cluster: str | None = None

    @property
    def votes(self) -> bool:
        """Whether it counts in a ranking: it has an order and weighs something."""
        return self.direction != 0 and Fraction(self.weight) > 0


@dataclass(frozen=True, slots=True)
class ConfiguredGroup:
    """A group of tasks as it was at a revision; `weight` is an exact decimal or fraction, as text."""

    key: str
    name: str
    weight: str


@dataclass(frozen=True)
class BoardConfiguration:
    """Everything beside the scores that a revision is ranked with.

    Attributes:
        groups: in their order.
        tasks: in the order of a matrix's columns.
        gamma: the optimality threshold that someone stated.
        derived_gamma: the threshold that followed from the tasks when the revision was made, where none was stated.
        missing_policy: one of `Benchmark.MissingPolicy`.
        aggregation: one of `Benchmark.Aggregation`.
        replacement: one of `Benchmark.Replacement`.
        variants: keys of the variants that are columns beside the rules, in the order of the board.
    """

    groups: tuple[ConfiguredGroup, ...]
    tasks: tuple[ConfiguredTask, ...]
    gamma: float | None
    derived_gamma: DerivedGamma | None
    missing_policy: str
    aggregation: str
    replacement: str
    variants: tuple[str, ...] = ()

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """The configuration that is stored as `content`."""
        return cls(
            groups=tuple(ConfiguredGroup(**group) for group in content["groups"]),
            tasks=tuple(ConfiguredTask(**task) for task in content["tasks"]),
            gamma=content["gamma"],
            derived_gamma=DerivedGamma(**content["derived_gamma"]) if "derived_gamma" in content else None,
            missing_policy=content["missing_policy"],
            aggregation=content["aggregation"],
            replacement=content["replacement"],
            variants=tuple(content.get("variants", ())),
        )

    @property
    def content(self) -> dict[str, Any]:
        """What is stored and hashed, the inverse of `read`.

        What came later is in it only where it is stated (a task's precision and cluster, the derived threshold, the
        variants): what was stored before says the same as what is stored now.
        """
        tasks = [asdict(task) for task in self.tasks]
        for task in tasks:
            for name in ("precision", "cluster"):
                if task[name] is None:
                    del task[name]
        return {
            "groups": [asdict(group) for group in self.groups],
            "tasks": tasks,
            "gamma": self.gamma,
            **({} if self.derived_gamma is None else {"derived_gamma": asdict(self.derived_gamma)}),
            "missing_policy": self.missing_policy,
            "aggregation": self.aggregation,
            "replacement": self.replacement,
            **({"variants": list(self.variants)} if self.variants else {}),
        }

    @property
    def has_weight(self) -> bool:
        """Whether a task weighs anything, its group's weight counted in where the aggregation counts it.

        None of a new revision can be without; those of older releases can.
        """
        counted = self.groups if self.aggregation != "basic" else ()
        empty = {group.key for group in counted if not Fraction(group.weight)}
        return any(Fraction(task.weight) > 0 and task.group not in empty for task in self.tasks)

    @property
    def policies(self) -> list[str]:
        """The missing-score policies that readers may choose: no score is predicted unless the owners chose that."""
        is_predicting = self.missing_policy == PREDICTED
        return [policy for policy in MISSING_POLICIES if is_predicting or policy != PREDICTED]

    @property
    def gamma_in_force(self) -> float | None:
        """The stated threshold, else the derived one."""
        return self.gamma if self.gamma is not None else self.gamma_derived

    @property
    def gamma_derived(self) -> float | None:
        """The threshold that follows from the scales of the tasks; None where one is stated or none follows."""
        return self.derived_gamma.gamma if self.derived_gamma else None

    @property
    def threshold_text(self) -> str:
        """The threshold in force and where it comes from, as a sentence; empty without one."""
        if self.gamma is not None:
            return gettext("γ = %(gamma)s, as stated.") % {"gamma": in_language(value_text(self.gamma))}
        if self.derived_gamma is None:
            return ""
        derived = self.derived_gamma
        gamma, maximum = (in_language(value_text(value)) for value in (derived.gamma, derived.maximum))
        return gettext("γ = %(gamma)s, derived: 95 %% of the scale’s maximum %(maximum)s.") % {
            "gamma": gamma,
            "maximum": maximum,
        }

    @property
    def task_names(self) -> dict[str, str]:
        """The name of every task, by key."""
        return {task.key: task.name for task in self.tasks}

    @property
    def group_names(self) -> dict[str, str]:
        """The name of every group, by key."""
        return {group.key: group.name for group in self.groups}

    @property
    def precisions(self) -> dict[str, str | None]:
        """The precision of every task, by name."""
        return {task.name: task.precision for task in self.tasks}

    @property
    def groups_with_tasks(self) -> list[ConfiguredGroup]:
        """The groups that weigh anything: all tasks of the others were archived, or none was ever in them."""
        named = {task.group for task in self.tasks}
        return [group for group in self.groups if group.key in named]


def has_rule(benchmark: Benchmark, rule: str) -> bool:
    """Whether the board that is shown has, or may have, a column for a rule: one of the catalogue, or its variant."""
    if rule in site_rules():
        return True
    return benchmark.publication is not None and rule in configuration_of(benchmark.publication.revision).variants


def default_rules(benchmark: Benchmark) -> list[str]:
    """The rules that can be a benchmark's default: those of the site, and its variants.

    Where it has a board already, only variants that are columns of that.
    """
    has_board = benchmark.publication is not None
    return [*site_rules(), *(key for key in benchmark.variants if not has_board or has_rule(benchmark, key))]


def default_rule_choices(benchmark: Benchmark | None = None) -> list[tuple[str, str]]:
    """Key and name of `default_rules`; those of the site without a benchmark."""
    return [(key, rule_name(key)) for key in (default_rules(benchmark) if benchmark else site_rules())]


def check_default_rule(benchmark: Benchmark) -> None:
    """Bring the default rule of a benchmark into the form that is stored.

    Raises:
        ValidationError: it is none of `default_rules`.
    """
    with suppress(ValueError):  # it is refused below
        benchmark.default_rule = get_rule(benchmark.default_rule).key
    rules = default_rules(benchmark)
    if benchmark.default_rule not in rules:
        values = {"rule": repr(shorten(benchmark.default_rule)), "rules": ", ".join(rules)}
        raise ValidationError({"default_rule": gettext("%(rule)s is not one of %(rules)s") % values})


def own_rule(benchmark: Benchmark, columns: Iterable[str]) -> str:
    """The default rule where a board has a column for it; where that is a variant that it has not, the rule itself.

    Boards of earlier revisions lack variants that were added later.

    Args:
        benchmark: whose default rule it is.
        columns: the rules of the board.
    """
    rule = benchmark.default_rule
    return rule if rule in set(columns) else rule_of_variant(rule)


def configuration_of(revision: Revision) -> BoardConfiguration:
    """What the revision is ranked with."""
    return BoardConfiguration.read(revision.configuration.content)


def present_configuration(benchmark: Benchmark) -> BoardConfiguration:
    """What the next revision of the benchmark would be ranked with.

    A derived threshold is part of it, and is stored: a revision ranks for good as it did when it was made.
    """
    groups = TaskGroup.objects.filter(benchmark=benchmark)
    tasks = [
        ConfiguredTask(
            id=task.pk,
            key=task.key,
            name=task.name,
            group=task.group.key if task.group else None,
            direction=task.direction,
            weight=decimal_text(task.weight),
            metric=task.metric,
            unit=task.unit,
            minimum=task.minimum,
            maximum=task.maximum,
            chance=task.chance,
            precision=None if task.precision is None else decimal_text(task.precision),
            cluster=task.cluster or None,
        )
        for task in Task.objects.filter(benchmark=benchmark, is_archived=False).select_related("group")
    ]
    return BoardConfiguration(
        groups=tuple(ConfiguredGroup(group.key, group.name, decimal_text(group.weight)) for group in groups),
        tasks=tuple(tasks),
        gamma=benchmark.gamma,
        derived_gamma=derived_threshold(tasks) if benchmark.gamma is None else None,
        missing_policy=benchmark.missing_policy,
        aggregation=benchmark.aggregation,
        replacement=benchmark.replacement,
        variants=tuple(benchmark.variants),
    )


def derived_threshold(tasks: Sequence[ConfiguredTask]) -> DerivedGamma | None:
    """The optimality threshold that follows from the scales of tasks, where no one states one."""
    voting = [task for task in tasks if task.votes]
    return derived_gamma([task.direction for task in voting], [task.maximum for task in voting])


def store_configuration(benchmark: Benchmark) -> Configuration:
    """The row of the benchmark's present configuration, shared with every revision that had the same."""
    content = present_configuration(benchmark).content
    configuration, _ = Configuration.objects.get_or_create(
        content_hash=content_hash(content), defaults={"content": content}
    )
    return configuration
