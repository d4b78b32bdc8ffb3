"""MTEB: one file a task, and in each folder `model_meta.json` for the model's name and revision.

Without that file the model is read off the folders `org__model/revision/`, where the names of the files hold them.
What `model_meta.json` says of the model beside its name is kept as metadata.
"""

from collections.abc import Mapping
from typing import Any

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format
from ranking_engine.importers.records import (
    Collector,
    Record,
    a_list,
    a_mapping,
    is_stated,
    showable,
)

# What model_meta.json calls the fields of a system.
FACTS = {
    "n_parameters": "parameters",
    "n_active_parameters_override": "active-parameters",
    "n_active_parameters": "active-parameters",
    "release_date": "released",
    "license": "licence",
    "open_weights": "open-weights",
    "max_tokens": "context-length",
    "adapted_from": "base-model",
    "reference": "model-card",
    "public_training_code": "code",
}
OLD = "written by an MTEB before 1.11, without a main score; run it again, or convert it with a newer one"


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    documents = [a_mapping(file.document) for file in files]
    return all(map(_is_known, documents)) and not all(map(_is_meta, documents))


def _is_known(about: Mapping[str, Any]) -> bool:
    return _is_meta(about) or _is_old(about) or ("task_name" in about and isinstance(about.get("scores"), Mapping))


def _is_meta(about: Mapping[str, Any]) -> bool:
    return "name" in about and "revision" in about and not {"scores", "results", "adapter_spec"} & set(about)


def _describes(file: SourceFile) -> bool:
    return _is_meta(a_mapping(file.document))


def _is_old(about: Mapping[str, Any]) -> bool:
    return "mteb_dataset_name" in about


def _read_files(collect: Collector, files: list[SourceFile]) -> None:
    metas: dict[str, Mapping[str, Any]] = {}  # by folder: each is of one model
    for file in filter(_describes, files):
        about = file.document
        if metas.setdefault(file.folder, about) is not about:
            collect.of(file.name, "")
            collect.refuse("a second model_meta.json in this folder; put each model into a folder of its own")
        collect.describe(
            collect.label(about["name"], "model", "model_meta.json, name"),
            {key: about[name] for name, key in FACTS.items() if is_stated(about.get(name))},
        )
    for file in files:
        collect.of(file.name, file.raw_hash)
        if _describes(file):
            continue
        if _is_old(file.document):
            collect.refuse(OLD)
            continue
        system = revision = ""
        folders = file.name.replace("\\", "/").split("/")[:-1]
        about = metas.get(file.folder)
        if about is not None:
            system = collect.label(about["name"], "model", "model_meta.json, name")
            revision = collect.label(about["revision"], "revision", "model_meta.json, revision")
        elif len(folders) >= 2 and "__" in folders[-2]:
            system = collect.label(folders[-2].replace("__", "/", 1), "model", "folder")
            revision = collect.label(folders[-1], "revision", "folder")
        task = collect.label(file.document["task_name"], "task", "task_name")
        for split, entries in file.document["scores"].items():
            for i, entry in enumerate(a_list(entries)):
                scores, place = a_mapping(entry), f"scores.{showable(str(split))}, entry {i + 1}"
                if not is_stated(scores.get("main_score")):
                    collect.refuse("there is no main_score, which says how the task is scored", place)
                    continue
                subset = collect.label(scores.get("hf_subset"), "subset", place)
                collect.add(
                    Record(
                        system=system,
                        revision=revision,
                        task=task,
                        split=collect.label(split, "split", place),
                        subset="" if subset == "default" else subset,
                        metric="main_score",
                        value=collect.number(scores["main_score"], f"{place}, main_score"),
                        source=collect.source,
                        raw_hash=collect.raw_hash,
                    )
                )
                if len(scores) > 3:
                    collect.note("of each task the main score is read; its other metrics are left out")
                if "scores_per_experiment" in scores:
                    collect.note("scores of single experiments are left out: their spread is no standard error")


FORMAT = Format("mteb", "MTEB task results", recognise, _read_files, describes=_describes)
