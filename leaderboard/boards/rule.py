"""One rule's leaderboard of a benchmark, with the scores that it was made from."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.boards.board import Board, build_board
from leaderboard.boards.catalogue import NOTHING_FILLED_IN
from leaderboard.boards.query import BoardQuery
from leaderboard.boards.rows import score_texts
from leaderboard.common.charts.rank_intervals import RankedThing, RankIntervalChart, rank_intervals
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.text import as_sentence
from leaderboard.comparisons.choice_sets import CyclesPart, cycles_of_board
from leaderboard.rankings.confidence.intervals import interval_note, interval_text, why_no_interval
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.predictions import predictions_in_time
from leaderboard.rankings.published import Column
from leaderboard.rankings.scores import current_scores
from leaderboard.rankings.text import ScoreCell, precision_sentence, score_cell, score_column
from leaderboard.rankings.verdict import camps_of
from leaderboard.studies.axioms import RuleProperties, rule_properties
from ranking_engine import MISSING_POLICIES, TIES
from ranking_engine.catalogue.omission import omission_sentence
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.variants import TIES_OPTION, option_text, rule_of_variant

CYCLES_RULE = "maximal_lotteries"


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
    no_interval: str
    inseparable_text: str
    reason: str
    cells: list[ScoreCell]
    url: str
    n_predicted: int  # how many of the scores that the rank rests on are predicted

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
    interval_note: str  # what the intervals are, or why there are none
    meaning: list[tuple[str, str]]  # a word and what is to be said under it
    properties: RuleProperties
    intervals: RankIntervalChart | None  # where they were computed
    cycles: CyclesPart | None  # of who beats whom, beside the rule that is about them

    @property
    def precision_text(self) -> str:
        """To what scores are rounded before anything is ranked; empty where they are not."""
        return precision_sentence({task["name"]: task["precision"] for task in self.tasks})

    @property
    def sentence(self) -> str:
        """Whom the rule elects, and how many systems it ranks where it leaves some out."""
        column, n_systems = self.column, self.board.published.facts["n_systems"]
        if not column.elects:
            return gettext("No winner under %(column)s.") % {"column": column.name}
        (camp,) = camps_of([(column.name, column.winner_names, column.n_winners)])
        left_out = column.is_ranked and column.n_ranked < n_systems
        sentence = gettext("Winner under %(rule)s: %(camp)s.")
        if left_out:
            sentence = gettext("Winner under %(rule)s: %(camp)s; it ranks %(n)s of %(n_systems)s systems.")
        return sentence % {"rule": column.name, "camp": camp.text, "n": column.n_ranked, "n_systems": n_systems}

    @property
    def reason(self) -> str:
        """Why the rule ranks nothing; empty where it ranks."""
        return as_sentence(in_page_language(self.column.reason))

    @property
    def remark(self) -> str:
        """What must be known of the ranking beside its ranks."""
        return in_page_language(self.column.remark)

    @property
    def has_details(self) -> bool:
        """Whether a score on the page comes with a standard error or a number of instances."""
        return any(cell.details_text for row in self.rows for cell in row.cells)


def build_rule_page(
    audience: Audience, query: BoardQuery, rule: str, system_url: Callable[[str], str]
) -> RulePage | None:
    """One rule's leaderboard of what is published, in the order of its ranks; None while nothing is.

    Args:
        audience: who reads it.
        query: what they ask for.
        rule: its key.
        system_url: the address of a system's page, by its key.

    Raises:
        UnknownChoiceError: the rule or the query names something that there is not.
        TooLargeError: another policy was asked for and the board is too large to compute on demand.
    """
    query = replace(query, reference=rule, scores=True, rules=(rule,), families=())
    board = build_board(audience, query, marks_own=True)
    if board is None:
        return None
    revision = board.published.revision
    configuration = configuration_of(revision)
    scores = current_scores(revision, [row.id for row in board.rows])
    places = {int(system): i for i, system in enumerate(board.published.system_ids)}
    column, rows = board.reference, []
    things: list[RankedThing] = []  # the ranks with their intervals
    # Of a filtered view that is ranked by itself, other scores may have been predicted: they are not shown.
    is_predicted = column.n_predicted is not None and not board.n_on_board and not audience.is_restricted
    predictions = predictions_in_time(revision) if is_predicted else None
    for row in board.rows:
        i, rank = places[row.id], row.reference_rank
        interval = interval_text(column, i) if rank else ""
        rows.append(
            RuleRow(
                key=row.key,
                name=row.name,
                is_own=row.is_own,
                rank=rank,
                n_tied_with=int((column.ranks == rank).sum()) - 1 if rank else 0,
                score_text="",
                interval_text=interval,
                no_interval=in_page_language(why_no_interval(board.published, column, i)),
                inseparable_text=row.inseparable_text,
                reason="" if rank else in_page_language(column.reason_of(i)),
                cells=[
                    predictions.in_place_of(cell, row.id, task.id) if predictions and rank else cell
                    for task in configuration.tasks
                    for cell in [score_cell(scores.get((row.id, task.id)), task)]
                ],
                url=system_url(row.key),
                n_predicted=column.predicted_of(i),
            )
        )
        if rank and column.is_ranked and column.lower is not None and column.upper is not None and column.lower[i] >= 1:
            description = gettext("%(name)s: rank %(rank)s, interval %(interval)s") % {
                "name": row.name, "rank": rank, "interval": interval,
            }  # fmt: skip
            low, high = int(column.lower[i]), int(column.upper[i])
            things.append(RankedThing(row.name, rank, low, high, description, system_url(row.key)))
    # Each column of figures with as many decimals in every row.
    texts = score_texts([column.scores[places[row.id]] for row in board.rows], rule)
    of_tasks = [score_column(cells) for cells in zip(*(row.cells for row in rows), strict=True)]
    rows = [
        replace(row, score_text=text, cells=[cells[place] for cells in of_tasks])
        for place, (row, text) in enumerate(zip(rows, texts, strict=True))
    ]
    about = get_rule(rule)
    ties = about.tie_convention or about.fixed_options.get(TIES_OPTION)
    options = ", ".join(f"{name} = {option_text(value)}" for name, value in about.fixed_options.items())
    gaps = gettext(NOTHING_FILLED_IN)
    if about.needs_complete:
        gaps = gettext("The rule needs every score. %(policy)s") % {"policy": gettext(MISSING_POLICIES[board.policy])}
    omission = in_page_language(omission_sentence(rule, board.policy)) if not options else ""
    variant = gettext("%(rule)s with %(options)s.") % {"rule": rule_name(rule_of_variant(rule)), "options": options}
    return RulePage(
        board=board,
        column=column,
        tasks=[
            asdict(task) | {"group_name": configuration.group_names.get(task.group or "", ""), "is_voting": task.votes}
            for task in configuration.tasks
        ],
        rows=rows,
        interval_note=interval_note(board.published, column),
        meaning=[
            *([(gettext("Variant"), variant)] if options else []),
            (gettext("What it does"), gettext(about.summary)),
            (gettext("When to use it"), gettext(about.advice)),
            *([(gettext("Ties within a task"), gettext(TIES[ties]))] if ties else []),
            (gettext("Missing scores"), gaps),
            # The examples are of the rules themselves.
            *([(gettext("Leaving out a score"), omission)] if omission else []),
            (gettext("Source"), gettext(about.source)),
        ],
        properties=rule_properties(revision, rule),
        intervals=rank_intervals(
            gettext("Ranks under %(rule)s with their intervals") % {"rule": column.name},
            gettext("One line a system, rank 1 at the left; the dot is its rank, the bar the interval of the rank."),
            things,
            column.n_ranked,
        )
        if things
        else None,
        cycles=cycles_of_board(revision, audience.level)
        if rule == CYCLES_RULE and board.published.has_majority
        else None,
    )
