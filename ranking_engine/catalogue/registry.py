"""The catalogue of rules: all records, in the order in which boards show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from ranking_engine.catalogue import records
from ranking_engine.catalogue.combined import THEN, WITH, combined_of
from ranking_engine.catalogue.rule import FAMILIES, Number, Rule
from ranking_engine.catalogue.variants import LONGEST_KEY, rule_of_variant, variant_of
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.core.packages import modules_of
from ranking_engine.rules.positional import TIES
from ranking_engine.text.names import shorten

__all__ = [
    "FAMILIES",
    "MISSING_POLICIES",
    "RULES",
    "TIES",
    "Number",
    "Rule",
    "get_rule",
    "in_order",
    "listed_rules",
    "quick_rules",
    "read_variants",
    "slow_rules",
]

MAX_VARIANTS = 12  # of one board
_PLAIN = re.compile(r"[a-z_]+(\[[A-Za-z0-9_=,;.+-]+\])?")


# The records of each family: those of the module that is called like it, then those of any others.
_RECORDS = modules_of(records)
_BY_KEY = {
    rule.key: rule
    for family in FAMILIES
    for name in sorted(_RECORDS, key=lambda name: name != family)
    for rule in getattr(_RECORDS[name], "RULES", ())
    if rule.family == family
}
RULES: Mapping[str, Rule] = MappingProxyType(_BY_KEY)


def quick_rules(n_systems: int, n_tasks: int) -> tuple[str, ...]:
    """Return the keys of the rules, but those with parameters, that each should take less than a second."""
    return tuple(rule.key for rule in _computed(n_systems) if rule.is_quick(n_systems, n_tasks))


def slow_rules(n_systems: int, n_tasks: int) -> tuple[str, ...]:
    """Return the keys of the rules that are computed at this size, but should take longer."""
    return tuple(rule.key for rule in _computed(n_systems) if not rule.is_quick(n_systems, n_tasks))


def _computed(n_systems: int) -> list[Rule]:
    return [rule for rule in RULES.values() if not (rule.parameters or rule.why_not_computed(n_systems))]


def listed_rules() -> list[str]:
    """Return the keys of the rules that every leaderboard shows, in the catalogue's order."""
    return [key for key, rule in RULES.items() if rule.is_listed]


def get_rule(key: str) -> Rule:
    """Return the rule called `key`, or the variant, such as `copeland[variant=lower]`.

    Raises:
        ValueError: there is no such rule, with those that there are; or the rule has no such option.
    """
    rule = RULES.get(key) or _variant(key)
    if rule is None:
        raise ValueError(f"`rule` is {shorten(key)!r}; expected one of {', '.join(RULES)}")
    return rule


@lru_cache(maxsize=256)
def _variant(key: str) -> Rule | None:
    return combined_of(key, get_rule) or variant_of(key, RULES)


def in_order(keys: Iterable[str]) -> list[str]:
    """Return keys of rules and of variants, each once, in the catalogue's order; variants follow their rule."""
    place = {key: k for k, key in enumerate(RULES)}
    return sorted(dict.fromkeys(keys), key=lambda key: (place[rule_of_variant(key)], "[" in key))


def read_variants(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of the variants that someone wants to see beside the rules, each once, in the order of boards.

    Args:
        texts: keys of variants as they are written, such as `copeland[variant=lower]`.

    Raises:
        ValueError: there are more than MAX_VARIANTS, or one is no variant; with what is allowed.
    """
    if len(texts) > MAX_VARIANTS:
        raise ValueError(f"{len(texts):,} variants; at most {MAX_VARIANTS} are ranked")
    keys = []
    for text in texts:
        if len(text) > LONGEST_KEY:
            raise ValueError(f"{shorten(text)}: a variant has at most {LONGEST_KEY} characters")
        if "[" not in text:
            raise ValueError(f"{shorten(text)}: expected RULE[NAME=VALUE], such as copeland[variant=lower]")
        variant = get_rule(text.strip())
        if not _PLAIN.fullmatch(variant.key):  # a slash would be no part of an address
            raise ValueError(f"{variant.key}: expected letters, digits and hyphens, such as the key of a task")
        if variant.key in RULES:
            raise ValueError(f"{text.strip()} is {variant.name} itself, which every board has")
        parts = [part for name in (THEN, WITH) for part in variant.fixed_options.get(name, ())]
        for part in (RULES[key] for key in (rule_of_variant(variant.key), *parts) if parts):
            if part.decided_detail is not None:  # a combined rule does not say so, and boards may hide names
                raise ValueError(f"{variant.key}: names may decide between equals under {part.name}: not combined here")
        keys.append(variant.key)
    # Of one rule they are in the order of their keys, so that the order in which they are written decides nothing.
    return tuple(in_order(sorted(keys)))
