"""The catalogue of rules: all records, in the order in which boards show them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ranking_engine.catalogue import records
from ranking_engine.catalogue.rule import FAMILIES, Number, Rule
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.rules.positional import TIES

__all__ = [
    "FAMILIES",
    "MISSING_POLICIES",
    "RULES",
    "TIES",
    "Number",
    "Rule",
    "get_rule",
    "listed_rules",
    "quick_rules",
    "slow_rules",
]


def _records() -> Iterator[Rule]:
    """Yield the records of each family: those of the module that is called like it, then those of any others."""
    names = sorted(module.name for module in pkgutil.iter_modules(records.__path__))
    modules = {name: importlib.import_module(f"{records.__name__}.{name}") for name in names}
    for family in FAMILIES:
        for name in sorted(modules, key=lambda name: name != family):
            yield from (rule for rule in getattr(modules[name], "RULES", ()) if rule.family == family)


_BY_KEY = {rule.key: rule for rule in _records()}
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
    """Return the rule called `key`, or raise a ValueError that lists the rules there are."""
    if key not in RULES:
        raise ValueError(f"`rule` is {key!r}; expected one of {', '.join(RULES)}")
    return RULES[key]
