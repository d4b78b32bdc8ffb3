"""Who can win a revision under which weights: computed, stored as a report, read back, and solved on demand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from django.utils.translation import gettext, ngettext

from leaderboard.common.hashing import content_hash
from leaderboard.common.text import in_words, shortened
from leaderboard.computing.prospects import what_puts_above, who_can_win
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Job, Publication, Report as ReportRow, Revision
from leaderboard.on_demand.budget import TooLargeError, compute, refuse_beyond_budget, single_flight
from leaderboard.queue.kinds import PROSPECTS
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.reports import make_report, storing, unpack_arrays
from leaderboard.rankings.score_matrix import NOTHING_TO_RANK, RevisionMatrix, revision_matrix
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.prospects.text import share_of_weight
from ranking_engine import ScoreMatrix
from ranking_engine.core.aggregation import reweighted, weight_bits
from ranking_engine.prospects import (
    MAJORITY,
    ConditionError,
    Conditions,
    Objective,
    Order,
    Prospect,
    Prospects,
    TaskSet,
    prospects,
)
from ranking_engine.prospects.conditions import check_no_number
from ranking_engine.text.names import fold_name

# What may be asked for on demand: systems x systems x tasks, as every system is compared with every other.
ON_DEMAND_CELLS = 10_000_000
ALL_TASKS = "all_"  # begins the names of the arrays of the prospects in which weight-0 tasks vote, too


@dataclass(frozen=True)
class StoredProspects:
    """The prospects of one revision.

    Attributes:
        prospects: with the tasks that vote.
        with_all_tasks: with the tasks of weight 0 as well; None where there are none.
        own_weights: the benchmark's own weights by voting task, of sum 1.
        unweighted: keys of the ordered tasks of weight 0.
        seconds: how long it took.
    """

    prospects: Prospects
    with_all_tasks: Prospects | None
    own_weights: Mapping[str, float]
    unweighted: tuple[str, ...]
    seconds: float


def compute_prospects(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Find out who can win the job's revision; the returned function stores it."""
    revision = Revision.objects.select_related("configuration").get(pk=job.subject_id)
    report = prospects_report(revision, job.parameters, checkpoint)
    return storing(report)


def prospects_report(revision: Revision, parameters: dict[str, Any], checkpoint: Callable[[float], None]) -> ReportRow:
    """The prospects of a revision as a report that is not stored yet."""
    stopwatch = Stopwatch()
    table = revision_matrix(revision)
    summary: dict[str, Any] = {"reason": NOTHING_TO_RANK}
    arrays: dict[str, np.ndarray] = {}
    if table is not None and not table.matrix.votes.any():
        summary["reason"] = "no task has a weight above 0"
    elif table is not None:
        matrix = weighed(table)
        unweighted = unweighted_tasks(matrix)
        n_rounds = 2 if unweighted else 1
        outcome = _found(matrix, parameters, lambda done: checkpoint(done / n_rounds))
        summary = {"reason": "", "found": outcome.summary(), "unweighted": list(unweighted)}
        arrays = outcome.as_arrays() | {"own_weights": own_weights(matrix)}
        if unweighted:
            whole = _found(matrix, parameters, lambda done: checkpoint((1 + done) / 2), all_tasks=True)
            summary["with_all_tasks"] = whole.summary()
            arrays |= {ALL_TASKS + name: array for name, array in whole.as_arrays().items()}
    return make_report(
        revision,
        PROSPECTS,
        parameters=parameters,
        summary=summary,
        arrays=arrays,
        seconds=stopwatch.seconds,
    )


def _found(
    matrix: ScoreMatrix, parameters: Mapping[str, Any], checkpoint: Callable[[float], None], *, all_tasks: bool = False
) -> Prospects:
    return prospects(
        matrix,
        all_tasks=all_tasks,
        n_draws=parameters["n_draws"],
        seed=parameters["seed"],
        max_steps=parameters["max_steps"],
        progress=lambda done, total: checkpoint(done / total),
    )


def weighed(table: RevisionMatrix) -> ScoreMatrix:
    """The matrix with the weights of the revision's aggregation, from which nearest weights are measured.

    With two-step aggregation the groups are ranked; there the tasks' own weights count.
    """
    aggregation = table.configuration.aggregation
    return table.matrix if aggregation == TWO_STEP else reweighted(table.matrix, aggregation)


def own_weights(matrix: ScoreMatrix) -> np.ndarray:
    """The weights of the voting tasks, of sum 1."""
    weights = np.array([float(weight) for weight, votes in zip(matrix.weights, matrix.votes, strict=True) if votes])
    return weights / weights.sum()


def unweighted_tasks(matrix: ScoreMatrix) -> tuple[str, ...]:
    """The tasks that have an order and no weight: they would vote if asked to."""
    return tuple(
        name
        for name, direction, weight in zip(matrix.task_names, matrix.directions, matrix.weights, strict=True)
        if direction != 0 and weight == 0
    )


# --- Read back -------------------------------------------------------------------------------------------------------


def stored_prospects(publication: Publication) -> tuple[StoredProspects | None, str]:
    """The prospects of what is published, and where there are none why not; both are empty while they are computed."""
    reports = ReportRow.objects.filter(
        revision_id=publication.revision_id, engine_version=publication.engine_version, kind=PROSPECTS
    )
    report = reports.order_by("-pk").first()
    if report is None:
        return None, ""
    if report.summary["reason"]:
        return None, report.summary["reason"]
    arrays = unpack_arrays(report.arrays)
    prospects = Prospects.from_arrays(report.summary["found"], arrays)
    whole = None
    if "with_all_tasks" in report.summary:
        own = {name.removeprefix(ALL_TASKS): array for name, array in arrays.items() if name.startswith(ALL_TASKS)}
        whole = Prospects.from_arrays(report.summary["with_all_tasks"], own)
    return (
        StoredProspects(
            prospects=prospects,
            with_all_tasks=whole,
            own_weights=dict(zip(prospects.tasks, arrays["own_weights"].tolist(), strict=True)),
            unweighted=tuple(report.summary["unweighted"]),
            seconds=report.seconds,
        ),
        "",
    )


def earlier_prospects(publication: Publication) -> int | None:
    """The number of the newest earlier revision whose prospects are stored."""
    earlier = ReportRow.objects.filter(
        revision__benchmark_id=publication.benchmark_id,
        revision__number__lt=publication.revision.number,
        revision__publications__isnull=False,
        kind=PROSPECTS,
    )
    return earlier.order_by("-revision__number").values_list("revision__number", flat=True).first()


# --- On demand -------------------------------------------------------------------------------------------------------


def prospects_under(
    revision: Revision, conditions: Conditions, audience_level: str, *, all_tasks: bool = False, rule: str = MAJORITY
) -> Prospects:
    """Who can win under conditions on the weights, or under another rule: solved on demand, never stored.

    Args:
        revision: whose scores.
        conditions: with the keys of tasks and groups.
        audience_level: who the answer is for; part of the cache's key.
        all_tasks: whether tasks of weight 0 vote, too.
        rule: what is to be won, one of the engine's RULES.

    Raises:
        ConditionError: they name a task or a group that there is not, or that does not vote.
        TooLargeError: the board is too large to solve this on demand.
    """
    matrix = _on_demand_matrix(revision)
    voting = matrix
    if all_tasks:
        voting = matrix.with_weights([Fraction(1) if direction else Fraction(0) for direction in matrix.directions])
    conditions.check(voting)  # before others wait for the answer
    cache_key = [list(conditions.texts), all_tasks, rule]
    key = f"prospects:{inputs_of(revision)}:{content_hash(cache_key)}:{audience_level}"
    options = {"all_tasks": all_tasks, "missing": configuration_of(revision).missing_policy}
    return single_flight(key, lambda: compute(who_can_win, matrix, conditions, rule, keywords=options))


def pair_under(revision: Revision, system: str, rival: str, audience_level: str) -> Prospect:
    """Which weights put one system equal to another or above it, and the least changes that do; solved on demand.

    Args:
        revision: whose scores.
        system: the key of the system that is to come out above.
        rival: the key of the other.
        audience_level: who the answer is for; part of the cache's key.

    Raises:
        ValueError: there is no such system, or both are the same.
        TooLargeError: the board is too large to solve this on demand.
    """
    matrix = _on_demand_matrix(revision)
    key = f"pair:{inputs_of(revision)}:{content_hash([system, rival])}:{audience_level}"
    return single_flight(key, lambda: compute(what_puts_above, matrix, system, rival))


def _on_demand_matrix(revision: Revision) -> ScoreMatrix:
    """The matrix of a revision, where it is not too large for an answer on demand.

    Raises:
        TooLargeError: it is.
        ConditionError: there is no score to hold conditions against.
    """
    table = revision_matrix(revision)
    if table is None or not table.matrix.votes.any():
        raise ConditionError(gettext("the benchmark has no system, or no task of weight above 0"))
    n, n_tasks = table.matrix.n_systems, table.matrix.n_tasks
    if n * n * n_tasks > ON_DEMAND_CELLS:
        raise TooLargeError(
            gettext(
                "This board has %(n)s systems x %(n)s rivals x %(n_tasks)s tasks = %(n_cells)s; at most %(most)s can "
                "be solved on demand. Download the scores and use the command line: %(command)s"
            )
            % {
                "n": n,
                "n_tasks": n_tasks,
                "n_cells": f"{n * n * n_tasks:,}",
                "most": f"{ON_DEMAND_CELLS:,}",
                "command": "python -m ranking_engine prospects scores.csv",
            }
        )
    aggregation = configuration_of(revision).aggregation
    refuse_beyond_budget(n, n_tasks, bits=weight_bits(table.matrix, aggregation))
    return weighed(table)


def read_conditions(texts: Sequence[str], revision: Revision) -> Conditions:
    """Conditions as people write them, with the names of tasks and groups or their keys.

    Raises:
        ConditionError: one cannot be read.
    """
    configuration = configuration_of(revision)

    def key_of(name: str, kind: str) -> str:
        names = configuration.task_names if kind == "task" else configuration.group_names
        keys = {fold_name(name): key for key, name in names.items()} | {fold_name(key): key for key in names}
        if fold_name(name) not in keys:
            if kind == "task":
                check_no_number(name)
            unknown = gettext("unknown task %(name)s; there are %(names)s")
            if kind == "group":
                unknown = gettext("unknown group %(name)s; there are %(names)s")
            known = in_words(list(names.values()), 10) or gettext("none")
            raise ConditionError(unknown % {"name": repr(shortened(name)), "names": known})
        return keys[fold_name(name)]

    def keyed(task_set: TaskSet) -> TaskSet:
        tasks = tuple(key_of(name, "task") for name in task_set.tasks)
        return TaskSet(tasks, tuple(key_of(name, "group") for name in task_set.groups))

    parsed = Conditions.parse(texts)
    return Conditions(
        tuple(replace(bound, of=keyed(bound.of)) for bound in parsed.bounds),
        tuple(Order(keyed(order.more), keyed(order.less)) for order in parsed.orders),
        Objective(parsed.objective.goal, keyed(parsed.objective.of)) if parsed.objective else None,
    )


def in_own_words(conditions: Conditions, revision: Revision) -> list[str]:
    """Conditions as pages tell them, with the names of tasks and groups."""
    tasks = configuration_of(revision).task_names
    groups = configuration_of(revision).group_names

    def sum_of(task_set: TaskSet) -> str:
        names = [tasks.get(key, key) for key in task_set.tasks]
        return " + ".join(
            [*names, *(gettext("the group %(group)s") % {"group": groups.get(key, key)} for key in task_set.groups)]
        )

    # One text a side of a bound, as `Conditions.texts` has them: certificates name them by their places.
    texts = []
    for side in (side for bound in conditions.bounds for side in bound.sides):
        if side.at_least is None:
            bound_text = ngettext(
                "%(tasks)s weighs at most %(share)s", "%(tasks)s weigh at most %(share)s", _size(side.of)
            )
        else:
            bound_text = ngettext(
                "%(tasks)s weighs at least %(share)s", "%(tasks)s weigh at least %(share)s", _size(side.of)
            )
        share = (side.at_most or Fraction(0)) if side.at_least is None else side.at_least
        texts.append(bound_text % {"tasks": sum_of(side.of), "share": share_of_weight(share)})
    texts += [
        ngettext(
            "%(tasks)s weighs at least as much as %(others)s",
            "%(tasks)s weigh at least as much as %(others)s",
            _size(order.more),
        )
        % {"tasks": sum_of(order.more), "others": sum_of(order.less)}
        for order in conditions.orders
    ]
    if aim := conditions.objective:
        if aim.goal == "minimise":
            goal = ngettext(
                "of the winning weights, %(tasks)s weighs as little as possible",
                "of the winning weights, %(tasks)s weigh as little as possible",
                _size(aim.of),
            )
        else:
            goal = ngettext(
                "of the winning weights, %(tasks)s weighs as much as possible",
                "of the winning weights, %(tasks)s weigh as much as possible",
                _size(aim.of),
            )
        texts.append(goal % {"tasks": sum_of(aim.of)})
    return texts


def _size(task_set: TaskSet) -> int:
    return len(task_set.tasks) + len(task_set.groups)


def system_names(revision: Revision) -> dict[str, str]:
    """What the systems were called at a revision, by key, in the order of the keys."""
    return {system.key: system.name for system in systems_at(revision)}
