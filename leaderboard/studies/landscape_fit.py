"""Whether diversity and sensitivity go together on some benchmarks: a line, a correlation, and what to say of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import signed

LEAST_BENCHMARKS = 8  # below, no correlation is said to show a relation
LARGEST_P = 0.05
LEAST_POINTS = 3  # two points always lie on a line
LEAST_P_SHOWN = 0.001


@dataclass(frozen=True)
class Correlation:
    """A straight line through points by least squares, and Pearson's r.

    Attributes:
        slope, intercept: of the line.
        r: Pearson's correlation.
        p: two-sided, of Student's t distribution with n - 2 degrees of freedom.
    """

    slope: float
    intercept: float
    r: float
    p: float

    @property
    def text(self) -> str:
        """The two figures."""
        p = f"p < {localise(LEAST_P_SHOWN, 'g')}" if self.p < LEAST_P_SHOWN else f"p = {localise(self.p, '.3f')}"
        return f"r = {signed(self.r)}, {p}"


@dataclass(frozen=True)
class Fit:
    """What the benchmarks of a plane say of a relation.

    Attributes:
        n: how many benchmarks have both figures.
        reached: with the shares of pairs that were reached; None where no r exists.
        proven: with the proven upper bounds instead; None where no r exists.
        is_proven_other: whether any upper bound differs from what was reached.
    """

    n: int
    reached: Correlation | None
    proven: Correlation | None
    is_proven_other: bool

    @property
    def is_relation(self) -> bool:
        """Whether there are enough benchmarks, and whether both correlations are far from 0 in the same direction."""
        if self.n < LEAST_BENCHMARKS or self.reached is None or self.proven is None:
            return False
        is_far = max(self.reached.p, self.proven.p) <= LARGEST_P
        return is_far and self.reached.r * self.proven.r > 0

    @property
    def verdict(self) -> str:
        """What the figures allow to say: never more than that the two go together."""
        if self.reached is None:
            if self.n < LEAST_POINTS:
                return ngettext(
                    "A correlation needs %(least_points)s benchmarks; %(n)s benchmark has both figures.",
                    "A correlation needs %(least_points)s benchmarks; %(n)s benchmarks have both figures.",
                    self.n,
                ) % {"least_points": LEAST_POINTS, "n": self.n}
            return gettext("There is no correlation: one of the two figures is the same on all %(n)s benchmarks.") % {
                "n": self.n
            }
        if self.is_relation:
            sentence = gettext(
                "On these %(n)s benchmarks the more diverse ones tend to be the less sensitive ones. That does not "
                "mean that one causes the other."
            )
            if self.reached.r > 0:
                sentence = gettext(
                    "On these %(n)s benchmarks the more diverse ones tend to be the more sensitive ones. That does "
                    "not mean that one causes the other."
                )
            return sentence % {"n": self.n}
        if self.n < LEAST_BENCHMARKS:
            return gettext(
                "These %(n)s benchmarks do not show a relation: at least %(least_benchmarks)s are needed, whatever r "
                "is."
            ) % {"n": self.n, "least_benchmarks": LEAST_BENCHMARKS}
        if self.reached.p <= LARGEST_P:
            return gettext(
                "These %(n)s benchmarks do not show a relation: the shares that were reached do, but the proven upper "
                "bounds do not."
            ) % {"n": self.n}
        return gettext("These %(n)s benchmarks do not show a relation: p is above %(largest_p)s.") % {
            "n": self.n,
            "largest_p": LARGEST_P,
        }


def fit(points: Sequence[tuple[float, float, float]]) -> Fit:
    """Return how the two measures go together.

    Args:
        points: of each benchmark its diversity, the share of pairs that was reached, and its proven upper bound.
    """
    x, reached, proven = (list(column) for column in zip(*points, strict=True)) if points else ([], [], [])
    return Fit(
        len(points),
        correlation(x, reached),
        correlation(x, proven),
        any(high - low > 1e-9 for low, high in zip(reached, proven, strict=True)),
    )


def correlation(x: Sequence[float], y: Sequence[float]) -> Correlation | None:
    """Return the line of least squares, r and p; None for fewer than 3 points, or where one measure never changes."""
    if len(x) < LEAST_POINTS or max(x) - min(x) < 1e-12 or max(y) - min(y) < 1e-12:
        return None
    from scipy.stats import linregress  # noqa: PLC0415 -- slow import

    line = linregress(x, y)
    return Correlation(float(line.slope), float(line.intercept), float(line.rvalue), float(line.pvalue))
