"""Hugging Face `model-index`: the front matter of a model's README. It states no direction and no counts.

Licence and base model are kept as metadata.
"""

import re

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

WITH_SPREAD = re.compile(r"\s*(\S+)\s*(?:±|\+/-|\+-)\s*(\S+)\s*\Z")


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    return all(isinstance(a_mapping(file.document).get("model-index"), list) for file in files)


def _read_file(collect: Collector, file: SourceFile) -> None:
    # The licence of the front matter is `license`, or `license_name` where that is "other".
    card = file.document
    licence, base = card.get("license"), card.get("base_model")
    names = [one for one in (base if isinstance(base, list) else [base]) if isinstance(one, str) and is_stated(one)]
    facts = {
        "licence": (card.get("license_name") or licence) if licence == "other" else licence,
        "base-model": ", ".join(names),
    }
    for m, model in enumerate(card["model-index"], start=1):
        system = collect.label(a_mapping(model).get("name"), "model", f"model-index, entry {m}, name")
        collect.describe(system, facts)
        for r, result in enumerate(a_list(a_mapping(model).get("results")), start=1):
            place, data = f"model-index, entry {m}, result {r}", a_mapping(a_mapping(result).get("dataset"))
            subset = collect.label(data.get("config"), "config", f"{place}, dataset")
            for k, entry in enumerate(a_list(a_mapping(result).get("metrics")), start=1):
                metric, where = a_mapping(entry), f"{place}, metric {k}"
                given = metric.get("value")
                if not is_stated(given):
                    collect.note(f"left out: {where}: the file states no value")
                    continue
                # Of "20.0 ± 1.2" what is first, for it is not stated what the second is.
                if isinstance(given, str) and (match := WITH_SPREAD.match(given)):
                    original = showable(given)
                    collect.note(f"{where}: {original!r} is read without what follows ±, which may be any spread")
                    given = match[1]
                collect.add(
                    Record(
                        system=system,
                        task=collect.label(data.get("name") or data.get("type"), "dataset", f"{place}, dataset"),
                        subset="" if subset == "default" else subset,
                        split=collect.label(data.get("split"), "split", f"{place}, dataset"),
                        metric=collect.label(metric.get("type") or metric.get("name"), "metric", where),
                        value=collect.number(given, where),
                        source=collect.source,
                        raw_hash=collect.raw_hash,
                    )
                )


FORMAT = Format("model-index", "Hugging Face model card (model-index)", recognise, file_by_file(_read_file))
