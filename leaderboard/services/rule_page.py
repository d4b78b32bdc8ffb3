"""One rule's leaderboard of a benchmark, with the scores that it was made from."""

from dataclasses import dataclass, replace
from typing import Any

from leaderboard.models import Benchmark
from leaderboard.selectors.audience import Audience
from leaderboard.selectors.scores import NOT_SUBMITTED, CurrentScore, current_scores
from leaderboard.services.axioms import RuleProperties, rule_properties
from leaderboard.services.board import Board, BoardQuery, Row, build_board, interval_text, score_text
from leaderboard.services.columns import Column
from leaderboard.services.system_page import missing_text, value_text, votes
from ranking_engine import MISSING_POLICIES, RULES, TIES
from ranking_engine.omission import omission_sentence


@dataclass(frozen=True)
class ScoreCell:
    """One system's score on one task: a value, or why there is none."""

    value_text: str
    reason: str


@dataclass(frozen=True)
class RuleRow:
    """One system under the rule."""

    key: str
    name: str
    is_own: bool
    rank: int | None
    n_tied_with: int
    score_text: str
    interval_text: str
    inseparable_text: str
    reason: str
    cells: list[ScoreCell]
    url: str = ""

    @property
    def is_tied(self) -> bool:
        """Whether others share the rank."""
        return self.n_tied_with > 0


@dataclass(frozen=True)
class RulePage:
    """One page of one rule's leaderboard."""

    board: Board
    column: Column
    tasks: list[dict[str, Any]]
    rows: list[RuleRow]
    meaning: list[tuple[str, str]]  # a word and what is to be said under it
    properties: RuleProperties


def build_rule_page(
    benchmark: Benchmark, audience: Audience, query: BoardQuery, rule: str, own_system_ids: frozenset[int]
) -> RulePage | None:
    """One rule's leaderboard of what is published, in the order of its ranks; None while nothing is.

    Raises:
        UnknownChoiceError: the rule or the query names something that there is not.
        TooLargeError: another policy was asked for and the board is too large to compute on demand.
    """
    board = build_board(benchmark, audience, replace(query, reference=rule, scores=True), own_system_ids)
    if board is None:
        return None
    revision = board.published.revision
    tasks = revision.configuration.content["tasks"]
    groups = {group["key"]: group["name"] for group in revision.configuration.content["groups"]}
    scores = current_scores(revision, [row.id for row in board.rows])
    places = {int(system): i for i, system in enumerate(board.published.system_ids)}
    return RulePage(
        board=board,
        column=board.reference,
        tasks=[task | {"group_name": groups.get(task["group"], ""), "is_voting": votes(task)} for task in tasks],
        rows=[_row(row, board.reference, places[row.id], tasks, scores) for row in board.rows],
        meaning=_meaning(board.reference, board.policy),
        properties=rule_properties(revision, rule),
    )


def _row(
    row: Row, column: Column, i: int, tasks: list[dict[str, Any]], scores: dict[tuple[int, int], CurrentScore]
) -> RuleRow:
    rank = row.reference_rank
    return RuleRow(
        key=row.key,
        name=row.name,
        is_own=row.is_own,
        rank=rank,
        n_tied_with=int((column.ranks == rank).sum()) - 1 if rank else 0,
        score_text=score_text(column.scores[i]),
        interval_text=interval_text(column, i) if rank else "",
        inseparable_text=row.inseparable_text,
        reason="" if rank else column.reason_of(i),
        cells=[_cell(scores.get((row.id, task["id"]))) for task in tasks],
    )


def _cell(score: CurrentScore | None) -> ScoreCell:
    if score is not None and score.value is not None:
        return ScoreCell(value_text(score.value), "")
    return ScoreCell("", missing_text(score.missing_reason if score else NOT_SUBMITTED))


def _meaning(column: Column, policy: str) -> list[tuple[str, str]]:
    """What the rule does, in words, as it is in force here."""
    rule = RULES[column.rule]
    told = [("What it does", rule.summary)]
    if rule.tie_convention:
        told.append(("Ties within a task", TIES[rule.tie_convention]))
    if rule.needs_complete:
        told.append(("Missing scores", f"The rule needs every score. {MISSING_POLICIES[policy]}"))
    else:
        told.append(("Missing scores", "Two systems are compared on the tasks that both have; nothing is filled in."))
    told.append(("Leaving out a score", omission_sentence(rule.key, policy)))
    told.append(("Source", rule.source))
    return told
