"""How many scores an account may store, a day and in all: they are kept for good, so nothing gives the space back.

A count is one row, taken with one conditional UPDATE in the transaction that stores the scores (as in `quotas`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from leaderboard.models import CellCount, User
from leaderboard.services.quotas import TOTAL, day_of
from leaderboard.services.submission_errors import QuotaError

INSTANCES_A_CELL = 10  # scores of single instances are packed, and take a tenth of the space


def cells_of(rows: Sequence[Mapping[str, Any]]) -> int:
    """How many cells rows of an upload take: one a score, also where none is reported; one for ten of instances."""
    n_scores = sum(len(row["scores"]) for row in rows)
    n_instances = sum(entry["n"] for row in rows for entry in row.get("instances", {}).values())
    return n_scores + -(-n_instances // INSTANCES_A_CELL)


def take_cells(user: User, n_cells: int, *, is_limited: bool = True) -> None:
    """Count cells that are being stored. Call inside the transaction that stores them.

    Args:
        user: whose upload it is. Staff are counted and not limited.
        n_cells: how many cells.
        is_limited: whether the limits hold; not where an operator imports a folder.

    Raises:
        QuotaError: a limit would be exceeded; it says which, how much is used, and when there will be more.
    """
    limits = {day_of(timezone.now()): settings.CELLS_PER_DAY, TOTAL: settings.CELLS_PER_ACCOUNT}
    counts = [CellCount(user=user, period=period) for period in limits]
    CellCount.objects.bulk_create(counts, ignore_conflicts=True)
    is_limited = is_limited and not user.is_staff
    for period, limit in limits.items():
        rows = CellCount.objects.filter(user=user, period=period)
        free = rows.filter(n_cells__lte=limit - n_cells) if is_limited else rows
        if not free.update(n_cells=F("n_cells") + n_cells):
            raise QuotaError(_refusal(period, rows.get().n_cells, limit, n_cells))


def _refusal(period: str, n_used: int, limit: int, n_cells: int) -> str:
    when = "in all" if period == TOTAL else "a day"
    again = "" if period == TOTAL or n_cells > limit else " The next day begins at 00:00 UTC."
    return (
        f"An account may store {limit:,} scores {when} here. Yours has stored {n_used:,}, and these are {n_cells:,} "
        f"more (empty cells count, and ten scores of single instances count as one).{again} Whoever runs this site can "
        "raise the limit."
    )
