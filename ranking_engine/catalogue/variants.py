"""Variants of rules: a rule under other options than its own, as a rule with a key and a name of its own.

`copeland[variant=lower]`, `borda[ties=average]` and `positional[vector=12,10,8]` are such keys; several options are
separated by semicolons. Wherever a rule is named by its key, a variant can be. A variant is ranked one board at a time:
the kernels that score many boards at once are those of the rule's own options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ranking_engine.catalogue.rule import Kernels, ResampleKernel, Rule
from ranking_engine.core.profile import TaskSum
from ranking_engine.kernels import resamples
from ranking_engine.rules import positional
from ranking_engine.rules.positional import TIES
from ranking_engine.text.names import shorten

TIES_OPTION = "ties"
TIME_LIMIT = "seconds"  # a number of some rules, which decides how long they search
LONGEST_KEY = 200
DIGITS = 12  # of a number in a key
LONGEST_VECTOR = 10  # in a name, as many points as at the Eurovision Song Contest
_KEY = re.compile(r"([a-z_]+)\[([^\[\]]+)\]")


def rule_of_variant(key: str) -> str:
    """Return the key of the rule that a key is a variant of; the key itself where it is a rule's."""
    return key.partition("[")[0]


def variant_key(rule: Rule, options: Mapping[str, Any]) -> str:
    """Return the key of `rule` under `options`: its own key where these are its defaults.

    Args:
        rule: of the catalogue.
        options: values as `rank` takes them, and `ties`.
    """
    texts = [
        f"{name}={option_text(options[name])}"
        for name in _names(rule)
        if name in options and not _is_own(rule, name, options[name])
    ]
    return f"{rule.key}[{';'.join(texts)}]" if texts else rule.key


def variant_of(key: str, rules: Mapping[str, Rule]) -> Rule | None:
    """Return the rule that a variant's key names; None where it is no such key.

    Args:
        key: as someone wrote it.
        rules: the catalogue, by key.

    Raises:
        ValueError: the rule has no such option, or the option no such value.
    """
    match = _KEY.fullmatch(key) if len(key) <= LONGEST_KEY else None
    if match is None or match[1] not in rules:
        return None
    rule, options = rules[match[1]], {}
    for text in match[2].split(";"):
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ValueError(f"{shorten(key)}: expected RULE[NAME=VALUE], such as copeland[variant=lower]")
        if name == TIME_LIMIT:
            raise ValueError(f"{shorten(key)}: a time limit makes no variant of a rule")
        if name in options:
            raise ValueError(f"{shorten(key)} states {shorten(name)} twice")
        options[name] = option_value(rule, name, value)
        if option_value(rule, name, option_text(options[name])) != options[name]:
            raise ValueError(f"{shorten(key)}: a number in {shorten(name)} has more than {DIGITS} digits")
    if left := [name for name in rule.parameters if name not in options]:
        raise ValueError(f"{shorten(key)}: the rule {rule.key} needs {', '.join(left)}")
    variant = _variant(rule, options)
    if len(variant.key) > LONGEST_KEY:  # 1e11 is longer where it is written out
        raise ValueError(f"{shorten(variant.key)}: a key has at most {LONGEST_KEY} characters")
    return variant


def option_value(rule: Rule, name: str, text: str) -> Any:  # noqa: ANN401 -- each option has its own type
    """Return the value of an option of `rule`, `ties` among them, that a text states.

    Raises:
        ValueError: there is no such option, or the text is none of its values.
    """
    if name not in _names(rule):
        raise ValueError(
            f"{rule.key}.{shorten(name)}: no such option; {rule.key} has {', '.join(_names(rule)) or 'none'}"
        )
    place = f"{rule.key}.{name}={shorten(text)}"
    allowed = tuple(TIES) if name == TIES_OPTION else rule.options.get(name)
    if allowed is not None:
        if text not in allowed:
            raise ValueError(f"{place}: expected one of {', '.join(allowed)}")
        return text
    if name in rule.parameters:
        try:
            return rule.parameters[name](text)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    number = rule.numbers[name]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not number.least <= value <= number.most:  # False for NaN too
        raise ValueError(f"{place}: expected a number from {number.least:g} to {number.most:g}")
    return value


def _variant(rule: Rule, options: Mapping[str, Any]) -> Rule:
    key = variant_key(rule, options)
    if key == rule.key:
        return rule
    differing = []
    for name, value in options.items():
        if not _is_own(rule, name, value):
            text = option_text(value).replace("_", " ")
            if isinstance(value, tuple) and len(value) > LONGEST_VECTOR:
                text = f"{option_text(value[: LONGEST_VECTOR - 2])},…,{option_text(value[-1])}"
            is_word = isinstance(value, (str, tuple))
            differing.append(f"ties {text}" if name == TIES_OPTION else text if is_word else f"{name} {text}")
    fixed = dict(options)
    if rule.tie_convention is not None:
        fixed.setdefault(TIES_OPTION, rule.tie_convention)

    def under_options(function: Callable[..., Any]) -> Callable[..., Any]:
        return partial(function, **fixed)

    kernels = Kernels()
    if "vector" in rule.parameters:  # points of one's own are sums over tasks like those of every positional rule
        vector_of = partial(positional.padded_vector, vector=fixed["vector"])
        kernels = Kernels(resamples=ResampleKernel(resamples.of_vector(vector_of, fixed[TIES_OPTION]), adds_up=True))
    sums = rule.task_sum
    return replace(
        rule,
        key=key,
        name=f"{rule.name} ({', '.join(differing)})",
        function=under_options(rule.function),
        tie_convention=None,
        options={},
        numbers={},
        parameters={},
        task_sum=None if sums is None else TaskSum(under_options(sums.contributions), sums.name, sums.score),
        kernels=kernels,
        exact_points=None,
        omission={},
        fixed_options=fixed,
    )


def _names(rule: Rule) -> list[str]:
    ties = [TIES_OPTION] if rule.tie_convention is not None else []
    return [*rule.options, *rule.numbers, *rule.parameters, *ties]


def _is_own(rule: Rule, name: str, value: object) -> bool:
    """Whether the rule has this value without being told."""
    if name == TIES_OPTION:
        return value == rule.tie_convention
    if name in rule.options:
        return value == rule.options[name][0]
    return name in rule.numbers and value == rule.numbers[name].default


def option_text(value: object) -> str:
    """Return a value as it is written in a key."""
    if isinstance(value, tuple):
        return ",".join(option_text(item) for item in value)
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
