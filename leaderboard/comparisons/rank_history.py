"""How the ranks of systems went over the revisions of a benchmark, under one rule, from the stored rankings."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.charts.rank_lines import MAX_PINNED, RankedSystem, RankLines, rank_lines
from leaderboard.common.language.engine import rule_name
from leaderboard.models import Benchmark
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.revisions import stored_rankings
from leaderboard.rankings.scores import BoardSystem
from ranking_engine.core.ranking import average_ranks

PREDICTED_SIGN = "≈"  # before a rank that rests on predicted scores
MAX_REVISIONS = 50
TOP = 10


@dataclass(frozen=True)
class RankHistory:
    """Ranks over revisions: the chart, and its table with one row per system."""

    rule: str
    rule_name: str
    numbers: list[int]
    rows: list[tuple[BoardSystem, list[str]]]  # ≈ before ranks that rest on predicted scores
    chart: RankLines
    sentence: str
    is_whole: bool  # whether its rows are all systems that have a rank now

    @property
    def has_predicted(self) -> bool:
        """Whether a rank of the table rests on predicted scores."""
        return any(text.startswith(PREDICTED_SIGN) for _, texts in self.rows for text in texts)


@dataclass(frozen=True)
class RanksThen:
    """The ranks of all systems at one published revision, as arrays: of fifty revisions, anything else is much."""

    number: int
    system_ids: np.ndarray
    ranks: np.ndarray  # below 1 where a system has none
    n_predicted: np.ndarray  # how many scores of each were predicted

    def of(self, system_id: int, ranks: np.ndarray | None = None) -> float | None:
        """The system's rank, or its value in another array; None where it was not on the board."""
        at = np.flatnonzero(self.system_ids == system_id)
        return (self.ranks if ranks is None else ranks)[at[0]].item() if at.size else None

    def text_of(self, system_id: int) -> str:
        """The system's rank as people read it, empty where it has none."""
        rank = self.of(system_id)
        if rank is None or rank < 1:
            return ""
        return f"{PREDICTED_SIGN if self.of(system_id, self.n_predicted) else ''}{int(rank)}"


def stored_ranks(benchmark: Benchmark, rule: str) -> list[RanksThen]:
    """The ranks under `rule` at the last published revisions whose rankings are stored, oldest first."""
    history = []
    for number, board, ranking in stored_rankings(benchmark, rule, most=MAX_REVISIONS):
        ids = unpack_arrays(board.arrays, ["system_ids"]).get("system_ids", np.empty(0, np.int64))
        arrays = unpack_arrays(ranking.arrays, ["ranks", "n_predicted"])
        n_predicted = arrays.get("n_predicted", np.zeros(len(ids), np.int32))
        history.append(RanksThen(number, ids, arrays["ranks"], n_predicted))
    return history


def rank_history(
    benchmark: Benchmark, systems: Sequence[BoardSystem], rule: str, *, of: BoardSystem | None = None
) -> RankHistory | None:
    """The ranks under `rule` at every published revision whose rankings are stored, at most the last 50.

    Args:
        benchmark: whose revisions.
        systems: of its newest revision, with the names they have now.
        rule: whose ranks.
        of: the one system to be drawn; without it, the first ten of the newest revision are.

    Returns:
        None where fewer than two revisions are stored.
    """
    stored = stored_ranks(benchmark, rule)
    if len(stored) < 2:
        return None
    numbers = [then.number for then in stored]
    chosen, is_whole = [of] if of is not None else [], False
    if of is None:
        newest = dict(zip(stored[-1].system_ids.tolist(), stored[-1].ranks.tolist(), strict=True))
        ranked = [system for system in systems if newest.get(system.id, -1) >= 1]
        chosen = sorted(ranked, key=lambda system: (newest[system.id], system.name))[:TOP]
        is_whole = len(chosen) == len(ranked)
    rows = [(system, [then.text_of(system.id) for then in stored]) for system in chosen]
    if not any(text for _, texts in rows for text in texts):
        return None
    name, sentence = rule_name(rule), ""
    if of is not None:
        known = [(then.number, int(rank)) for then in stored if (rank := then.of(of.id)) is not None and rank >= 1]
        (first, then_rank), (last, rank_now) = known[0], known[-1]
        best, worst = min(rank for _, rank in known), max(rank for _, rank in known)
        if len(known) == 1:
            sentence = gettext("Under %(name)s it has a rank at revision %(first)s alone: %(rank_now)s.") % {
                "name": name,
                "first": first,
                "rank_now": rank_now,
            }
        elif best == worst:
            sentence = gettext(
                "Under %(name)s it has had rank %(rank_now)s from revision %(first)s to revision %(last)s."
            ) % {"name": name, "rank_now": rank_now, "first": first, "last": last}
        else:
            sentence = gettext(
                "Under %(name)s it moved from rank %(then_rank)s at revision %(first)s to rank %(rank_now)s at "
                "revision %(last)s; its best was %(best)s, its worst %(worst)s."
            ) % {
                "name": name,
                "then_rank": then_rank,
                "first": first,
                "rank_now": rank_now,
                "last": last,
                "best": best,
                "worst": worst,
            }
    title = gettext("Ranks of the current first ten under %(rule)s, revision by revision") % {"rule": name}
    if is_whole:
        title = gettext("Ranks under %(rule)s, revision by revision") % {"rule": name}
    if of is not None:
        title = gettext("Ranks of %(name)s under %(rule)s, revision by revision") % {"name": of.name, "rule": name}
    # Systems of equal rank are drawn in the middle of the places that they share.
    middles, lines = [average_ranks(then.ranks) for then in stored], []
    for number, (system, texts) in enumerate(rows):
        places = [then.of(system.id, ranks) for then, ranks in zip(stored, middles, strict=True)]
        said = ", ".join(
            gettext("revision %(n)s: %(rank)s") % {"n": n, "rank": text}
            for n, text in zip(numbers, texts, strict=True)
            if text
        )
        lines.append(
            RankedSystem(
                key=system.key,
                name=system.name,
                ranks=[None if place is None or np.isnan(place) else place for place in places],
                said=f"{system.name}: {said}",
                url="" if of is not None else f"../systems/{system.key}/#history",
                pinned=number + 1 if number < MAX_PINNED else 0,
            )
        )
    return RankHistory(
        rule=rule,
        rule_name=name,
        numbers=numbers,
        rows=rows,
        chart=rank_lines(
            title,
            gettext(
                "One column per published revision, the oldest at the left; rank 1 at the top. Names are at the newest "
                "rank."
            ),
            [str(number) for number in numbers],
            lines,
            is_named_last=True,
        ),
        sentence=sentence,
        is_whole=is_whole,
    )
