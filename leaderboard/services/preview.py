"""What a draft would do to the board: which ranks would change under which rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from leaderboard.models import Benchmark, Draft
from leaderboard.selectors.scores import BoardSystem
from leaderboard.services.configuration import configuration_content
from leaderboard.services.drafts import rows_now
from leaderboard.services.rankings import rank_isolated
from leaderboard.services.score_matrix import build_matrix, revision_matrix
from leaderboard.services.wording import in_words, with_task_names
from ranking_engine import RULES, Ranking, ScoreMatrix

SHOWN_CHANGES = 5


@dataclass(frozen=True)
class RankChange:
    """A system whose rank under a rule would change; None = unranked."""

    system_name: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class RuleEffect:
    """What a draft would change under one rule."""

    rule_name: str
    rank_before: int | None
    rank_after: int | None
    reason: str  # why the system would be unranked
    n_ranks_changed: int  # of the other systems
    overtaken_names: list[str]  # the first of them
    n_overtaken: int
    winner_before: str
    winner_after: str
    changes: list[RankChange]  # the first of them

    @property
    def n_more_changed(self) -> int:
        """How many ranks change beside those in `changes`."""
        return self.n_ranks_changed - len(self.changes)


@dataclass(frozen=True)
class ScoreChange:
    """One task's score before and after."""

    task_name: str
    old_text: str
    new_text: str
    note: str


@dataclass(frozen=True)
class Preview:
    """A draft held against one revision."""

    revision_number: int
    system_name: str
    is_new_system: bool
    near_misses: list[str]
    rows: list[ScoreChange] = field(default_factory=list)
    effects: list[RuleEffect] = field(default_factory=list)


def preview_draft(draft: Draft) -> Preview:
    """Hold a draft of one system against the benchmark's latest revision.

    The draft's row takes the place of the system's row, or joins the others; both boards are ranked under the
    revision's own policy.

    Raises:
        DraftError: what the draft says can no longer be stored.
    """
    benchmark = Benchmark.objects.get(pk=draft.benchmark_id)
    revision = benchmark.revisions.order_by("-number").select_related("configuration").first()
    row = rows_now(draft, benchmark)[0]
    configuration = revision.configuration.content if revision else configuration_content(benchmark)
    found = revision_matrix(revision) if revision else None
    systems = found.systems if found else []
    values = found.matrix.values if found else np.empty((0, len(configuration["tasks"])))
    place = next((i for i, system in enumerate(systems) if system.key == row["system"]["key"]), None)
    new_row = row_values(row["scores"], configuration, None if place is None else values[place])
    return Preview(
        revision_number=benchmark.last_revision_number,
        system_name=row["system"]["name"],
        is_new_system=place is None,
        near_misses=row["system"]["near_misses"],
        rows=_score_changes(row["scores"], configuration, None if place is None else values[place], new_row),
        effects=_effects(configuration, systems, values, place=place, new_row=new_row, name=row["system"]["name"]),
    )


def row_values(
    scores: Mapping[str, Any], configuration: dict[str, Any], old: np.ndarray | None
) -> np.ndarray:
    """The system's row as it would stand: where tasks are merged, those not mentioned keep their scores."""
    tasks = configuration["tasks"]
    keeps = configuration["replacement"] == Benchmark.Replacement.TASK and old is not None
    row = np.array(old) if keeps else np.full(len(tasks), np.nan)
    for t, task in enumerate(tasks):
        if task["key"] in scores:
            row[t] = scores[task["key"]].get("value", np.nan)
    return row


def _score_changes(
    scores: Mapping[str, Any], configuration: dict[str, Any], old: np.ndarray | None, new: np.ndarray
) -> list[ScoreChange]:
    def text(value: float) -> str:
        return "" if np.isnan(value) else repr(float(value)).removesuffix(".0")

    changes = []
    for t, task in enumerate(configuration["tasks"]):
        before = "" if old is None else text(old[t])
        after = text(new[t])
        note = "" if after else "missing: not reported" if task["key"] in scores else "missing: not mentioned"
        changes.append(ScoreChange(task["name"], before, after, note))
    return changes


def _effects(
    configuration: dict[str, Any],
    systems: list[BoardSystem],
    values: np.ndarray,
    *,
    place: int | None,
    new_row: np.ndarray,
    name: str,
) -> list[RuleEffect]:
    policy = configuration["missing_policy"]
    if not configuration["tasks"]:
        return []
    newcomer = BoardSystem(0, "~", name)  # `~` is in no key, so it is nobody else's
    after_systems = [*systems, newcomer] if place is None else systems
    after_values = np.vstack([values, new_row]) if place is None else _with_row(values, place, new_row)
    i = len(systems) if place is None else place
    before = ranked(build_matrix(values, systems, configuration), policy) if systems else {}
    after = ranked(build_matrix(after_values, after_systems, configuration), policy)
    names = [system.name for system in after_systems]
    effects = [_effect(rule, before.get(rule), ranking, i, names) for rule, ranking in after.items()]
    task_names = {task["key"]: task["name"] for task in configuration["tasks"]}
    return [replace(effect, reason=with_task_names(effect.reason, task_names)) for effect in effects]


def _with_row(values: np.ndarray, place: int, row: np.ndarray) -> np.ndarray:
    changed = np.array(values)
    changed[place] = row
    return changed


def ranked(matrix: ScoreMatrix, policy: str) -> dict[str, Ranking]:
    """The ranking of every rule that does not fail."""
    outcomes = rank_isolated(matrix, policy)
    return {rule: outcome for rule, (outcome, _) in outcomes.items() if isinstance(outcome, Ranking)}


def _effect(rule: str, before: Ranking | None, after: Ranking, i: int, names: list[str]) -> RuleEffect:
    n_before = 0 if before is None else len(before.ranks)

    def rank_of(ranking: Ranking | None, j: int) -> int | None:
        if ranking is None or j >= len(ranking.ranks) or ranking.ranks[j] < 1:
            return None
        return int(ranking.ranks[j])

    old, new = rank_of(before, i), rank_of(after, i)
    others = [j for j in range(n_before) if j != i]
    changes = [RankChange(names[j], rank_of(before, j), rank_of(after, j)) for j in others]
    changed = [change for change in changes if change.before != change.after]
    changed.sort(key=lambda change: (change.before or len(names) + 1, change.system_name))
    overtaken = _overtaken(changes, old, new)
    return RuleEffect(
        rule_name=RULES[rule].name,
        rank_before=old,
        rank_after=new,
        reason=after.unranked_reasons.get(i, after.reason) if new is None else "",
        n_ranks_changed=len(changed),
        overtaken_names=overtaken[:SHOWN_CHANGES],
        n_overtaken=len(overtaken),
        winner_before="" if before is None else in_words([names[j] for j in before.winners]),
        winner_after=in_words([names[j] for j in after.winners]),
        changes=changed[:SHOWN_CHANGES],
    )


def _overtaken(others: list[RankChange], old: int | None, new: int | None) -> list[str]:
    """Those that stood at or above the system, or stood when it did not, and would stand below it."""
    if new is None:
        return []
    found = [
        other
        for other in others
        if other.after is not None
        and other.after > new
        and other.before is not None
        and (old is None or other.before <= old)
    ]
    found.sort(key=lambda other: (other.after or 0, other.system_name))
    return [other.system_name for other in found]
