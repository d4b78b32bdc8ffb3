"""Independence of irrelevant alternatives for real: whom a revision's newcomers made others pass, rule by rule."""

from collections.abc import Mapping
from typing import Any

from leaderboard.common.text import by_catalogue
from leaderboard.computing.rankings import rank_isolated
from leaderboard.models import Revision
from leaderboard.rankings.score_matrix import RevisionMatrix, revision_matrix
from ranking_engine import RULES, Ranking
from ranking_engine.axioms import RankedRevision, history_flips
from ranking_engine.text.names import listed

SHOWN_SYSTEMS = 3


def flips_since_before(revision: Revision, found: RevisionMatrix) -> dict[str, Any]:
    """Who changed the order of which others between the revision before and this one, as JSON with systems by name.

    Others stand in both with the same scores. Empty where there is no revision before, where tasks, weights or
    settings changed with it, which may move anybody, and where nobody joined, left or has other scores.
    """
    older = Revision.objects.select_related("configuration").filter(
        benchmark_id=revision.benchmark_id, number=revision.number - 1, withdrawn_at=None
    )
    before = older.first()
    matrix = revision_matrix(before) if before is not None else None
    if before is None or matrix is None or before.configuration_id != revision.configuration_id:
        return {}
    flips = history_flips(_ranked(matrix), _ranked(found))
    any_rule = next(iter(flips.values()), None)
    if any_rule is None or any_rule.has_other_tasks:
        return {}
    names = {system.key: system.name for system in [*matrix.systems, *found.systems]}

    def named(keys: tuple[str, ...]) -> list[str]:
        return [names[key] for key in keys]

    who = {"joined": any_rule.newcomers, "left": any_rule.departed, "changed": any_rule.changed}
    if not any(who.values()):
        return {}
    return {
        **{what: {"n": len(keys), "names": named(keys[:SHOWN_SYSTEMS])} for what, keys in who.items() if keys},
        "rules": {
            rule: {
                "n_reversed": found_flips.n_reversed,
                "n_ties": found_flips.n_ties_made + found_flips.n_ties_broken,
                "first": named(found_flips.reversed_pairs[0]) if found_flips.reversed_pairs else [],
            }
            for rule, found_flips in flips.items()
            if found_flips.is_violation
        },
    }


def _ranked(found: RevisionMatrix) -> RankedRevision:
    """A revision with its ranks under every quick rule and its own settings."""
    settings = found.revision.configuration.content
    outcomes = rank_isolated(found.matrix, settings["missing_policy"], settings["aggregation"])
    ranks = {rule: outcome.ranks for rule, (outcome, _) in outcomes.items() if isinstance(outcome, Ranking)}
    return RankedRevision(found.matrix, ranks)


def flips_in_words(flips: Mapping[str, Any], default_rule: str) -> str:
    """One sentence for the history; empty where there is nothing to tell."""
    if not flips:
        return ""
    rules = by_catalogue(flips["rules"])
    if not rules:
        return "No two others changed their order under any rule."
    rule = default_rule if default_rule in rules else next(iter(rules))
    told = f"Two others or more changed their order under {_rules_told(rules)}"
    first = next((entry for key in (rule, *rules) if (entry := rules[key])["first"]), None)
    if first is None:
        return f"{told}, by ties made or broken alone."
    key = next(key for key in (rule, *rules) if rules[key] is first)
    n = first["n_reversed"]
    pairs = "1 pair" if n == 1 else f"{n:,} pairs"
    above, below = first["first"]
    return f"{told}; under {RULES[key].name} {pairs} swapped, {above} passing {below} for one."


def _rules_told(rules: Mapping[str, Any]) -> str:
    names = [RULES[rule].name for rule in rules if rule in RULES]
    return f"{listed(names)}{' rules' if len(names) > SHOWN_SYSTEMS else ''}"
