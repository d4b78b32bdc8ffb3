"""Which rules a study ranks by, and why it leaves others out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import RULES, get_rule, in_order
from ranking_engine.core.missing import Completed, complete, scored_part
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.study import Parameters

_OVERHEAD = 2e-4  # seconds of making one matrix and its ranking, beyond the rule's own

IsFast = Callable[[str, ScoreMatrix], bool]


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


@dataclass(frozen=True, eq=False)
class Plan:
    """The rules of a study by what they rank, and why others are left out."""

    parts: tuple[Part, ...]
    not_studied: Mapping[str, str]

    @property
    def rules(self) -> list[str]:
        """The rules that are studied, in the order of the catalogue."""
        studied = {rule for part in self.parts for rule in part.rules}
        return in_order(studied)


def chosen_rules(parameters: Parameters) -> list[str]:
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
    matrix: ScoreMatrix, parameters: Parameters, n_rankings: int, is_fast: IsFast, *, is_imputed_later: bool = False
) -> Plan:
    """Decide which rules are studied.

    Args:
        matrix: the scores.
        parameters: `rules`, `missing` and `budget`, see `chosen_rules`: the budget is in seconds, as estimated by the
            rules' own costs, for all rules whose `n_rankings` matrices must be ranked one by one; the cheapest come
            first. It depends on nothing that the machine does, so every chunk decides alike.
        n_rankings: how many perturbed matrices there are.
        is_fast: whether a rule is scored for many of them at once.
        is_imputed_later: the perturbation makes gaps itself, so that rules that need all scores start from the matrix
            with its gaps.
    """
    native, whole = scored_part(matrix), complete(matrix, parameters["missing"])
    not_studied: dict[str, str] = {}
    by_part: dict[int, list[str]] = {0: [], 1: []}
    for key in chosen_rules(parameters):
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
    seconds = {
        key: n_rankings * one_by_one_seconds(key, part.matrix)
        for part, keys in zip(completed, by_part.values(), strict=True)
        for key in keys
        if part.matrix is not None and not is_fast(key, part.matrix)
    }
    budget = parameters["budget"]
    left = float(budget)
    for key in sorted(seconds, key=lambda key: seconds[key]):
        if seconds[key] <= left:
            left -= seconds[key]
        else:
            not_studied[key] = (
                f"ranking {n_rankings:,} matrices one by one would take about {_told(seconds[key])} s; "
                f"{_told(left)} s of {_told(budget)} s are left for such rules"
            )
    parts = []
    for k, keys in by_part.items():
        ranked, affordable = completed[k].matrix, [key for key in keys if key not in not_studied]
        reference = {} if ranked is None else rank_all(ranked, affordable, missing=parameters["missing"])
        for key, ranking in reference.items():
            if ranking.status != "ranked":
                is_undefined = ranking.status == "undefined"
                not_studied[key] = ranking.reason if is_undefined else "it elects and does not rank"
        if kept := [key for key in reference if key not in not_studied]:
            parts.append(Part(completed[k], tuple(kept), {key: reference[key] for key in kept}))
    return Plan(tuple(parts), not_studied)


def one_by_one_seconds(rule: str, matrix: ScoreMatrix) -> float:
    """Return the seconds that one matrix of this size takes by itself."""
    return get_rule(rule).cost(matrix.n_systems, matrix.n_tasks) + _OVERHEAD


def _told(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"
