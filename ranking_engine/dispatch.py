"""From a score matrix and a rule's key to a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ranking_engine.missing import Completed, check_policy, complete, scored_part
from ranking_engine.profile import Outcome, Profile
from ranking_engine.ranking import UNRANKED, Ranking
from ranking_engine.registry import TIES, Number, Rule, get_rule, listed_rules
from ranking_engine.score_matrix import ScoreMatrix


def rank(
    matrix: ScoreMatrix,
    rule: str,
    *,
    missing: str = "drop_systems",
    ties: str | None = None,
    **options: object,
) -> Ranking:
    """Rank the systems of `matrix` under the rule whose key is `rule`.

    Args:
        matrix: the scores.
        rule: a key of RULES.
        missing: what becomes of missing scores under a rule that needs all, a key of MISSING_POLICIES;
            native rules ignore it.
        ties: the convention for ties within a task, a key of TIES; None for the rule's own default. Rules
            without such a convention ignore it.
        options: the rule's further options, such as variant="margins", its numbers, such as prior=0.1, and its
            parameters, such as vector=(12, 10, 8); see Rule.options, Rule.numbers and Rule.parameters.

    Raises:
        ValueError: an unknown rule, policy, convention or option, or a parameter that is missing.
    """
    return rank_all(matrix, [rule], missing=missing, ties=ties, options={rule: options})[rule]


def rank_all(
    matrix: ScoreMatrix,
    rules: Iterable[str] | None = None,
    *,
    missing: str = "drop_systems",
    ties: str | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, Ranking]:
    """Rank under each of `rules` (default: the listed ones, in the order of RULES), sharing what they can.

    `options` are those of `rank`, by rule. An exception in one rule is not caught.
    """
    chosen = [get_rule(key) for key in (listed_rules() if rules is None else rules)]
    _check_ties(ties)
    checked = {rule.key: _checked_options(rule, (options or {}).get(rule.key, {})) for rule in chosen}
    shared = _Shared(matrix, missing)
    return {rule.key: _rank(shared, rule, ties, checked[rule.key]) for rule in chosen}


class _Shared:
    """The matrix as native rules see it and as complete-only rules do, each with its shared results."""

    def __init__(self, matrix: ScoreMatrix, missing: str) -> None:
        check_policy(missing)
        self.matrix, self.missing = matrix, missing

    @cached_property
    def native(self) -> tuple[Completed, Profile | None]:
        part = scored_part(self.matrix)
        return part, Profile(part.matrix) if part.matrix is not None else None

    @cached_property
    def complete(self) -> tuple[Completed, Profile | None]:
        native, profile = self.native
        if native.matrix is None or native.matrix.is_complete.all():
            return native, profile
        part = complete(self.matrix, self.missing)
        return part, Profile(part.matrix) if part.matrix is not None else None


def _rank(shared: _Shared, rule: Rule, ties: str | None, options: Mapping[str, Any]) -> Ranking:
    part, profile = shared.complete if rule.needs_complete else shared.native
    n = shared.matrix.n_systems
    if profile is None:
        return Ranking.undefined(rule.key, n, part.reason, part.details)
    if reason := rule.why_not_computed(profile.n_systems):
        return Ranking.undefined(rule.key, n, reason, part.details)
    keywords = dict(options)
    if rule.tie_convention is not None:
        keywords["ties"] = ties or rule.tie_convention
    return _as_ranking(rule.key, n, part, rule.function(profile, **keywords))


def _as_ranking(rule: str, n: int, part: Completed, outcome: Outcome) -> Ranking:
    """Carry the outcome for the ranked part back to all `n` systems."""
    details = {**part.details, **outcome.details}
    scores = np.full(n, np.nan)
    if outcome.scores is not None:
        scores[part.systems] = outcome.scores
    reasons = {int(i): outcome.reason for i in part.systems[np.isnan(scores[part.systems])]}
    reasons.update(part.unranked_reasons)
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


def _check_ties(ties: str | None) -> None:
    if ties is not None and ties not in TIES:
        raise ValueError(f"`ties` is {ties!r}; expected one of {', '.join(TIES)}")


def _checked_options(rule: Rule, options: Mapping[str, object]) -> dict[str, Any]:
    for name, value in options.items():
        if name not in rule.options and name not in rule.parameters and name not in rule.numbers:
            known = ", ".join([*rule.options, *rule.numbers, *rule.parameters]) or "none"
            raise ValueError(f"`{name}` is no option of the rule {rule.key} (options: {known})")
        if name in rule.options and value not in rule.options[name]:
            raise ValueError(f"`{name}` is {value!r}; expected one of {', '.join(rule.options[name])}")
        if name in rule.numbers:
            _check_number(name, value, rule.numbers[name])
    for name in rule.parameters:
        if name not in options:
            raise ValueError(f"`{name}` is missing: the rule {rule.key} needs it")
    return {name: rule.parameters[name](v) if name in rule.parameters else v for name, v in options.items()}


def _check_number(name: str, value: object, number: Number) -> None:
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not number.least <= float(value) <= number.most:  # type: ignore[arg-type]
        raise ValueError(f"`{name}` is {value!r}; expected a number from {number.least:g} to {number.most:g}")


__all__ = ["UNRANKED", "rank", "rank_all"]
