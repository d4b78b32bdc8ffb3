"""From a score matrix and a rule's key to a ranking."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.registry import TIES, Rule, get_rule, listed_rules
from ranking_engine.core.aggregation import GroupRule, check_aggregation, reweighted, two_step, voting_groups
from ranking_engine.core.missing import PREDICTED, Completed, check_policy, complete, filled_in, scored_part
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix

Progress = Callable[[int, int, str], None]


def rank(
    matrix: ScoreMatrix,
    rule: str,
    *,
    aggregation: str = "basic",
    missing: str = "drop_systems",
    ties: str | None = None,
    **options: object,
) -> Ranking:
    """Rank the systems of `matrix` under the rule whose key is `rule`.

    Args:
        matrix: the scores.
        rule: a key of RULES, or a variant's, such as `copeland[variant=lower]`.
        aggregation: how task groups count, a key of AGGREGATIONS.
        missing: what becomes of missing scores under a rule that needs all, a key of MISSING_POLICIES;
            native rules ignore it.
        ties: the convention for ties within a task, a key of TIES; None for the rule's own default. Rules
            without such a convention ignore it.
        options: the rule's further options, such as variant="margins", its numbers, such as prior=0.1, and its
            parameters, such as vector=(12, 10, 8); see Rule.options, Rule.numbers and Rule.parameters.

    Raises:
        ValueError: an unknown rule, aggregation, policy, convention or option, a parameter that is missing,
            or groups that leave no task a positive weight.
    """
    key = get_rule(rule).key
    every = {key: options}
    return rank_all(matrix, [key], aggregation=aggregation, missing=missing, ties=ties, options=every)[key]


def rank_all(
    matrix: ScoreMatrix,
    rules: Iterable[str] | None = None,
    *,
    aggregation: str = "basic",
    missing: str = "drop_systems",
    ties: str | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    pairwise: Pairwise | None = None,
    progress: Progress | None = None,
    seconds: Mapping[str, float] | None = None,
) -> dict[str, Ranking]:
    """Rank under each of `rules` (default: the listed ones, in the order of RULES), sharing what they can.

    `options` are those of `rank`, by rule. `pairwise` is the comparison of `reweighted(matrix, aggregation)`
    where that is known already, such as `Pairwise.updated` gives where few systems changed; two_step has no
    use for it. `progress` is told, before each ranking, how many are done, of how many, and which rule's is
    next. An exception in one rule is not caught.
    `seconds` are stated where the matrix is one of many, by rule: see `Rule.of_many`.
    """
    keys = [get_rule(key).key for key in (listed_rules() if rules is None else rules)]
    check_aggregation(aggregation)
    check_policy(missing)
    if ties is not None and ties not in TIES:
        raise ValueError(f"`ties` is {ties!r}; expected one of {', '.join(TIES)}")
    # Within groups some rules leave the ranking to another one, which no one may have asked for.
    needed = dict.fromkeys([*keys, *(rule.groups_rule for rule in map(get_rule, keys) if rule.groups_rule)])
    checked = {key: _checked_options(get_rule(key), (options or {}).get(key, {})) for key in needed}

    n_stages = len(voting_groups(matrix)) + 1 if aggregation == "two_step" else 1
    done = itertools.count()

    def rank_one(shared: _Shared, key: str) -> Ranking:
        if progress is not None:
            progress(next(done), n_stages * len(keys), key)
        rule = get_rule(key)
        part, profile = shared.complete if rule.needs_complete else shared.native
        n = shared.matrix.n_systems
        if profile is None:
            return Ranking.undefined(rule.key, n, part.reason, part.details)
        if reason := rule.why_not_computed(profile.n_systems):
            return Ranking.undefined(rule.key, n, reason, part.details)
        if seconds is not None and rule.of_many is not None:
            return _as_ranking(rule.key, n, part, rule.of_many(profile, seconds[key]))
        return _as_ranking(rule.key, n, part, rule.function(profile, **_keywords(rule, ties, checked[key])))

    in_part = "drop_systems" if missing == PREDICTED and aggregation == "two_step" else missing

    def rank_rules(part: ScoreMatrix, keys: Sequence[str], pairwise: Pairwise | None = None) -> dict[str, Ranking]:
        shared = _Shared(part, in_part, pairwise)
        return {key: rank_one(shared, key) for key in keys}

    if aggregation == "two_step":
        group_rules = [
            GroupRule(
                key=rule.key,
                second=rule.groups_rule or rule.key,
                needs_complete=rule.needs_complete,
                elects_only=rule.elects_only,
                needs_positive=rule.groups_need_positive,
            )
            for rule in map(get_rule, keys)
        ]
        filled = filled_in(matrix) if missing == PREDICTED else None
        if filled is None:
            return two_step(matrix, group_rules, rank_rules)
        # Scores are predicted from those of all tasks, not of one group's alone; a gap left open drops its system.
        rankings = two_step(matrix, [rule for rule in group_rules if not rule.needs_complete], rank_rules)
        needy = [rule for rule in group_rules if rule.needs_complete]
        if filled.reason:
            rankings |= {rule.key: Ranking.undefined(rule.key, matrix.n_systems, filled.reason) for rule in needy}
        else:
            of_filled = two_step(filled.placed_in(matrix), needy, rank_rules)
            rankings |= {
                key: replace(ranking, details={**ranking.details, **filled.details})
                for key, ranking in of_filled.items()
            }
        return {key: rankings[key] for key in keys}
    return rank_rules(reweighted(matrix, aggregation), keys, pairwise)


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each task adds to the scores of a rule that is a sum over tasks.

    Attributes:
        values: shape (n_systems, n_tasks), weights included, for the systems and tasks of `matrix`.
        matrix: what the rule ranks, complete where it needs that.
        systems: for each row the index of its system in the original matrix.
        scores: the rule's scores of the sums, in the original matrix's order; NaN where there is none.
        is_predicted: which scores of `matrix` no one measured, of its shape; None where all are measured, or filled in
            by another policy than `predicted`.
    """

    values: FloatArray
    matrix: ScoreMatrix
    systems: NDArray[np.intp]
    scores: FloatArray
    is_predicted: BoolArray | None = None


def task_contributions(
    matrix: ScoreMatrix,
    rules: Iterable[str],
    *,
    missing: str = "drop_systems",
    ties: str | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, Contributions]:
    """Return what each task contributes under those of `rules` whose scores are sums over tasks here.

    A rule is left out where it is no such sum, and where it is one of complete scores alone and some are missing.

    Args:
        matrix: the scores, with the weights of the aggregation; there is none for two_step.
        rules: keys of RULES that rank systems of `matrix`.
        missing, ties, options: as for `rank_all`.
    """
    shared = _Shared(matrix, missing)
    contributions = {}
    for rule in map(get_rule, rules):
        part, profile = shared.complete if rule.needs_complete else shared.native
        if rule.task_sum is None or profile is None:
            continue
        keywords = _keywords(rule, ties, _checked_options(rule, (options or {}).get(rule.key, {})))
        values = rule.task_sum.contributions(profile, **keywords)
        if values is not None:
            scores = np.full(matrix.n_systems, np.nan)
            scores[part.systems] = rule.task_sum.score(values.sum(axis=1))
            contributions[rule.key] = Contributions(values, profile.matrix, part.systems, scores, part.is_predicted)
    return contributions


class _Shared:
    """The matrix as native rules see it and as complete-only rules do, each with its shared results."""

    def __init__(self, matrix: ScoreMatrix, missing: str, pairwise: Pairwise | None = None) -> None:
        check_policy(missing)
        if pairwise is not None and not pairwise.is_of(matrix):
            raise ValueError("`pairwise` is not the comparison of `matrix`")
        self.matrix, self.missing, self.pairwise = matrix, missing, pairwise

    @cached_property
    def native(self) -> tuple[Completed, Profile | None]:
        part = scored_part(self.matrix)
        return part, self._profile(part)

    @cached_property
    def complete(self) -> tuple[Completed, Profile | None]:
        native, profile = self.native
        if native.matrix is None or native.matrix.is_complete.all():
            return native, profile
        part = complete(self.matrix, self.missing)
        return part, self._profile(part, is_altered=self.missing != "drop_systems")

    def _profile(self, part: Completed, *, is_altered: bool = False) -> Profile | None:
        """Return the profile of a part; with the comparison given, unless scores or tasks were altered."""
        if part.matrix is None:
            return None
        known = None if self.pairwise is None or is_altered else self.pairwise.subset(part.systems)
        return Profile(part.matrix, known)


def _keywords(rule: Rule, ties: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a rule's functions beside the profile."""
    if rule.tie_convention is None:
        return dict(options)
    return {**options, "ties": ties or rule.tie_convention}


def _as_ranking(rule: str, n: int, part: Completed, outcome: Outcome) -> Ranking:
    """Carry the outcome for the ranked part back to all `n` systems."""
    details = {**part.details, **outcome.details}
    scores = np.full(n, np.nan)
    if outcome.scores is not None:
        scores[part.systems] = outcome.scores
    reasons = dict.fromkeys(np.flatnonzero(np.isnan(scores)).tolist(), outcome.reason)
    reasons.update({int(part.systems[i]): reason for i, reason in outcome.reasons.items()})
    reasons.update(part.unranked_reasons)
    if outcome.status == "ranked" and np.isnan(scores).all():
        return Ranking.undefined(rule, n, outcome.reason, details)
    reason = outcome.reason if outcome.status in ("undefined", "no_winner") else ""
    winners = None if outcome.winners is None else tuple(int(part.systems[i]) for i in outcome.winners)
    return Ranking.from_scores(
        rule,
        scores,
        status=outcome.status,
        reason=reason,
        unranked_reasons=reasons,
        details=details,
        stated_winners=winners,
    )


def _checked_options(rule: Rule, options: Mapping[str, object]) -> dict[str, Any]:
    for name, value in options.items():
        if name not in rule.options and name not in rule.parameters and name not in rule.numbers:
            known = ", ".join([*rule.options, *rule.numbers, *rule.parameters]) or "none"
            raise ValueError(f"`{name}` is no option of the rule {rule.key} (options: {known})")
        if name in rule.options and value not in rule.options[name]:
            raise ValueError(f"`{name}` is {value!r}; expected one of {', '.join(rule.options[name])}")
        if name in rule.numbers:
            number = rule.numbers[name]
            is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not is_number or not number.least <= float(value) <= number.most:  # type: ignore[arg-type]
                raise ValueError(f"`{name}` is {value!r}; expected a number from {number.least:g} to {number.most:g}")
    for name in rule.parameters:
        if name not in options:
            raise ValueError(f"`{name}` is missing: the rule {rule.key} needs it")
    return {name: rule.parameters[name](v) if name in rule.parameters else v for name, v in options.items()}


__all__ = ["UNRANKED", "Contributions", "rank", "rank_all", "task_contributions"]
