"""What an upload by a program would do to the board, computed and forgotten."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext

from leaderboard.computing.rankings import split_rules
from leaderboard.models import Benchmark
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.submissions.preview.draft import latest_state, rankings_of
from leaderboard.submissions.rows import CheckedRow
from ranking_engine.core.comparison import RankDifference

SHOWN_MOVES = 100


@dataclass(frozen=True)
class NamedMove:
    """A system whose rank would change; None is unranked, or not on the board."""

    key: str | None  # None for a new system
    name: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class RuleOutcome:
    """What an upload would change under one rule."""

    rule: str
    winners_before: list[str]
    winners_after: list[str]
    n_moves: int
    moves: list[NamedMove]  # the first of them
    unranked: list[str]  # the names of the systems that are sent and would have no rank


def preview_upload(benchmark: Benchmark, rows: list[CheckedRow]) -> list[RuleOutcome]:
    """Hold checked rows against the latest revision, under its own policy and the rules that are quick at this size.

    Raises:
        TooLargeError: the board is too large to be ranked on demand.
    """
    before = latest_state(benchmark)
    after = before.with_rows(rows)
    n_systems, n_tasks = after.values.shape
    rules = split_rules(n_systems, n_tasks, before.configuration.variants).quick
    size = n_systems * n_tasks * len(rules)
    if size > settings.ON_DEMAND_BUDGET:
        raise TooLargeError(
            gettext(
                "With this the board has %(n_systems)s systems x %(n_tasks)s tasks x %(n_rules)s rules = %(size)s; up "
                "to %(on_demand_budget)s can be computed on demand. Submit it without `dry_run`."
            )
            % {
                "n_systems": n_systems,
                "n_tasks": n_tasks,
                "n_rules": len(rules),
                "size": f"{size:,}",
                "on_demand_budget": f"{settings.ON_DEMAND_BUDGET:,}",
            }
        )
    (old, new), n_before = rankings_of(before, after), len(before.systems)
    sent = {row["system"]["name"] for row in rows}
    outcomes = []
    for rule, ranking in new.items():
        known, difference = old.get(rule), RankDifference.between(old.get(rule), ranking)
        moves, unranked = [], []
        for i, system in enumerate(after.systems):
            move = difference.move(i)
            if move.after is None and system.name in sent:
                unranked.append(system.name)
            if not move.is_same:
                key = system.key if i < n_before else None
                moves.append(NamedMove(key, system.name, move.before, move.after))
        outcomes.append(
            outcome_of(
                rule,
                moves,
                winners_before=[] if known is None else [after.systems[i].name for i in known.winners],
                winners_after=[after.systems[i].name for i in ranking.winners],
                unranked=unranked,
            )
        )
    return outcomes


def outcome_of(
    rule: str,
    moves: list[NamedMove],
    *,
    winners_before: list[str],
    winners_after: list[str],
    unranked: Sequence[str] = (),
) -> RuleOutcome:
    """What changes under a rule, the best new ranks first."""
    moves = sorted(moves, key=lambda move: (move.after is None, move.after or 0, move.name))
    return RuleOutcome(
        rule,
        winners_before,
        winners_after,
        n_moves=len(moves),
        moves=moves[:SHOWN_MOVES],
        unranked=list(unranked[:SHOWN_MOVES]),
    )
