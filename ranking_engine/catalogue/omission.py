"""Whether leaving out a score can improve one's rank: for every rule and every missing-score policy.

A system gains by leaving out a score if its rank without the score is better than its rank with it, all other scores
being equal; under a rule that only elects, if it is elected without the score and was not with it. A rule that needs
every score meets the gap by the policy in force; a native rule compares systems on the tasks that both have, whatever
the policy, for which NATIVE is here.

`omission_witness` gives an example for every rule and policy under which that can happen: the system, last on the task
whose score it leaves out, overtakes a rival, though no task ties two systems. It is the first that `first_witness`
meets in a search of small tables; records state it, and where one does not, it is searched. Under the policies of
`NEVER` there is none. Under `predicted` no table is as small as that, as scores are predicted from
`predictions.LEAST_SCORES` on: no example is kept, and tests find one for every rule among boards of a few systems.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.catalogue.registry import RULES, Rule
from ranking_engine.core.missing import MISSING_POLICIES, PREDICTED
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.score_matrix import ScoreMatrix

NATIVE = "common_tasks"

NEVER: Mapping[str, str] = MappingProxyType(
    {
        "undefined": "if any system lacks a score, the rule ranks no system",
        "drop_systems": "a system that lacks a score on a task of weight above 0 gets no rank",
    }
)
_CAN_PAY: Mapping[str, str] = MappingProxyType(
    {
        "drop_tasks": "if tasks are left out, a system can gain under {name} by leaving out its worst score: the task "
        "then counts for no system",
        "median": "if the median is filled in, a system can gain under {name} by leaving out its worst score",
        "worst": "even if the worst score is filled in, a system can gain under {name} by leaving out its worst score: "
        "it then shares the last place on that task",
        PREDICTED: "a system can gain under {name} by leaving out a score that is worse than its others lead one to "
        "expect: a better one is predicted",
        NATIVE: "a system can gain under {name} by leaving out its worst score: only common tasks are compared",
    }
)
_PLACES_EXPECTED = (
    "A system can gain under {name} by leaving out its worst score: it then counts as average on that task."
)

# What leaving out a score can do under native rules, whatever the policy; `names` are those of the rules.
NATIVE_RULES = (
    "Rules that need no policy (%(names)s) compare two systems on the tasks that both have, or count a system as "
    "average where it has no score: under each of them a system can gain by leaving out its worst score."
)

GREATEST = 4.0  # the best score of all small tables, and the threshold that some rules need
LEVELS = (1.0, 2.0, 3.0, 4.0)
SHAPES = ((3, 2), (3, 3), (3, 4), (4, 2), (2, 2), (2, 3))  # systems x tasks, in the order of the search
HEAVY = 3  # the weight of the last task where tasks do not weigh the same

Table = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class OmissionWitness:
    """A table in which the first system gains by leaving out its score on one task.

    Attributes:
        table: the scores, one row per system; all tasks are better high and weigh 1, except the last one.
        weight: that of the last task.
        task: the index of the task whose score is left out.
        before: the first system's rank with the score; None where a rule that only elects does not elect it.
        after: its rank without.
    """

    table: Table
    weight: int
    task: int
    before: int | None
    after: int

    @property
    def matrix(self) -> ScoreMatrix:
        """The table as a matrix."""
        return _small_table(self.table, self.weight)


@dataclass(frozen=True)
class Gain:
    """A rank improved by leaving out a score: the rank before (None: not elected) and after, and who is overtaken."""

    before: int | None
    after: int
    overtaken: tuple[int, ...]


def gain(
    matrix: ScoreMatrix,
    i: int,
    t: int,
    rule: str,
    missing: str,
    **options: Any,  # noqa: ANN401 -- those of `rank`
) -> Gain | None:
    """Return what system i gains by leaving out its score on task t; None where that does not improve its rank.

    An order that names had to choose among equally good ones proves nothing: Kemeny's must be the only optimal one,
    and ranked pairs must not have met equally strong victories that rule each other out.
    """
    values = matrix.values.copy()
    values[i, t] = np.nan
    before = rank(matrix, rule, missing=missing, **options)
    after = rank(matrix.with_values(values), rule, missing=missing, **options)
    if _chosen_by_name(before) or _chosen_by_name(after) or after.ranks[i] == UNRANKED:
        return None
    if before.ranks[i] == UNRANKED:
        is_elected = before.status in ("winner_only", "no_winner")
        return Gain(None, int(after.ranks[i]), ()) if is_elected else None
    if after.ranks[i] >= before.ranks[i]:
        return None
    was_ahead = (before.ranks != UNRANKED) & (before.ranks < before.ranks[i])
    overtaken = np.flatnonzero(was_ahead & (after.ranks > after.ranks[i]))
    return Gain(int(before.ranks[i]), int(after.ranks[i]), tuple(overtaken.tolist()))


def _chosen_by_name(ranking: Ranking) -> bool:
    return bool(ranking.details.get("decided_by_name")) or ranking.details.get("unique") is False


def _small_table(table: Table, weight: int = 1) -> ScoreMatrix:
    """Return a table of the search as a matrix: systems A, B, ..., tasks of weight 1 except the last one's.

    It states the scales that some rules need.
    """
    n_tasks = len(table[0])
    return ScoreMatrix(
        table,
        system_names=[chr(ord("A") + i) for i in range(len(table))],
        weights=[1] * (n_tasks - 1) + [weight],
        gamma=GREATEST,
        minimum=[0.0] * n_tasks,
        maximum=[GREATEST] * n_tasks,
        chance=[0.0] * n_tasks,
    )


def policies_of(rule: Rule) -> tuple[str, ...]:
    """Return the policies under which `rule` is to be looked at: NATIVE alone for a native rule."""
    return tuple(MISSING_POLICIES) if rule.needs_complete else (NATIVE,)


def searched_policies(rule: Rule) -> tuple[str, ...]:
    """Return those of `policies_of` for which small tables are searched for an example."""
    return tuple(policy for policy in policies_of(rule) if policy not in NEVER and policy != PREDICTED)


def _policy_of(rule: Rule, missing: str) -> str:
    """Return what stands for the missing-score policy `missing` under `rule`: itself, or NATIVE."""
    return missing if rule.needs_complete else NATIVE


def can_reward_omission(rule: str, missing: str) -> bool:
    """Whether leaving out a score can improve one's rank under a rule and a missing-score policy."""
    policy = _policy_of(RULES[rule], missing)
    return policy == PREDICTED or (policy not in NEVER and omission_witness(rule, policy) is not None)


def omission_sentence(rule: str, missing: str) -> str:
    """Return what leaving out a score can do for one's rank under a rule and a missing-score policy."""
    policy, name = _policy_of(RULES[rule], missing), RULES[rule].name
    if policy in NEVER:
        return f"A system never gains by leaving out a score: {NEVER[policy]}."
    if not can_reward_omission(rule, missing):
        return f"A search of small tables finds none in which a system gains under {name} by leaving out a score."
    if RULES[rule].expects_places:
        return _PLACES_EXPECTED.format(name=name)
    text = _CAN_PAY[policy].format(name=name)
    return f"{text[0].upper()}{text[1:]}."


def policy_sentence(missing: str) -> str:
    """Return what leaving out a score can do under a policy, whichever of the rules that need every score it is."""
    if missing in NEVER:
        return "A system never gains by leaving out a score."
    if missing == PREDICTED:
        return (
            "Under each of these rules a system can gain by leaving out a score that is worse than its others lead one "
            "to expect."
        )
    return "Under each of these rules a system can gain by leaving out its worst score."


@cache
def omission_witness(rule: str, policy: str) -> OmissionWitness | None:
    """Return the example of a rule and a policy, see `searched_policies`; None where a search finds none."""
    omission = RULES[rule].omission.get(policy)
    if omission is None:
        return first_witness(rule, policy)
    table = tuple(tuple(float(cell) for cell in row.split()) for row in omission.table.split("|"))
    return OmissionWitness(table, *omission[1:])


def first_witness(
    rule: str,
    policy: str,
    **options: Any,  # noqa: ANN401 -- those of `rank`
) -> OmissionWitness | None:
    """Return the first table in which the first system overtakes another, or is elected; None where there is none.

    Searching the scores of the first system is enough: rules do not care which row a system is in.
    """
    missing = "undefined" if policy == NATIVE else policy
    all_options = {**RULES[rule].least_options, **options}
    for table, weight in small_tables():
        matrix = _small_table(table, weight)
        for t in range(matrix.n_tasks):
            gained = gain(matrix, 0, t, rule, missing, **all_options)
            if gained is not None and (gained.overtaken or gained.before is None):
                return OmissionWitness(table, weight, t, gained.before, gained.after)
    return None


def small_tables() -> Iterator[tuple[Table, int]]:
    """Yield small tables in which no task ties two systems, and the weight of their last task.

    Where all tasks weigh the same, one table stands for all orders of its tasks. With more than two systems first:
    there, leaving out a score rarely makes a tie of a victory.
    """
    for n_systems, n_tasks in SHAPES:
        columns = list(itertools.permutations(LEVELS[: max(n_systems, 3)], n_systems))
        for chosen in itertools.combinations_with_replacement(columns, n_tasks):
            yield tuple(zip(*chosen, strict=True)), 1
        for others in itertools.combinations_with_replacement(columns, n_tasks - 1):
            for last in columns:
                yield tuple(zip(*others, last, strict=True)), HEAVY
