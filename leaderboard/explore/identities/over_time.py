"""The ranks of a model over time: on each of its boards, from revision to revision."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.urls import reverse
from django.utils.translation import gettext

from leaderboard.access.audience import Viewer, audience_of
from leaderboard.common.charts.calendar import date_ticks, day_of
from leaderboard.common.charts.rank_lines import MAX_PINNED, RankedSystem, RankLines, rank_lines
from leaderboard.common.moments import moment_in_words
from leaderboard.models import Benchmark, System
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.revisions import stored_rankings

MAX_BOARDS = 10  # lines of the chart: those with the most revisions
MAX_REVISIONS = 20  # of one board


@dataclass(frozen=True)
class RankThen:
    """The rank on one board from one revision on."""

    at: datetime
    revision: int
    rank: int | None  # None where it had none
    n_ranked: int

    @property
    def text(self) -> str:
        """The date as people read it."""
        return moment_in_words(self.at)


@dataclass(frozen=True)
class BoardOverTime:
    """The ranks on one board, oldest first, at least two revisions."""

    benchmark: Benchmark
    system_key: str
    ranks: list[RankThen]

    @property
    def sentence(self) -> str:
        """The first and the last rank with their dates, and whether it has none any more."""
        known = [one for one in self.ranks if one.rank]
        ends = dict.fromkeys([known[0], known[-1]])
        parts = [
            gettext("%(rank)s of %(n)s at %(date)s") % {"rank": one.rank, "n": one.n_ranked, "date": one.text}
            for one in ends
        ]
        if not self.ranks[-1].rank:
            parts.append(gettext("no rank at %(date)s") % {"date": self.ranks[-1].text})
        return ", ".join(parts)


@dataclass(frozen=True)
class ModelOverTime:
    """The ranks on the boards of one page that have several revisions, and their chart."""

    boards: list[BoardOverTime]
    chart: RankLines


def model_over_time(viewer: Viewer, systems: Sequence[System], rule: str) -> ModelOverTime | None:
    """The ranks of a model at the stored revisions of its boards; None where no board has two of them with it.

    Boards whose scores are hidden from the reader are left out.

    Args:
        viewer: who reads.
        systems: the model on each board, with their benchmarks.
        rule: the key of a rule; each board's own where empty.
    """
    boards = []
    for system in systems:
        benchmark = system.benchmark
        if audience_of(viewer, benchmark).is_restricted:
            continue
        ranks = ranks_of(system, rule or benchmark.default_rule)
        if len(ranks) > 1 and any(one.rank for one in ranks):
            boards.append(BoardOverTime(benchmark, system.key, ranks))
    if not boards:
        return None
    boards = sorted(boards, key=lambda one: (-len(one.ranks), one.benchmark.name))[:MAX_BOARDS]
    days = sorted({day_of(one.at) for board in boards for one in board.ranks})
    least, span = days[0], days[-1] - days[0] or 1.0
    lines = []
    for number, board in enumerate(boards):
        by_day = {day_of(one.at): one.rank for one in board.ranks}
        ranks_at: list[float | None] = []
        rank: float | None = None
        for day in days:  # a rank stays until the next revision
            rank = by_day.get(day, rank)
            ranks_at.append(rank)
        lines.append(
            RankedSystem(
                key=board.benchmark.key,
                name=board.benchmark.name,
                ranks=ranks_at,
                said=f"{board.benchmark.name}: {board.sentence}",
                url=f"{reverse('system', args=[board.benchmark.key, board.system_key])}#history",
                pinned=number + 1 if number < MAX_PINNED else 0,
            )
        )
    chart = rank_lines(
        gettext("Ranks of the model over time"),
        gettext(
            "One line for each board, through its rank at each revision; rank 1 at the top, the newest date at the "
            "right."
        ),
        [str(day) for day in days],
        lines,
        is_named_last=True,
        along=[(day - least) / span for day in days],
        ticks=[((day - least) / span, text) for day, text in date_ticks(days[0], days[-1] + (span == 1.0))],
    )
    return ModelOverTime(boards, chart)


def ranks_of(system: System, rule: str) -> list[RankThen]:
    """The ranks of a system at the last revisions whose rankings are stored, from the first one that had it.

    Args:
        system: with its benchmark.
        rule: the key of a rule.
    """
    ranks: list[RankThen] = []
    published = system.benchmark.published_number
    for number, board, ranking in stored_rankings(system.benchmark, rule, most=MAX_REVISIONS, until=published):
        ids = unpack_arrays(board.arrays, ["system_ids"]).get("system_ids", np.empty(0, np.int64))
        every = unpack_arrays(ranking.arrays, ["ranks"])["ranks"]
        at = np.flatnonzero(ids == system.pk)
        rank = int(every[at[0]]) if at.size and every[at[0]] >= 1 else None
        if ranks or at.size:
            ranks.append(RankThen(ranking.revision.created_at, number, rank, int((every >= 1).sum())))
    return ranks
