"""The sliders of the what-if page: what each task and group weighs, its share, and presets that set many at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from django.utils.translation import gettext

from leaderboard.common.language.numbers import in_language
from leaderboard.rankings.configuration import BoardConfiguration, ConfiguredTask, configuration_of
from leaderboard.rankings.score_matrix import RevisionMatrix
from leaderboard.rankings.weights import (
    TENTHS,
    Weights,
    WeightsError,
    in_tenths,
    read_weights,
    shares_of,
    weighed_matrix,
    weight_text,
)
from ranking_engine.core.weights import exact_weight
from ranking_engine.text.names import fold_name

MAX_CONDITIONS = 20
MANY_TASKS = 12  # with more the page has a search that multiplies many weights at once
MAX_SEARCH = 200  # characters
MAX_FACTOR = 1000
FACTOR_LENGTH = 12


@dataclass(frozen=True)
class Slider:
    """The weight of a task, or of a group with the sliders of its tasks."""

    kind: str  # "task" or "group"
    key: str
    name: str
    weight_text: str
    own_text: str
    tenths: int  # its share of all votes, in tenths of a percent
    kin: str = ""  # the names of the task's group and cluster, by which you can search for it, too
    tasks: list["Slider"] = field(default_factory=list)

    @property
    def field_name(self) -> str:
        """What its field is called."""
        return f"{'g' if self.kind == 'group' else 'w'}.{self.key}"

    @property
    def share_text(self) -> str:
        """`12.5 %`."""
        return in_language(f"{self.tenths // 10}.{self.tenths % 10} %")

    @property
    def is_changed(self) -> bool:
        """Whether it weighs something else than on the benchmark."""
        return self.weight_text != self.own_text


@dataclass(frozen=True)
class Preset:
    """A weighting under a name."""

    name: str
    weights: Weights
    aggregation: str = ""  # empty = the one in force


def kin_of(configuration: BoardConfiguration, task: ConfiguredTask) -> list[str]:
    """The names of a task's group and cluster, as far as it has them."""
    return [name for name in (configuration.group_names.get(task.group or "", ""), task.cluster or "") if name]


def kin_with_votes(configuration: BoardConfiguration) -> list[str]:
    """The names of the groups and clusters with some of the tasks that vote on the benchmark, but not all of them."""
    voting = [set(kin_of(configuration, task)) for task in configuration.tasks if task.votes]
    return sorted(set().union(*voting).difference(*([set.intersection(*voting)] if voting else [])), key=fold_name)


def restricted(configuration: BoardConfiguration, kin: str, *, is_left_out: bool) -> Weights:
    """The benchmark's own weights, with 0 for all tasks but those of one group or cluster, or for these.

    Args:
        configuration: of the revision.
        kin: the name of the group or cluster.
        is_left_out: whether its tasks are the ones that get 0.

    Raises:
        WeightsError: the benchmark has no such group or cluster whose weight can be all of it or none.
    """
    if kin not in kin_with_votes(configuration):
        raise WeightsError(
            gettext("There is no group or cluster %(kin)s that could count alone or be left out.")
            % {"kin": repr(kin[:60])}
        )
    voting = [task for task in configuration.tasks if task.votes]
    return Weights({task.key: "0" for task in voting if (kin in kin_of(configuration, task)) == is_left_out})


def searched_tasks(configuration: BoardConfiguration, search: str) -> list[str]:
    """The keys of the tasks with an order that a search means.

    Args:
        configuration: of the revision.
        search: parts of names, keys, groups or clusters, commas between them; of one part each word has to match.

    Raises:
        WeightsError: the search is too long.
    """
    if len(search) > MAX_SEARCH:
        raise WeightsError(
            gettext("The search has %(n_search)s characters; at most %(max_search)s are read.")
            % {"n_search": f"{len(search):,}", "max_search": MAX_SEARCH}
        )
    parts = [part.casefold().split() for part in search.split(",") if part.strip()]
    keys = []
    for task in configuration.tasks:
        text = " ".join([task.name, task.key, *kin_of(configuration, task)]).casefold()
        if task.direction != 0 and any(all(word in text for word in part) for part in parts):
            keys.append(task.key)
    return keys


def multiplied(weights: Weights, configuration: BoardConfiguration, keys: Collection[str], factor: str) -> Weights:
    """The weights with those of some tasks multiplied.

    Args:
        weights: what differs from the revision's own.
        configuration: of the revision.
        keys: of the tasks; others are left as they are.
        factor: a number from 0 to MAX_FACTOR.

    Raises:
        WeightsError: there is no such task, the factor is no such number, or a weight gets too many digits.
    """
    try:
        by = exact_weight(factor.strip().replace(",", ".")[: FACTOR_LENGTH + 1], "the factor")
    except ValueError as error:
        raise WeightsError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
    if by > MAX_FACTOR or len(factor.strip()) > FACTOR_LENGTH:
        raise WeightsError(
            gettext("The factor is a number from 0 to %(max_factor)s of at most %(factor_length)s characters.")
            % {"max_factor": f"{MAX_FACTOR:,}", "factor_length": FACTOR_LENGTH}
        )
    if not keys:
        raise WeightsError(gettext("No task matches this search; look for a part of a name, a group or a cluster."))
    tasks = {task.key: weights.tasks.get(task.key, task.weight) for task in configuration.tasks}
    changed = {key: weight_text(Fraction(tasks[key]) * by) if key in tasks else "1" for key in keys}
    return read_weights(dict(weights.tasks) | changed, dict(weights.groups), configuration)


def sliders_of(table: RevisionMatrix, weights: Weights, aggregation: str) -> list[Slider]:
    """One per group and one per task without a group, in the benchmark's order; of every task that has an order."""
    configuration = configuration_of(table.revision)
    shares = shares_of(weighed_matrix(table, weights, aggregation), aggregation)
    tasks = {
        task.key: Slider(
            "task",
            task.key,
            task.name,
            weight_text(Fraction(weights.tasks.get(task.key, task.weight))),
            weight_text(Fraction(task.weight)),
            in_tenths(shares[t]),
            kin=" ".join(kin_of(configuration, task)),
        )
        for t, task in enumerate(configuration.tasks)
        if task.direction != 0
    }
    has_groups = any(task.group for task in configuration.tasks)
    if aggregation == "basic" or not has_groups:  # no group has a weight of its own
        return list(tasks.values())
    top: list[Slider] = []
    share_of_key = {task.key: share for task, share in zip(configuration.tasks, shares, strict=True)}
    groups = {group.key: group for group in configuration.groups}
    for task in configuration.tasks:
        if task.key not in tasks:
            continue
        if task.group is None:
            top.append(tasks[task.key])
        elif task.group in groups:
            group = groups.pop(task.group)
            members = [tasks[t.key] for t in configuration.tasks if t.group == group.key and t.key in tasks]
            own = weight_text(Fraction(group.weight))
            top.append(
                Slider(
                    "group",
                    group.key,
                    group.name,
                    weights.groups.get(group.key, own),
                    own,
                    in_tenths(sum((share_of_key[member.key] for member in members), Fraction(0))),
                    tasks=members,
                )
            )
    return top


def presets_of(configuration: BoardConfiguration, aggregation: str) -> list[Preset]:
    """Equal weights of tasks, and of groups where there are any."""
    ordered = [task for task in configuration.tasks if task.direction != 0]
    equal = {task.key: "1" for task in ordered if Fraction(task.weight) != 1}
    equal_groups = {group.key: "1" for group in configuration.groups if Fraction(group.weight) != 1}
    if not any(task.group for task in ordered):
        return [Preset(gettext("Equal tasks"), Weights(equal))]
    by_group = aggregation if aggregation not in ("basic", "two_step") else "balanced"
    return [
        Preset(gettext("Equal tasks"), Weights(equal), "basic"),
        Preset(gettext("Equal groups"), Weights(equal, equal_groups), by_group),
    ]


def conditions_of(table: RevisionMatrix, weights: Weights, aggregation: str) -> list[str]:
    """What was changed, as conditions on the weights: what gained weighs at least as much, what lost at most.

    Bounds are rounded to tenths of a percent so that the weights themselves satisfy them. Tasks that do not vote on the
    benchmark cannot be in a condition.
    """
    configuration = configuration_of(table.revision)
    own = shares_of(table.matrix, configuration.aggregation)
    now = shares_of(weighed_matrix(table, weights, aggregation), aggregation)
    votes = {task.key: (own[t], now[t]) for t, task in enumerate(configuration.tasks) if own[t]}
    by_group: dict[str, list[str]] = {}
    for task in configuration.tasks:
        if task.group and task.key in votes:
            by_group.setdefault(task.group, []).append(task.key)
    bounds: list[tuple[Fraction, str]] = []
    singles = set(votes)
    for group, keys in by_group.items():
        if not any(key in weights.tasks for key in keys):  # its tasks kept their proportions
            singles -= set(keys)
            bounds += _bound(f'group:"{group}"', [votes[key] for key in keys])
    for task in configuration.tasks:
        if task.key in singles:
            bounds += _bound(f'"{task.key}"', [votes[task.key]])
    bounds.sort(key=lambda bound: -bound[0])
    return [text for _, text in bounds[:MAX_CONDITIONS]]


def _bound(name: str, shares: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, str]]:
    before, after = (sum(column, Fraction(0)) for column in zip(*shares, strict=True))
    if before == after:
        return []
    limit = after * TENTHS
    tenths = limit.numerator // limit.denominator if after > before else -(-limit.numerator // limit.denominator)
    relation = ">=" if after > before else "<="
    return [(abs(after - before), f"{name} {relation} {tenths // 10}.{tenths % 10}%")]
