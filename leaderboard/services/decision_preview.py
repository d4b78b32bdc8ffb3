"""What a decision about submissions would change, rule by rule: for programs, as the page of the queue shows it."""

from collections.abc import Sequence
from typing import Any

from leaderboard.models import Batch, Benchmark
from leaderboard.services.moderation import rows_of
from leaderboard.services.on_demand import refuse_beyond_budget
from leaderboard.services.preview import BoardState, rank_of, rankings_of_both
from leaderboard.services.upload_preview import SHOWN_MOVES, RankMove, RuleOutcome, preview_upload
from leaderboard.services.wording import by_catalogue
from ranking_engine import Ranking


def outcomes_of_accepting(benchmark: Benchmark, batches: Sequence[Batch]) -> list[RuleOutcome]:
    """What would change if these batches were accepted one after the other; under an embargo, when that ends.

    Raises:
        TooLargeError: the board is too large to be ranked on demand.
    """
    merges = benchmark.replacement == Benchmark.Replacement.TASK
    rows: dict[str, dict[str, Any]] = {}
    for row in (row for batch in batches for row in rows_of(batch)):
        key = row["system"]["key"]
        earlier = rows[key]["scores"] if merges and key in rows else {}
        rows[key] = row | {"scores": earlier | row["scores"]}
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
    return [_outcome(rule, _told(before, old.get(rule)), _told(after, new.get(rule))) for rule in rules]


Told = dict[str, tuple[str, int | None, bool]]  # by key: name, rank, whether it wins


def _told(state: BoardState, ranking: Ranking | None) -> Told:
    winners = set() if ranking is None else set(ranking.winners)
    return {
        system.key: (system.name, rank_of(ranking, i), i in winners) for i, system in enumerate(state.systems)
    }


def _outcome(rule: str, old: Told, new: Told) -> RuleOutcome:
    nowhere = ("", None, False)
    moves = [
        RankMove(key, (new.get(key) or old[key])[0], old.get(key, nowhere)[1], new.get(key, nowhere)[1])
        for key in dict.fromkeys([*old, *new])
    ]
    changed = [move for move in moves if move.before != move.after]
    changed.sort(key=lambda move: (move.after is None, move.after or 0, move.name))
    return RuleOutcome(
        rule=rule,
        winners_before=[name for name, _, wins in old.values() if wins],
        winners_after=[name for name, _, wins in new.values() if wins],
        n_moves=len(changed),
        moves=changed[:SHOWN_MOVES],
    )
