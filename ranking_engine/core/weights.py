"""Exact weights: what a user writes as a decimal is kept as the fraction that it denotes."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np

WeightLike = int | float | str | Decimal | Fraction

MAX_BITS = 256  # of the sum of weights that someone else sent, as integers over their common denominator
GROUPED_BITS = 1024  # of the same once groups are evened out, which multiplies their denominators
_COUNTED_BITS = 4096  # of longer sums it is only said that they are longer

_MAX_MAGNITUDE = 30  # a weight is 0 or lies between 1e-30 and 1e30: an exponent must not eat the memory
_MAX_TEXT = 64
_LARGEST = Fraction(sys.float_info.max)


def exact_weight(value: object, what: str = "weight") -> Fraction:
    """Return `value` as an exact fraction; a float stands for its shortest decimal (0.1 is one tenth).

    `what` names the weight in the `ValueError` raised for a negative, infinite or unreadable one, and for one
    beyond 1e-30 to 1e30 unless it is a Fraction already.
    """
    weight: Fraction | None = None
    if isinstance(value, Fraction):
        weight = value
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        weight = Fraction(int(value))
    elif isinstance(value, (float, np.floating)):
        weight = _from_text(repr(float(value)))
    elif isinstance(value, Decimal):
        weight = _from_decimal(value)
    elif isinstance(value, str):
        weight = _from_text(value)
    if weight is None:
        raise ValueError(f"{what} is {_shown(value)}; expected a number such as 1, 0.5 or 1/13")
    if weight < 0:
        raise ValueError(f"{what} is {_shown(value)}; a weight is never negative (use 0 to silence a task)")
    if (
        weight
        and not isinstance(value, Fraction)
        and not Fraction(1, 10**_MAX_MAGNITUDE) <= weight <= 10**_MAX_MAGNITUDE
    ):
        raise ValueError(f"{what} is {_shown(value)}; expected 0 or a number between 1e-30 and 1e30")
    return weight


def _from_text(text: str) -> Fraction | None:
    text = text.strip()
    if len(text) > _MAX_TEXT or not text.isascii() or "_" in text:
        return None
    numerator, slash, denominator = text.partition("/")
    if slash:
        digits = numerator.isdigit() and denominator.isdigit() and int(denominator)
        return Fraction(int(numerator), int(denominator)) if digits else None
    try:
        return _from_decimal(Decimal(text))
    except InvalidOperation:
        return None


def _from_decimal(number: Decimal) -> Fraction | None:
    if not number.is_finite():
        return None
    if number and abs(number.adjusted()) > 2 * _MAX_MAGNITUDE:
        return None
    return Fraction(number) if number else Fraction(0)


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, (Fraction, Decimal, int, float, np.generic)) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def as_float(number: Fraction) -> float:
    """Return the nearest float; the largest one for what no float reaches."""
    return float(max(-_LARGEST, min(number, _LARGEST)))


def over_common_denominator(weights: Sequence[Fraction]) -> tuple[tuple[int, ...], int]:
    """Return integers and the least denominator over which they are `weights`."""
    denominator = math.lcm(*(weight.denominator for weight in weights))
    return tuple(weight.numerator * (denominator // weight.denominator) for weight in weights), denominator


def sum_bits(weights: Iterable[Fraction]) -> int:
    """Return how many bits the sum of the weights has, as an integer over their least common denominator.

    That many every sum of weights may have, so that the cost of exact arithmetic grows with it. Counting ends beyond
    4,096 bits: the number is then a lower bound, and little was computed.
    """
    denominator, total = 1, Fraction(0)
    for weight in weights:
        denominator = math.lcm(denominator, weight.denominator)
        total += weight
        bits = (total.numerator * (denominator // total.denominator)).bit_length()
        if bits > _COUNTED_BITS:
            return bits
    return (total.numerator * (denominator // total.denominator)).bit_length()


def check_bits(names: Sequence[str], weights: Sequence[Fraction], most_bits: int = MAX_BITS) -> None:
    """Refuse weights whose exact arithmetic would cost too much, naming the one with which they become so.

    Args:
        names: what each weight is called in the message, such as `the weight of 'cola'`.
        weights: in the same order.
        most_bits: that the sum may have over the common denominator.

    Raises:
        ValueError: it has more. Weights of 20 digits over one denominator need 70; two of thirty digits over thirty
            digits need 300.
    """
    denominator, total = 1, Fraction(0)
    for name, weight in zip(names, weights, strict=True):
        denominator = math.lcm(denominator, weight.denominator)
        total += weight
        if (total.numerator * (denominator // total.denominator)).bit_length() > most_bits:
            raise ValueError(
                f"{name} is {_shown(weight)}: with it the common denominator of the weights has so many digits that "
                f"their sum needs more than {most_bits} bits; write weights with fewer digits, or as fractions of one "
                "denominator"
            )
