"""Who can win under some weights of the tasks, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plurank.findings import SystemProspects
from plurank.names import check_settings, rule_key
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.prospects import Conditions, prospects

SHARES = ("share", "share_error", "share_bound", "share_lower", "share_upper")


def prospects_table(
    matrix: ScoreMatrix,
    rule: str,
    conditions: str | Iterable[str],
    settings: Mapping[str, Any],
    backend: str | None,
) -> SystemProspects:
    """Search for weights under which each system wins.

    Args:
        matrix: with the weights of the aggregation.
        rule, conditions, settings: as `Board.prospects` has them.
        backend: of frames, as boards have it.

    Raises:
        ValueError: as `Board.prospects`.
    """
    check_settings(prospects, settings, "prospects")
    key = "majority" if rule.strip().casefold() == "majority" else rule_key(rule)
    of_weights = [conditions] if isinstance(conditions, str) else list(conditions)
    answers = prospects(matrix, rule=key, conditions=Conditions.parse(of_weights), **settings)
    columns = {
        "system": [one.system for one in answers.systems],
        "can_win": [None if one.verdict == "undecided" else one.is_prospective for one in answers.systems],
        "verdict": [one.verdict for one in answers.systems],
        **{name: [getattr(one, name) for one in answers.systems] for name in SHARES},
        "margin": [one.margin for one in answers.systems],
        "least_change": [
            one.nearest["own"].total_change.change if "own" in one.nearest else None for one in answers.systems
        ],
    }
    notes = [answers.conditions_reason] if answers.conditions_reason else []
    return SystemProspects(f"Who can win under {key}", columns, notes, answers, backend=backend)
