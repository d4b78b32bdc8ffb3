"""Hugging Face `.eval_results/*.yaml`: a list of values on datasets. Neither model nor metric is named there."""

from collections.abc import Mapping

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.records import Collector, Recognised, Record, a_list, a_mapping, is_stated

KEY, NAME = "eval-results", "Hugging Face .eval_results"


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    for entries in (a_list(file.document) for file in files):
        are_results = (isinstance(one, Mapping) and isinstance(one.get("dataset"), Mapping) for one in entries)
        if not entries or not all(are_results) or not all("value" in one for one in entries):
            return False
    return True


def read(files: list[SourceFile]) -> Recognised:
    """The scores of the files.

    Raises:
        InputError: something in them cannot be read.
    """
    collect = Collector()
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
    return collect.done(KEY, NAME)
