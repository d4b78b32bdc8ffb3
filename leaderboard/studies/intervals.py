"""The part of the stability page about rank intervals: each by itself, all at once, and which systems may be best."""

from dataclasses import dataclass

from leaderboard.models import Publication
from leaderboard.rankings.confidence.intervals import interval_note, interval_text, possibly_best_text
from leaderboard.rankings.published import all_at_once, measured_again, published_board
from leaderboard.rankings.scores import systems_at

MAX_ROWS = 50


@dataclass(frozen=True)
class IntervalRow:
    """One system under the rule."""

    key: str
    name: str
    rank: int
    interval_text: str
    simultaneous_text: str
    measured_text: str
    is_possibly_best: bool
    n_predicted: int = 0  # scores that the rank rests on and no one measured
    is_tied: bool = False  # others share its rank


@dataclass(frozen=True)
class IntervalSection:
    """The rank intervals under one rule.

    Attributes:
        rule: its key.
        rule_name: its name.
        sentence: which systems may be best, and whether tests confirm it; empty where that is not computed.
        notes: what the intervals are, or why there are none.
        rows: the first systems by rank; empty where there are no intervals.
        n_ranked: how many the rule ranks.
        level: of each interval by itself.
        has_measured: whether there are intervals from standard errors.
        has_predictions: whether the rule ranks by predicted scores, too.
    """

    rule: str
    rule_name: str
    sentence: str
    notes: list[str]
    rows: list[IntervalRow]
    n_ranked: int
    level: float
    has_measured: bool
    has_predictions: bool


def interval_section(publication: Publication, rule: str) -> IntervalSection | None:
    """The rank intervals of a publication under one rule; None while they are not computed or no one is ranked."""
    board = published_board(publication)
    systems = systems_at(publication.revision)
    together, measured = all_at_once(board), measured_again(board)
    place = next((k for k, column in enumerate(board.columns) if column.rule == rule), None)
    if board.study is None or place is None or not board.columns[place].is_ranked:
        return None
    column, at_once, again = (one.columns[place] for one in (board, together, measured))
    has_intervals = column.lower is not None or again.lower is not None
    has_ranks = [i for i in range(len(systems)) if column.ranks[i] >= 1 and has_intervals]
    order = sorted(has_ranks, key=lambda i: (int(column.ranks[i]), systems[i].name))
    notes = [interval_note(board, column)]
    if column.lower is not None:
        notes.append(interval_note(together, at_once))
    if measured.is_measured:
        notes.append(interval_note(measured, again))
    return IntervalSection(
        rule=rule,
        rule_name=column.name,
        sentence=possibly_best_text(
            column, [system.name for system in systems], board.tests, board.study_parameters["level"]
        ),
        notes=notes,
        rows=[
            IntervalRow(
                key=systems[i].key,
                name=systems[i].name,
                rank=int(column.ranks[i]),
                interval_text=interval_text(column, i),
                simultaneous_text=interval_text(at_once, i),
                measured_text=interval_text(again, i) if measured.is_measured else "",
                is_possibly_best=column.possibly_best is not None and bool(column.possibly_best[i]),
                n_predicted=column.predicted_of(i),
                is_tied=int((column.ranks == column.ranks[i]).sum()) > 1,
            )
            for i in order[:MAX_ROWS]
        ],
        n_ranked=column.n_ranked,
        level=board.study_parameters["level"],
        has_measured=measured.is_measured,
        has_predictions=bool(column.prediction),
    )
