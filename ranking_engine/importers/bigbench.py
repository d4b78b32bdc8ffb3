"""BIG-bench: `scores_<model>.json`, a list of scores, or a mapping with that list, the task and the model.

Of each score the preferred metric is read as it is; nothing is normalised by its low and high score. Where a file
has subtasks (`task:subtask`), what is not one of them is an average over them and left out.
"""

from collections.abc import Mapping
from typing import Any

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
    every = [_scores(file.document) for file in files]
    return all(scores and all(isinstance(one, Mapping) and "score_dict" in one for one in scores) for scores in every)


def _scores(document: object) -> list[Any]:
    return list(a_list(a_mapping(document).get("scores") if isinstance(document, Mapping) else document))


def _read_file(collect: Collector, file: SourceFile) -> None:
    about, scores = a_mapping(file.document), _scores(file.document)
    model = a_mapping(about.get("model")).get("model_name") or None
    system = collect.label(model, "model", "model.model_name")
    task = collect.label(a_mapping(about.get("task")).get("task_name") or None, "task", "task.task_name")
    has_parts = any(":" in str(score.get("subtask_description")) for score in scores)
    for i, score in enumerate(scores, start=1):
        place = f"score {i}"
        description = collect.label(score.get("subtask_description"), "description", place)
        if has_parts and ":" not in description:
            collect.note(f"left out: {showable(description) or place}, an average over subtasks")
            continue
        metric = collect.label(score.get("preferred_score"), "preferred score", place)
        given = a_mapping(score["score_dict"]).get(metric)
        if not is_stated(given):
            collect.refuse(f"there is no score under the preferred metric {showable(metric)!r}", f"{place}, score_dict")
            continue
        name, _, subset = description.partition(":")
        shots = collect.count_of(score.get("number_of_shots"), f"{place}, number_of_shots")
        collect.add(
            Record(
                system=system,
                task=task or name.strip(),
                subset=subset.strip(),
                split="" if shots is None else f"{shots}-shot",
                metric=metric,
                value=collect.number(given, f"{place}, score_dict"),
                source=collect.source,
                raw_hash=collect.raw_hash,
            )
        )
    if any("low_score" in score or "high_score" in score for score in scores):
        collect.note("scores are read as measured, not normalised by low_score and high_score")


FORMAT = Format("bigbench", "BIG-bench scores", recognise, file_by_file(_read_file))
