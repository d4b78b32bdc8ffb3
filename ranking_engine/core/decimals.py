"""Scores as the decimal numbers that people wrote: two scores tie when their decimals are equal.

Averages and differences of binary numbers leave dust behind: (91.7 + 92.7) / 2 is 92.2, but 92.19999999999999 beside it
is not. So a score is rounded to 12 significant digits when it is read or computed; a task may state a precision, the
smallest difference that means anything, and its scores are then rounded to multiples of it before anything is ranked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking_engine.core.weights import as_float

FloatArray = NDArray[np.float64]

# A number as people write it; whatever Python reads beyond that (nan, 1_000, digits of other scripts) is none.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
DIGITS = 12  # significant ones of a score
_MAX_PLACES = 30  # before or behind the point, of a precision
_MAX_TEXT = 64
_EXACT_POWER = 22  # 10^22 is the largest power of ten that a 64-bit number is exactly
_POWERS = 10.0 ** np.arange(_EXACT_POWER + 1)
_LEAST, _MOST = 1e-10, 1e32  # between them, what a score is multiplied by or divided by is such a power
_NEAR_HALF = 0.499  # a number further from a whole one may be rounded either way by what arithmetic loses: 0.0005
_GLANCE = 1e6
_BRIEF = 1e4  # a number below it with up to six decimals has at most ten digits
_BLOCK = 1 << 18  # numbers looked at at a time
_EXACT_INTEGER = 2.0**53
_MAX_UNITS = 1e12  # quotients up to it are wrong by less than 0.0005


def rounded(values: ArrayLike) -> FloatArray:
    """Return numbers rounded to 12 significant digits: for each x exactly `float(f"{x:.12g}")`.

    What lies halfway between two such decimals, as 1000000000000.5 does, goes to the even one. NaN stays NaN, and the
    shape stays. Numbers below a million with up to six decimals, as most scores are, are seen at a glance; those that
    lie near a half, or beyond 1e-10 to 1e32, are formatted one by one.
    """
    decimals = np.array(values, dtype=np.float64, order="C")
    flat = decimals.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        part = flat[start : start + _BLOCK]
        with np.errstate(over="ignore", invalid="ignore"):
            is_short = (np.rint(part * _GLANCE) / _GLANCE == part) & (np.abs(part) < _GLANCE)
            is_left = ~is_short & np.isfinite(part)
        if not is_left.any():
            continue
        # Powers of ten up to 10^22 are exact, so that only the product is rounded.
        numbers = part[is_left]
        size = np.abs(numbers)
        is_plain = (size >= _LEAST) & (size < _MOST)
        power = np.where(is_plain, DIGITS - 1 - np.floor(np.log10(size)), 0.0).astype(np.intp)
        up, down = _POWERS[np.maximum(power, 0)], _POWERS[np.maximum(-power, 0)]
        scaled = numbers * up / down
        whole = np.rint(scaled)
        is_sure = is_plain & (np.abs(scaled - whole) < _NEAR_HALF)
        distinct, place = np.unique(numbers[~is_sure], return_inverse=True)
        numbers = whole / up * down
        numbers[~is_sure] = np.array([rounded_score(x) for x in distinct.tolist()])[place]
        part[is_left] = numbers
    return decimals


def exact_mean(values: Sequence[float], weights: Sequence[Fraction | int]) -> float:
    """Return the float next to the weighted mean of numbers, which are taken for the decimals that denote them.

    In floats (0.1 + 0.2 + 0.6) / 3 is not 0.3, and the order of the numbers shows.

    Args:
        values: finite.
        weights: as many, exact; their sum is not 0.
    """
    total = sum((Fraction(repr(value)) * weight for value, weight in zip(values, weights, strict=True)), Fraction(0))
    return as_float(total / sum(weights))


def rounded_score(value: float) -> float:
    """Return one number rounded as `rounded` does it."""
    return float(f"{value:.{DIGITS}g}")


def finite_or_none(value: float | np.floating[Any]) -> float | None:
    """Return a figure for JSON, which has no NaN and no infinity: None for these."""
    return float(value) if math.isfinite(value) else None


def rounding_note(numbers: FloatArray) -> str:
    """Return what anyone who brings `numbers` is told of the dust in them; empty where there is none.

    Dust is a long number beside a short one: 92.19999999999999 for 92.2. A number that is long by itself, such as
    0.8333333333333334, is rounded as well, and no one needs to be told.
    """
    decimals = rounded(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        is_brief = (np.rint(decimals * _GLANCE) / _GLANCE == decimals) & (np.abs(decimals) < _BRIEF)
    dusty = numbers[is_brief & (decimals != numbers)]
    if not dusty.size:
        return ""
    first = float(dusty[0])
    how_many = "1 score is" if dusty.size == 1 else f"{dusty.size:,} scores are"
    return f"{how_many} rounded to {DIGITS} significant digits: {first!r} is read as {rounded_score(first):.{DIGITS}g}"


def rounded_to(values: ArrayLike, precision: float) -> FloatArray:
    """Return numbers rounded to the nearest multiples of `precision`, and these to 12 significant digits.

    It is exact arithmetic with the decimals that denote both: 0.15 lies halfway between 0.1 and 0.2, and goes to the
    even multiple, 0.2, as 0.25 does. So no bias grows from halves, and x and -x are rounded alike.

    Args:
        values: rounded to 12 significant digits already; NaN stays NaN.
        precision: as `exact_precision` returns it.
    """
    array = np.array(values, dtype=np.float64)
    # The precision is a whole number without trailing zeros, `unit`, times a power of ten.
    digits = Decimal(repr(precision)).normalize().as_tuple()
    assert isinstance(digits.exponent, int)  # noqa: S101 -- it is finite
    unit, power = int("".join(map(str, digits.digits))), digits.exponent
    with np.errstate(invalid="ignore", over="ignore"):
        quotient = array / precision
        count = np.rint(quotient)
        is_sure = (np.abs(quotient) < _MAX_UNITS) & (np.abs(quotient - count) < _NEAR_HALF)
        is_sure &= (np.abs(count) * unit < _EXACT_INTEGER) & (abs(power) <= _EXACT_POWER)
        whole = count * unit
        scale = _POWERS[min(abs(power), _EXACT_POWER)]
        near = whole * scale if power > 0 else whole / scale
    is_left = ~is_sure & np.isfinite(array)
    decimals = np.where(is_sure, near, array)
    if is_left.any():
        distinct, place = np.unique(array[is_left], return_inverse=True)
        step = Fraction(unit) * Fraction(10) ** power
        exact = [float(round(Fraction(repr(x)) / step) * step) for x in distinct.tolist()]
        decimals[is_left] = np.array(exact)[place]
    return rounded(decimals) + 0.0  # no negative zero


def as_scores(values: ArrayLike, precision: FloatArray) -> FloatArray:
    """Return scores as they are ranked: to 12 significant digits, and to the precision of each task that states one.

    Args:
        values: of any shape; the last axis is the tasks'.
        precision: shape (n_tasks,), NaN where none is stated.
    """
    scores = rounded(values)
    for unit in np.unique(precision[~np.isnan(precision)]).tolist():
        tasks = precision == unit
        scores[..., tasks] = rounded_to(scores[..., tasks], unit)
    return scores


def exact_precision(value: object, what: str = "precision") -> float:
    """Return the smallest difference between two scores of a task that means anything, such as 0.1.

    Args:
        value: a number or its text; a float means its shortest decimal.
        what: the name of the precision in the error.

    Returns:
        The float nearest to the decimal; its shortest text is the decimal again.

    Raises:
        ValueError: it is not a positive decimal number of at most 30 places before or behind the point, or has more
            than 12 significant digits.
    """
    excerpt = str(value)[:40]
    text = repr(float(value)) if isinstance(value, (float, np.floating)) else str(value).strip()
    is_plain = not isinstance(value, (bool, np.bool_)) and len(text) <= _MAX_TEXT and text.isascii()
    try:
        number = Decimal(text if is_plain and "_" not in text else "NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number <= 0 or abs(number.adjusted()) > _MAX_PLACES:
        limits = f"between 1e-{_MAX_PLACES} and 1e{_MAX_PLACES}"
        raise ValueError(f"{what} is {excerpt!r}; expected a positive number such as 0.1, {limits}")
    if len(number.normalize().as_tuple().digits) > DIGITS:
        raise ValueError(f"{what} is {excerpt!r}; expected at most {DIGITS} significant digits")
    return float(number)
