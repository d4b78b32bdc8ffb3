"""HELM, a run folder: `stats.json` with its `run_spec.json`, and `model_metadata.yaml`, in whatever folder.

Several runs are distinguished by what is before those names, as in `a_stats.json` and `a_run_spec.json`. Only what
was measured on the test split, without a perturbation, is read. There is no direction in these files.
"""

import math
from collections.abc import Mapping
from typing import Any

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format
from ranking_engine.importers.helm_models import describe_models, is_models
from ranking_engine.importers.records import (
    Collector,
    Record,
    a_list,
    a_mapping,
    is_stated,
    showable,
)

# What these programs count beside scores, by how its names begin.
HOUSEKEEPING = ("num_", "finish_reason_", "batch_size", "estimated_num_", "max_prob", "prompt_truncated", "logprob")
NO_SCORE = "says how the run was made"
STATS, SPEC = "stats.json", "run_spec.json"


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    others = [file for file in files if not _is_stats(file.document)]
    return all(map(_describes, others)) and len(others) < len(files)


def _describes(file: SourceFile) -> bool:
    about = a_mapping(file.document)
    return ("adapter_spec" in about and "name" in about) or is_models(about)


def _is_stats(document: object) -> bool:
    stats = a_list(document)
    return bool(stats) and all(isinstance(one, Mapping) and isinstance(one.get("name"), Mapping) for one in stats)


def _read_files(collect: Collector, files: list[SourceFile]) -> None:
    specs: dict[str, SourceFile] = {}
    of_stats: dict[str, SourceFile] = {}
    for file in files:
        collect.of(file.name, file.raw_hash)
        if is_models(file.document):
            describe_models(collect, file)
            continue
        is_stats = _is_stats(file.document)
        prefix = file.name.removesuffix(STATS if is_stats else SPEC)
        where = of_stats if is_stats else specs
        if prefix in where:
            collect.refuse(f"two files have this name; rename them a_{STATS} and a_{SPEC}, b_{STATS} and so on")
        where[prefix] = file
    if len(specs) == len(of_stats) == 1:  # there is no doubt which belong together
        specs = {next(iter(of_stats)): next(iter(specs.values()))}
    for prefix, file in of_stats.items():
        collect.of(file.name, file.raw_hash)
        if prefix not in specs:
            collect.refuse(f"there is no {prefix}{SPEC} beside it, which says what was run")
            continue
        _read_run(collect, file.document, specs[prefix].document)
    for prefix in set(specs) - set(of_stats):
        collect.of(specs[prefix].name, "")
        collect.refuse(f"there is no {prefix}{STATS} beside it")


def _read_run(collect: Collector, stats: list[Any], spec: Mapping[str, Any]) -> None:
    scenario, _, arguments = str(spec.get("name")).partition(":")
    subset = ",".join(part for part in arguments.split(",") if not part.startswith(("model=", "model_deployment=")))
    system = collect.label(a_mapping(spec.get("adapter_spec")).get("model"), "model", "adapter_spec.model")
    groups = a_list(spec.get("groups"))
    task = collect.label(groups[0] if groups else scenario, "task", "name")
    subset = collect.label(subset, "arguments", "name")
    n_other = n_perturbed = 0
    for i, stat in enumerate(stats):
        about, place = a_mapping(stat["name"]), f"entry {i + 1}"
        if about.get("perturbation"):
            n_perturbed += 1
            continue
        if about.get("split") != "test":
            n_other += 1
            continue
        if not is_stated(stat.get("mean")):
            collect.note(f"left out: {showable(str(about.get('name')))}: the file states no mean")
            continue
        count = collect.count_of(stat.get("count"), f"{place}, count")
        deviation = collect.error_of(stat.get("stddev"), f"{place}, stddev")
        metric = collect.label(about.get("name"), "metric", f"{place}, name")
        collect.add(
            Record(
                system=system,
                task=task,
                subset=subset,
                split="test",
                metric=metric,
                value=collect.number(stat["mean"], f"{place}, mean"),
                standard_error=deviation / math.sqrt(count) if deviation is not None and count and count > 1 else None,
                n=count if count and count > 1 else None,  # 1 where trials were averaged, not instances
                source=collect.source,
                raw_hash=collect.raw_hash,
                aside=NO_SCORE if metric.startswith(HOUSEKEEPING) else "",
            )
        )
    if n_other:
        collect.note(f"left out: {n_other} statistics that are not of the test split")
    if n_perturbed:
        collect.note(f"left out: {n_perturbed} statistics of perturbed instances")
    if any(record.standard_error is not None for record in collect.records):
        collect.note("standard errors are the deviation over the root of the count: too small for dependent instances")


FORMAT = Format("helm-run", "HELM run (stats.json with run_spec.json)", recognise, _read_files, describes=_describes)
