"""The options of single rules on the command line: `--option RULE.NAME=VALUE`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ranking_engine.catalogue.registry import RULES, Rule
from ranking_engine.catalogue.variants import option_value
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import shorten

RuleOptions = dict[str, dict[str, Any]]

EXAMPLE = "copeland.variant=lower"


def read_rule_options(texts: Iterable[str]) -> RuleOptions:
    """Return the options by rule and name, from texts such as `kemeny.seconds=120`.

    Raises:
        ValueError: no such rule, option or value, each with those that there are; or an option stated twice.
    """
    having = {rule.key: names for rule in RULES.values() if (names := _allowed(rule))}
    options: RuleOptions = {}
    for text in texts:
        place, equals, value = text.partition("=")
        key, dot, name = place.strip().partition(".")
        if not (equals and dot and key and name):
            raise ValueError(f"--option {shorten(text)}: expected RULE.NAME=VALUE, such as {EXAMPLE}")
        if key not in having:
            if key in RULES:
                ties = " but --ties" if RULES[key].tie_convention else ""
                problem = f"{key}: the rule {key} has no options{ties}; these have some: {', '.join(having)}"
            else:
                close = CloseNames(RULES).of(key)
                hint = f"; did you mean {close[0]}?" if close else "."
                problem = f"{shorten(key)}: no such rule{hint} Rules with options: {', '.join(having)}"
            raise ValueError(f"--option {problem}")
        if name in options.setdefault(key, {}):
            raise ValueError(f"--option {key}.{name} is stated twice")
        if name not in having[key]:
            raise ValueError(f"--option {key}.{shorten(name)}: no such option; {key} has {', '.join(having[key])}")
        try:
            options[key][name] = option_value(RULES[key], name, value.strip())
        except ValueError as error:
            raise ValueError(f"--option {error}") from error
    return options


def option_lines(rules: Iterable[Rule] = tuple(RULES.values())) -> list[str]:
    """Return one line for each option there is, such as `schulze.strength=margins|winning_votes`, the default first."""
    return [f"{rule.key}.{name}={allowed}" for rule in rules for name, allowed in _allowed(rule).items()]


def options_in_force(rule: Rule, ties: str | None, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option of `rule` with the value it has: the stated one, else the default."""
    convention = {} if rule.tie_convention is None else {"ties": ties or rule.tie_convention}
    defaults = {name: values[0] for name, values in rule.options.items()}
    numbers = {name: number.default for name, number in rule.numbers.items()}
    return {**rule.fixed_options, **convention, **defaults, **numbers, **chosen}


def _allowed(rule: Rule) -> dict[str, str]:
    """Return what each option of `rule` may be, in words."""
    return {
        **{name: "|".join(values) for name, values in rule.options.items()},
        **{name: f"{number.default:g} ({number.least:g} to {number.most:g})" for name, number in rule.numbers.items()},
        **dict.fromkeys(rule.parameters, "12,10,8 (has no default)"),
    }
