"""A bound on how many rows can be negative in one box of weights, by a linear relaxation.

For weights v in the box let N(v) = a @ v > 0, and let M_p be at least d_p @ v / N(v) everywhere in the box. A row
is negative for at most min(1, 1 - d_p @ v / (M_p N(v))), because that is at least 0, and at least 1 where the row
is negative. For any multipliers 0 <= λ_p <= 1 the sum of these is at most

    m - sum_p λ_p d_p @ v / (M_p N(v)) = m - g @ v / N(v)   with   g = sum_p λ_p d_p / M_p,

and g @ v / N(v) is least at a vertex of the box that sorting finds. So every λ proves a bound. Good ones come from
the concave problem max_v sum_p min(1, 1 - ...), smoothed and solved by Newton's method with barriers in T
variables: λ_p is the slope of the smoothed minimum. Its solution also is a guess at good weights.

With N(v) = sum v_t the relaxation is what a mixed-integer program with an indicator and a constant of its own for
each row would begin with; a = the mean of the rows makes it tighter, since it measures each row against how far
systems are apart under these weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray

SMOOTHING = (0.1, 0.02)
NEWTON_STEPS = 4
_RATIO_STEPS = 3
_GUARD = 1e-9
_LEAST_RATIO = 1e-6


@dataclass(frozen=True, eq=False)
class Relaxed:
    """`bound`: at most so many rows can be negative; `weights`: in the box, a guess at where that is."""

    bound: float
    weights: FloatArray


def normaliser(rows: FloatArray) -> FloatArray:
    """Return a: the mean of the rows, but nowhere less than a twentieth of the mean size of that."""
    mean = rows.mean(axis=0)
    size = float(np.abs(mean).mean()) or 1.0
    return np.asarray(np.maximum(mean, size / 20) / size, dtype=np.float64)


def relax(
    rows: FloatArray, n_always: int, box: tuple[FloatArray, FloatArray, int], a: FloatArray, start: FloatArray
) -> Relaxed:
    """Bound the number of negative rows in a box.

    Args:
        rows: those that can be negative in the box and can be not negative, shape (m, T).
        n_always: how many others are negative all over the box.
        box: lower and upper weights, and the index of the largest weight, which is 1 in both.
        a: of N, positive.
        start: weights in the box to begin with.
    """
    lower, upper, _ = box
    # Upper bounds, sharp but for rounding, on the largest row @ v / a @ v in the box (Dinkelbach 1967): from M = a
    # ratio that occurs, max over v of (row - M a) @ v >= 0 shows a greater one or, divided by the least a @ v, how much
    # is missing.
    ratio, spread = (rows @ upper) / (a @ upper), upper - lower
    for step in range(_RATIO_STEPS + 1):
        gain = rows - ratio[:, None] * a
        if step < _RATIO_STEPS:
            extra = (gain > 0) * spread
            ratio = (rows @ lower + np.einsum("pt,pt->p", rows, extra)) / (a @ lower + extra @ a)
    missing = gain @ lower + np.einsum("pt,pt->p", np.maximum(gain, 0), np.broadcast_to(spread, gain.shape))
    bound = (ratio + np.maximum(missing, 0) / (a @ lower)) * (1 + _GUARD)
    most = np.maximum(bound, _LEAST_RATIO * np.abs(rows).max(axis=1))  # more than the largest ratio is valid too
    scaled = rows / most[:, None]
    point = _Point(scaled, box, a, start)
    least = float(len(rows))
    for smoothing in SMOOTHING:
        for _ in range(NEWTON_STEPS):
            point.step(smoothing)
        multipliers = point.multipliers(smoothing)
        g = multipliers @ scaled
        # The least g @ v / a @ v in the box: v is `upper` where g / a is smallest, `lower` elsewhere.
        order = np.argsort(g / a, kind="stable")
        above = float(g @ lower) + np.concatenate([[0.0], np.cumsum(g[order] * spread[order])])
        below = float(a @ lower) + np.concatenate([[0.0], np.cumsum(a[order] * spread[order])])
        least = min(least, len(rows) - float((above / below).min()))
    return Relaxed(n_always + least + _GUARD * len(rows), point.weights())


class _Point:
    """An interior point u = v / N(v) of the box's cone, moved by Newton's steps on the plane a @ u = 1."""

    def __init__(
        self,
        scaled: FloatArray,
        box: tuple[FloatArray, FloatArray, int],
        a: FloatArray,
        start: FloatArray,
    ) -> None:
        lower, upper, top = box
        self.scaled, self.a, self.top = scaled, a, top
        self.others: NDArray[np.intp] = np.flatnonzero(upper > lower)
        self.low, self.high = lower[self.others], upper[self.others]
        self.fixed = lower
        spread = self.high - self.low
        inside = np.clip(start[self.others], self.low + 0.05 * spread, self.high - 0.05 * spread)
        weights = lower.copy()
        weights[self.others] = inside
        self.u = weights / (a @ weights)

    def weights(self) -> FloatArray:
        """The weights, the largest 1."""
        weights = self.fixed.copy()
        weights[self.others] = np.clip(self.u[self.others] / self.u[self.top], self.low, self.high)
        return weights

    def multipliers(self, smoothing: float) -> FloatArray:
        """λ: near 1 for rows that are positive here, near 0 for negative ones."""
        forms = np.clip(self.scaled @ self.u / smoothing, -40, 40)
        return np.asarray(1 / (1 + np.exp(-forms)), dtype=np.float64)

    def step(self, smoothing: float) -> None:
        """One Newton step towards the least of sum_p softplus(d_p @ u / M_p) minus the barriers."""
        slope = self.multipliers(smoothing)
        gradient = slope @ self.scaled
        curvature = slope * (1 - slope) / smoothing
        hessian = (self.scaled * curvature[:, None]).T @ self.scaled
        # Minus the logarithms of u_t - low_t u_top and high_t u_top - u_t.
        others, top = self.others, self.top
        above = self.u[others] - self.low * self.u[top]
        below = self.high * self.u[top] - self.u[others]
        gradient[others] -= smoothing * (1 / above - 1 / below)
        gradient[top] -= smoothing * float((self.high / below - self.low / above).sum())
        bent = smoothing * (1 / above**2 + 1 / below**2)
        cross = -smoothing * (self.low / above**2 + self.high / below**2)
        hessian[others, others] += bent
        hessian[others, top] += cross
        hessian[top, others] += cross
        hessian[top, top] += smoothing * float((self.low**2 / above**2 + self.high**2 / below**2).sum())
        T = len(self.u)
        system = np.zeros((T + 1, T + 1))
        system[:T, :T] = hessian
        system[:T, T] = system[T, :T] = self.a
        right = np.concatenate([-gradient, [0.0]])
        try:
            move = np.linalg.solve(system, right)[:T]
        except np.linalg.LinAlgError:
            return
        # Stay inside: nine tenths of the way to the next wall, at most all of it.
        gaps = np.concatenate([above, below, self.u[top : top + 1]])
        to_low, to_high = move[others] - self.low * move[top], self.high * move[top] - move[others]
        rates = np.concatenate([to_low, to_high, move[top : top + 1]])
        closing = rates < 0
        length = min(1.0, 0.9 * float((gaps[closing] / -rates[closing]).min(initial=np.inf)))
        self.u = self.u + length * move
