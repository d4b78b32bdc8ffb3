"""Hugging Face `.eval_results/*.yaml`: a list of values on datasets. Neither model nor metric is named there."""

from collections.abc import Mapping

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format
from ranking_engine.importers.records import Collector, Record, a_list, a_mapping, is_stated


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    for entries in (a_list(file.document) for file in files):
        are_results = (isinstance(one, Mapping) and isinstance(one.get("dataset"), Mapping) for one in entries)
        if not entries or not all(are_results) or not all("value" in one for one in entries):
            return False
    return True


def _read_files(collect: Collector, files: list[SourceFile]) -> None:
    for file in files:
        collect.of(file.name, file.raw_hash)
        for i, entry in enumerate(file.document, start=1):
            place, data = f"entry {i}", a_mapping(entry["dataset"])
            if not is_stated(entry["value"]):
                collect.note(f"left out: {place}: the file states no value")
                continue
            collect.add(
                Record(
                    system="",
                    task=collect.label(data.get("id"), "dataset", f"{place}, dataset.id"),
                    subset=collect.label(data.get("task_id"), "task", f"{place}, dataset.task_id"),
                    # The same dataset with other notes is another configuration.
                    split=collect.label(entry.get("notes"), "notes", f"{place}, notes"),
                    metric="",
                    value=collect.number(entry["value"], f"{place}, value"),
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                )
            )
    collect.note("these files name neither the model nor the metric: enter the system, and check the tasks")


FORMAT = Format("eval-results", "Hugging Face .eval_results", recognise, _read_files)
