"""Scores as the decimal numbers that people wrote: the precision of a task."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import numpy as np

DIGITS = 12  # significant ones of a score
_MOST_PLACES = 30  # before or behind the point, of a precision
_MAX_TEXT = 64


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
    shown = str(value)[:40]
    text = repr(float(value)) if isinstance(value, (float, np.floating)) else str(value).strip()
    is_plain = not isinstance(value, (bool, np.bool_)) and len(text) <= _MAX_TEXT and text.isascii()
    try:
        number = Decimal(text if is_plain and "_" not in text else "NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number <= 0 or abs(number.adjusted()) > _MOST_PLACES:
        limits = f"between 1e-{_MOST_PLACES} and 1e{_MOST_PLACES}"
        raise ValueError(f"{what} is {shown!r}; expected a positive number such as 0.1, {limits}")
    if len(number.normalize().as_tuple().digits) > DIGITS:
        raise ValueError(f"{what} is {shown!r}; expected at most {DIGITS} significant digits")
    return float(number)
