"""What an upload of many systems would do to the board, computed and forgotten."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings

from leaderboard.models import Benchmark
from leaderboard.selectors.scores import BoardSystem
from leaderboard.services.columns import TooLargeError
from leaderboard.services.configuration import configuration_content
from leaderboard.services.preview import ranked, row_values
from leaderboard.services.rankings import site_rules
from leaderboard.services.score_matrix import build_matrix, revision_matrix
from ranking_engine import Ranking

SHOWN_CHANGES = 100


@dataclass(frozen=True)
class RankMove:
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
    moves: list[RankMove]  # the first of them


def preview_upload(benchmark: Benchmark, rows: list[dict[str, Any]]) -> list[RuleOutcome]:
    """Hold checked rows against the latest revision: each replaces its system's row, or joins the others.

    Raises:
        TooLargeError: the board is too large to be ranked on demand.
    """
    revision = benchmark.revisions.order_by("-number").select_related("configuration").first()
    configuration = revision.configuration.content if revision else configuration_content(benchmark)
    found = revision_matrix(revision) if revision else None
    systems = list(found.systems) if found else []
    n_before = len(systems)
    values = found.matrix.values if found else np.empty((0, len(configuration["tasks"])))
    _check_size(n_before + len(rows), len(configuration["tasks"]))
    after_values = list(values)
    places = {system.key: i for i, system in enumerate(systems)}
    for number, row in enumerate(rows):
        place = places.get(row["system"]["key"])
        new = row_values(row["scores"], configuration, None if place is None else values[place])
        if place is None:
            systems.append(BoardSystem(0, f"~{number}", row["system"]["name"]))  # `~` is in no key
            after_values.append(new)
        else:
            after_values[place] = new
    if not configuration["tasks"]:
        return []
    policy = configuration["missing_policy"]
    before = ranked(build_matrix(values, systems[:n_before], configuration), policy) if n_before else {}
    after = ranked(build_matrix(np.array(after_values), systems, configuration), policy)
    return [_outcome(rule, before.get(rule), ranking, systems, n_before) for rule, ranking in after.items()]


def _check_size(n_systems: int, n_tasks: int) -> None:
    size = n_systems * n_tasks * len(site_rules())
    if size > settings.ON_DEMAND_BUDGET:
        raise TooLargeError(
            f"With this the board has {n_systems} systems x {n_tasks} tasks x {len(site_rules())} rules = {size:,}; "
            f"up to {settings.ON_DEMAND_BUDGET:,} are computed on demand. Submit it without `dry_run`."
        )


def _outcome(
    rule: str, before: Ranking | None, after: Ranking, systems: list[BoardSystem], n_before: int
) -> RuleOutcome:
    old = _ranks(before, len(systems))
    new = _ranks(after, len(systems))
    moved = [i for i in range(len(systems)) if old[i] != new[i] or i >= n_before]
    moved.sort(key=lambda i: (new[i] is None, new[i] or 0, systems[i].key))
    return RuleOutcome(
        rule=rule,
        winners_before=[] if before is None else [systems[i].name for i in before.winners],
        winners_after=[systems[i].name for i in after.winners],
        n_moves=len(moved),
        moves=[
            RankMove(systems[i].key if i < n_before else None, systems[i].name, old[i], new[i])
            for i in moved[:SHOWN_CHANGES]
        ],
    )


def _ranks(ranking: Ranking | None, n_systems: int) -> list[int | None]:
    ranks = [] if ranking is None else ranking.ranks.tolist()
    return [int(rank) if rank >= 1 else None for rank in ranks] + [None] * (n_systems - len(ranks))
