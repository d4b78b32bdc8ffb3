"""The columns of a board: what each rule says of one revision, stored or computed on demand."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.utils.translation import get_language, gettext

from leaderboard.common.cache import BoundedCache
from leaderboard.common.language.engine import rule_name
from leaderboard.common.text import with_task_names
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Publication, Revision
from leaderboard.queue.kinds import BOOTSTRAP, SIGNIFICANCE
from leaderboard.rankings.confidence.significance import Separability, array_names, separability
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.reports import (
    BOARD,
    COMPUTING,
    RANKING,
    ColumnStatus,
    published_reports,
    report_stamp,
    unpack_arrays,
)
from leaderboard.rankings.revisions import RemovedRanksError
from leaderboard.rankings.scores import BoardSystem
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.decimals import finite_or_none

GAP = "optimality_gap"  # the rule whose threshold γ columns name


@dataclass(frozen=True)
class Column:
    """One rule's ranking of one revision, in the revision's system order."""

    rule: str
    name: str
    family: str
    summary: str
    status: ColumnStatus
    reason: str
    remark: str  # what a reader must know beside the ranks, such as whether they are proven optimal
    winner_names: list[str]
    n_winners: int
    ranks: np.ndarray  # int32, -1 = unranked
    scores: np.ndarray  # float64, NaN = unranked
    is_winner: np.ndarray  # bool: elected by the rule, alone or with others, whatever the rank
    reason_codes: np.ndarray
    reasons: list[str]
    lower: np.ndarray | None = None  # rank intervals, where the study is there
    upper: np.ndarray | None = None
    simultaneous_lower: np.ndarray | None = None  # those of all systems at once
    simultaneous_upper: np.ndarray | None = None
    possibly_best: np.ndarray | None = None  # bool: no system is clearly ahead
    measured_lower: np.ndarray | None = None  # those from stated standard errors, where scores have some
    measured_upper: np.ndarray | None = None
    n_predicted: np.ndarray | None = None  # int32: how many of its scores are predicted, where some are
    prediction: str = ""  # how many scores are predicted, and how well that goes
    n_apart: int = 0  # pairs of systems without a common task that votes, where the rule compares pairs

    def reason_of(self, i: int) -> str:
        """Why system `i` is unranked: where the rule ranks none, why that is, whatever scores the system lacks."""
        if self.is_undefined:
            return self.reason
        code = int(self.reason_codes[i]) if len(self.reason_codes) else -1
        return self.reasons[code] if code >= 0 else self.reason

    def predicted_of(self, i: int) -> int:
        """How many scores that the rank of system `i` rests on are predicted."""
        return 0 if self.n_predicted is None or self.ranks[i] < 1 else int(self.n_predicted[i])

    @property
    def n_bytes(self) -> int:
        """About how much memory its arrays take."""
        arrays = (
            self.ranks, self.scores, self.is_winner, self.reason_codes, self.lower, self.upper,
            self.simultaneous_lower, self.simultaneous_upper, self.possibly_best, self.measured_lower,
            self.measured_upper, self.n_predicted,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays if array is not None) + 200 * len(self.reasons)

    @property
    def n_ranked(self) -> int:
        """How many systems have a rank."""
        return int((self.ranks >= 1).sum())

    @property
    def is_ranked(self) -> bool:
        """Whether the rule ranks systems here."""
        return self.status == "ranked"

    @property
    def is_undefined(self) -> bool:
        """Whether the rule says nothing of these scores."""
        return self.status == "undefined"

    @property
    def is_computing(self) -> bool:
        """Whether the rule is slow here, and its ranking is not there yet."""
        return self.status == COMPUTING

    @property
    def elects(self) -> bool:
        """Whether the rule has a winner here."""
        return self.n_winners > 0


@dataclass(frozen=True)
class PublishedBoard:
    """Everything stored about what is published."""

    revision: Revision
    facts: dict[str, Any]  # the summary of the board report
    system_ids: np.ndarray
    n_scored: np.ndarray
    in_smith_set: np.ndarray
    columns: list[Column]
    aggregation: str  # how tasks and groups count together in these columns
    study: dict[str, Any] | None = field(default=None)  # the summary of the bootstrap, where it is there
    study_parameters: dict[str, Any] = field(default_factory=dict)
    is_simultaneous: bool = False  # whether `lower` and `upper` of the columns are those of all systems at once
    is_measured: bool = False  # whether they are those from stated standard errors
    # Which systems differ significantly, where that is there: the report's summary, and its arrays still packed.
    tests: dict[str, Any] | None = None
    test_arrays: bytes = b""
    stamp: tuple[object, ...] = ()  # of the reports that it was unpacked from

    @property
    def rules(self) -> list[str]:
        """The keys of its columns."""
        return [column.rule for column in self.columns]

    @property
    def measured(self) -> dict[str, Any] | None:
        """What is stored of the rank intervals from stated standard errors; None where no score that counts has one."""
        return self.study.get("measured") if self.study else None

    @property
    def has_majority(self) -> bool:
        """Whether two systems are compared at all, so that there may be a Condorcet winner."""
        return self.aggregation != TWO_STEP

    @property
    def n_apart(self) -> int:
        """How many pairs of systems share no task that votes, as far as a rule of the board compares pairs."""
        return max((column.n_apart for column in self.columns), default=0)

    @property
    def why_nothing_ranked(self) -> str:
        """Why no rule ranks anyone, as the first one says; empty where one does, or may do so later."""
        is_empty = all(column.is_undefined for column in self.columns)
        return self.columns[0].reason if self.columns and is_empty else ""

    @property
    def n_bytes(self) -> int:
        """About how much memory its arrays take."""
        own = self.system_ids.nbytes + self.n_scored.nbytes + self.in_smith_set.nbytes + len(self.test_arrays)
        return own + sum(column.n_bytes for column in self.columns)


BOARD_KINDS = (BOARD, RANKING, BOOTSTRAP, SIGNIFICANCE)
BOARD_CACHE_BYTES = 64 * 2**20  # a board of 5,000 systems under 24 rules with rank intervals takes about 4 MB
_boards: BoundedCache["PublishedBoard"] = BoundedCache(BOARD_CACHE_BYTES)


def published_board(publication: Publication) -> PublishedBoard:
    """The stored board of a publication: a small query where this process has unpacked it before, else a large one.

    What is kept is what is stored, the same for everyone; `redaction.redacted` makes of it what one audience may see.
    Reports never change, and a new one changes the stamp.
    """
    kept = _boards.get_or_make(
        (publication.revision_id, publication.engine_version, get_language()),
        lambda: _load_board(publication),
        lambda board: board.n_bytes,
        lambda board: board.stamp == report_stamp(publication, BOARD_KINDS),
    )
    return replace(kept, revision=publication.revision)


def _load_board(publication: Publication) -> PublishedBoard:
    reports = published_reports(publication, BOARD_KINDS)
    board = next((report for report in reports if report.kind == BOARD), None)
    if board is None:  # retention removed it since the publication was found
        publication.revision.refresh_from_db(fields=["ranks_removed_at"])
        raise RemovedRanksError(publication.revision)
    arrays = unpack_arrays(board.arrays)
    study = next((report for report in reports if report.kind == BOOTSTRAP), None)
    intervals = unpack_arrays(study.arrays) if study else {}
    tests = next((report for report in reports if report.kind == SIGNIFICANCE), None)
    rankings = {report.summary["rule"]: report for report in reports if report.kind == RANKING}
    empty = np.empty(0, np.int64)
    system_ids = arrays.get("system_ids", empty)
    n_systems = len(system_ids)
    texts = ColumnTexts.of(publication.revision)
    aggregation = configuration_of(publication.revision).aggregation
    facts, in_smith_set = board.summary, arrays.get("in_smith_set", empty.astype(bool))
    if aggregation == TWO_STEP:  # earlier reports have the winner and the set of the tasks' own weights
        facts, in_smith_set = facts | {"condorcet_winner": None}, np.zeros_like(in_smith_set)
    return PublishedBoard(
        revision=publication.revision,
        facts=facts,
        system_ids=system_ids,
        n_scored=arrays.get("n_scored", empty),
        in_smith_set=in_smith_set,
        aggregation=aggregation,
        columns=[
            make_column(rankings[rule].summary, unpack_arrays(rankings[rule].arrays), texts, intervals)
            if rule in rankings
            else empty_column(
                rule, COMPUTING, gettext("It is slower than the others and is being computed."), n_systems
            )
            for rule in board.summary["rules"]
        ]
        + [
            empty_column(rule, "undefined", reason, n_systems)
            for rule, reason in board.summary.get("rules_left_out", {}).items()
        ],
        study=study.summary if study else None,
        study_parameters=study.parameters if study else {},
        tests=tests.summary if tests else None,
        test_arrays=bytes(tests.arrays) if tests else b"",
        stamp=tuple((report.pk, report.created_at) for report in reports),
    )


def separability_of(board: PublishedBoard, column: Column) -> Separability:
    """Which systems of a board differ significantly under one of its rules."""
    arrays = unpack_arrays(board.test_arrays, array_names(column.rule))
    return separability(board.tests, arrays, column.rule, column.name, column.ranks)


def empty_column(rule: str, status: ColumnStatus, reason: str, n_systems: int) -> Column:
    """A rule that says nothing yet, or nothing at this size.

    Args:
        rule: its key.
        status: COMPUTING or `undefined`.
        reason: why it says nothing.
        n_systems: on the board.
    """
    summary = {"rule": rule, "status": status, "reason": reason, "winner_names": [], "n_winners": 0}
    arrays = {"ranks": np.full(n_systems, -1, np.int32), "scores": np.full(n_systems, np.nan)}
    return make_column(summary, arrays, NO_TEXTS)


@dataclass(frozen=True)
class ColumnTexts:
    """What of a configuration is said in columns: the tasks' names by key, and the optimality gap's threshold."""

    task_names: Mapping[str, str]
    threshold: str

    @classmethod
    def of(cls, revision: Revision) -> "ColumnTexts":
        """Those of a revision's configuration."""
        configuration = configuration_of(revision)
        return cls(configuration.task_names, configuration.threshold_text)


NO_TEXTS = ColumnTexts({}, "")


def make_column(
    summary: dict[str, Any],
    arrays: dict[str, np.ndarray],
    texts: ColumnTexts,
    intervals: dict[str, np.ndarray] | None = None,
) -> Column:
    """A column from a ranking's summary and arrays, as `rankings` makes them, with what its configuration says."""
    rule = get_rule(summary["rule"])
    intervals = intervals or {}
    is_winner = (arrays["ranks"] == 1) & (summary["n_winners"] > 0)  # as far as a report of before 0.5.0 says
    if "winners" in arrays:
        is_winner = np.zeros(len(arrays["ranks"]), bool)
        is_winner[arrays["winners"]] = True
    threshold = texts.threshold if rule.key == GAP and summary["status"] == "ranked" else ""
    return Column(
        rule=rule.key,
        name=rule_name(rule.key),
        family=rule.family,
        summary=gettext(rule.summary),
        status=summary["status"],
        reason=with_task_names(summary["reason"], texts.task_names),
        remark=" ".join(text for text in (threshold, summary.get("remark", ""), summary.get("prediction", "")) if text),
        winner_names=summary["winner_names"],
        n_winners=summary["n_winners"],
        ranks=arrays["ranks"],
        scores=arrays["scores"],
        is_winner=is_winner,
        reason_codes=arrays.get("reason_codes", np.empty(0, np.int32)),
        reasons=[with_task_names(str(reason), texts.task_names) for reason in arrays.get("reasons", ())],
        lower=intervals.get(f"lower_{rule.key}"),
        upper=intervals.get(f"upper_{rule.key}"),
        simultaneous_lower=intervals.get(f"simultaneous_lower_{rule.key}"),
        simultaneous_upper=intervals.get(f"simultaneous_upper_{rule.key}"),
        possibly_best=intervals.get(f"possibly_best_{rule.key}"),
        measured_lower=intervals.get(f"measured_lower_{rule.key}"),
        measured_upper=intervals.get(f"measured_upper_{rule.key}"),
        n_predicted=arrays.get("n_predicted"),
        prediction=summary.get("prediction", ""),
        n_apart=summary.get("n_pairs_without_common_task", 0),
    )


def all_at_once(board: PublishedBoard) -> PublishedBoard:
    """The board with the intervals that hold for all systems at once, in place of each system's by itself."""
    columns = [
        replace(column, lower=column.simultaneous_lower, upper=column.simultaneous_upper) for column in board.columns
    ]
    return replace(board, columns=columns, is_simultaneous=True)


def measured_again(board: PublishedBoard) -> PublishedBoard:
    """The board with the intervals from stated standard errors in place of those over tasks; its own without any."""
    if not board.measured:
        return board
    columns = [replace(column, lower=column.measured_lower, upper=column.measured_upper) for column in board.columns]
    return replace(board, columns=columns, is_measured=True)


class UnknownChoiceError(ValueError):
    """An address or a body names a rule, a policy or an order that there is not."""


def rank_rows(
    column: Column, systems: list[BoardSystem], separability: Separability | None = None
) -> list[dict[str, Any]]:
    """Every system under a rule: best first, equals by key, unranked ones last.

    With `separability` each says between which ranks it does not differ significantly from others.
    """
    order = sorted(range(len(systems)), key=lambda i: (column.ranks[i] < 1, int(column.ranks[i]), systems[i].key))
    rows = [rank_row(column, i, systems[i]) for i in order]
    if separability is None:
        return rows
    return [row | {"inseparable": separability.ranks_of(i)} for i, row in zip(order, rows, strict=True)]


def rank_row(column: Column, i: int, system: BoardSystem) -> dict[str, Any]:
    """One system under a rule; `reason` says why it has no rank."""
    rank = int(column.ranks[i]) if column.ranks[i] >= 1 else None
    return {
        "system": system.key,
        "name": system.name,
        "rank": rank,
        "score": finite_or_none(column.scores[i]),
        "interval": _interval(column.lower, column.upper, i) if rank else None,
        "simultaneous_interval": _interval(column.simultaneous_lower, column.simultaneous_upper, i) if rank else None,
        "possibly_best": bool(column.possibly_best[i]) if rank and column.possibly_best is not None else None,
        "measured_interval": _interval(column.measured_lower, column.measured_upper, i) if rank else None,
        "reason": None if rank else column.reason_of(i),
        "n_predicted": column.predicted_of(i),
    }


def _interval(lower: np.ndarray | None, upper: np.ndarray | None, i: int) -> list[int] | None:
    if lower is None or upper is None or lower[i] < 1:
        return None
    return [int(lower[i]), int(upper[i])]
