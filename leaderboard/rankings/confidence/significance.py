"""Which systems of a board differ significantly: computed for every quick rule, stored, and said in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext, gettext_noop

from leaderboard.common.language.engine import in_page_language
from leaderboard.computing.rankings import TWO_STEP, rank_isolated
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Job, Revision
from leaderboard.rankings.confidence.separability import FAMILIES, separability_sentence, short_sentence
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.reports import make_report, storing
from leaderboard.rankings.score_matrix import NOTHING_TO_RANK, RevisionMatrix, revision_matrix
from ranking_engine import Ranking
from ranking_engine.core.aggregation import reweighted
from ranking_engine.stability.separability.pair_tests import SEPARABLE, VERDICTS
from ranking_engine.stability.separability.significance import Significance, significance_of_rankings
from ranking_engine.stability.separability.task_dependence import task_dependence

BASIS = ("tested", "tested_text", "n_clusters", "n_tasks")  # what is stored of a rule's tests beside its families
OUTDATED = gettext_noop("The significance tests are of an earlier version and are being computed again.")
MAX_SYSTEMS = 300  # beyond, there are too many pairs to test each of them after every submission


def compute_significance(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Test the pairs of systems of the job's revision; the returned function stores what was found."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    stopwatch = Stopwatch()
    table = revision_matrix(revision)
    summary: dict[str, Any] = {"status": "undefined", "reason": why_not(revision, table), "rules": {}}
    arrays: dict[str, np.ndarray] = {}
    if table is not None and not summary["reason"]:
        configuration = table.configuration
        aggregation = configuration.aggregation
        outcomes = rank_isolated(table.matrix, configuration.missing_policy, aggregation, table.rules.quick)
        rankings = {
            rule: outcome
            for rule, (outcome, _) in outcomes.items()
            if isinstance(outcome, Ranking) and outcome.status == "ranked"
        }
        answers = significance_of_rankings(
            reweighted(table.matrix, aggregation),
            rankings,
            missing=configuration.missing_policy,
            top=job.parameters["top"],
            level=job.parameters["level"],
            seed=job.parameters["seed"],
        )
        checkpoint(0.9)
        summary, arrays = separability_report(answers, table.matrix.n_systems)
    if table is not None:
        summary["dependence"] = task_dependence(table.matrix).summary()
    report = make_report(
        revision,
        job.kind,
        parameters=job.parameters,
        summary=summary,
        arrays=arrays,
        seconds=stopwatch.seconds,
    )
    return storing(report)


def separability_report(
    answers: Mapping[str, Significance], n_systems: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What tests by rule say, as the summary and the arrays of a report.

    The arrays of a rule are the board's order, its neighbours' p-values, and for every system the places that share a
    run with it: `from_` and `to_` are the first and the last of these, from 1, 0 where a system is in no run or
    unranked. `pairs_`, `p_`, `adjusted_` and `verdicts_` are of the neighbours, the better one first: the systems, the
    p-values before and after Holm's adjustment, and indices of `pair_tests.VERDICTS`.
    """
    summary: dict[str, Any] = {"status": "there", "reason": "", "rules": {}}
    arrays: dict[str, np.ndarray] = {}
    for rule, answer in answers.items():
        tests = answer.summary()
        summary |= {name: tests[name] for name in ("level", "scale", "null_hypothesis", "friedman")}
        summary["rules"][rule] = {name: tests[name] for name in (*FAMILIES, *BASIS)}
        place = {system: number for number, system in enumerate(answer.order, start=1)}
        first, last = np.zeros(n_systems, np.int32), np.zeros(n_systems, np.int32)
        for run in answer.runs:
            low, high = place[run.systems[0]], place[run.systems[-1]]
            for i in run.systems:
                first[i] = min(first[i] or low, low)
                last[i] = max(last[i], high)
        neighbours = answer.neighbours
        arrays |= dict(zip(array_names(rule), (np.array(answer.order, np.int32), first, last), strict=True))
        arrays |= {
            f"pairs_{rule}": neighbours.pairs.astype(np.int32),
            f"p_{rule}": neighbours.p_values,
            f"adjusted_{rule}": neighbours.adjusted,
            f"verdicts_{rule}": neighbours.verdicts,
        }
    return summary, arrays


def why_not(revision: Revision, table: RevisionMatrix | None) -> str:
    """Why the pairs of this revision are not tested; empty where they are."""
    if table is None:
        return NOTHING_TO_RANK
    if configuration_of(revision).aggregation == TWO_STEP:
        return "with two-step aggregation the groups are ranked, but the test is about differences on tasks"
    if table.matrix.n_systems > MAX_SYSTEMS:
        return f"not computed for more than {MAX_SYSTEMS} systems (here {table.matrix.n_systems})"
    return ""


def array_names(rule: str) -> tuple[str, str, str]:
    """What the report calls the arrays of one rule that boards are made of."""
    return f"order_{rule}", f"from_{rule}", f"to_{rule}"


def neighbour_arrays(rule: str) -> tuple[str, str, str, str]:
    """What the report calls the arrays of the tests of neighbours under one rule."""
    return f"pairs_{rule}", f"p_{rule}", f"adjusted_{rule}", f"verdicts_{rule}"


@dataclass(frozen=True)
class Separability:
    """Which systems differ significantly under one rule of one revision.

    Attributes:
        text: what the tests say of the board, in a sentence or two; or why there are none.
        first_rank, last_rank: of every system, the ranks between which no system differs significantly from it; 0 where
            there is none but itself, or where no pair on the board differs significantly.
        short_text: the first half of `text`, for where there is little room.
    """

    text: str
    first_rank: np.ndarray
    last_rank: np.ndarray
    short_text: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether a column of the ranks that do not differ significantly says something."""
        return bool(self.first_rank.any())

    def ranks_of(self, i: int) -> list[int] | None:
        """The ranks between which system `i` does not differ significantly from others."""
        return [int(self.first_rank[i]), int(self.last_rank[i])] if self.first_rank[i] else None

    def range_text(self, i: int) -> str:
        """`3–9`, or nothing."""
        low, high = self.ranks_of(i) or (0, 0)
        return "" if not low else str(low) if low == high else f"{low}–{high}"


def separability(
    summary: dict[str, Any] | None, arrays: dict[str, np.ndarray], rule: str, name: str, ranks: np.ndarray
) -> Separability:
    """What a report of this study says of a rule.

    Args:
        summary: the report's; None where there is no report.
        arrays: the report's.
        rule: the rule's key.
        name: the rule's name.
        ranks: the rule's ranks, in the revision's order.
    """
    nothing = np.zeros(len(ranks), np.int32)
    if summary is None:
        return Separability("", nothing, nothing)
    if summary["status"] == "undefined":
        return Separability(
            gettext("Significant differences were not tested: %(reason)s.")
            % {"reason": in_page_language(summary["reason"])},
            nothing,
            nothing,
        )
    tests = summary["rules"].get(rule)
    if tests is None:
        return Separability("", nothing, nothing)
    if is_outdated(tests):
        return Separability(OUTDATED, nothing, nothing)
    text, short = separability_sentence(name, tests, summary["level"]), short_sentence(tests)
    if tests["every_pair"]["verdict"] != "some":
        return Separability(text, nothing, nothing, short)
    order, first, last = (arrays[key] for key in array_names(rule))
    rank_at = np.concatenate([[0], ranks[order]]).astype(np.int32)
    return Separability(text, rank_at[first], rank_at[last], short)


def is_outdated(tests: Mapping[str, Any]) -> bool:
    """Whether an engine before 0.5.0 made these tests of a rule: the same for all rules, and in either direction."""
    return "tested" not in tests


@dataclass(frozen=True)
class NeighbourTest:
    """Two systems of consecutive ranks, by index in the revision's order, the better one first, and the test of them.

    `verdict` is one of `pair_tests.VERDICTS`.
    """

    first: int
    second: int
    p_value: float
    p_adjusted: float
    verdict: str

    @property
    def is_separable(self) -> bool:
        """Whether they differ significantly, and the better one is ahead."""
        return self.verdict == VERDICTS[SEPARABLE]


def neighbour_tests(arrays: dict[str, np.ndarray], rule: str) -> list[NeighbourTest]:
    """The tests of the neighbours under a rule, in the order of the board.

    None where they are not stored, or by an engine before 0.5.0, whose neighbours were others.
    """
    if f"verdicts_{rule}" not in arrays:
        return []
    columns = (arrays[name].tolist() for name in neighbour_arrays(rule))
    return [
        NeighbourTest(first, second, p, adjusted, VERDICTS[verdict])
        for (first, second), p, adjusted, verdict in zip(*columns, strict=True)
    ]


def inseparable_runs(arrays: dict[str, np.ndarray], rule: str) -> list[list[int]]:
    """The runs of systems among which no two differ significantly, by index, in the order of the board.

    Stored is of every system the last place that shares a run with it. Runs are maximal, so their first and last places
    grow together: a run begins where that last place grows.
    """
    names = array_names(rule)
    if names[0] not in arrays:
        return []
    order, last = arrays[names[0]].tolist(), arrays[names[2]]
    ends = [int(last[i]) for i in order]
    starts = [k for k, end in enumerate(ends) if end > (ends[k - 1] if k else 0)]
    return [order[k : ends[k]] for k in starts]
