"""Independence of irrelevant alternatives for real: whom a revision's newcomers made others pass, rule by rule."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import by_catalogue, in_a_list
from leaderboard.computing.rankings import rank_isolated
from leaderboard.models import Report, Revision
from leaderboard.queue.kinds import AXIOMS
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import RevisionMatrix, revision_matrix
from ranking_engine import Ranking
from ranking_engine.axioms import RankedRevision, history_flips

SHOWN_SYSTEMS = 3


def iia_violations_since_before(revision: Revision, table: RevisionMatrix) -> dict[str, Any]:
    """Who changed the order of which others between the revision before and this one, as JSON with systems by name.

    Others are in both with the same scores. Empty where there is no revision before, where tasks, weights or
    settings changed with it, which may move anyone, and where no one joined, left or has other scores.
    """
    older = Revision.objects.select_related("configuration").filter(
        benchmark_id=revision.benchmark_id, number=revision.number - 1, withdrawn_at=None
    )
    before = older.first()
    matrix = revision_matrix(before) if before is not None else None
    if before is None or matrix is None or before.configuration_id != revision.configuration_id:
        return {}
    by_rule = history_flips(_ranked(matrix), _ranked(table))
    any_rule = next(iter(by_rule.values()), None)
    if any_rule is None or any_rule.has_other_tasks:
        return {}
    names = {system.key: system.name for system in [*matrix.systems, *table.systems]}

    def named(keys: tuple[str, ...]) -> list[str]:
        return [names[key] for key in keys]

    who = {"joined": any_rule.newcomers, "left": any_rule.departed, "changed": any_rule.changed}
    if not any(who.values()):
        return {}
    return {
        **{what: {"n": len(keys), "names": named(keys[:SHOWN_SYSTEMS])} for what, keys in who.items() if keys},
        "rules": {
            rule: {
                "n_reversed": violations.n_reversed,
                "n_ties": violations.n_ties_made + violations.n_ties_broken,
                "first": named(violations.reversed_pairs[0]) if violations.reversed_pairs else [],
            }
            for rule, violations in by_rule.items()
            if violations.is_violation
        },
    }


def _ranked(table: RevisionMatrix) -> RankedRevision:
    """A revision with its ranks under every quick rule and its own settings."""
    settings = configuration_of(table.revision)
    outcomes = rank_isolated(table.matrix, settings.missing_policy, settings.aggregation, table.rules.quick)
    ranks = {rule: outcome.ranks for rule, (outcome, _) in outcomes.items() if isinstance(outcome, Ranking)}
    return RankedRevision(table.matrix, ranks)


def stored_iia_violations(default_rules: Mapping[int, str]) -> dict[int, str]:
    """Whether others changed their order because of each revision, in words: one query.

    Args:
        default_rules: by the id of a revision, its benchmark's default rule; the example is of it where it can be.

    Returns:
        By the id of the revision; without those for which nothing was computed.
    """
    reports = Report.objects.filter(kind=AXIOMS, revision__in=default_rules).defer("arrays").order_by("pk")
    return {
        report.revision_id: iia_violations_in_words(report.summary.get("flips", {}), default_rules[report.revision_id])
        for report in reports
    }


def iia_violations_in_words(violations: Mapping[str, Any], default_rule: str) -> str:
    """One sentence for the history; empty where there is nothing to tell."""
    if not violations:
        return ""
    rules = by_catalogue(violations["rules"])
    if not rules:
        return gettext("No other systems changed their order under any rule.")
    rule = default_rule if default_rule in rules else next(iter(rules))
    names = [rule_name(key) for key in rules]
    text = gettext("Other systems changed their order under %(rules)s")
    if len(names) > SHOWN_SYSTEMS:
        text = gettext("Other systems changed their order under %(rules)s rules")
    text %= {"rules": in_a_list(names)}
    first = next((entry for key in (rule, *rules) if (entry := rules[key])["first"]), None)
    if first is None:
        return gettext("%(text)s, only because ties appeared or were broken.") % {"text": text}
    key = next(key for key in (rule, *rules) if rules[key] is first)
    n = first["n_reversed"]
    pairs = ngettext("%(n)s pair", "%(n)s pairs", n) % {"n": localise(n, ",")}
    above, below = first["first"]
    return gettext("%(text)s; under %(name)s %(pairs)s swapped (e.g. %(above)s overtook %(below)s).") % {
        "text": text,
        "name": rule_name(key),
        "pairs": pairs,
        "above": above,
        "below": below,
    }
