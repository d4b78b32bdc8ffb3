"""The catalogue of rules: what each is called, needs and costs, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ranking_engine.missing import MISSING_POLICIES
from ranking_engine.profile import Outcome, TaskSum
from ranking_engine.rules import (
    bradley_terry,
    cardinal,
    elimination,
    kemeny,
    majority,
    paths,
    positional,
    rates,
    threshold,
)
from ranking_engine.rules.positional import TIES
from ranking_engine.score_matrix import FloatArray

__all__ = [
    "MISSING_POLICIES",
    "RULES",
    "TIES",
    "Number",
    "Rule",
    "get_rule",
    "listed_rules",
    "quick_rules",
    "slow_rules",
]

QUICK_SECONDS = 1.0


@dataclass(frozen=True)
class Number:
    """The range of a numeric option, both ends included, and its default."""

    default: float
    least: float
    most: float


@dataclass(frozen=True)
class Rule:
    """One ranking rule.

    Attributes:
        key: its name in the command line, the API and saved links.
        name: its name for readers.
        family: cardinal, positional, elimination, majority, consensus or rates.
        needs_complete: it needs every score, so that a missing-score policy applies; other (native) rules
            compare two systems on the tasks that both have.
        cost: estimated seconds of one core for (n_systems, n_tasks), shared parts included.
        function: Profile and options to Outcome.
        summary: one plain sentence for a reader.
        source: the publication that defines it.
        tie_convention: the default for ties within a task, a key of TIES; None where ties need none.
        options: the values that each further option takes, the default first.
        parameters: options that must be given, each with the function that checks a value and returns it.
        numbers: numeric options, each with its range and default.
        task_sum: how its scores are sums over tasks; None where they are not. Copeland, Minimax and the rules of the
            majority compare sums over tasks of two systems at a time, eliminations the sums of those that remain.
        is_slow: its time grows faster than that of comparing all pairs, so that it is computed where asked for.
        max_systems: it is not computed for more ranked systems than this; None where there is no limit.
    """

    key: str
    name: str
    family: str
    needs_complete: bool
    cost: Callable[[int, int], float]
    function: Callable[..., Outcome]
    summary: str
    source: str
    tie_convention: str | None = None
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parameters: Mapping[str, Callable[[object], Any]] = field(default_factory=dict)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    task_sum: TaskSum | None = None
    is_slow: bool = False
    max_systems: int | None = None

    @property
    def is_listed(self) -> bool:
        """Whether it is a column of every leaderboard; the others are computed where asked for."""
        return not (self.parameters or self.is_slow)

    def is_quick(self, n_systems: int, n_tasks: int) -> bool:
        """Whether the rule should take less than a second at this size."""
        return self.cost(n_systems, n_tasks) < QUICK_SECONDS

    def why_not_computed(self, n_systems: int) -> str:
        """Return why the rule is not computed for so many systems; empty where it is."""
        if self.max_systems is None or n_systems <= self.max_systems:
            return ""
        return f"not computed for more than {self.max_systems} systems (here {n_systems})"


def _sorting_cost(n: int, T: int) -> float:
    return 2e-4 + 1.5e-7 * n * T


def _pairwise_cost(n: int, T: int) -> float:
    return 3e-4 + 1.5e-7 * n * T + 5e-10 * n * n * T + 1.5e-8 * n * n


def _schulze_cost(n: int, T: int) -> float:
    return _pairwise_cost(n, T) + min(1e-3 + 5e-10 * n**3, 2e-7 * n * n + 1e-2)


def _ranked_pairs_cost(n: int, T: int) -> float:
    return _pairwise_cost(n, T) + 2e-3 + 1e-6 * n * n


def _kemeny_cost(n: int, T: int) -> float:
    return _pairwise_cost(n, T) + 5e-2 + 1e-6 * n**3


def _bradley_terry_cost(n: int, T: int) -> float:
    return _pairwise_cost(n, T) + 4e-3 + 1.5e-6 * n * n + 4e-10 * n**3


def _rounds_cost(n: int, T: int) -> float:
    return _pairwise_cost(n, T) + 8e-6 * n + 1e-8 * n * n


def _votes_cost(n: int, T: int) -> float:
    return _sorting_cost(n, T) + 1.2e-5 * n + 1e-10 * n * n * T


def _threshold_cost(n: int, T: int) -> float:
    return _sorting_cost(n, T) + 4e-7 * n * T


def _win_rate_cost(n: int, T: int) -> float:
    return _pairwise_cost(n, T) + 1e-7 * n * n


def _differences_cost(n: int, T: int) -> float:
    return _pairwise_cost(n, T) + 8e-6 * T + 1.5e-9 * n * n * T


def _of_vector(vector_of: Callable[..., FloatArray]) -> TaskSum:
    return TaskSum(positional.contributions_of(vector_of))


MOST_COMPARED = 15_000  # systems all of whose pairs are compared: a number for each takes 0.9 GB

_RULES = (
    Rule(
        "mean", "Mean", "cardinal", True, _sorting_cost, cardinal.mean,
        "The weighted average of the scores.",
        "The usual practice; see Colombo et al. 2022 and Rofin et al. 2023 for what is wrong with it.",
        task_sum=TaskSum(cardinal.mean_contributions),
    ),
    Rule(
        "geometric_mean", "Geometric mean", "cardinal", True, _sorting_cost, cardinal.geometric_mean,
        "The weighted geometric mean of the scores; a system with a score of 0 or below has none.",
        "Rofin et al. 2023, Vote'n'Rank, section 2",
        task_sum=TaskSum(cardinal.log_contributions, "logarithm of the score", np.exp),
    ),
    Rule(
        "median", "Median", "cardinal", True, _sorting_cost, cardinal.median,
        "The weighted median of the scores.",
        "Pavao et al. 2021, judgement by the median",
    ),
    Rule(
        "normalized_mean", "Normalised mean", "cardinal", True, _sorting_cost, cardinal.normalized_mean,
        "The weighted average of how far a system has come from chance to the best possible score.",
        "Srivastava et al. 2022, Beyond the imitation game, normalised preferred metric",
        task_sum=TaskSum(cardinal.normalized_contributions),
    ),
    Rule(
        "optimality_gap", "Optimality gap", "cardinal", True, _sorting_cost, cardinal.optimality_gap,
        "How far, on average, a system stays below the benchmark's optimality threshold.",
        "Agarwal et al. 2021; Rofin et al. 2023, Vote'n'Rank, section 2",
        task_sum=TaskSum(cardinal.gap_contributions),
    ),
    Rule(
        "plurality", "Plurality", "positional", True, _sorting_cost, positional.plurality,
        "The weight of the tasks on which a system is first.",
        "Rofin et al. 2023, Vote'n'Rank, section 2", tie_convention="worst",
        task_sum=_of_vector(positional.plurality_vector),
    ),
    Rule(
        "borda", "Borda", "positional", True, _sorting_cost, positional.borda,
        "On each task a system earns one point, times the task's weight, for every system placed below it.",
        "Borda 1784; Rofin et al. 2023, Vote'n'Rank, section 2", tie_convention="worst",
        task_sum=_of_vector(positional.borda_vector),
    ),
    Rule(
        "dowdall", "Dowdall", "positional", True, _sorting_cost, positional.dowdall,
        "On each task a system earns the task's weight divided by its position.",
        "Reilly 2002 on Nauru; Rofin et al. 2023, Vote'n'Rank, section 2", tie_convention="best",
        task_sum=_of_vector(positional.dowdall_vector),
    ),
    Rule(
        "average_rank", "Average rank", "positional", True, _sorting_cost, positional.average_rank,
        "The weighted average of a system's positions on the tasks.",
        "Brazdil and Soares 2000; Pavao et al. 2021", tie_convention="average",
        task_sum=TaskSum(positional.average_rank_contributions),
    ),
    Rule(
        "veto", "Veto", "positional", True, _sorting_cost, positional.veto,
        "A system is as good as the weight of the tasks on which it is last is light.",
        "Anti-plurality, see Brandt et al. 2016, Handbook of computational social choice", tie_convention="worst",
        task_sum=_of_vector(positional.veto_vector),
    ),
    Rule(
        "positional", "Positional", "positional", True, _sorting_cost, positional.positional,
        "On each task a system earns the points that a vector of your own gives to its position.",
        "Young 1975, Social choice scoring functions", tie_convention="worst",
        parameters={"vector": positional.checked_vector},
        task_sum=_of_vector(positional.padded_vector),
    ),
    Rule(
        "threshold", "Threshold", "elimination", True, _threshold_cost, threshold.threshold,
        "The best system is last on the least weight of tasks, and among equals last but one, and so on.",
        "Aleskerov et al. 2010; Rofin et al. 2023, Vote'n'Rank, section 2", tie_convention="worst",
    ),
    Rule(
        "baldwin", "Baldwin", "elimination", True, _rounds_cost, elimination.baldwin,
        "The systems with the least Borda score leave, round after round.",
        "Baldwin 1926; Rofin et al. 2023, Vote'n'Rank, section 2", tie_convention="worst", max_systems=MOST_COMPARED,
    ),
    Rule(
        "nanson", "Nanson", "elimination", True, _rounds_cost, elimination.nanson,
        "The systems with a Borda score below the average leave, round after round.",
        "Nanson 1882", tie_convention="worst", max_systems=MOST_COMPARED,
    ),
    Rule(
        "instant_runoff", "Instant runoff", "elimination", True, _votes_cost, elimination.instant_runoff,
        "The systems that are first on the least weight of tasks leave, round after round.",
        "Hare 1857, Ware 1871", tie_convention="worst",
    ),
    Rule(
        "coombs", "Coombs", "elimination", True, _votes_cost, elimination.coombs,
        "The systems that are last on the most weight of tasks leave, round after round.",
        "Coombs 1964, A theory of data", tie_convention="worst",
    ),
    Rule(
        "condorcet", "Condorcet", "majority", False, _pairwise_cost, majority.condorcet,
        "Elects the system that beats every other one head to head, if there is one, and ranks nobody else.",
        "Condorcet 1785; Rofin et al. 2023, Vote'n'Rank, section 2", max_systems=MOST_COMPARED,
    ),
    Rule(
        "copeland", "Copeland", "majority", False, _pairwise_cost, majority.copeland,
        "The number of systems it beats head to head minus the number that beat it.",
        "Copeland 1951; Rofin et al. 2023, Vote'n'Rank, section 2",
        options={"variant": majority.COPELAND_VARIANTS}, max_systems=MOST_COMPARED,
    ),
    Rule(
        "minimax", "Minimax", "majority", False, _pairwise_cost, majority.minimax,
        "A system is as good as its worst head-to-head defeat is light.",
        "Simpson 1969, Kramer 1977; Rofin et al. 2023, Vote'n'Rank, section 2",
        options={"variant": majority.MINIMAX_VARIANTS}, max_systems=MOST_COMPARED,
    ),
    Rule(
        "schulze", "Schulze", "majority", False, _schulze_cost, paths.schulze,
        "Compares two systems by their strongest chains of head-to-head victories over each other.",
        "Schulze 2011", options={"strength": paths.STRENGTHS}, is_slow=True, max_systems=10_000,
    ),
    Rule(
        "ranked_pairs", "Ranked pairs", "majority", False, _ranked_pairs_cost, paths.ranked_pairs,
        "Locks in head-to-head victories, the strongest first, unless they contradict those locked in before.",
        "Tideman 1987", options={"strength": paths.STRENGTHS}, is_slow=True, max_systems=3_000,
    ),
    Rule(
        "kemeny", "Kemeny", "consensus", False, _kemeny_cost, kemeny.kemeny,
        "The order that contradicts the tasks least, counting for every pair the weight that prefers the lower one.",
        "Kemeny 1959, Young and Levenglick 1978", is_slow=True, max_systems=1_000,
        numbers={"seconds": Number(kemeny.DEFAULT_SECONDS, 0.0, 86_400.0)},
    ),
    Rule(
        "win_rate", "Win rate", "rates", False, _win_rate_cost, rates.win_rate,
        "How often a system is ahead, on average over its rivals; a tie is half a win.",
        "Liang et al. 2023, HELM; Pavao et al. 2021, success rate",
        options={"variant": rates.WIN_RATE_VARIANTS}, max_systems=MOST_COMPARED,
        task_sum=TaskSum(rates.win_rate_contributions),
    ),
    Rule(
        "relative_difference", "Relative difference", "rates", False, _differences_cost, rates.relative_difference,
        "By how much a system is ahead, relative to the two scores, on average over rivals and tasks.",
        "Pavao et al. 2021, section 3", max_systems=MOST_COMPARED,
        task_sum=TaskSum(rates.relative_difference_contributions),
    ),
    Rule(
        "bradley_terry", "Bradley-Terry", "rates", False, _bradley_terry_cost, bradley_terry.bradley_terry,
        "The strengths that make the wins and ties between all pairs of systems the most likely.",
        "Bradley and Terry 1952, Newman 2023", is_slow=True, max_systems=5_000,
        numbers={"prior": Number(0.0, 0.0, 1e6)},
    ),
)  # fmt: skip

RULES: Mapping[str, Rule] = MappingProxyType({rule.key: rule for rule in _RULES})


def quick_rules(n_systems: int, n_tasks: int) -> tuple[str, ...]:
    """Return the keys of the rules, but those with parameters, that each should take less than a second."""
    return tuple(rule.key for rule in _computed(n_systems) if rule.is_quick(n_systems, n_tasks))


def slow_rules(n_systems: int, n_tasks: int) -> tuple[str, ...]:
    """Return the keys of the rules that are computed at this size, but should take longer."""
    return tuple(rule.key for rule in _computed(n_systems) if not rule.is_quick(n_systems, n_tasks))


def _computed(n_systems: int) -> list[Rule]:
    return [rule for rule in RULES.values() if not (rule.parameters or rule.why_not_computed(n_systems))]


def listed_rules() -> list[str]:
    """Return the keys of the rules that every leaderboard shows, in the catalogue's order."""
    return [key for key, rule in RULES.items() if rule.is_listed]


def get_rule(key: str) -> Rule:
    """Return the rule called `key`, or raise a ValueError that lists the rules there are."""
    if key not in RULES:
        raise ValueError(f"`rule` is {key!r}; expected one of {', '.join(RULES)}")
    return RULES[key]
