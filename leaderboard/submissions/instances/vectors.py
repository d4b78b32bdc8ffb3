"""Scores of single instances as drafts and the database keep them: packed, hashed, checked against their set.

An entry of a checked row says of one task: `set` (the hash of the instances' names), `n` (how many have a score),
`mean` of these, and `values`. The names are once an upload, as `names` in the first entry of their set; the clusters of
the instances, where it states some, are once per task, as `clusters` in its first entry.
"""

import base64
import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from leaderboard.common.hashing import canonical_json, content_hash
from leaderboard.models import Benchmark, InstanceScores, InstanceSet, Submission, Task
from leaderboard.rankings.instances import clusters_on, current_instances, shared_sets, unpack_names
from leaderboard.submissions.rows import CheckedRow, PackedInstances
from ranking_engine.core.decimals import rounded, rounded_score
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.instance_tables import cluster_codes

NO_CLUSTERS = "clusters of instances count only if a moderator of the benchmark states them; leave the clusters out"
OTHER_CLUSTERS = "these instances are in other clusters than on the board; leave the clusters out"
TOLERANCE = 1e-6  # a stated score further from the mean of its instances is flagged


def pack_vector(values: FloatArray) -> bytes:
    """A vector as it is stored; one NaN, and -0.0 as 0.0."""
    plain = values + 0.0  # -0.0 + 0.0 is 0.0
    plain[np.isnan(plain)] = np.nan
    return zlib.compress(plain.astype("<f8").tobytes())


def unpack_vector(packed: bytes | memoryview) -> FloatArray:
    """A stored vector."""
    return np.frombuffer(zlib.decompress(bytes(packed)), dtype="<f8").astype(np.float64)


def pack_names(names: Sequence[str]) -> bytes:
    """Names, of instances or of the clusters of these, as they are stored."""
    return zlib.compress(canonical_json(list(names)).encode())


def entry_of(names: Sequence[str], values: FloatArray, known: set[str]) -> PackedInstances:
    """One system's scores on the instances of one task, as a checked row says it.

    Args:
        names: of the instances, sorted.
        values: in the same order; at least one is no NaN.
        known: hashes of sets whose names are in an earlier entry; that of this one is added.
    """
    values = rounded(values)
    present = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        mean = float(present.mean())
    if not np.isfinite(mean):  # the sum is beyond all numbers, the mean is not
        mean = float((present / present.size).sum())
    digest = content_hash(list(names))
    entry: PackedInstances = {
        "set": digest,
        "n": int(present.size),
        "mean": rounded_score(mean),
        "values": base64.b64encode(pack_vector(values)).decode(),
    }
    if digest not in known:
        entry["names"] = base64.b64encode(pack_names(names)).decode()
    known.add(digest)
    return entry


def differing_means(rows: Iterable[CheckedRow]) -> list[tuple[str, str, float, float]]:
    """Stated scores that are not the mean of their instances: system name, task key, the score, the mean."""
    return [
        (row["system"]["name"], key, row["scores"][key]["value"], entry["mean"])
        for row in rows
        for key, entry in row.get("instances", {}).items()
        if abs(row["scores"][key].get("value", entry["mean"]) - entry["mean"]) > TOLERANCE
    ]


def foreign_sets(
    benchmark: Benchmark, rows: Sequence[CheckedRow], *, may_moderate: bool, tells: bool
) -> list[tuple[str, str, int | None]]:
    """What is wrong with the sets of instances of checked rows: a task's key, the message, the line of a row.

    On each task a system is compared with the others on the board, so it has to have their set. A system that is in the
    rows itself does not count: its scores are replaced. Moderators state clusters, and replace those of the board. What
    others state has to be the clusters of the board, and gets their names in the rows; clusters that a correction takes
    over stay in them if they are still those of the board.

    Args:
        benchmark: where to.
        rows: one per system.
        may_moderate: whether a moderator sends them.
        tells: whether messages count the names that match, and say whether clusters do. Where scores are hidden they
            do not: one could guess, name by name, what others were measured on.
    """
    with_some = [row for row in rows if row.get("instances")]
    if not with_some:
        return []
    revision = benchmark.revisions.order_by("-number").select_related("configuration").first()
    cells = current_instances(revision) if revision else {}
    keys = {row["system"].get("key") for row in with_some} - {None}
    replaced = set(benchmark.systems.filter(key__in=keys).values_list("pk", flat=True)) if cells else set()
    tasks = dict(Task.objects.filter(benchmark=benchmark).values_list("pk", "key"))
    others = {cell: row for cell, row in cells.items() if cell[0] not in replaced}
    chosen = shared_sets(others)
    chosen_now = shared_sets(cells)
    stored = InstanceSet.objects.in_bulk({*chosen.values(), *chosen_now.values()})
    sets = {tasks[task]: stored[pk] for task, pk in chosen.items()}
    clusters = {
        (tasks[task], stored[chosen_now[task]].content_hash): of_task
        for task, of_task in clusters_on(cells, chosen_now).items()
    }
    names = _names_by_set(rows)
    problems: dict[str, tuple[str, str, int | None]] = {}
    for row in with_some:
        for key, entry in row["instances"].items():
            if key in sets and key not in problems and sets[key].content_hash != entry["set"]:
                there, here = set(unpack_names(sets[key].names)), set(unpack_names(names[entry["set"]]))
                first = (
                    f"these {len(here)} instances are not those of the board, which has {len(there)}: "
                    f"{len(here & there)} of the names match."
                    if tells
                    else "these instances are not those of the board."
                )
                rest = "Systems are compared only on the same instances; leave the score empty if there is none"
                problems[key] = (key, f"{first} {rest}", row["line"])
            elif "clusters" in entry:
                of_board = clusters.get((key, entry["set"]), [])
                codes = cluster_codes(unpack_names(base64.b64decode(entry["clusters"])))[0]
                is_of_board = np.array_equal(codes, cluster_codes(of_board)[0])
                is_taken_over = key not in row.get("stated_instances", row["instances"])
                if is_of_board and (is_taken_over or (tells and not may_moderate)):
                    entry["clusters"] = base64.b64encode(pack_names(of_board)).decode()
                elif is_taken_over:
                    del entry["clusters"]
                elif not may_moderate:
                    problems.setdefault(key, (key, OTHER_CLUSTERS if tells and of_board else NO_CLUSTERS, row["line"]))
    return list(problems.values())


def store_instances(submissions: Sequence[Submission], rows: Sequence[CheckedRow], tasks: Mapping[str, int]) -> None:
    """Store the instance scores of checked rows, and their sets where there are none like them.

    Args:
        submissions: one a row.
        rows: as a draft holds them.
        tasks: their ids by key.
    """
    names = _names_by_set(rows)
    clusters = {
        (key, entry["set"]): base64.b64decode(entry["clusters"])
        for row in rows
        for key, entry in row.get("instances", {}).items()
        if "clusters" in entry
    }
    sets: dict[tuple[int, str], InstanceSet] = {}
    made = []
    for submission, row in zip(submissions, rows, strict=True):
        for key, entry in row.get("instances", {}).items():
            place = (tasks[key], entry["set"])
            if place not in sets:
                packed = names[entry["set"]]
                sets[place], _ = InstanceSet.objects.get_or_create(
                    task_id=tasks[key],
                    content_hash=entry["set"],
                    defaults={"names": packed, "n_instances": len(unpack_names(packed))},
                )
            packed = base64.b64decode(entry["values"])
            digest = hashlib.sha256(zlib.decompress(packed)).hexdigest()
            made.append(
                InstanceScores(
                    submission=submission,
                    task_id=tasks[key],
                    instance_set=sets[place],
                    values=packed,
                    values_hash=digest,
                    clusters=clusters.get((key, entry["set"])),
                )
            )
    InstanceScores.objects.bulk_create(made, batch_size=200)


def _names_by_set(rows: Iterable[CheckedRow]) -> dict[str, bytes]:
    return {
        entry["set"]: base64.b64decode(entry["names"])
        for row in rows
        for entry in row.get("instances", {}).values()
        if "names" in entry
    }
