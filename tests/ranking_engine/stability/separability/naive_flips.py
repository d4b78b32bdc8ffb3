"""P-values by flipping signs, from the definition."""

import itertools
from collections.abc import Iterable
from fractions import Fraction


def naive_p_value(differences: Iterable[Fraction | float]) -> float:
    """All sign vectors, in exact fractions."""
    exact = [x if isinstance(x, Fraction) else Fraction(float(x)) for x in differences]
    sums = [
        abs(sum(s * x for s, x in zip(signs, exact, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(exact))
    ]
    return sum(size >= abs(sum(exact)) for size in sums) / len(sums)
