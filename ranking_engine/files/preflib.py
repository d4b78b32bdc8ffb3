"""The orders of tasks in PrefLib's format, so that other packages for preferences can read a benchmark.

Every voting task is a voter who orders the systems that it has scores of, best first; systems with equal scores are
tied. A voter of weight w is w voters of the same order, so that weights have to be whole numbers: they are taken over
their common denominator. The format is that of https://www.preflib.org/format since 2022: SOC and SOI are strict
orders of all and of some of the systems, TOC and TOI the same with ties.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.text.characters import writable

MAX_VOTERS = 2**31 - 1  # readers of the format count voters in integers of this size

Order = tuple[tuple[int, ...], ...]  # tie groups of systems, numbered from 1, best first


class PreflibError(ValueError):
    """A matrix that the format has no way to say."""


@dataclass(frozen=True)
class PreflibProfile:
    """The orders of a matrix's voting tasks.

    Attributes:
        system_names: the alternatives; number k is the k-th of them.
        orders: each order with how many voters have it, the most frequent first.
        n_silent: how many voting tasks have no score at all, and so no order.
    """

    system_names: tuple[str, ...]
    orders: tuple[tuple[Order, int], ...]
    n_silent: int

    @property
    def n_voters(self) -> int:
        """All voters."""
        return sum(count for _, count in self.orders)

    @property
    def data_type(self) -> str:
        """`soc`, `soi`, `toc` or `toi`: the narrowest kind that all orders are of."""
        n = len(self.system_names)
        has_ties = any(len(group) > 1 for order, _ in self.orders for group in order)
        is_complete = all(sum(map(len, order)) == n for order, _ in self.orders)
        return f"{'to' if has_ties else 'so'}{'c' if is_complete else 'i'}"


def task_orders(matrix: ScoreMatrix) -> PreflibProfile:
    """The orders of the voting tasks.

    Raises:
        PreflibError: no voting task has a score, or the weights as whole numbers are too large.
    """
    weights = [int(weight) for weight in matrix.integer_weights]
    divisor = math.gcd(*weights) or 1
    counts: Counter[Order] = Counter()
    n_silent = 0
    for t in np.flatnonzero(matrix.votes).tolist():
        scores = matrix.scores[:, t]
        scored = np.flatnonzero(~np.isnan(scores))
        if not scored.size:
            n_silent += 1
            continue
        ordered = scored[np.argsort(-scores[scored], kind="stable")]
        ends = np.flatnonzero(np.diff(scores[ordered])) + 1
        counts[tuple(tuple((group + 1).tolist()) for group in np.split(ordered, ends))] += weights[t] // divisor
    if not counts:
        raise PreflibError("no task of weight above 0 has a score, so there is no order to write")
    if counts.total() > MAX_VOTERS:
        raise PreflibError(
            f"in PrefLib's format weights are whole numbers of voters, and over their common denominator these weights "
            f"are {counts.total():,} voters; at most {MAX_VOTERS:,} can be written"
        )
    orders = sorted(counts.items(), key=lambda order: (-order[1], order[0]))
    return PreflibProfile(matrix.system_names, tuple(orders), n_silent)


def preflib_text(
    profile: PreflibProfile, *, stem: str, title: str, description: str = "", dates: tuple[str, str] = ("", "")
) -> str:
    """The file.

    Args:
        profile: what it holds.
        stem: the file's name without its ending, which is the data type.
        title: of the data.
        description: what else is to be known of it, in a line.
        dates: of publication and of modification, `2026-01-31`.
    """
    facts = [
        ("FILE NAME", f"{stem}.{profile.data_type}"),
        ("TITLE", title),
        ("DESCRIPTION", description),
        ("DATA TYPE", profile.data_type),
        ("MODIFICATION TYPE", "induced"),
        ("RELATES TO", ""),
        ("RELATED FILES", ""),
        ("PUBLICATION DATE", dates[0]),
        ("MODIFICATION DATE", dates[1]),
        ("NUMBER ALTERNATIVES", str(len(profile.system_names))),
        ("NUMBER VOTERS", str(profile.n_voters)),
        ("NUMBER UNIQUE ORDERS", str(len(profile.orders))),
        *((f"ALTERNATIVE NAME {k}", name) for k, name in enumerate(profile.system_names, start=1)),
    ]
    lines = [f"# {name}: {writable(' '.join(value.split()))}" for name, value in facts]
    for order, count in profile.orders:
        groups = [",".join(map(str, group)) for group in order]
        lines.append(f"{count}: " + ",".join(f"{{{group}}}" if "," in group else group for group in groups))
    return "\n".join([*lines, ""])
