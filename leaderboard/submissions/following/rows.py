"""Which rows of what was fetched say something that the board does not: the others make no submission."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leaderboard.access.audience import Audience
from leaderboard.models import Benchmark, Task
from leaderboard.rankings.scores import current_scores
from leaderboard.submissions.checks import OnBoard, check_rows
from leaderboard.submissions.rows import CheckedRow, PackedInstances, SubmittedRow
from ranking_engine.core.decimals import rounded_score

Measured = tuple[float | None, float | None, int | None]  # a score, its standard error, its number of instances
UNMEASURED: Measured = (None, None, None)


@dataclass(frozen=True)
class Changes:
    """The rows that change the board, and how many of them are of systems that are not on it."""

    rows: list[SubmittedRow]
    n_new: int


def changed_rows(audience: Audience, rows: Sequence[SubmittedRow]) -> Changes:
    """Compare rows with the latest revision.

    Args:
        audience: an owner, who sees all scores.
        rows: one per system.

    Raises:
        InputError: something in them cannot be stored.
    """
    benchmark = audience.benchmark
    on_board = OnBoard(benchmark)
    checked = check_rows(audience, rows, on_board=on_board, suggests=False)
    ids = {system.key: system.id for system in on_board.systems}
    revision = benchmark.revisions.order_by("-number").first()
    known = [ids[key] for row in checked if (key := row["system"].get("key"))]
    current = current_scores(revision, known) if revision and known else {}
    measured: dict[tuple[int, int], Measured] = {
        place: (score.value, score.standard_error, score.n_instances)
        for place, score in current.items()
        if score.value is not None
    }
    tasks = dict(Task.objects.filter(benchmark=benchmark, is_archived=False).values_list("key", "pk"))
    replaces_rows = benchmark.replacement == Benchmark.Replacement.ROW
    changed, n_new = [], 0
    for row, checked_row in zip(rows, checked, strict=True):
        key = checked_row["system"].get("key")
        if not key:
            changed.append(row)
            n_new += 1
        else:
            compared = tasks if replaces_rows else checked_row["scores"]
            if any(_stated_measure(checked_row, t) != measured.get((ids[key], tasks[t]), UNMEASURED) for t in compared):
                changed.append(row)
    return Changes(with_stated_once(changed, rows), n_new)


def with_stated_once(kept: Sequence[SubmittedRow], rows: Sequence[SubmittedRow]) -> list[SubmittedRow]:
    """Some rows of an upload, with what it states once for all of them: names of instances, and their clusters.

    Args:
        kept: some of the rows.
        rows: all of them; the first one with instances of a set has its names.
    """
    entries = [(key, entry) for row in rows for key, entry in row.instances.items()]
    names = {entry["set"]: entry["names"] for _, entry in entries if "names" in entry}
    clusters = {(key, entry["set"]): entry["clusters"] for key, entry in entries if "clusters" in entry}
    completed = []
    for row in kept:
        instances: dict[str, PackedInstances] = {}
        for key, entry in row.instances.items():
            own = instances[key] = entry.copy()
            own.pop("names", None)
            own.pop("clusters", None)
            if entry["set"] in names:
                own["names"] = names.pop(entry["set"])
            if (key, entry["set"]) in clusters:
                own["clusters"] = clusters.pop((key, entry["set"]))
        completed.append(replace(row, instances=instances))
    return completed


def _stated_measure(row: CheckedRow, task: str) -> Measured:
    """What a row says of a task."""
    score = row["scores"].get(task, {})
    if score.get("value") is None:
        return UNMEASURED
    instances = row.get("instances", {})
    n = instances[task]["n"] if task in instances else score.get("n_instances")
    return (rounded_score(score["value"]), score.get("standard_error"), n)
