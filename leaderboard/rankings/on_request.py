"""The board as someone asks for it: under other settings or weights, or of some of its systems alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leaderboard.common.hashing import content_hash
from leaderboard.computing.rankings import split_rules
from leaderboard.on_demand.budget import (
    KEPT_SECONDS,
    PARTLY_KEPT_SECONDS,
    count_request,
    rank_in_time,
    refuse_beyond_budget,
    single_flight,
    too_long_reason,
)
from leaderboard.rankings.compute import ranking_arrays, ranking_parameters, ranking_summary, with_names
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.published import ColumnTexts, PublishedBoard, empty_column, make_column
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.weights import Weights, shares_of, weighed_matrix
from ranking_engine.catalogue.registry import get_rule

OWN_WEIGHTS = Weights()  # nothing differs from the revision's weights


def board_under(
    board: PublishedBoard,
    policy: str,
    aggregation: str,
    names: Sequence[str],
    audience_level: str,
    *,
    ties: str = "",
    weights: Weights = OWN_WEIGHTS,
    among: Sequence[int] | None = None,
) -> PublishedBoard:
    """The board under another policy, aggregation, tie convention or weights, or of some of its systems alone: computed
    on demand, never stored.

    Args:
        board: what is published.
        policy: the policy asked for.
        aggregation: the aggregation asked for.
        names: the names of all systems of the board, in order.
        audience_level: who the answer is for; part of the cache's key.
        ties: the convention for ties within a task; each rule's own where empty.
        weights: those that differ from the revision's own.
        among: the places of the systems that are ranked, at least one; all where None. No other system counts: not as
            a rival, not in the median that fills a gap.

    Raises:
        TooLargeError: the answer exceeds the budget.
        TooOftenError, BusyError: this reader asked too often of late, or too much is computed for others.
        WeightsError: under these weights nothing votes.
    """
    count_request()
    configuration = configuration_of(board.revision)
    names = [names[i] for i in among] if among is not None else list(names)
    n_systems = len(names)
    rules = split_rules(n_systems, board.facts["n_tasks"], configuration.variants).quick
    refuse_beyond_budget(n_systems, board.facts["n_tasks"], len(rules))
    parameters = [ranking_parameters(rule, policy, aggregation, ties) for rule in rules]
    # The answer holds names, which the hash of the inputs leaves out: they differ after a renaming.
    choice = [parameters, names, weights.parameters, None if among is None else list(among)]
    key = f"columns:{inputs_of(board.revision)}:{content_hash(choice)}:{audience_level}"

    own_smith_set = board.in_smith_set if among is None else np.zeros(n_systems, bool)

    def make() -> dict[str, Any]:
        table = revision_matrix(board.revision)
        if table is None:
            return {"rankings": [], "winner": None, "in_smith_set": own_smith_set, "too_long": []}
        matrix = weighed_matrix(table, weights, aggregation)
        matrix = matrix if among is None else matrix.subset(systems=list(among))
        shares_of(matrix, aggregation)  # says where weights have too many digits
        ranked = rank_in_time(matrix, policy, aggregation, rules, ties)
        winner, in_smith_set = ranked.majority or (None, own_smith_set)
        return {
            "rankings": [
                (ranking_summary(outcome, rule, names), ranking_arrays(outcome, matrix.system_names))
                for rule, outcome in (
                    (rule, with_names(outcome, matrix.system_names, names)) for rule, outcome in ranked.outcomes.items()
                )
            ],
            "winner": None if winner is None else names[winner],
            "in_smith_set": in_smith_set,
            "too_long": ranked.too_long,
        }

    texts = ColumnTexts.of(board.revision)
    answer = single_flight(key, make, lambda made: PARTLY_KEPT_SECONDS if made["too_long"] else KEPT_SECONDS)
    made = {summary["rule"]: make_column(summary, arrays, texts) for summary, arrays in answer["rankings"]}
    made |= {rule: empty_column(rule, "undefined", too_long_reason(), n_systems)
             for rule in answer["too_long"]}  # fmt: skip
    is_same = among is None and not (weights or ties) and aggregation == configuration.aggregation
    columns = []
    for column in board.columns:
        if column.rule in made:
            columns.append(made[column.rule])
        elif is_same and not get_rule(column.rule).needs_complete:  # the policy alone differs: no matter to it
            columns.append(column)
        else:
            reason = "It takes too long at this size to be computed on demand."
            columns.append(empty_column(column.rule, "undefined", reason, n_systems))
    facts = board.facts | {"condorcet_winner": answer["winner"]}
    if among is not None:
        n_scored = board.n_scored[list(among)]
        n_missing = int((facts["n_voting_tasks"] - n_scored).sum())
        board = replace(
            board, system_ids=board.system_ids[list(among)], n_scored=n_scored, study=None, study_parameters={}
        )
        facts |= {"n_systems": n_systems, "n_missing": n_missing}
    return replace(
        board,
        facts=facts,
        in_smith_set=answer["in_smith_set"],
        aggregation=aggregation,
        tests=None,
        test_arrays=b"",
        columns=columns,
    )
