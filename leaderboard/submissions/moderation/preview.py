"""What a decision about submissions would change, rule by rule: for programs, as the page of the queue shows it."""

from collections.abc import Sequence

from leaderboard.common.text import by_catalogue
from leaderboard.models import Batch, Benchmark
from leaderboard.on_demand.budget import refuse_beyond_budget
from leaderboard.submissions.moderation.decisions import rows_of
from leaderboard.submissions.preview.draft import BoardState, rankings_of_both
from leaderboard.submissions.preview.upload import NamedMove, RuleOutcome, outcome_of, preview_upload
from leaderboard.submissions.rows import CheckedRow
from ranking_engine import Ranking
from ranking_engine.core.comparison import RankDifference


def outcomes_of_accepting(benchmark: Benchmark, batches: Sequence[Batch]) -> list[RuleOutcome]:
    """What would change if these batches were accepted one after the other; under an embargo, when that ends.

    Raises:
        TooLargeError: the board is too large to be ranked on demand.
    """
    merges = benchmark.replacement == Benchmark.Replacement.TASK
    rows: dict[str, CheckedRow] = {}
    for row in (row for batch in batches for row in rows_of(batch)):
        key = row["system"]["key"] or ""
        earlier = rows[key]["scores"] if merges and key in rows else {}
        rows[key] = {**row, "scores": earlier | row["scores"]}
    return preview_upload(benchmark, list(rows.values())) if rows else []


def outcomes_between(before: BoardState, after: BoardState) -> list[RuleOutcome]:
    """What differs between two states of a benchmark, whichever systems are in both.

    Raises:
        TooLargeError: one of them is too large to be ranked on demand.
    """
    for state in (before, after):
        refuse_beyond_budget(*state.values.shape)
    old, new = rankings_of_both(before, after)
    rules = by_catalogue(dict.fromkeys([*old, *new]))
    names = {system.key: system.name for system in [*before.systems, *after.systems]}
    outcomes = []
    for rule in rules:
        earlier, later = (before, old.get(rule)), (after, new.get(rule))
        moves = RankDifference(_ranks_by_key(*earlier), _ranks_by_key(*later)).changed()
        outcomes.append(
            outcome_of(
                rule,
                [NamedMove(move.system, names[move.system], move.before, move.after) for move in moves],
                winners_before=_winner_names(*earlier),
                winners_after=_winner_names(*later),
            )
        )
    return outcomes


Side = tuple[BoardState, Ranking | None]


def _ranks_by_key(state: BoardState, ranking: Ranking | None) -> dict[str, int]:
    ranks = [] if ranking is None else ranking.ranks.tolist()
    return {system.key: rank for system, rank in zip(state.systems, ranks, strict=False) if rank >= 1}


def _winner_names(state: BoardState, ranking: Ranking | None) -> list[str]:
    return [] if ranking is None else [state.systems[i].name for i in sorted(ranking.winners)]
