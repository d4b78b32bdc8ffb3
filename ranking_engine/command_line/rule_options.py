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
    options: RuleOptions = {}
    for text in texts:
        place, equals, value = text.partition("=")
        key, dot, name = place.strip().partition(".")
        if not (equals and dot and key and name):
            raise ValueError(f"--option {shorten(text)}: expected RULE.NAME=VALUE, such as {EXAMPLE}")
        rule = _rule(key)
        if name in options.setdefault(key, {}):
            raise ValueError(f"--option {key}.{name} is stated twice")
        options[key][name] = _value(rule, name, value.strip())
    return options


def option_lines(rules: Iterable[Rule] = tuple(RULES.values())) -> list[str]:
    """Return one line for each option there is, such as `schulze.strength=margins|winning_votes`, the default first."""
    return [f"{rule.key}.{name}={allowed}" for rule in rules for name, allowed in _allowed(rule).items()]


def options_in_force(rule: Rule, ties: str | None, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option of `rule` with the value it has: the stated one, else the default."""
    convention = {} if rule.tie_convention is None else {"ties": ties or rule.tie_convention}
    defaults = {name: values[0] for name, values in rule.options.items()}
    numbers = {name: number.default for name, number in rule.numbers.items()}
    return {**convention, **defaults, **numbers, **chosen}


def _rule(key: str) -> Rule:
    if key in RULES and _allowed(RULES[key]):
        return RULES[key]
    having = [rule.key for rule in RULES.values() if _allowed(rule)]
    if key in RULES:
        ties = " but --ties" if RULES[key].tie_convention else ""
        raise ValueError(f"--option {key}: the rule {key} has no options{ties}; these have some: {', '.join(having)}")
    close = CloseNames(RULES).of(key)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise ValueError(f"--option {shorten(key)}: no such rule{hint} Rules with options: {', '.join(having)}")


def _value(rule: Rule, name: str, text: str) -> Any:  # noqa: ANN401 -- each option has its own type
    if name not in _allowed(rule):
        raise ValueError(
            f"--option {rule.key}.{shorten(name)}: no such option; {rule.key} has {', '.join(_allowed(rule))}"
        )
    try:
        return option_value(rule, name, text)
    except ValueError as error:
        raise ValueError(f"--option {error}") from error


def _allowed(rule: Rule) -> dict[str, str]:
    """Return what each option of `rule` may be, in words."""
    return {
        **{name: "|".join(values) for name, values in rule.options.items()},
        **{name: f"{number.default:g} ({number.least:g} to {number.most:g})" for name, number in rule.numbers.items()},
        **dict.fromkeys(rule.parameters, "12,10,8 (has no default)"),
    }
