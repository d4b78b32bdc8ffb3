"""Scores of single instances: `samples_TASK_DATE.jsonl` of lm-evaluation-harness and lighteval's `details_*.parquet`.

They are read beside the results of the same run, whose scores they are the instances of, or alone; then their mean is
the score. Neither file names its model: the results do, or the folder.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ranking_engine.core.decimals import rounded, rounded_score
from ranking_engine.files.grids import GridError
from ranking_engine.files.instance_tables import CLUSTER_LENGTH
from ranking_engine.files.json_bounds import n_values
from ranking_engine.files.problems import InputError
from ranking_engine.files.workbooks import details_of, table_kind
from ranking_engine.importers import lighteval, lm_eval
from ranking_engine.importers.documents import MAX_VALUES, SourceFile
from ranking_engine.importers.records import Collector, Instances, Recognised, Record, a_list, showable

MAX_SCORES = 1_000_000  # of instances in one import
TOLERANCE = 1e-6  # a stated score further from the mean of its instances is none of them
STAMP = r"\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?"
SAMPLES = re.compile(rf"samples_(.+?)(?:_({STAMP}))?\.jsonl")
DETAILS = re.compile(rf"details_(.+?)(?:_({STAMP}))?\.parquet")
STAMPED = re.compile(STAMP)
NOT_METRICS = frozenset({
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash", "idx", "repeats", "cluster",
})  # fmt: skip
NO_MEANS = ("perplexity", "bits_per_byte", "ppl", "bpb")  # of which the score is no mean over instances

Column = tuple[str, str, str, str]  # task, split, subset, metric, as of a Record


@dataclass(frozen=True)
class InstanceRun:
    """The scores of single instances in one file: by column, then by instance; `stamp` is the date in its name.

    `clusters` are those of instances that have one.
    """

    file: SourceFile
    stamp: str
    system: str
    columns: dict[Column, dict[str, float]] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)


def split_files(files: Sequence[SourceFile], key: str) -> tuple[list[SourceFile], list[SourceFile]]:
    """Return the files that have scores of systems, then those with scores of single instances.

    Args:
        files: of every kind.
        key: of the format that they are to be read as; empty where any will do.
    """
    kinds = {
        "": (_is_samples, _is_details),
        lm_eval.FORMAT.key: (_is_samples,),
        lighteval.FORMAT.key: (_is_details,),
    }.get(key, ())
    of_instances = [file for file in files if any(is_of(file) for is_of in kinds)]
    return [file for file in files if file not in of_instances], of_instances


MAX_COLUMNS = 1_000  # metrics of one task and its filters


def _is_samples(file: SourceFile) -> bool:
    """Whether a file is lm-evaluation-harness's samples of one task."""
    if file.kind != "lines":
        return False
    first = file.text.lstrip()[:400]
    return first.startswith("{") and '"doc_id"' in first and '"doc"' in first


def _is_details(file: SourceFile) -> bool:
    """Whether a file is lighteval's details of one task: the names of a Parquet file's columns are at its end."""
    if table_kind(file.data) != "parquet" or len(file.data) < 12:
        return False
    end = file.data[-8 - int.from_bytes(file.data[-8:-4], "little") : -8]
    return b"metric" in end and (b"model_response" in end or b"cont_tokens" in end)


def read_samples(files: Sequence[SourceFile], results: Recognised | None) -> Recognised:
    """The scores of single instances, with the results that are beside them.

    Args:
        files: with samples or details, all of one program.
        results: what the other files say; None where there are none.

    Raises:
        InputError: a file cannot be read, or it is not clear whose scores it has.
    """
    of_details = [file for file in files if _is_details(file)]
    if of_details and len(of_details) < len(files):
        raise InputError.of("these files are of several programs: lm-evaluation-harness and lighteval")
    program = (lighteval if of_details else lm_eval).FORMAT
    if results is not None and results.format_key != program.key:
        message = f"these files are of several formats: {results.format_name} and {program.name}"
        raise InputError.of(f"{message}; import them one after another")
    collect = Collector(
        records=list(results.records) if results else [],
        notes=list(results.notes) if results else [],
        warnings=list(results.warnings) if results else [],
        rounded=list(results.rounded) if results else [],
    )
    runs = _details_in(collect, of_details) if of_details else []
    n_scores = 0
    for file in () if of_details else files:
        runs.append(_samples_in(collect, file, MAX_SCORES - n_scores))
        n_scores += sum(len(scores) for scores in runs[-1].columns.values())
    if collect.problems:
        raise InputError(collect.problems)
    results_by_column = _StatedScores(collect.records)
    for run in runs:
        _add_run(collect, run, results_by_column)
    read = collect.done(program.key, program.name if results else f"{program.name}, single instances")
    n_columns = len({record.column for record in read.records if record.instances is not None})
    note = f"scores of single instances of {n_columns} column{'' if n_columns == 1 else 's'} are read"
    return replace(
        read, notes=[*read.notes, *([note] if n_columns else [])], metadata=results.metadata if results else {}
    )


def _samples_in(collect: Collector, file: SourceFile, most: int) -> InstanceRun:
    """The samples of one task.

    Args:
        collect: problems and sources.
        file: with a sample a line.
        most: scores that are read; they are counted while they are, since a line may name new metrics.
    """
    n_scores = 0
    collect.of(file.name, file.raw_hash)
    named = SAMPLES.fullmatch(file.base)
    task = collect.label(named[1] if named else file.base.rpartition(".")[0], "task", "")
    folder = file.name.replace("\\", "/").split("/")[-2:-1]
    system = folder[0].replace("__", "/") if folder and "__" in folder[0] else ""
    run = InstanceRun(file, (named[2] if named else None) or "", collect.label(system, "model", ""))
    others: dict[str, None] = {}  # metrics that are no number of each instance
    for number, line in enumerate(file.text.split("\n"), start=1):
        if not line.strip():
            continue
        if n_values(line, enough=MAX_VALUES) > MAX_VALUES:
            raise file.refused(f"more than {MAX_VALUES:,} values in one instance", f"line {number}")
        sample = file.json_line(line, number)
        place = f"line {number}"
        name = sample.get("doc_id") if isinstance(sample, dict) else None
        if not isinstance(name, str | int) or isinstance(name, bool):
            collect.refuse("expected an instance with a doc_id", place)
            continue
        instance = collect.label(name, "doc_id", place)
        cluster = sample.get("cluster")
        if isinstance(cluster, str | int) and not isinstance(cluster, bool) and cluster != "":
            cluster = collect.label(cluster, "cluster", place)
            if len(cluster) > CLUSTER_LENGTH:
                collect.refuse(f"a cluster with more than {CLUSTER_LENGTH} characters", place)
            elif run.clusters.setdefault(instance, cluster) != cluster:
                collect.refuse(f"the instance {showable(instance)!r} is in two clusters", place)
        of_filter = sample.get("filter") or "none"
        subset = "" if of_filter == "none" else collect.label(of_filter, "filter", place)
        metrics = [key for key in a_list(sample.get("metrics")) if isinstance(key, str)] or [
            key for key in sample if key not in NOT_METRICS
        ]
        for key in metrics:
            if (score := _score(sample.get(key))) is None:
                others[key] = None
                continue
            of_metric = run.columns.setdefault((task, "", subset, collect.label(key, "metric", place)), {})
            if instance in of_metric:
                collect.refuse(f"the instance {showable(instance)!r} has a second {showable(key)}", place)
            of_metric[instance] = score
            n_scores += 1
            if n_scores > most:
                raise file.refused(f"more than {MAX_SCORES:,} scores of instances; import them in parts", place)
            if len(run.columns) > MAX_COLUMNS:
                raise file.refused(f"more than {MAX_COLUMNS:,} metrics of a task", place)
        if len(collect.problems) > 20:
            break
    return replace(run, columns=_without(collect, run.columns, others))


def _details_in(collect: Collector, files: Sequence[SourceFile]) -> list[InstanceRun]:
    """The details of several tasks, which one process reads."""
    try:
        tables = details_of([file.data for file in files], MAX_SCORES)
    except (GridError, ImportError) as error:
        raise files[0].refused(str(error)) from error
    runs = []
    for file, ((_, header), *rows) in zip(files, tables, strict=True):
        collect.of(file.name, file.raw_hash)
        named = DETAILS.fullmatch(file.base)
        task_name = next((row[1] for _, row in rows if row[1]), "")
        key = task_name if "|" in task_name or not named else named[1]
        task, subset, shots = lighteval.parts_of(key or file.base)
        path = file.name.replace("\\", "/").split("/")
        folders = path[path.index("details") + 1 : -2] if "details" in path[:-2] else []
        run = InstanceRun(file, (named[2] if named else None) or "", collect.label("/".join(folders), "model", ""))
        names = [row[0] for _, row in rows]
        are_named = all(names) and len(set(names)) == len(names)  # else their places are their names
        for place, metric in enumerate(header[2:], start=2):
            column = (
                collect.label(task, "task", ""), collect.label(shots, "number of shots", ""),
                collect.label(subset, "subset", ""), collect.label(metric, "metric", ""),
            )  # fmt: skip
            scores = {}
            for number, (_, row) in enumerate(rows):
                try:
                    score = _score(row[place] == "true" if row[place] in ("true", "false") else float(row[place]))
                except ValueError:
                    continue
                if score is not None:
                    scores[collect.label(row[0] if are_named else str(number), "id", f"row {number}")] = score
            if scores:
                run.columns[column] = scores
        runs.append(replace(run, columns=_without(collect, run.columns, {})))
    return runs


def _without(
    collect: Collector, columns: dict[Column, dict[str, float]], others: Mapping[str, None]
) -> dict[Column, dict[str, float]]:
    """The columns whose score is the mean of their instances; of the others a note is taken."""
    for key in others:
        collect.note(f"left out: {collect.source}, {showable(key)}: it is no number of every instance")
    means = {}
    for column, scores in columns.items():
        if any(word in column[3].casefold() for word in NO_MEANS):
            collect.note(f"left out: instances of {showable(column[3])}, whose score is no mean over them")
        elif column[3] not in others:
            means[column] = scores
    return means


def _score(given: Any) -> float | None:  # noqa: ANN401 -- whatever a file has
    if not isinstance(given, bool | int | float):
        return None
    try:
        value = float(given)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


class _StatedScores:
    """The scores that results state, by system, task, subset and metric, whatever number of shots.

    Args:
        records: of the results.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.places: dict[tuple[str, str, str], list[int]] = {}
        self.systems: dict[tuple[str, str], list[str]] = {}
        for place, record in enumerate(records):
            self.places.setdefault((record.task, record.subset, record.metric), []).append(place)
            self.systems.setdefault((record.system, record.revision), []).append(record.source)
        self.tasks = {(record.system, record.task) for record in records}

    def system_of(self, run: InstanceRun) -> tuple[str, str]:
        """The system of a run, with its revision: of the results with its date, or in its folder, or the only one.

        Raises:
            InputError: it could be several.
        """
        folder = folder_of(run.file.name)
        dated = self._systems(lambda source: run.stamp in STAMPED.findall(source)) if run.stamp else []
        beside = self._systems(lambda source: folder_of(source) == folder)
        for systems, is_close in ((dated, True), (beside, True), (list(self.systems), False)):
            named = [system for system in systems if system[0] == run.system]
            if not named and (is_close or not run.system):
                named = systems
            if len(named) == 1:
                return named[0]
        if self.systems and not run.system:
            raise run.file.refused("it is not clear which model this is of: no results have its date, or are beside it")
        return run.system, ""

    def _systems(self, is_of_run: Callable[[str], bool]) -> list[tuple[str, str]]:
        return [system for system, sources in self.systems.items() if any(map(is_of_run, sources))]


def folder_of(name: str) -> str:
    """The folder in the name of a file."""
    return name.replace("\\", "/").rpartition("/")[0]


def _add_run(collect: Collector, run: InstanceRun, by_column: _StatedScores) -> None:
    """Put the scores of a run to the records whose instances they are, or make a record of their mean."""
    system, revision = by_column.system_of(run)
    for (task, split, subset, metric), scores in run.columns.items():
        names = tuple(sorted(scores))
        clusters = tuple(run.clusters.get(name, "") for name in names) if run.clusters else ()
        instances = Instances(names, rounded(np.array([scores[name] for name in names])), clusters)
        with np.errstate(over="ignore"):
            mean = float(instances.values.mean())
        what = showable(", ".join(part for part in (task, subset, metric) if part))
        places = [
            place
            for place in by_column.places.get((task, subset, metric), [])
            if (collect.records[place].system, collect.records[place].revision) == (system, revision)
        ]
        same = [place for place in places if split and collect.records[place].split == split]
        dated = [place for place in same or places if run.stamp and run.stamp in collect.records[place].source]
        place = next(iter(dated or same or places), None)
        if place is None and (system, task) in by_column.tasks:
            collect.note(f"left out: instances of {what}, of which the results state no score")
        elif place is None:
            collect.of(run.file.name, run.file.raw_hash)
            record = Record(
                system=system, revision=revision, task=task, split=split, subset=subset, metric=metric,
                value=collect.number(rounded_score(mean) if math.isfinite(mean) else math.inf, what), n=len(names),
                source=collect.source, raw_hash=collect.raw_hash, instances=instances,
            )  # fmt: skip
            collect.add(record)
        else:
            record = collect.records[place]
            if record.value is None or not abs(record.value - mean) <= TOLERANCE * max(1, abs(mean)):
                collect.note(f"left out: instances of {what}: their mean is not the score that the results state")
            elif record.instances is not None:
                collect.refuse(f"a second file with instances of {what}", run.file.name)
            else:
                collect.records[place] = replace(record, instances=instances)
