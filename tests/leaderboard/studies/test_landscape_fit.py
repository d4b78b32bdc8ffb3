"""What a page may say of a relation: the words follow the figures."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from leaderboard.studies.landscape_fit import Correlation, Fit, correlation, fit


def p_by_integration(r: float, n: int) -> float:
    """The two-sided p-value, from the density of r itself when nothing is related: (1 - r²)^((n - 4) / 2)."""

    def density(value: float) -> float:
        return (1 - value**2) ** ((n - 4) / 2)

    return quad(density, abs(r), 1)[0] / quad(density, 0, 1)[0]


@pytest.mark.parametrize("n", [4, 7, 11, 40])
def test_r_p_and_the_line_are_what_other_ways_give(n):
    generator = np.random.default_rng(n)
    x = generator.random(n)
    y = 0.3 * x + generator.random(n)
    computed = correlation(x.tolist(), y.tolist())
    r = np.corrcoef(x, y)[0, 1]
    expected = [*np.polyfit(x, y, 1), r, p_by_integration(r, n)]
    assert np.allclose([computed.slope, computed.intercept, computed.r, computed.p], expected, rtol=1e-6)


def points(n: int, *, slope: float, noise: float = 0.0, bound: float = 0.0) -> list[tuple[float, float, float]]:
    """Points about a line, whose proven bounds lie above what was reached, the more the less diverse a point is."""
    generator = np.random.default_rng(0)
    return [
        (x, y, y + bound * (1 - x))
        for x, y in ((x, 0.4 + slope * (x - 0.5) + noise * generator.normal()) for x in np.linspace(0.1, 0.9, n))
    ]


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ([], "A correlation needs 3 benchmarks; 0 benchmarks have both figures."),
        (points(1, slope=1), "A correlation needs 3 benchmarks; 1 benchmark has both figures."),
        (points(2, slope=1), "A correlation needs 3 benchmarks; 2 benchmarks have both figures."),
        (points(9, slope=0), "There is no correlation: one of the two figures is the same on all 9 benchmarks."),
        (
            points(7, slope=0.5),
            "These 7 benchmarks do not show a relation: at least 8 are needed, whatever r is.",
        ),
        (points(11, slope=0.05, noise=0.3), "These 11 benchmarks do not show a relation: p is above 0.05."),
        (
            points(11, slope=0.5, bound=1),
            (
                "These 11 benchmarks do not show a relation: the shares that were reached do, but the proven upper "
                "bounds do not."
            ),
        ),
        (
            points(8, slope=0.5),
            (
                "On these 8 benchmarks the more diverse ones tend to be the more sensitive ones. That does not mean "
                "that one causes the other."
            ),
        ),
        (
            points(8, slope=-0.5),
            (
                "On these 8 benchmarks the more diverse ones tend to be the less sensitive ones. That does not mean "
                "that one causes the other."
            ),
        ),
    ],
    ids=["none", "one", "two", "level", "few", "large p", "bounds disagree", "more", "less"],
)
def test_the_words_follow_the_figures(given, verdict):
    assert fit(given).verdict == verdict


@pytest.mark.parametrize(("p", "is_relation"), [(0.05, True), (0.0501, False)])
def test_the_limit_of_p_belongs_to_a_relation(p, is_relation):
    line = Correlation(0.1, 0.2, 0.7, p)
    assert Fit(8, line, line, False).is_relation is is_relation


def test_small_and_negative_figures_are_readable():
    assert Correlation(-1, 0, -0.987, 0.0004).text == "r = −0.99, p < 0.001"
    assert Correlation(1, 0, 0.2, 0.5366).text == "r = 0.20, p = 0.537"


def test_a_bound_is_another_figure_only_where_it_differs():
    assert [fit(points(9, slope=0.5, bound=bound)).is_proven_other for bound in (0.0, 0.1)] == [False, True]
    assert math.isclose(fit(points(9, slope=0.5, bound=0.1)).proven.slope, 0.4)
