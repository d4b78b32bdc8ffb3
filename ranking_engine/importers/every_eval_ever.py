"""Every Eval Ever, the exchange format of the EvalEval coalition: one JSON file per model and evaluation."""

from collections.abc import Mapping
from typing import Any

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import Collector, Record, a_list, a_mapping, showable

UNKNOWN = -1  # the score of a level that is not known


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    return all(map(_is_known, (a_mapping(file.document) for file in files)))


def _is_known(about: Mapping[Any, Any]) -> bool:
    return isinstance(about.get("model_info"), Mapping) and isinstance(about.get("evaluation_results"), list)


def _read_file(collect: Collector, file: SourceFile) -> None:
    model = file.document["model_info"]
    system = collect.label(model.get("id") or model.get("name") or None, "model", "model_info.id")
    revision = collect.label(a_mapping(model.get("additional_details")).get("revision"), "revision", "model_info")
    for i, entry in enumerate(a_list(file.document["evaluation_results"])):
        result, place = a_mapping(entry), f"evaluation_results, entry {i + 1}"
        metric, details = a_mapping(result.get("metric_config")), a_mapping(result.get("score_details"))
        uncertainty = a_mapping(details.get("uncertainty"))
        error = uncertainty.get("standard_error")
        score, lower = details.get("score"), metric.get("lower_is_better")
        is_unknown = metric.get("has_unknown_level") is True and score == UNKNOWN
        task = collect.label(result.get("evaluation_name"), "evaluation", f"{place}, evaluation_name")
        if not task:
            collect.refuse("the evaluation has no name", place)
        name = metric.get("metric_name") or metric.get("metric_id") or None
        collect.add(
            Record(
                system=system,
                revision=revision,
                task=task,
                metric=collect.label(name, "metric", f"{place}, metric_config"),
                value=None if score is None or is_unknown else collect.number(score, f"{place}, score"),
                standard_error=collect.error_of(
                    error.get("value") if isinstance(error, Mapping) else error, f"{place}, standard_error"
                ),
                n=collect.count_of(uncertainty.get("num_samples"), f"{place}, num_samples"),
                higher_is_better=not lower if isinstance(lower, bool) else None,
                source=collect.source,
                raw_hash=collect.raw_hash,
            )
        )
        if "confidence_interval" in uncertainty and error is None:
            collect.note(f"the interval of {showable(task)} is left out: only standard errors are read")


FORMAT = Format("every-eval-ever", "Every Eval Ever", recognise, file_by_file(_read_file))
