"""Which systems of a board can be told apart: computed for every quick rule, stored, and said in words."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from leaderboard.computing.rankings import TWO_STEP, rank_isolated
from leaderboard.models import Job, Report, Revision
from leaderboard.services.reports import make_report
from leaderboard.services.score_matrix import NOTHING_TO_RANK, RevisionMatrix, revision_matrix
from ranking_engine import Ranking
from ranking_engine.aggregation import reweighted
from ranking_engine.stability.significance import Significance, significance_of_rankings
from ranking_engine.stability.task_dependence import task_dependence

MAX_SYSTEMS = 300  # beyond, there are too many pairs to test each of them after every submission


def compute_significance(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Test the pairs of systems of the job's revision; the returned function stores what was found."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    started = time.perf_counter()
    found = revision_matrix(revision)
    summary: dict[str, Any] = {"status": "undefined", "reason": why_not(revision, found), "rules": {}}
    arrays: dict[str, np.ndarray] = {}
    if found is not None and not summary["reason"]:
        answers = _tested(found, job.parameters)
        checkpoint(0.9)
        summary, arrays = told_apart(answers, found.matrix.n_systems)
    if found is not None:
        summary["dependence"] = task_dependence(found.matrix).summary()
    report = make_report(
        revision,
        job.kind,
        parameters=job.parameters,
        summary=summary,
        arrays=arrays,
        seconds=time.perf_counter() - started,
    )

    def write() -> None:
        Report.objects.bulk_create([report])

    return write


def told_apart(answers: Mapping[str, Significance], n_systems: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What tests by rule say, as the summary and the arrays of a report."""
    summary: dict[str, Any] = {"status": "there", "reason": "", "rules": {}}
    arrays: dict[str, np.ndarray] = {}
    for rule, answer in answers.items():
        told = answer.summary()
        summary |= {name: told[name] for name in ("level", "scale", "n_clusters", "friedman")}
        summary["rules"][rule] = {name: told[name] for name in ("neighbours", "top", "every_pair")}
        arrays |= _arrays(rule, answer, n_systems)
    return summary, arrays


def why_not(revision: Revision, found: RevisionMatrix | None) -> str:
    """Why the pairs of this revision are not tested; empty where they are."""
    if found is None:
        return NOTHING_TO_RANK
    if revision.configuration.content["aggregation"] == TWO_STEP:
        return "with two-step aggregation the groups are ranked, and the test is of differences on tasks"
    if found.matrix.n_systems > MAX_SYSTEMS:
        return f"not computed for more than {MAX_SYSTEMS} systems (here {found.matrix.n_systems})"
    return ""


def _tested(found: RevisionMatrix, parameters: dict[str, Any]) -> dict[str, Significance]:
    configuration = found.revision.configuration.content
    aggregation = configuration["aggregation"]
    outcomes = rank_isolated(found.matrix, configuration["missing_policy"], aggregation)
    rankings = {
        rule: outcome
        for rule, (outcome, _) in outcomes.items()
        if isinstance(outcome, Ranking) and outcome.status == "ranked"
    }
    return significance_of_rankings(
        reweighted(found.matrix, aggregation),
        rankings,
        top=parameters["top"],
        level=parameters["level"],
        seed=parameters["seed"],
    )


def _arrays(rule: str, answer: Significance, n_systems: int) -> dict[str, np.ndarray]:
    """The board's order, its neighbours' p-values, and for every system the places that share a run with it.

    `from_` and `to_` are the first and the last of these, from 1, 0 where a system is in no run or unranked.
    `p_` and `adjusted_` are the p-values of each place against the next, before and after Holm's adjustment.
    """
    place = {system: number for number, system in enumerate(answer.order, start=1)}
    first, last = np.zeros(n_systems, np.int32), np.zeros(n_systems, np.int32)
    for run in answer.runs:
        low, high = place[run.systems[0]], place[run.systems[-1]]
        for i in run.systems:
            first[i] = min(first[i] or low, low)
            last[i] = max(last[i], high)
    board = dict(zip(array_names(rule), (np.array(answer.order, np.int32), first, last), strict=True))
    tests = answer.neighbours
    return board | {f"p_{rule}": tests.p_values, f"adjusted_{rule}": tests.adjusted}


def array_names(rule: str) -> tuple[str, str, str]:
    """What the report calls the arrays of one rule that boards are made of."""
    return f"order_{rule}", f"from_{rule}", f"to_{rule}"


@dataclass(frozen=True)
class Separability:
    """What can be told apart under one rule of one revision.

    Attributes:
        text: what the tests say of the board, in a sentence or two; or why there are none.
        first_rank, last_rank: of every system, the ranks between which no system can be told apart from it; 0 where
            there is none but itself, or where nothing on the board can be told apart.
        short_text: the first half of `text`, for where there is little room.
    """

    text: str
    first_rank: np.ndarray
    last_rank: np.ndarray
    short_text: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether a column of the ranks that cannot be told apart says something."""
        return bool(self.first_rank.any())

    def ranks_of(self, i: int) -> list[int] | None:
        """The ranks between which system `i` cannot be told apart from others."""
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
        return Separability(f"Which systems can be told apart is not tested: {summary['reason']}.", nothing, nothing)
    told = summary["rules"].get(rule)
    if told is None:
        return Separability("", nothing, nothing)
    text, short = separability_sentence(name, told, summary["n_clusters"], summary["level"]), _short(told, summary)
    if told["every_pair"]["verdict"] != "some":
        return Separability(text, nothing, nothing, short)
    order, first, last = (arrays[key] for key in array_names(rule))
    rank_at = np.concatenate([[0], ranks[order]]).astype(np.int32)
    return Separability(text, rank_at[first], rank_at[last], short)


def _short(told: dict[str, Any], summary: dict[str, Any]) -> str:
    """What can be told apart, in a few words."""
    families, n_tasks = [told[name] for name in ("neighbours", "top", "every_pair")], summary["n_clusters"]
    if not told["every_pair"]["n_pairs"]:
        return ""
    if all(family["verdict"] == "too_few_tasks" for family in families):
        are = "task is" if n_tasks == 1 else "independent tasks are"
        return f"{n_tasks} {are} too few to tell any two systems apart"
    neighbours, every = told["neighbours"], told["every_pair"]
    if neighbours["n_separable"]:
        return f"{neighbours['n_separable']} of {neighbours['n_pairs']} pairs of neighbours can be told apart"
    if not every["n_separable"]:
        return "no two systems can be told apart"
    return f"no two neighbours can be told apart, {every['n_separable']:,} of all {every['n_pairs']:,} pairs can"


def separability_sentence(name: str, told: dict[str, Any], n_clusters: int, level: float) -> str:
    """What sign-flip tests over tasks say of a board, for people.

    Args:
        name: the rule's.
        told: the summaries of the rule's families of pairs: `neighbours`, `top` and `every_pair`.
        n_clusters: on how many independent tasks the tests rest.
        level: of significance.
    """
    neighbours, top, every = told["neighbours"], told["top"], told["every_pair"]
    if not every["n_pairs"]:
        return ""
    tasks = f"{n_clusters} independent task{'' if n_clusters == 1 else 's'}"
    at = f"at the {100 * level:g} % level"
    if all(family["verdict"] == "too_few_tasks" for family in (neighbours, top, every)):
        return (
            f"{tasks} are too few to tell any two systems of this board apart {at}: even one that is ahead on all of "
            "them could be so by luck among so many pairs. That is not the same as a tie."
            if n_clusters != 1
            else f"One independent task is too few to tell any two systems apart {at}. That is not the same as a tie."
        )
    if neighbours["n_separable"]:
        first = f"{neighbours['n_separable']} of {neighbours['n_pairs']} pairs of neighbours under {name}"
        first += " can be told apart"
    elif neighbours["verdict"] == "too_few_tasks":
        first = f"There are too few tasks to tell any two neighbours under {name} apart"
    else:
        first = f"No two neighbours under {name} can be told apart"
    parts = [f"{first} {at}, by exact tests on {tasks}"]
    if top["n_pairs"] and top["n_pairs"] != every["n_pairs"]:
        parts.append(f"{top['n_separable']} of the {top['n_pairs']} pairs among the first ranks")
    parts.append(f"{every['n_separable']:,} of all {every['n_pairs']:,} pairs")
    return f"{parts[0]}; {', and '.join(parts[1:])}."


@dataclass(frozen=True)
class NeighbourTest:
    """Two systems that follow each other on a board, by index in the revision's order, and the test of them."""

    first: int
    second: int
    p_value: float
    p_adjusted: float


def neighbour_tests(arrays: dict[str, np.ndarray], rule: str) -> list[NeighbourTest]:
    """The tests of the neighbours under a rule, in the order of the board; none where they are not stored."""
    order = arrays.get(array_names(rule)[0])
    if order is None:
        return []
    places = order.tolist()
    figures = zip(arrays[f"p_{rule}"].tolist(), arrays[f"adjusted_{rule}"].tolist(), strict=True)
    pairs = pairwise(places)
    return [NeighbourTest(i, j, p, adjusted) for (i, j), (p, adjusted) in zip(pairs, figures, strict=True)]


def inseparable_runs(arrays: dict[str, np.ndarray], rule: str) -> list[list[int]]:
    """The runs of systems among which no two can be told apart, by index, in the order of the board.

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
