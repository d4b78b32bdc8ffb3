"""The queue of a benchmark: what waits for a decision, what is unusual about it, and what it would change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import QuerySet
from django.utils import timezone

from leaderboard.models import Batch, Benchmark, Score, Submission, User
from leaderboard.moments import moment_in_words
from leaderboard.selectors.audience import UNDECIDED
from leaderboard.services.corrections import holding
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.preview import (
    BoardState,
    latest_state,
    rank_of,
    rankings_of,
    ranks_others,
    row_values,
)
from leaderboard.services.preview_wording import ranks_sentence, winners_sentence
from leaderboard.services.statements import Statement, in_short, statements_of
from leaderboard.services.submission_errors import SubmissionError
from leaderboard.services.submissions import reject_batch, take_batch
from leaderboard.services.table_preview import TableEffect, table_effect
from leaderboard.services.wording import in_words, shortened
from ranking_engine import Ranking

SHOWN_BATCHES = 100
SHOWN_FLAGS = 5
SHOWN_STATEMENTS = 6  # in the queue
FEWEST_SCORES = 5  # of a task, before one of them can be called unusual
FEWEST_TASKS = 2  # before systems with the same scores are called duplicates, or one that leads everywhere too good


@dataclass(frozen=True)
class Waiting:
    """One batch of the queue."""

    uuid: UUID
    title: str
    who: str
    at: datetime
    source: str
    n_systems: int
    flags: list[str]
    n_more_flags: int
    state: str
    note: str
    is_correction: bool
    statements: list[str]  # what it states of its systems, in short
    n_more_statements: int


@dataclass(frozen=True)
class Decision:
    """What a moderator looks at before deciding about one batch."""

    waiting: Waiting
    revision_number: int
    task_names: list[str]
    rows: list[tuple[str, bool, list[tuple[str, bool]]]]  # system, is new, (score, differs from the board) a task
    n_more_rows: int
    statements: list[Statement]  # what it states of those systems, beside what the board says
    effects: list[TableEffect]
    summary: str  # where a lone system would stand, and what changes at the top; empty where no rule ranks


def queue(benchmark: Benchmark, *, after: UUID | None = None, most: int = SHOWN_BATCHES) -> tuple[list[Waiting], int]:
    """The batches that wait, oldest first: those shown, and how many there are.

    Args:
        benchmark: whose.
        after: only what came after this batch; from the beginning where None.
        most: how many are shown.
    """
    waiting = _undecided(benchmark)
    state = latest_state(benchmark)
    rows = waiting
    if after is not None:
        before = Batch.objects.filter(benchmark=benchmark, uuid=after).values_list("pk", flat=True).first()
        rows = waiting.filter(pk__gt=before or 0)
    return [_waiting(batch, state, rows_of(batch)) for batch in rows[:most]], waiting.count()


def _undecided(benchmark: Benchmark) -> QuerySet[Batch]:
    found = Batch.objects.filter(benchmark=benchmark, submissions__state__in=UNDECIDED)
    return found.select_related("uploader").distinct().order_by("pk")


def is_undecided(batch: Batch) -> bool:
    """Whether the batch still waits for a decision, or for the end of an embargo."""
    decided = batch.submissions.exclude(state__in=UNDECIDED)
    return batch.submissions.exists() and not decided.exists()


def look_at(batch: Batch) -> Decision:
    """One batch against the latest revision."""
    state, rows = latest_state(batch.benchmark), rows_of(batch)
    after = state.with_rows(rows)
    names = [system.name for system in after.systems]
    try:
        old, new = rankings_of(state, after)
    except TooLargeError:
        old, new = {}, {}
    shown, n = rows[:SHOWN_BATCHES], len(state.systems)
    effects = [table_effect(rule, old.get(rule), ranking, n, names) for rule, ranking in new.items()]
    return Decision(
        waiting=_waiting(batch, state, rows),
        revision_number=state.revision_number,
        task_names=[task["name"] for task in state.configuration["tasks"]],
        rows=[_shown(row, state) for row in shown],
        n_more_rows=len(rows) - len(shown),
        statements=statements_of(list(batch.submissions.select_related("system")[:SHOWN_BATCHES])),
        effects=effects,
        summary=" ".join(filter(None, [_standing(rows, state, new), winners_sentence(effects)])),
    )


def _standing(rows: Sequence[dict[str, Any]], state: BoardState, rankings: dict[str, Ranking]) -> str:
    """Where the system of a batch would stand over the rules; empty where there are several, or no rule ranks."""
    if len(rows) != 1 or not rankings:
        return ""
    system, n = rows[0]["system"], len(state.systems)
    i = next((place for place, known in enumerate(state.systems) if known.key == system["key"]), n)  # a new one is last
    ranks = [rank_of(ranking, i) for ranking in rankings.values()]
    pairs = zip(ranks, rankings.values(), strict=True)
    n_leaving_out = sum(rank is None and ranks_others(ranking, i) for rank, ranking in pairs)
    return ranks_sentence(shortened(system["name"]), ranks, n_leaving_out)


def rows_of(batch: Batch) -> list[dict[str, Any]]:
    """The batch's submissions as a draft keeps them; a system that is not on the board has no key."""
    scores: dict[int, dict[str, Any]] = {}
    stored = Score.objects.filter(submission__batch=batch).values_list("submission_id", "task__key", "value")
    for submission, task, value in stored:
        scores.setdefault(submission, {})[task] = {} if value is None else {"value": value}
    return [
        {"system": {"key": row.system.key, "name": row.shown_name}, "scores": scores.get(row.pk, {}), "line": None}
        for row in batch.submissions.select_related("system")
    ]


def _waiting(batch: Batch, state: BoardState, rows: Sequence[dict[str, Any]]) -> Waiting:
    submissions = list(batch.submissions.select_related("system"))
    statements = statements_of(submissions)
    changed = in_short([one for one in statements if one.is_change])
    flags = [*_overdue(batch), *_outrun(batch, submissions), *changed, *flags_of(state, rows)]
    return Waiting(
        uuid=batch.uuid,
        title=in_words([shortened(row["system"]["name"]) for row in rows]),
        who=batch.uploader.shown_name,
        at=batch.created_at,
        source=batch.get_source_display(),
        n_systems=len(rows),
        flags=flags[:SHOWN_FLAGS],
        n_more_flags=max(0, len(flags) - SHOWN_FLAGS),
        state=submissions[0].state,
        note=batch.note,
        is_correction=all(row.corrects_id for row in submissions),
        statements=in_short(statements[:SHOWN_STATEMENTS]),
        n_more_statements=max(0, len(statements) - SHOWN_STATEMENTS),
    )


def _outrun(batch: Batch, submissions: Sequence[Submission]) -> list[str]:
    """Corrections of what holds no more: accepted, they may change nothing, or replace another correction."""
    if not any(row.corrects_id for row in submissions):
        return []
    held = holding(batch.benchmark)
    return [
        f"{shortened(row.shown_name)}: what it corrects holds no more; it was withdrawn, corrected or replaced since"
        for row in submissions
        if row.corrects_id and row.corrects_id not in held
    ]


def _overdue(batch: Batch) -> list[str]:
    if batch.decide_by is None or batch.decide_by > timezone.now():
        return []
    return [f"overdue: its submitter was told that you decide until {moment_in_words(batch.decide_by)}"]


def flags_of(state: BoardState, rows: Sequence[dict[str, Any]]) -> list[str]:
    """What a moderator should look at twice, in words. Nothing is ever refused for it.

    Unusual: further beyond the best or the worst score of its task than these two are apart. Too good: better than
    every other system on every task. Duplicate: the scores of another system, to the last digit.
    """
    found = []
    tasks = state.configuration["tasks"]
    places = {system.key: i for i, system in enumerate(state.systems)}
    for row in rows:
        own = places.get(row["system"]["key"])
        others = np.array([i != own for i in range(len(state.systems))], dtype=bool)
        values = row_values(row["scores"], state.configuration, None)
        known = state.values[others]
        name = shortened(row["system"]["name"])
        unusual = [tasks[t]["name"] for t in range(len(tasks)) if _is_unusual(values[t], known[:, t])]
        if unusual:
            found.append(f"{name}: far outside the range of the others on {in_words(unusual)}")
        twins = [s.name for s, other, i in zip(state.systems, others, range(len(others)), strict=True)
                 if other and _is_same(values, state.values[i])]  # fmt: skip
        if twins:
            found.append(f"{name}: exactly the scores of {in_words(twins)}")
        elif _leads_everywhere(values, known, [task["direction"] for task in tasks]):
            found.append(f"{name}: better than every other system on every task")
    return found


def _is_unusual(value: float, others: np.ndarray) -> bool:
    stated = others[~np.isnan(others)]
    if np.isnan(value) or len(stated) < FEWEST_SCORES:
        return False
    spread = stated.max() - stated.min()
    return bool(value > stated.max() + spread or value < stated.min() - spread)


def _is_same(values: np.ndarray, other: np.ndarray) -> bool:
    is_same = (values == other) | (np.isnan(values) & np.isnan(other))
    return bool(is_same.all() and (~np.isnan(values)).sum() >= FEWEST_TASKS)


def _leads_everywhere(values: np.ndarray, others: np.ndarray, directions: Sequence[int]) -> bool:
    voting = np.array([direction != 0 for direction in directions], dtype=bool)
    if len(others) < FEWEST_SCORES or voting.sum() < FEWEST_TASKS or np.isnan(values[voting]).any():
        return False
    signs = np.array([direction for direction in directions if direction], dtype=float)
    best = np.nanmax(np.where(np.isnan(others[:, voting]), -np.inf, others[:, voting] * signs), axis=0)
    return bool((values[voting] * signs > best).all())


def _shown(row: dict[str, Any], state: BoardState) -> tuple[str, bool, list[tuple[str, bool]]]:
    place = next((i for i, system in enumerate(state.systems) if system.key == row["system"]["key"]), None)
    old = np.full(len(state.configuration["tasks"]), np.nan) if place is None else state.values[place]
    new = row_values(row["scores"], state.configuration, None if place is None else old)
    cells = []
    for before, after in zip(old.tolist(), new.tolist(), strict=True):
        text = "" if np.isnan(after) else repr(after).removesuffix(".0")
        cells.append((text, not (before == after or (np.isnan(before) and np.isnan(after)))))
    return row["system"]["name"], place is None, cells


def decide(batches: Sequence[Batch], *, actor: User, accepts: bool, reason: str) -> tuple[int, list[str]]:
    """Accept or reject several batches, each in a transaction of its own: a revision each.

    Returns:
        How many were decided, and why others were not.
    """
    n_decided, refused = 0, []
    for batch in batches:
        try:
            if accepts:
                take_batch(batch, actor=actor, reason=reason)
            else:
                reject_batch(batch, actor=actor, reason=reason)
        except SubmissionError as error:
            refused.append(f"{batch.uuid}: {error}")
        else:
            n_decided += 1
    return n_decided, refused
