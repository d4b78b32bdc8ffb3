"""lighteval: `results_<date>.json`, one file a model; averages over tasks are derived and left out."""

from collections.abc import Mapping

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import (
    Collector,
    Record,
    a_list,
    a_mapping,
    is_stated,
    showable,
)


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    for about in (a_mapping(file.document) for file in files):
        results = about.get("results")
        if not isinstance(results, Mapping) or not ("config_general" in about or "config_tasks" in about):
            return False
        if not all(isinstance(one, Mapping) for one in results.values()):
            return False
    return True


def _read_file(collect: Collector, file: SourceFile) -> None:
    about = file.document
    general = a_mapping(about.get("config_general"))
    model = a_mapping(general.get("model_config"))
    system = collect.label(
        general.get("model_name") or model.get("model_name") or None, "model", "config_general.model_name"
    )
    revision = collect.label(general.get("model_sha") or model.get("revision") or None, "revision", "config_general")
    if general.get("max_samples") is not None:
        given = showable(str(general["max_samples"]))
        collect.warn(f"{collect.source}: run with a limit ({given} instances a task), so not on all instances")
    configs = {parts_of(str(key))[:2]: a_mapping(one) for key, one in a_mapping(about.get("config_tasks")).items()}
    for key, metrics in about["results"].items():
        task, subset, shots = parts_of(str(key))
        if task == "all" or subset == "_average":
            collect.note(f"left out: {showable(str(key))}, an average over tasks")
            continue
        config = configs.get((task, subset), {})
        # -1 is where the run was not counted.
        effective, original = (
            None if config.get(name) == -1 else config.get(name) for name in ("effective_num_docs", "original_num_docs")
        )
        n = collect.count_of_run(effective, original, f"config_tasks.{showable(str(key))}", showable(str(key)))
        directions: dict[str, bool] = {}
        for metric in a_list(config.get("metric") or config.get("metrics")):
            definition = a_mapping(metric)
            better = definition.get("higher_is_better")
            # A grouped metric has a direction for each of its names.
            each = better if isinstance(better, Mapping) else {str(definition.get("metric_name")): better}
            directions |= {name: one for name, one in each.items() if isinstance(name, str) and isinstance(one, bool)}
        for metric, value in metrics.items():
            if str(metric).endswith("_stderr"):
                continue
            place = f"results.{showable(str(key))}.{showable(str(metric))}"
            if not is_stated(value):
                collect.note(f"left out: {place}: the file states no value")
                continue
            collect.add(
                Record(
                    system=system,
                    revision=revision,
                    task=collect.label(task, "task", place),
                    subset=collect.label(subset, "subset", place),
                    split=collect.label(shots, "number of shots", place),
                    metric=collect.label(metric, "metric", place),
                    value=collect.number(value, place),
                    standard_error=collect.error_of(metrics.get(f"{metric}_stderr"), place),
                    n=n,
                    higher_is_better=directions.get(str(metric)),
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                )
            )


def parts_of(key: str) -> tuple[str, str, str]:
    """Task, subset and shots of `suite|task:subset|5`; the suite and the shots may be left out."""
    parts = key.split("|")
    numbers = []
    while len(parts) > 1 and parts[-1].isdecimal():  # the shots; in older files also whether they may be cut
        numbers.append(parts.pop())
    task, _, subset = parts[-1].partition(":")
    return task, subset, f"{numbers[-1]}-shot" if numbers else ""


FORMAT = Format("lighteval", "lighteval results", recognise, file_by_file(_read_file))
