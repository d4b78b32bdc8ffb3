"""Whether leaving out a score can improve one's rank: for every rule and every missing-score policy.

A system gains by leaving out a score if its rank without the score is better than its rank with it, all other scores
being equal; under a rule that only elects, if it is elected without the score and was not with it. A rule that needs
every score meets the gap by the policy in force; a native rule compares systems on the tasks that both have, whatever
the policy, for which NATIVE stands here.

`WITNESSES` holds an example for every rule and policy under which that can happen: the system, last on the task whose
score it leaves out, overtakes a rival, though no task ties two systems. They are the first that a search of small
tables meets (tests/ranking_engine/omission_search.py). Under the policies of `NEVER` there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ranking_engine.dispatch import rank
from ranking_engine.ranking import UNRANKED, Ranking
from ranking_engine.registry import RULES, Rule
from ranking_engine.score_matrix import ScoreMatrix

NATIVE = "common_tasks"

NEVER: Mapping[str, str] = MappingProxyType(
    {
        "undefined": "while anybody lacks a score the rule ranks nobody",
        "drop_systems": "whoever lacks a score on a voting task gets no rank",
    }
)
_CAN_PAY: Mapping[str, str] = MappingProxyType(
    {
        "drop_tasks": "where tasks are left out, {name} can reward leaving out one's worst score: its task then counts "
        "for nobody",
        "median": "where the median is filled in, {name} can reward leaving out one's worst score",
        "worst": "even where the worst score is filled in, {name} can reward leaving out one's worst: one then shares "
        "the last place of that task",
        NATIVE: "{name} on common tasks can reward leaving out one's worst score",
    }
)

# The scores that some rules need beside a table.
GREATEST = 4.0
EXAMPLE_OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType({"positional": {"vector": (3.0, 2.0)}})

Table = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Witness:
    """A table in which the first system gains by leaving out its score on one task.

    Attributes:
        table: the scores, a row a system; all tasks are better high and weigh 1, but for the last one.
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
        return small_table(self.table, self.weight)


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


def small_table(table: Table, weight: int = 1) -> ScoreMatrix:
    """Return a table of the search as a matrix: systems A, B, ..., tasks of weight 1 but for the last one's.

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
    return (*NEVER, "drop_tasks", "median", "worst") if rule.needs_complete else (NATIVE,)


def policy_of(rule: Rule, missing: str) -> str:
    """Return what stands for the missing-score policy `missing` under `rule`: itself, or NATIVE."""
    return missing if rule.needs_complete else NATIVE


def can_reward_omission(rule: str, missing: str) -> bool:
    """Whether leaving out a score can improve one's rank under a rule and a missing-score policy."""
    return (rule, policy_of(RULES[rule], missing)) in WITNESSES


def omission_sentence(rule: str, missing: str) -> str:
    """Return what leaving out a score can do for one's rank under a rule and a missing-score policy."""
    policy = policy_of(RULES[rule], missing)
    if policy in NEVER:
        return f"Leaving out a score never improves one's own rank: {NEVER[policy]}."
    text = _CAN_PAY[policy].format(name=RULES[rule].name)
    return f"{text[0].upper()}{text[1:]}."


def policy_sentence(missing: str) -> str:
    """Return what leaving out a score can do under a policy, whichever of the rules that need every score it is."""
    if missing in NEVER:
        return "Leaving out a score never improves one's own rank."
    return "Under each of these rules leaving out one's worst score can improve one's rank."


def native_sentence(names: Sequence[str]) -> str:
    """Return what leaving out a score can do under the native rules called `names`, whatever the policy."""
    return (
        f"Rules on common tasks ({', '.join(names)}) compare two systems on the tasks that both have: under each of "
        "them leaving out one's worst score can improve one's rank, whatever the policy."
    )


def _read(table: str) -> Table:
    return tuple(tuple(float(cell) for cell in row.split()) for row in table.split("|"))


# Rule, policy, scores, weight of the last task, task left out, rank before and after.
_FOUND: tuple[tuple[str, str, str, int, int, int | None, int], ...] = (
    ("mean", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("mean", "median", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("mean", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("geometric_mean", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("geometric_mean", "median", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("geometric_mean", "worst", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("median", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("median", "median", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("median", "worst", "1 2|3 1", 1, 0, 2, 1),
    ("normalized_mean", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("normalized_mean", "median", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("normalized_mean", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("optimality_gap", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("optimality_gap", "median", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("optimality_gap", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("plurality", "drop_tasks", "3 1|1 2|2 3", 3, 1, 2, 1),
    ("plurality", "median", "2 1|1 2", 3, 1, 2, 1),
    ("plurality", "worst", "2 1|1 2", 3, 1, 2, 1),
    ("borda", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("borda", "median", "1 1|2 2|3 3", 3, 1, 3, 2),
    ("borda", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("dowdall", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("dowdall", "median", "1 1|2 2|3 3", 3, 1, 3, 2),
    ("dowdall", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("average_rank", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("average_rank", "median", "1 1|2 2|3 3", 3, 1, 3, 2),
    ("average_rank", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("veto", "drop_tasks", "2 1|1 2|3 3", 3, 1, 3, 1),
    ("veto", "median", "1 2|2 3|3 1", 1, 0, 2, 1),
    ("veto", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("positional", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("positional", "median", "1 2|2 3|3 1", 1, 0, 3, 1),
    ("positional", "worst", "1 3|2 2|3 1", 1, 0, 2, 1),
    ("threshold", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("threshold", "median", "1 2|2 3|3 1", 1, 0, 3, 1),
    ("threshold", "worst", "1 3|2 2|3 1", 1, 0, 2, 1),
    ("baldwin", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("baldwin", "median", "1 1|2 2|3 3", 3, 1, 3, 2),
    ("baldwin", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("nanson", "drop_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("nanson", "median", "2 1|1 3|3 2", 3, 1, 3, 2),
    ("nanson", "worst", "3 3 1|1 1 3|2 2 2", 3, 2, 3, 2),
    ("instant_runoff", "drop_tasks", "3 1|1 2|2 3", 3, 1, 2, 1),
    ("instant_runoff", "median", "2 1|1 2", 3, 1, 2, 1),
    ("instant_runoff", "worst", "2 1|1 2", 3, 1, 2, 1),
    ("coombs", "drop_tasks", "1 3|2 1|3 2", 1, 0, 2, 1),
    ("coombs", "median", "1 2|2 3|3 1", 1, 0, 2, 1),
    ("coombs", "worst", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("condorcet", "common_tasks", "1 3|2 1|3 2", 1, 0, None, 1),
    ("copeland", "common_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("minimax", "common_tasks", "1 1|2 3|3 2", 3, 1, 3, 2),
    ("schulze", "common_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("ranked_pairs", "common_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("kemeny", "common_tasks", "2 1|1 2|3 3", 3, 1, 3, 2),
    ("win_rate", "common_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("relative_difference", "common_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
    ("bradley_terry", "common_tasks", "1 2|2 3|3 1", 1, 0, 3, 2),
)

WITNESSES: Mapping[tuple[str, str], Witness] = MappingProxyType(
    {
        (rule, policy): Witness(_read(table), weight, task, before, after)
        for rule, policy, table, weight, task, before, after in _FOUND
    }
)
