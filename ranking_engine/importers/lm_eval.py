"""lm-evaluation-harness: `results_<date>.json`, one file a model.

Metric keys are `metric,filter` (before version 0.4 without a filter), standard errors `metric_stderr,filter`. Groups
are among the results; what `group_subtasks` gives parts to is derived from them, and an aside. The number of parameters
and the context length that a run states are kept as metadata.
"""

import re
from collections.abc import Mapping

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import Collector, Record, a_mapping, is_stated, showable

TELLING = ("n-samples", "group_subtasks", "versions", "n-shot", "configs", "config", "higher_is_better", "model_name")
NO_METRIC = frozenset({"name", "alias", "sample_len", "sample_count", "samples", ""})
PRETRAINED = re.compile(r"(?:^|,)\s*pretrained=([^,]+)")
GROUP = "a mean over a group, whose parts are columns as well"
REVISION = re.compile(r"(?:^|,)\s*revision=([^,]+)")


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    for about in (a_mapping(file.document) for file in files):
        results = about.get("results")
        if not isinstance(results, Mapping) or "config_general" in about or "config_tasks" in about:
            return False
        if not any(key in about for key in TELLING) or not all(isinstance(one, Mapping) for one in results.values()):
            return False
    return True


def _read_file(collect: Collector, file: SourceFile) -> None:
    about = file.document
    config = a_mapping(about.get("config"))
    arguments = config.get("model_args")
    # It is a text "pretrained=org/m,revision=..." or, in newer files, a mapping.
    model_arguments = arguments if isinstance(arguments, Mapping) else {}
    if isinstance(arguments, str):
        matches = {"pretrained": PRETRAINED.search(arguments), "revision": REVISION.search(arguments)}
        model_arguments = {key: match[1] for key, match in matches.items() if match}
    model = about.get("model_name") or config.get("model_name") or model_arguments.get("pretrained")
    system = collect.label(model or None, "model", "model_name")
    collect.describe(
        system, {"parameters": config.get("model_num_parameters"), "context-length": about.get("max_length")}
    )
    commit = config.get("model_sha") or config.get("model_revision") or model_arguments.get("revision")
    revision = collect.label(commit or None, "revision", "config")
    parts = {name for name, inner in a_mapping(about.get("group_subtasks")).items() if inner}
    groups = parts | set(a_mapping(about.get("groups")))
    if config.get("limit") is not None:
        collect.warn(f"{collect.source}: run with a limit ({showable(str(config['limit']))}), so not on all instances")
    for task, metrics in about["results"].items():
        if task in groups:
            collect.note(f"{showable(task)} is a group: its mean is used only if you choose it")
        name = collect.label(task, "task", f"results.{showable(task)}")
        counts, place = a_mapping(a_mapping(about.get("n-samples")).get(task)), f"n-samples.{showable(task)}"
        effective = counts.get("effective", metrics.get("sample_len"))
        n = collect.count_of_run(
            effective, counts.get("original"), place, showable(task), remark="; not comparable with a whole run"
        )
        directions = a_mapping(a_mapping(about.get("higher_is_better")).get(task))
        n_shot = a_mapping(about.get("n-shot")).get(task)
        for given, value in metrics.items():
            metric = str(given)
            kind, comma, of_filter = metric.partition(",")
            if kind.strip() in NO_METRIC or kind.endswith("_stderr"):
                continue
            if not is_stated(value) or (isinstance(value, str) and not value.strip()):
                collect.note(f"left out: {showable(task)}, {showable(metric)}: the file states no value")
                continue
            place = f"results.{showable(task)}.{showable(metric)}"
            error = metrics.get(f"{kind}_stderr{comma}{of_filter}")
            direction = directions.get(kind)
            collect.add(
                Record(
                    system=system,
                    revision=revision,
                    task=name,
                    metric=collect.label(kind, "metric", place),
                    subset="" if of_filter == "none" else collect.label(of_filter, "filter", place),
                    value=collect.number(value, place),
                    standard_error=collect.error_of(error, f"{place} (its standard error)"),
                    n=n,
                    higher_is_better=direction if isinstance(direction, bool) else None,
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                    aside=GROUP if task in groups else "",
                    shots=n_shot if isinstance(n_shot, int) and 0 <= n_shot < 10**6 else None,
                )
            )


FORMAT = Format("lm-eval", "lm-evaluation-harness results", recognise, file_by_file(_read_file))
