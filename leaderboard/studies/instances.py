"""How the systems of a board rank by their scores on single instances: computed, stored, and read back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import Job, Publication, Revision
from leaderboard.queue.kinds import INSTANCES
from leaderboard.rankings.instances import clusters_on, current_instances, hidden_instances, shared_sets, unpack_names
from leaderboard.rankings.reports import RANKING, make_report, published_reports, storing, unpack_arrays
from leaderboard.rankings.score_matrix import RevisionMatrix, revision_matrix
from leaderboard.studies.items import items_of_board
from leaderboard.studies.redrawn_ranks import redrawn_arrays
from leaderboard.submissions.instances.vectors import TOLERANCE, unpack_vector
from ranking_engine.core.instances import AGGREGATIONS, InstanceScores, aggregate_all, paired_differences
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.files.instance_tables import cluster_codes
from ranking_engine.stability.instance_subsets import task_subset_curves
from ranking_engine.stability.separability.instance_errors import paired_errors, residual_sums
from ranking_engine.stability.separability.pair_tests import instance_separability

MAX_CELLS = 20_000_000  # scores of single instances that one job holds
MAX_PAIRS = 100  # of neighbours that are compared
MAX_COMPARED = 2_000_000  # pairs times instances
MAX_REDRAWN = 4_000_000_000  # scores times draws of the bootstrap on two levels
LEAST_DRAWS = 200  # of it, however many scores there are


@dataclass(frozen=True, eq=False)
class BoardInstances:
    """The instance scores of a revision on the sets that its systems share.

    Attributes:
        scores: of the systems that have some, on the tasks that vote.
        rows: for each of these systems, its number in the revision's order.
        tasks: for each task its key, the number of instances, of clusters of these, of systems, and of systems left
            out because theirs are other instances.
        names: for each task those of its instances.
    """

    scores: InstanceScores
    rows: list[int]
    tasks: list[dict[str, Any]]
    names: list[list[str]]


def compute_instances(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rank the job's revision by its instances; the returned function stores what was found."""
    revision = Revision.objects.select_related("configuration", "benchmark").get(pk=job.subject_id)
    stopwatch = Stopwatch()
    table = revision_matrix(revision)
    held = None if table is None else _board_instances(table)
    summary: dict[str, Any] = {
        "status": "undefined",
        "reason": "no task of weight above 0 has scores of single instances",
    }
    arrays: dict[str, np.ndarray] = {}
    if table is not None and held is not None:
        checkpoint(0.2)
        if (n := sum(block.size for block in held.scores.blocks)) > MAX_CELLS:
            summary["reason"] = f"not computed for more than {MAX_CELLS:,} scores of single instances (here {n:,})"
        else:
            n_systems = table.matrix.n_systems
            counts = np.zeros(n_systems, np.int32)
            counts[held.rows] = sum((~np.isnan(block)).sum(axis=1) for block in held.scores.blocks)
            arrays = {"n_instances": counts}
            for key, ranking in aggregate_all(held.scores).items():
                ranks, scores = np.full(n_systems, UNRANKED, np.int32), np.full(n_systems, np.nan)
                ranks[held.rows], scores[held.rows] = ranking.ranks, ranking.scores
                arrays |= {f"ranks_{key}": ranks, f"scores_{key}": scores}
            n_draws, curves = task_subset_curves(held.scores, seed=job.parameters["seed"])
            arrays |= {f"subset_tau_{key}": curve for key, curve in curves.items()}
            checkpoint(0.5)
            # The systems with instance scores as they follow each other on the board under the default rule; where
            # that ranks none of them, in the order of two levels.
            rule, board_ranks = revision.benchmark.default_rule, np.full(n_systems, UNRANKED)
            publication = Publication.objects.filter(revision=revision).order_by("-pk").first()
            for ranking_report in published_reports(publication, [RANKING]) if publication else []:
                if ranking_report.summary["rule"] == rule:
                    board_ranks = unpack_arrays(ranking_report.arrays)["ranks"]
            if not (board_ranks[held.rows] != UNRANKED).any():
                rule, board_ranks = "two_level", arrays["ranks_two_level"]
            placed = [(int(board_ranks[i]), i, k) for k, i in enumerate(held.rows) if board_ranks[i] != UNRANKED]
            order = [k for _, _, k in sorted(placed)]  # equal ranks in the order of their keys, as the rows are
            pairs, tested = _pairs(held, order, job.parameters)
            checkpoint(0.7)
            n_redrawn = max(LEAST_DRAWS, min(job.parameters["n_resamples"], MAX_REDRAWN // max(1, n)))
            arrays |= pairs | redrawn_arrays(held.scores, held.rows, n_systems, n_redrawn, job.parameters)
            checkpoint(0.8)
            items, figures_of_items = items_of_board(
                held.scores,
                held.names,
                seed=job.parameters["seed"],
                hidden=hidden_instances(revision.benchmark).values(),
            )
            arrays |= figures_of_items
            summary = {"status": "there", "reason": "", "tasks": held.tasks, "rule": rule, "neighbours": tested,
                       "n_subset_draws": n_draws, "n_redrawn": n_redrawn, "items": items}  # fmt: skip
    report = make_report(
        revision,
        job.kind,
        parameters=job.parameters,
        summary=summary,
        arrays=arrays,
        seconds=stopwatch.seconds,
    )
    return storing(report)


def _board_instances(table: RevisionMatrix) -> BoardInstances | None:
    """The instance scores of a revision; None where no task that votes has some."""
    cells = current_instances(table.revision, with_values=True)
    sets = shared_sets(cells)
    place = {system.id: i for i, system in enumerate(table.systems)}
    voting = [task for t, task in enumerate(table.configuration.tasks) if table.matrix.votes[t] and task.id in sets]
    kept = {
        cell: row
        for cell, row in cells.items()
        if cell[0] in place and row.instance_set_id == sets[cell[1]] and cell[1] in {task.id for task in voting}
    }
    rows = sorted({place[system] for system, _ in kept})
    if not rows:
        return None
    number = {i: k for k, i in enumerate(rows)}
    clusters, names_of_clusters = clusters_on(kept, sets), list[list[str]]()
    blocks, tasks, instance_names = [], [], []
    for task in voting:
        here = {system: row for (system, of), row in kept.items() if of == task.id}
        instance_set = next(row.instance_set for row in here.values())
        n = instance_set.n_instances
        instance_names.append(unpack_names(instance_set.names))
        block = np.full((len(rows), n), np.nan)
        for system, row in here.items():
            block[number[place[system]]] = unpack_vector(row.values)
        blocks.append(block)
        n_other = sum(of == task.id and system in place for system, of in cells) - len(here)
        names_of_clusters.append(clusters.get(task.id, [""] * n))
        n_clusters = len(set(filter(None, names_of_clusters[-1]))) + names_of_clusters[-1].count("")
        counts = {"n_instances": n, "n_clusters": n_clusters, "n_systems": len(here)}
        tasks.append({"task": task.key, **counts, "n_other_set": n_other})
    names = tuple(table.systems[i].key for i in rows)
    keys = tuple(task.key for task in voting)
    directions = tuple(int(task.direction) for task in voting)
    of_tasks = cluster_codes(*names_of_clusters) if clusters else ()
    return BoardInstances(InstanceScores(names, keys, tuple(blocks), directions, of_tasks), rows, tasks, instance_names)


def _pairs(
    held: BoardInstances, order: Sequence[int], parameters: dict[str, Any]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Each system against the next on the board: bootstrap intervals, standard errors, and adjusted sign-flip tests."""
    n_instances = sum(block.shape[1] for block in held.scores.blocks)
    most = max(1, min(MAX_PAIRS, MAX_COMPARED // n_instances))
    pairs = np.array(list(pairwise(order))[:most], dtype=np.intp).reshape(-1, 2)
    level = parameters["level"]
    differences = paired_differences(
        held.scores, pairs.tolist(), n_resamples=parameters["n_resamples"], level=1 - level, seed=parameters["seed"]
    )
    errors = paired_errors(held.scores, pairs.tolist(), level=level)
    # All instances of all tasks side by side, some clusters of several tasks. Each is divided by how many its task has:
    # the sum is the sum of the means of the tasks.
    tests = instance_separability(
        np.concatenate([block / block.shape[1] for block in held.scores.oriented()], axis=1),
        pairs,
        clusters=np.concatenate(held.scores.clusters) if held.scores.clusters else None,
        level=level,
        seed=parameters["seed"],
    )
    rows = np.array(held.rows, np.int32)
    arrays: dict[str, np.ndarray] = {
        "pairs": rows[pairs],
        "difference": differences.difference,
        "lower": differences.lower,
        "upper": differences.upper,
        "n_common": differences.n_common.astype(np.int32),
        "standard_error": errors.standard_error,
        "detectable": errors.detectable,
        "task_error": errors.task_error,
        "instance_share": errors.instance_share,
        "p_adjusted": tests.adjusted,
        "verdicts": tests.verdicts,
    }
    return arrays, tests.summary() | {"n_neighbours": max(0, len(order) - 1)}


def with_clustered_errors(table: RevisionMatrix, errors: np.ndarray) -> np.ndarray:
    """Stated standard errors with those in their place that know the clusters of the instances.

    A stated error stays where the instances have no clusters, or too few, or the score is not their mean.

    Args:
        table: the scores.
        errors: in the shape of its matrix, NaN where none is stated.
    """
    cells = current_instances(table.revision)
    if (
        np.isnan(errors).all()
        or not clusters_on(cells, shared_sets(cells))
        or (held := _board_instances(table)) is None
    ):
        return errors
    known = errors.copy()
    for key, block, codes in zip(held.scores.task_names, held.scores.blocks, held.scores.clusters, strict=True):
        t = table.matrix.task_names.index(key)
        for i, row in zip(held.rows, block, strict=True):
            values, clusters = row[~np.isnan(row)], codes[~np.isnan(row)]
            sizes = np.bincount(clusters)
            if not len(values) or len(set(clusters.tolist())) == len(values):
                continue
            error = float(np.linalg.norm(residual_sums(values, clusters, sizes)))
            if error > 0 and not np.isnan(errors[i, t]) and abs(table.written[i, t] - values.mean()) <= TOLERANCE:
                known[i, t] = error
    return known


@dataclass(frozen=True, eq=False)
class InstanceReport:
    """What is stored of a publication's instances."""

    summary: dict[str, Any]
    parameters: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def ranks(self, aggregation: str) -> np.ndarray:
        """The ranks under one of AGGREGATIONS, in the revision's order; -1 = none."""
        return self.arrays[f"ranks_{aggregation}"]

    @property
    def subset_taus(self) -> dict[str, list[float]]:
        """The mean tau-b on k tasks, drawn, with the ranking on all, by aggregation; empty in earlier reports."""
        names = {key: f"subset_tau_{key}" for key in AGGREGATIONS}
        return {key: self.arrays[name].tolist() for key, name in names.items() if name in self.arrays}

    @property
    def winners(self) -> dict[str, list[int]]:
        """Under each aggregation, who is first."""
        return {key: np.flatnonzero(self.ranks(key) == 1).tolist() for key in AGGREGATIONS}


def instance_report(publication: Publication) -> InstanceReport | None:
    """The report of a publication's instances; None where it is not there."""
    reports = published_reports(publication, [INSTANCES])
    if not reports:
        return None
    return InstanceReport(reports[-1].summary, reports[-1].parameters, unpack_arrays(reports[-1].arrays))
