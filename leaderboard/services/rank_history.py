"""How the ranks of systems went over the revisions of a benchmark, under one rule, from the stored rankings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.charts.rank_lines import MAX_PINNED, RankedSystem, RankLines, rank_lines
from leaderboard.computing.pairs import average_ranks
from leaderboard.models import Benchmark
from leaderboard.selectors.history import stored_rankings
from leaderboard.selectors.reports import unpack_arrays
from leaderboard.selectors.scores import BoardSystem
from ranking_engine import RULES

MOST_REVISIONS = 50
TOP = 10


@dataclass(frozen=True)
class RankHistory:
    """Ranks over revisions: the chart, and its table with a row a system."""

    rule: str
    rule_name: str
    numbers: list[int]
    rows: list[tuple[BoardSystem, list[str]]]
    chart: RankLines
    sentence: str


def stored_ranks(benchmark: Benchmark, rule: str) -> list[tuple[int, dict[int, int]]]:
    """The last published revisions whose rankings are stored, oldest first: of each its number and the ranks under
    `rule` by the system's id; below 1 where a system has none."""
    found = []
    for number, board, ranking in stored_rankings(benchmark, rule, most=MOST_REVISIONS):
        ids = unpack_arrays(board.arrays, ["system_ids"]).get("system_ids", np.empty(0, np.int64))
        ranks = unpack_arrays(ranking.arrays, ["ranks"])["ranks"]
        found.append((number, dict(zip(ids.tolist(), ranks.tolist(), strict=True))))
    return found


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
    numbers = [number for number, _ in stored]
    shown_ranks = [ranks for _, ranks in stored]
    places = [
        dict(zip(ranks, average_ranks(np.array(list(ranks.values()))).tolist(), strict=True)) for ranks in shown_ranks
    ]
    chosen = [of] if of is not None else _first(systems, shown_ranks[-1])
    rows = [(system, [_text(ranks.get(system.id)) for ranks in shown_ranks]) for system in chosen]
    if not any(text for _, texts in rows for text in texts):
        return None
    name = RULES[rule].name
    return RankHistory(
        rule=rule,
        rule_name=name,
        numbers=numbers,
        rows=rows,
        chart=_chart(name, numbers, rows, places, of),
        sentence=_sentence(of, numbers, rows[0][1], name) if of is not None else "",
    )


def _first(systems: Sequence[BoardSystem], ranks: dict[int, int]) -> list[BoardSystem]:
    ranked = [system for system in systems if ranks.get(system.id, -1) >= 1]
    return sorted(ranked, key=lambda system: (ranks[system.id], system.name))[:TOP]


def _text(rank: int | None) -> str:
    return str(rank) if rank is not None and rank >= 1 else ""


def _chart(
    rule_name: str,
    numbers: Sequence[int],
    rows: Sequence[tuple[BoardSystem, list[str]]],
    places: Sequence[dict[int, Any]],
    of: BoardSystem | None,
) -> RankLines:
    def line(number: int, system: BoardSystem, texts: list[str]) -> RankedSystem:
        known = [f"revision {n}: {text}" for n, text in zip(numbers, texts, strict=True) if text]
        at = [places_then.get(system.id, np.nan) for places_then in places]
        return RankedSystem(
            key=system.key,
            name=system.name,
            ranks=[None if np.isnan(value) else float(value) for value in at],
            said=f"{system.name}: {', '.join(known)}",
            url="" if of is not None else f"../systems/{system.key}/#history",
            pinned=number + 1 if number < MAX_PINNED else 0,
        )

    whose = f"of {of.name} " if of is not None else "of the first ten of today "
    return rank_lines(
        f"Ranks {whose}under {rule_name}, revision by revision",
        "One column a published revision, the oldest at the left; rank 1 at the top. Names stand at the newest rank.",
        [str(number) for number in numbers],
        [line(number, system, texts) for number, (system, texts) in enumerate(rows)],
        is_named_last=True,
    )


def _sentence(of: BoardSystem, numbers: Sequence[int], texts: Sequence[str], rule_name: str) -> str:
    known = [(number, int(text)) for number, text in zip(numbers, texts, strict=True) if text]
    (first, then), (last, now) = known[0], known[-1]
    best, worst = min(rank for _, rank in known), max(rank for _, rank in known)
    if len(known) == 1:
        return f"Under {rule_name} it has a rank at revision {first} alone: {then}."
    if best == worst:
        return f"Under {rule_name} it has had rank {now} from revision {first} to revision {last}."
    return (
        f"Under {rule_name} it went from rank {then} at revision {first} to rank {now} at revision {last}; its best "
        f"was {best}, its worst {worst}."
    )
