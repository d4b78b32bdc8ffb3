"""How far the rules of a board agree with its reference rule."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import signed
from leaderboard.rankings.published import Column
from ranking_engine.core.comparison import compare_ranks
from ranking_engine.core.ranking import average_ranks

MAX_SYSTEMS = 300  # on larger boards comparing every pair of systems would hold the page up
TOP = 5


@dataclass(frozen=True)
class Agreement:
    """One rule's ranking compared with the reference rule's, on the systems that both rank."""

    n_common: int
    kendall_tau: float  # tau-b
    spearman: float
    top_rate: float  # the share of the first TOP places given to the same systems; NaN where there are no other places
    max_rank_change: float  # places
    n_tying: int = 0  # how many of the two tie all these systems, so that no correlation is defined

    @property
    def text(self) -> str:
        """The figures in a line, or in one of them why there are none."""
        if self.n_tying == 2:
            return gettext("all systems that both rank tie under both")
        if self.n_tying:
            return gettext("all systems that both rank tie under one of the two")
        parts = [
            gettext("Kendall’s τ %(tau)s") % {"tau": signed(self.kendall_tau, undefined=gettext("undefined"))},
            gettext("Spearman’s ρ %(rho)s") % {"rho": signed(self.spearman, undefined=gettext("undefined"))},
        ]
        if not np.isnan(self.top_rate):
            share = localise(100 * self.top_rate, ".0f")
            parts.append(gettext("%(share)s %% of the top %(n)s the same") % {"share": share, "n": TOP})
        change = gettext("largest change %(n)s places")
        if self.max_rank_change == 1:
            change = gettext("largest change %(n)s place")
        parts.append(change % {"n": localise(self.max_rank_change, "g")})
        return ", ".join(parts)


def agreements(columns: Sequence[Column], reference: Column) -> dict[str, Agreement]:
    """By rule, the agreement of every ranking column with `reference`; empty where the board is too large for it.

    Ties count by their average places, as `ranking_engine.core.comparison` defines each figure.
    """
    others = [column for column in columns if column.is_ranked and column is not reference]
    if not reference.is_ranked or not others or len(reference.ranks) > MAX_SYSTEMS:
        return {}
    ranks = np.array([average_ranks(column.ranks) for column in (reference, *others)])
    comparison = compare_ranks(ranks, top=(TOP,))
    return {
        column.rule: Agreement(
            n_common=int(comparison.n_common[0, k]),
            kendall_tau=float(comparison.kendall_tau[0, k]),
            spearman=float(comparison.spearman[0, k]),
            top_rate=float(comparison.top[TOP][0, k]) if comparison.n_common[0, k] > TOP else math.nan,
            max_rank_change=float(comparison.max_rank_change[0, k] * (comparison.n_common[0, k] - 1)),
            n_tying=sum(len(set(row[~np.isnan(ranks[0] + ranks[k])].tolist())) == 1 for row in (ranks[0], ranks[k])),
        )
        for k, column in enumerate(others, start=1)
        if comparison.n_common[0, k] > 1
    }
