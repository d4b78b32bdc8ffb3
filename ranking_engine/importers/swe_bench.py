"""SWE-bench: the report of a run (`MODEL.RUN.json`), or the `leaderboards.json` of its site."""

from collections.abc import Mapping
from typing import Any

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import Collector, Record, a_list, a_mapping, is_stated, showable

COUNTS = ("total_instances", "resolved_instances")
TASK, METRIC = "SWE-bench", "resolved"


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    return all(_is_report(about) or _are_leaderboards(about) for about in (a_mapping(file.document) for file in files))


def _is_report(about: Mapping[Any, Any]) -> bool:
    return all(key in about for key in COUNTS)


def _are_leaderboards(about: Mapping[Any, Any]) -> bool:
    """Whether a document is the `leaderboards.json` of the site."""
    boards = a_list(about.get("leaderboards"))
    return bool(boards) and all("results" in a_mapping(board) and "name" in a_mapping(board) for board in boards)


def _read_file(collect: Collector, file: SourceFile) -> None:
    if _is_report(file.document):
        _read_report(collect, file)
        return
    for board in a_list(file.document["leaderboards"]):
        task = collect.label(board["name"], "leaderboard", "leaderboards")
        for i, entry in enumerate(a_list(board["results"])):
            result, place = a_mapping(entry), f"leaderboards.{showable(task)}, entry {i + 1}"
            score = result.get("resolved")
            collect.add(
                Record(
                    system=collect.label(result.get("name"), "system", place),
                    task=task,
                    metric=METRIC,
                    value=collect.number(score, f"{place}, resolved") if is_stated(score) else None,
                    higher_is_better=True,
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                )
            )


def _read_report(collect: Collector, file: SourceFile) -> None:
    """Read the report of one run."""
    total, resolved = (collect.count_of(file.document[key], key) for key in COUNTS)
    if not total or resolved is None or resolved > total:
        collect.refuse("expected how many of how many instances were resolved", ", ".join(COUNTS))
        return
    submitted = collect.count_of(file.document.get("submitted_instances"), "submitted_instances")
    if submitted is not None and submitted < total:
        collect.warn(f"{collect.source}: submitted {submitted} of {total} instances; the others count as not resolved")
    # The model and the run are in the name of the file alone, and either may have a point in it.
    stem = file.base.removesuffix(".json")
    collect.add(
        Record(
            system=collect.label(stem.rpartition(".")[0].replace("__", "/", 1), "model", "name of the file"),
            task=TASK,
            metric=METRIC,
            value=collect.number(resolved / total, "resolved_instances"),
            n=total,
            higher_is_better=True,
            source=collect.source,
            raw_hash=collect.raw_hash,
        )
    )
    collect.note("the score is the share of instances that were resolved")


FORMAT = Format("swe-bench", "SWE-bench report or leaderboards", recognise, file_by_file(_read_file))
