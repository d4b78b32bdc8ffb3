"""Rules made of others: ties of one rule broken by another, mixtures of rules, and the mean in the unit of one task.

`plurality[then=borda]` ranks by plurality, and the systems that plurality ties by Borda; `mean[with=borda,copeland]`
ranks by the mean of the ranks under the three rules, as if each rule were a judge; it becomes
`borda[with=copeland,mean]`, since their order says nothing. Such keys can be written wherever a variant's key can. Each
part has its own default options and sees the same scores: complete ones where any part needs that.

`mean[unit=accuracy]` is Dynascore (`rules/exchange.py`): the mean of scores that are turned into the unit of one task.

Rofin et al. 2023, section 6, ask for further ways to break ties; Pavao et al. 2021, section 4, for mixtures of rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ranking_engine.catalogue.rule import Held, Kernels, Rule
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.rules.exchange import dynascore
from ranking_engine.text.characters import line_problem
from ranking_engine.text.names import listed, shorten

THEN, WITH = "then", "with"
MAX_PARTS = 6
_UNIT_KEY = re.compile(r"mean\[unit=([^\[\];]{1,150})\]")
_KEY = re.compile(r"([a-z_]+)\[(then|with)=([a-z_, ]*)\]")


def combined_of(key: str, rule_of: Callable[[str], Rule]) -> Rule | None:
    """Return the rule that the key of a combined one names; None where it is no such key.

    Args:
        key: as someone wrote it.
        rule_of: gives the rule of a key, or raises a ValueError.

    Raises:
        ValueError: a part is no rule that ranks by itself, is named twice, or there are too many; or the task of
            `unit` has no name, or one with control characters.
    """
    if unit := _UNIT_KEY.fullmatch(key):
        task = unit[1].strip()
        if problem := line_problem(task) if task else "is empty":
            raise ValueError(f"{shorten(key)}: the name of the task {problem}")
        return replace(
            rule_of("mean"),
            key=f"mean[unit={task}]",
            name=f"Mean (in the unit of {task})",
            function=partial(dynascore, unit=task),
            summary=f"The mean of scores, turned into the unit of {task} at the rate at which systems trade them.",
            source="Ma et al. 2021, Dynaboard",
            held=Held(frozenset()),
            task_sum=None,
            kernels=Kernels(),
            exact_points=None,
            omission={},
            fixed_options={"unit": task},
        )
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    keys = [match[1], *(part.strip() for part in match[3].split(","))]
    if len(keys) > MAX_PARTS:
        raise ValueError(f"{shorten(key)} has {len(keys)} rules; at most {MAX_PARTS} are combined")
    if len(set(keys)) < len(keys):
        raise ValueError(f"{shorten(key)} names a rule twice")
    if match[2] == THEN and len(keys) > 2:
        raise ValueError(f"{shorten(key)}: ties are broken by one rule")
    then = match[2] == THEN
    # A mixture has one key, in whatever order its rules are written.
    rules = [rule_of(part) for part in (keys if then else sorted(keys))]
    for rule in rules:
        if rule.elects_only or rule.parameters:
            why = "it ranks no system" if rule.elects_only else "it needs options"
            raise ValueError(f"{shorten(key)}: {rule.key} cannot be combined: {why}")
    first, others = rules[0], rules[1:]
    names = [rule.name for rule in others]
    limits = [rule.max_systems for rule in rules if rule.max_systems is not None]
    return replace(
        first,
        key=f"{first.key}[{match[2]}={','.join(rule.key for rule in others)}]",
        name=f"{first.name} ({f'ties by {names[0]}' if then else f'with {listed(names, MAX_PARTS)}'})",
        needs_complete=any(rule.needs_complete for rule in rules),
        cost=partial(_cost, rules),
        function=partial(_broken_ties if then else _mixture, rules),
        summary=f"As {first.name}; systems that it ties are ranked as {names[0]} ranks them."
        if then
        else f"The mean of the ranks under {listed([rule.name for rule in rules], MAX_PARTS)}; less is better.",
        source="Rofin et al. 2023, section 6" if then else "Pavao et al. 2021, section 4",
        held=Held(frozenset()),
        tie_convention=None,
        options={},
        numbers={},
        task_sum=None,
        is_slow=any(rule.is_slow for rule in rules),
        is_ranked_alone=any(rule.is_ranked_alone for rule in rules),
        max_systems=min(limits, default=None),
        kernels=Kernels(),
        exact_points=None,
        omission={},
        reads_scales=any(rule.reads_scales for rule in rules),
        needs_positive=any(rule.needs_positive for rule in rules),
        groups_rule="",
        groups_need_positive=any(rule.groups_need_positive for rule in rules),
        decided_detail=None,
        winner_below="",
        names_systems=any(rule.names_systems for rule in rules),
        fixed_options={match[2]: tuple(rule.key for rule in others)},
    )


def _cost(rules: Sequence[Rule], n_systems: int, n_tasks: int) -> float:
    return sum(rule.cost(n_systems, n_tasks) for rule in rules)


def _ranks_under(rules: Sequence[Rule], profile: Profile) -> list[FloatArray] | Outcome:
    """Return the average ranks under each rule, or why there are none under one of them."""
    ranks = []
    for rule in rules:
        ties = {} if rule.tie_convention is None else {"ties": rule.tie_convention}
        outcome = rule.function(profile, **ties)
        if outcome.scores is None or outcome.status != "ranked":
            own = {i: f"{rule.name}: {reason}" for i, reason in outcome.reasons.items()}
            return Outcome(None, "undefined", f"{rule.name}: {outcome.reason}", reasons=own)
        ranks.append(average_ranks(ranks_of(np.asarray(outcome.scores, dtype=np.float64)[None])[0]))
    return ranks


def _broken_ties(rules: Sequence[Rule], profile: Profile) -> Outcome:
    """Rank by the first rule, its ties by the second; who has no rank under that comes last among the tied."""
    ranks = _ranks_under(rules, profile)
    if isinstance(ranks, Outcome):
        return ranks
    first, second = ranks
    second = np.where(np.isnan(second), np.inf, second)
    scores = np.full(len(first), np.nan)
    is_ranked = ~np.isnan(first)
    pairs = np.stack([first[is_ranked], second[is_ranked]], axis=1)
    scores[is_ranked] = -1.0 - np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    return Outcome(scores, reason=f"{rules[0].name} gives it no rank")


def _mixture(rules: Sequence[Rule], profile: Profile) -> Outcome:
    """Rank by the mean of the ranks under all rules; who has no rank under one of them has none."""
    ranks = _ranks_under(rules, profile)
    if isinstance(ranks, Outcome):
        return ranks
    return Outcome(-np.mean(ranks, axis=0), reason="one of the rules gives it no rank")
