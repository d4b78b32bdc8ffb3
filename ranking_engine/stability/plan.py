"""Which rules a study ranks by, and why it leaves others out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from ranking_engine.catalogue.registry import RULES, get_rule, in_order
from ranking_engine.core.missing import Completed, complete, scored_part
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.resampling.alone import MOST_SECONDS, Alone
from ranking_engine.stability.study import Arrays, Parameters, plain

_OVERHEAD = 2e-4  # seconds of making one matrix and its ranking, beyond the rule's own

LEAST_REPEATS, LEAST_SHARE = 2, 0.01  # the larger one; fewer say too little of a rule
HARDER = 2.0  # times what the search on the whole table costs, one on a perturbed table costs on average
OF_MANY_SHARE = 0.5  # of what a search costs that also says whether another order is as good
PROVEN = "proven"

IsFast = Callable[[str, ScoreMatrix], bool]

_KNOWN: MutableMapping[ScoreMatrix, dict[tuple[int, str, str], Ranking]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Part:
    """What some rules rank: the scored systems and voting tasks, gaps and all or without gaps.

    Attributes:
        completed: the matrix, and which systems of the original one its rows are.
        rules: the keys of the rules.
        reference: the ranking of `completed.matrix` under each of them, before any perturbation.
    """

    completed: Completed
    rules: tuple[str, ...]
    reference: Mapping[str, Ranking]

    @property
    def matrix(self) -> ScoreMatrix:
        """The matrix that is ranked."""
        if self.completed.matrix is None:
            raise ValueError(f"nothing to rank: {self.completed.reason}")
        return self.completed.matrix


@dataclass(frozen=True)
class Sparse:
    """How a slow rule takes part: one whose tables are ranked one by one, or cost much when ranked at once.

    Attributes:
        every: it ranks the first of so many repeats each; 1 for all repeats.
        n_repeats: how many repeats these are.
        most_seconds: what one table may cost at most.
        seconds: what all tables should cost together.
    """

    every: int
    n_repeats: int
    most_seconds: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Plan:
    """The rules of a study by what they rank, and why others are left out.

    Attributes:
        parts: what is ranked.
        not_studied: why rules are left out.
        sparse: how the slow ones take part.
    """

    parts: tuple[Part, ...]
    not_studied: Mapping[str, str]
    sparse: Mapping[str, Sparse]

    @property
    def rules(self) -> list[str]:
        """The rules that are studied, in the order of the catalogue."""
        studied = {rule for part in self.parts for rule in part.rules}
        return in_order(studied)

    @property
    def slow_seconds(self) -> float:
        """What all tables of slow rules should cost together."""
        return sum(sparse.seconds for sparse in self.sparse.values())

    def seconds(self, n_tables: int, *, share: float = 1.0) -> float:
        """Return what ranking tables should take: by fast rules, which rank many at a time, and by slow ones.

        Args:
            n_tables: that every fast rule ranks.
            share: of the tasks that a table has, on average.
        """
        seconds = 0.0
        for part in self.parts:
            n, T = part.matrix.n_systems, share * part.matrix.n_tasks
            n_fast = sum(rule not in self.sparse for rule in part.rules)
            seconds += n_tables * (n_fast * (1e-5 + 1e-9 * n * n) + 2e-9 * n * n * (T / 8 + 4))
        return seconds + self.slow_seconds

    def by_repeats(self, part: Part) -> dict[int, list[str]]:
        """Return the rules of a part by how many repeats each ranks one: 1 for those that rank all."""
        rules: dict[int, list[str]] = {}
        for rule in part.rules:
            rules.setdefault(self.every(rule), []).append(rule)
        return rules

    def every(self, rule: str) -> int:
        """Return of how many repeats the rule ranks the first."""
        return self.sparse[rule].every if rule in self.sparse else 1

    def alone(self) -> Alone:
        """Return what ranks tables one by one, each within what it may cost."""
        return Alone({rule: sparse.most_seconds for rule, sparse in self.sparse.items()})

    def proven(self, alone: Alone) -> Arrays:
        """Return `<rule>.proven` for a partial result: of every table ranked, 1 where its order was proven."""
        return {f"{rule}.{PROVEN}": alone.proven(rule) for rule in self.rules if get_rule(rule).is_search}

    def slow_rules(self, n_repeats: int, arrays: Arrays) -> dict[str, dict[str, Any]]:
        """Return for a summary how slow rules took part, by rule: those that ranked fewer repeats, and searches.

        `n_repeats` of the study's `of` repeats; `n_tables`, and `proven`: the share of these whose order was proven to
        be the best one, both None for rules that do not search.

        Args:
            n_repeats: of the study.
            arrays: the merged ones, with those of `proven`.
        """
        entries: dict[str, dict[str, Any]] = {}
        for rule in self.rules:
            if rule in self.sparse and (self.every(rule) > 1 or get_rule(rule).is_search):
                proven = arrays.get(f"{rule}.{PROVEN}")
                entries[rule] = {
                    "n_repeats": self.sparse[rule].n_repeats,
                    "of": n_repeats,
                    "n_tables": None if proven is None else len(proven),
                    "proven": None if proven is None or not len(proven) else plain(float(proven.mean())),
                }
        return entries

    def closing(self, n_repeats: int, arrays: Arrays) -> dict[str, dict[str, Any]]:
        """Return what closes the summary of a study by rule: `slow_rules`, and `not_studied`, why others are left out.

        Args:
            n_repeats: of the study.
            arrays: the merged ones, with those of `proven`.
        """
        return {"slow_rules": self.slow_rules(n_repeats, arrays), "not_studied": dict(self.not_studied)}


def _chosen_rules(parameters: Parameters) -> list[str]:
    """Return the keys that `rules` names, or all that rank without parameters of their own.

    Raises:
        ValueError: an unknown rule, or one that cannot be studied.
    """
    named = parameters["rules"]
    if named is None:
        return [key for key, rule in RULES.items() if not rule.parameters]
    rules = [get_rule(key) for key in ([named] if isinstance(named, str) else named)]
    for rule in rules:
        if rule.parameters:
            raise ValueError(f"`rules` names {rule.key!r}, which needs {', '.join(rule.parameters)}")
    return list(dict.fromkeys(rule.key for rule in rules))


def make_plan(
    matrix: ScoreMatrix,
    parameters: Parameters,
    n_rankings: int,
    n_repeats: int,
    is_fast: IsFast,
    *,
    is_imputed_later: bool = False,
) -> Plan:
    """Decide which rules are studied, and on how many of the repeats.

    Args:
        matrix: the scores.
        parameters: `rules`, `missing`, `budget` and `more_repeats`, see `_chosen_rules`: the budget is in seconds, as
            estimated by the rules' own costs and the steps of their searches, for all slow rules: those whose tables
            must be ranked one by one, and those of which many cost much. A rule that is too slow for all repeats ranks
            every second, third, ... one; only a rule that could not rank 2 of them, or 1 %, is left out. More than
            these are ranked only within the share `more_repeats` of the budget. It depends on nothing that the machine
            does, so that every chunk decides alike.
        n_rankings: how many perturbed matrices there are.
        n_repeats: of how many repeats.
        is_fast: whether a rule is scored for many of them at once.
        is_imputed_later: the perturbation makes gaps itself, so that rules that need all scores start from the matrix
            with its gaps.
    """
    native, whole = scored_part(matrix), complete(matrix, parameters["missing"])
    not_studied: dict[str, str] = {}
    by_part: dict[int, list[str]] = {0: [], 1: []}
    for key in _chosen_rules(parameters):
        needs_complete = get_rule(key).needs_complete
        part = whole if needs_complete else native
        if part.matrix is None:
            not_studied[key] = part.reason
        elif reason := get_rule(key).why_not_computed(part.matrix.n_systems):
            not_studied[key] = reason
        else:
            is_gapless = native.matrix is not None and bool(native.matrix.is_complete.all())
            by_part[int(needs_complete and not is_imputed_later and not is_gapless)].append(key)
    completed = (native, whole)
    slow: dict[str, float] = {}
    for ranked, keys in zip((native.matrix, whole.matrix), by_part.values(), strict=True):
        for key in keys:
            if ranked is None:
                break
            seconds = seconds_at_once(key, ranked) if is_fast(key, ranked) else one_by_one_seconds(key, ranked)
            if seconds:
                slow[key] = seconds
    # The least that every rule needs, the cheapest first.
    per_repeat = max(1.0, n_rankings / n_repeats)
    least = min(n_repeats, max(LEAST_REPEATS, math.ceil(LEAST_SHARE * n_repeats)))
    budget = float(parameters["budget"])
    left = budget
    for key in sorted(slow, key=lambda key: slow[key]):
        needed = least * per_repeat * slow[key]
        if needed <= left:
            left -= needed
        else:
            not_studied[key] = (
                f"ranking {least:,} of {n_repeats:,} repeats would take about {_in_words(needed)} s; "
                f"{_in_words(left)} s of {_in_words(budget)} s are left for such rules"
            )
    parts = []
    for k, keys in by_part.items():
        ranked, affordable = completed[k].matrix, [key for key in keys if key not in not_studied]
        reference = {} if ranked is None else _reference_rankings(matrix, ranked, k, affordable, parameters["missing"])
        for key, ranking in reference.items():
            if ranking.status != "ranked":
                is_undefined = ranking.status == "undefined"
                not_studied[key] = ranking.reason if is_undefined else "it names a winner and does not rank"
        if kept := [key for key in reference if key not in not_studied]:
            parts.append(Part(completed[k], tuple(kept), {key: reference[key] for key in kept}))
    taking_part = {key: seconds for key, seconds in slow.items() if key not in not_studied}
    searches = {
        key: float(part.reference[key].details.get("seconds", 0.0))
        for part in parts
        for key in part.rules
        if key in taking_part
    }
    spent = max(budget * float(parameters["more_repeats"]), least * per_repeat * sum(taking_part.values()))
    return Plan(tuple(parts), not_studied, _budget_shares(taking_part, searches, spent, least * per_repeat, n_repeats))


def _budget_shares(
    slow: Mapping[str, float], searches: Mapping[str, float], budget: float, n_least: float, n_repeats: int
) -> dict[str, Sparse]:
    """Share a budget out among slow rules, the cheapest first; what one leaves is for the others.

    A search stops where its table would cost more than its share of the least; the search on the whole table says what
    one costs where it is hard.

    Args:
        slow: what one table costs, by rule.
        searches: what the search on the whole table cost, by its steps.
        budget: in seconds, enough for the least of all.
        n_least: how many tables are the least that a rule ranks.
        n_repeats: of the study.
    """
    shares: dict[str, Sparse] = {}
    least = min(n_repeats, max(LEAST_REPEATS, math.ceil(LEAST_SHARE * n_repeats)))
    left = budget - n_least * sum(slow.values())
    for done, key in enumerate(sorted(slow, key=lambda key: slow[key])):
        mine = left / (len(slow) - done) + n_least * slow[key]
        most = min(MOST_SECONDS, max(slow[key], mine / n_least))
        each = max(slow[key], min(most, HARDER * searches[key])) * n_least / least
        n_done = n_repeats if mine == math.inf else min(n_repeats, max(least, int(mine / each)))
        every = -(-n_repeats // n_done)
        n_done = -(-n_repeats // every)
        shares[key] = Sparse(every, n_done, most, n_done * each)
        left = max(0.0, left + n_least * slow[key] - n_done * each)
    return shares


def _reference_rankings(
    matrix: ScoreMatrix, ranked: ScoreMatrix, part: int, rules: Sequence[str], missing: str
) -> dict[str, Ranking]:
    """Rank what the rules of one part of `matrix` rank; kept as long as the matrix is, for the plans of its chunks."""
    known = _KNOWN.setdefault(matrix, {})
    unknown = [rule for rule in rules if (part, missing, rule) not in known]
    known.update({(part, missing, rule): r for rule, r in Alone().rankings(ranked, unknown, missing).items()})
    return {rule: known[part, missing, rule] for rule in rules}


def one_by_one_seconds(rule: str, matrix: ScoreMatrix) -> float:
    """Return the seconds that one matrix of this size takes by itself, among many."""
    record = get_rule(rule)
    share = OF_MANY_SHARE if record.is_search else 1.0
    return share * record.cost(matrix.n_systems, matrix.n_tasks) + _OVERHEAD


def seconds_at_once(rule: str, matrix: ScoreMatrix) -> float:
    """Return the seconds that one matrix of this size takes among many, 0 for rules of which many cost little."""
    seconds = get_rule(rule).kernels.seconds
    return 0.0 if seconds is None else seconds(matrix.n_systems, matrix.n_tasks)


def _in_words(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"
