"""How tasks and task groups count together: as stated, evened out within groups, or in two steps.

A task without a group is a group by itself whose weight is the task's, so that it counts its own weight under
every aggregation. Only voting tasks count.

`weighted` depends on the unit of the weights where some tasks have a group and others none: twice the weight of all
tasks and groups counts twice for a task without a group, and four times for the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from types import MappingProxyType
from typing import Any

import numpy as np

from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.weights import MAX_BITS, sum_bits

AGGREGATIONS: Mapping[str, str] = MappingProxyType(
    {
        "basic": "Every task counts its own weight.",
        "weighted": "A task counts its weight times its group's, divided by the number of tasks in the group.",
        "balanced": "A task counts its share of its group's weight, so that each group counts exactly its own.",
        "two_step": "Every group is ranked by itself; the groups' rule scores are then ranked as tasks are.",
    }
)

RankRules = Callable[[ScoreMatrix, Sequence[str]], Mapping[str, Ranking]]


@dataclass(frozen=True)
class GroupRule:
    """What a rule makes of groups of tasks in two steps.

    Attributes:
        key: of the rule.
        second: the key of the rule that ranks the groups' rule scores.
        needs_complete: it ranks complete scores alone, so that a policy for missing scores has ended before it ranks.
        elects_only: it elects one system and ranks no one else, so that there is nothing to rank again.
        needs_positive: the groups' rule scores must be above 0.
    """

    key: str
    second: str
    needs_complete: bool = False
    elects_only: bool = False
    needs_positive: bool = False


@dataclass(frozen=True)
class VotingGroup:
    """The voting tasks of a group, by index.

    Attributes:
        name: `group G`, or the task's own name for a task without a group.
        tasks: the indices of its voting tasks.
        weight: the group's weight; that of the task for a task without a group.
        is_single: it is a task without a group.
    """

    name: str
    tasks: tuple[int, ...]
    weight: Fraction
    is_single: bool


def check_aggregation(aggregation: str) -> None:
    """Raise a ValueError unless `aggregation` is a key of AGGREGATIONS."""
    if aggregation not in AGGREGATIONS:
        raise ValueError(f"`aggregation` is {aggregation!r}; expected one of {', '.join(AGGREGATIONS)}")


def voting_groups(matrix: ScoreMatrix) -> list[VotingGroup]:
    """Return the groups with a voting task, in the order of their first one."""
    tasks: dict[tuple[bool, str], list[int]] = {}
    for t in np.flatnonzero(matrix.votes).tolist():
        group = matrix.groups[t]
        tasks.setdefault((True, matrix.task_names[t]) if group is None else (False, group), []).append(t)
    return [
        VotingGroup(
            name=name if is_single else f"group {name}",
            tasks=tuple(members),
            weight=matrix.weights[members[0]] if is_single else matrix.group_weights[name],
            is_single=is_single,
        )
        for (is_single, name), members in tasks.items()
    ]


def reweighted(matrix: ScoreMatrix, aggregation: str) -> ScoreMatrix:
    """Return `matrix` with the weights of the voting tasks under `basic`, `weighted` or `balanced`.

    With v_g the weight of group g and w_t the weight of its task t: w_t; v_g w_t / number of voting tasks in g
    (Rofin et al. 2023, Vote'n'Rank, sections 2.4 and 3.4); v_g w_t / sum of the w of its voting tasks.

    Raises:
        ValueError: the groups leave no task a positive weight.
    """
    if aggregation == "basic":
        return matrix
    weights = list(matrix.weights)
    for group in voting_groups(matrix):
        if not group.is_single:
            total = sum(matrix.weights[t] for t in group.tasks)
            divisor = total if aggregation == "balanced" else len(group.tasks)
            for t in group.tasks:
                weights[t] = group.weight * matrix.weights[t] / divisor
    if not any(weights):
        raise ValueError("`group_weights` leave no task a positive weight")
    return matrix.with_weights(weights)


def weight_bits(matrix: ScoreMatrix, aggregation: str) -> int:
    """Return how many bits the sum of the voting weights has under the aggregation; see `weights.sum_bits`.

    Nothing is divided that is longer than what is counted, so that it is safe to ask of weights of any length.
    """
    own = sum_bits([weight for weight, votes in zip(matrix.weights, matrix.votes, strict=True) if votes])
    groups = voting_groups(matrix)
    by_group = sum_bits([group.weight for group in groups])
    if aggregation in ("basic", "two_step") or max(own, by_group) > MAX_BITS:
        return max(own, by_group)

    def shares() -> Iterator[Fraction]:
        for group in groups:
            total = sum(matrix.weights[t] for t in group.tasks)
            divisor = total if aggregation == "balanced" else len(group.tasks)
            for t in group.tasks:
                yield matrix.weights[t] if group.is_single else group.weight * matrix.weights[t] / divisor

    return sum_bits(shares())


def two_step(matrix: ScoreMatrix, rules: Sequence[GroupRule], rank_rules: RankRules) -> dict[str, Ranking]:
    """Rank each group by itself, then rank the groups' rule scores by the same rule with the group weights.

    The values of one tie group are made exactly equal, and a system that a group does not rank lacks that group's
    score. Groups of weight 0 take no part. A system whose scores in a group the rule cannot rank (a geometric mean of
    0) is unranked, and the second step is that of the others.
    Rofin et al. 2023, Vote'n'Rank, sections 2.4 and 3.4.

    Args:
        matrix: the scores.
        rules: what is ranked, and how each of them ranks groups.
        rank_rules: ranks a matrix under some rules.
    """
    groups = [group for group in voting_groups(matrix) if group.weight]
    if not groups:
        return {
            rule.key: Ranking.undefined(
                rule.key, matrix.n_systems, "no group of weight above 0 has a task with an order and a weight above 0"
            )
            for rule in rules
        }
    parts = [matrix.subset(tasks=group.tasks) for group in groups]
    first = [rank_rules(part, [rule.key for rule in rules]) for part in parts]
    return {
        rule.key: _second_stage(matrix, groups, [rankings[rule.key] for rankings in first], rule, rank_rules)
        for rule in rules
    }


def _second_stage(
    matrix: ScoreMatrix, groups: list[VotingGroup], first: list[Ranking], rule: GroupRule, rank_rules: RankRules
) -> Ranking:
    values = np.column_stack([ranking.scores for ranking in first])
    for column, in_group in zip(values.T, first, strict=True):
        for tied in map(list, in_group.tie_groups):
            column[tied] = column[tied].max()
    problems = []
    without_mean = ""
    if rule.elects_only:
        problems.append("the rule names one winner and ranks no other system, so that there is nothing to rank again")
    for group, in_group in zip(groups, first, strict=True):
        has_score = np.asarray(~np.isnan(matrix.scores[:, group.tasks]).all(axis=1))
        # A system that is unranked for its own scores, which is no gap that a policy would fill.
        own = [i for i, why in in_group.unranked_reasons.items() if has_score[i] and why != in_group.reason]
        if rule.needs_complete:
            values[own] = np.nan
        # A group in which no one has a score merely says nothing.
        if in_group.status != "ranked" and has_score.any():
            if len(own) < has_score.sum():
                problems.append(f"{group.name}: {in_group.reason}")
            without_mean = without_mean or f"{group.name}: {in_group.reason}"
    if rule.needs_positive:
        not_positive = (values <= 0).any(axis=0)
        problems += [f"{groups[k].name} has rule scores <= 0" for k in np.flatnonzero(not_positive)]
    if problems:
        return Ranking.undefined(rule.key, matrix.n_systems, problems[0])
    by_group = ScoreMatrix(
        values,
        system_names=matrix.system_names,
        task_names=distinct([group.name for group in groups]),
        weights=[group.weight for group in groups],
    )
    ranking = rank_rules(by_group, [rule.second])[rule.second]
    reason = ranking.reason.replace("a score on every task of weight above 0", "a rank in every group of tasks")
    if np.isnan(values).all():
        reason = without_mean or "no system has a rank in every group of tasks"
    reasons = dict(ranking.unranked_reasons)
    for group, in_group in zip(reversed(groups), reversed(first), strict=True):  # the first group has the last word
        for i in in_group.unranked_reasons.keys() & reasons.keys():
            if matrix.has_score[i]:
                reasons[i] = f"{group.name}: {in_group.unranked_reasons[i]}"
    return dataclasses.replace(
        ranking,
        rule=rule.key,
        reason=reason,
        unranked_reasons=reasons,
        details=_details_of_both(first, ranking),
        stated_winners=first[0].stated_winners if len(first) == 1 else ranking.stated_winners,
    )


def _details_of_both(first: list[Ranking], second: Ranking) -> dict[str, Any]:
    """Return what the second stage adds to its ranking, with what the first one did to scores and left to chance."""
    every = [*first, second]
    details = dict(second.details)
    for name in ("n_imputed", "pairs_without_common_task"):
        if any(name in ranking.details for ranking in every):
            details[name] = sum(ranking.details.get(name, 0) for ranking in every)
    if dropped := [name for ranking in every for name in ranking.details.get("dropped_tasks", ())]:
        details["dropped_tasks"] = dropped
    if any(ranking.details.get("decided_by_name") for ranking in first):
        details["decided_by_name"] = True
    known = [ranking.details["unique"] for ranking in every if "unique" in ranking.details]
    if not all(known):
        details["unique"] = False if False in known else None
    if not all(known) or details.get("decided_by_name"):
        # another order of a group, as good as the one taken, may lead to other winners
        is_decided_in_groups = len(first) > 1 and any(
            ranking.details.get("decided_by_name") or not ranking.details.get("unique", True) for ranking in first
        )
        one_group = first[0] if len(first) == 1 else second
        # a rule that says but whether its answer is the only one may have other winners where it is not
        is_complete = one_group.details.get("winners_complete", one_group.details.get("unique", True))
        details["winners_complete"] = is_complete and not is_decided_in_groups
    return details


def distinct(names: list[str]) -> list[str]:
    """Return the names of groups, numbered where a task is called as a group is, by a number that no other name has."""
    used = set(names)
    result: list[str] = []
    for k, name in enumerate(names):
        free = name
        if names.index(name) < k:
            free = next(numbered for n in count(k + 1) if (numbered := f"{name} ({n})") not in used)
            used.add(free)
        result.append(free)
    return result
