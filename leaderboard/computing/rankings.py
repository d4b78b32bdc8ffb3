"""Rankings of a matrix under the rules of a board: all at once, or one part after the other while time lasts."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.computing.stopwatch import Stopwatch
from ranking_engine import (
    RULES,
    Pairwise,
    Ranking,
    Rule,
    ScoreMatrix,
    condorcet_winner,
    quick_rules,
    rank,
    rank_all,
    slow_rules,
    smith_set,
)
from ranking_engine.catalogue.registry import get_rule, in_order
from ranking_engine.core.aggregation import reweighted
from ranking_engine.rules.majority_of_many import majority_of_many

logger = logging.getLogger(__name__)

TWO_STEP = "two_step"
COMPARED_AT_ONCE = 5_000  # systems whose pairs are all compared before a board is published
LARGE_BOARD = 5_000, 100  # systems and tasks


def seconds_on_large_board(rule: Rule) -> float:
    """What a rule takes there, or may take at most where it is told how long to search."""
    seconds = rule.cost(*LARGE_BOARD)
    return min(seconds, rule.numbers["seconds"].default) if "seconds" in rule.numbers else seconds


def _takes_long(rule: Rule) -> bool:
    return rule.is_slow or rule.is_ranked_alone


# The rules that take longest where a table is large, the longest last: what time does not allow are these.
LONGEST = tuple(
    sorted(
        (key for key, rule in RULES.items() if _takes_long(rule)),
        key=lambda key: seconds_on_large_board(RULES[key]),
    )
)

Outcomes = dict[str, Ranking | Exception]
MajorityFacts = tuple[int | None, np.ndarray]


@dataclass(frozen=True)
class RuleSplit:
    """Which rules a board of one size has, its variants among them, in the catalogue's order.

    `quick` ones are there before the board is published, `slow` ones come after it; `left_out` says of the others why
    they are not computed.
    """

    quick: list[str]
    slow: list[str]
    left_out: dict[str, str]

    @property
    def computed(self) -> list[str]:
        """Quick and slow ones together."""
        return in_order([*self.quick, *self.slow])


def site_rules() -> list[str]:
    """The rules that a board may show, in the catalogue's order: all but those with parameters of the user."""
    return [key for key, rule in RULES.items() if not rule.parameters]


def split_rules(n_systems: int, n_tasks: int, variants: Sequence[str] = ()) -> RuleSplit:
    """The rules of a board of this size.

    Args:
        n_systems, n_tasks: of the board.
        variants: keys of those that its owners added.
    """
    quick, slow = set(quick_rules(n_systems, n_tasks)), set(slow_rules(n_systems, n_tasks))
    added = [get_rule(variant) for variant in variants]
    for rule in added:
        if not rule.why_not_computed(n_systems):
            (quick if rule.is_quick(n_systems, n_tasks) else slow).add(rule.key)
    listed = in_order([*site_rules(), *(rule.key for rule in added)])
    return RuleSplit(
        quick=[rule for rule in listed if rule in quick],
        slow=[rule for rule in listed if rule in slow],
        left_out={rule: get_rule(rule).why_not_computed(n_systems) for rule in listed if rule not in quick | slow},
    )


def rank_isolated(
    matrix: ScoreMatrix,
    missing: str,
    aggregation: str,
    rules: Sequence[str] | None = None,
    pairwise: Pairwise | None = None,
    *,
    ties: str | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, tuple[Ranking | Exception, float]]:
    """Rankings with their seconds. A rule that raises has its exception in place of a ranking.

    Args:
        matrix: what is ranked.
        missing: the missing-score policy.
        aggregation: how tasks and groups count together.
        rules: which rules; all that are quick at this size where None.
        pairwise: the comparison of all pairs under the aggregation, where that is known already.
        ties: the convention for ties within a task; each rule's own where None.
        options: of single rules, such as how many seconds one may search.
    """
    options = options or {}
    chosen = split_rules(matrix.n_systems, matrix.n_tasks).quick if rules is None else list(rules)
    stopwatch = Stopwatch()
    try:
        rankings = rank_all(
            matrix, chosen, missing=missing, aggregation=aggregation, pairwise=pairwise, ties=ties, options=options
        )
    except MemoryError:
        raise
    except Exception:
        logger.exception("the rules together failed; ranking one by one")
    else:
        share = stopwatch.seconds / max(1, len(rankings))
        return {rule: (ranking, share) for rule, ranking in rankings.items()}
    outcomes: dict[str, tuple[Ranking | Exception, float]] = {}
    for rule in chosen:
        stopwatch = Stopwatch()
        try:
            own = options.get(rule, {})
            outcome: Ranking | Exception = rank(
                matrix, rule, missing=missing, aggregation=aggregation, ties=ties, **dict(own)
            )
        except Exception as error:
            logger.exception("rule %s failed", rule)
            outcome = error
        outcomes[rule] = (outcome, stopwatch.seconds)
    return outcomes


def quick_batches(rules: Sequence[str], aggregation: str) -> list[list[str]]:
    """Those of the rules that do not take longest, as they are ranked together: each batch takes a moment.

    With two-step aggregation every group is ranked by itself, so that there a family of rules is a batch.
    """
    quick = [rule for rule in rules if not _takes_long(get_rule(rule))]
    if aggregation != TWO_STEP:
        return [quick] if quick else []
    families = dict.fromkeys(get_rule(rule).family for rule in quick)
    return [[rule for rule in quick if get_rule(rule).family == family] for family in families]


def long_batches(rules: Sequence[str]) -> list[list[str]]:
    """Those of the rules that take longest, each by itself, the longest last."""
    longest = [rule for rule in rules if _takes_long(get_rule(rule))]
    return [[rule] for rule in sorted(longest, key=lambda rule: seconds_on_large_board(get_rule(rule)))]


def board_in_turn(
    matrix: ScoreMatrix, missing: str, aggregation: str, rules: Sequence[str], ties: str | None
) -> Iterator[MajorityFacts | Outcomes]:
    """What a board under other settings is made of: the majority facts, then rankings as `rank_isolated`, in batches.

    First come the rules that share what they need, then those that take longest, one by one.
    """
    yield majority_facts(matrix, aggregation)
    for batch in (*quick_batches(rules, aggregation), *long_batches(rules)):
        outcomes = rank_isolated(matrix, missing, aggregation, batch, ties=ties)
        yield {rule: outcome for rule, (outcome, _) in outcomes.items()}


def majority_facts(matrix: ScoreMatrix, aggregation: str) -> MajorityFacts:
    """The Condorcet winner and the Smith set (a boolean a system) with the tasks' weights under `aggregation`.

    Two-step aggregation ranks groups and compares no pair of systems, so that it has neither: the winner with other
    weights may be another system. Among very many systems the winner is found without comparing all pairs, and so is
    the Smith set unless it is large: then no one is marked.
    """
    if aggregation == TWO_STEP:
        return None, np.zeros(matrix.n_systems, bool)
    weighed = reweighted(matrix, aggregation)
    if matrix.n_systems > COMPARED_AT_ONCE:
        winner, members = majority_of_many(weighed)
    else:
        pairwise = Pairwise.of(weighed)
        winner, members = condorcet_winner(pairwise), smith_set(pairwise)
    in_smith_set = np.zeros(matrix.n_systems, bool)
    in_smith_set[list(members or ())] = True
    return winner, in_smith_set
