"""What machines read of a board: schema.org's `Dataset`, Croissant, and CITATION.cff.

Sources: schema.org's type Dataset; the Croissant format specification 1.0 of MLCommons; the Citation File Format 1.2.0.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from leaderboard.boards.open_data.tables import KEYS, REFERENCES
from leaderboard.common.files import ColumnHead
from leaderboard.models import Benchmark, Publication, Release
from ranking_engine.text.characters import writable

MAX_DESCRIPTION = 5000  # characters, as catalogues of data sets take them
MAX_VARIABLES = 100
# In a script element, what could end it or begin another.
ESCAPES = {ord("<"): "\\u003C", ord(">"): "\\u003E", ord("&"): "\\u0026"}
# Of the identifiers of SPDX those that data sets have; a file of citation may name no other.
SPDX = ("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-3.0", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0",
        "MIT", "Apache-2.0", "BSD-3-Clause")  # fmt: skip


@dataclass(frozen=True)
class DescribedFile:
    """A file of which metadata speaks: its address or its name in an archive, its type, what it is, and its SHA-256."""

    url: str
    content_type: str
    name: str
    sha256: str = ""


def dataset_of(
    benchmark: Benchmark,
    publication: Publication,
    *,
    url: str,
    n_systems: int,
    task_names: Sequence[str],
    files: Sequence[DescribedFile],
    release: Release | None = None,
) -> dict[str, Any]:
    """A published revision as a `Dataset` of schema.org.

    Args:
        benchmark: whose revision.
        publication: of it.
        url: of the page that shows it.
        n_systems: on its board.
        task_names: of its tasks, in their order.
        files: in which its figures are to be had.
        release: the name under which it was frozen, if it was.
    """
    name = f"{benchmark.name}, {release.name}" if release else benchmark.name
    moment = release.created_at if release else publication.published_at
    is_url = benchmark.licence.startswith(("https://", "http://"))
    systems = "1 system" if n_systems == 1 else f"{n_systems} systems"
    tasks = "1 task" if len(task_names) == 1 else f"{len(task_names)} tasks"
    figures = (  # what they are, before the owners' description
        f"Scores of {systems} on {tasks} of {benchmark.name}, revision {publication.revision.number}, and their ranks "
        f"under many ranking rules."
    )
    content: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": name,
        "description": writable(f"{figures}\n\n{benchmark.description}".strip())[:MAX_DESCRIPTION],
        "url": url,
        "version": str(publication.revision.number),
        "datePublished": moment.date().isoformat(),
        "isAccessibleForFree": True,
        "keywords": ["benchmark", "leaderboard", *benchmark.tags],
        "variableMeasured": list(task_names[:MAX_VARIABLES]),
        "license": benchmark.licence if is_url else {"@type": "CreativeWork", "name": benchmark.licence},
        "identifier": doi_url(benchmark),
        "isBasedOn": benchmark.source_url,
        "citation": benchmark.citation,
        "distribution": [
            {"@type": "DataDownload", "name": file.name, "encodingFormat": file.content_type, "contentUrl": file.url}
            for file in files
        ],
    }
    if not benchmark.licence:
        del content["license"]
    return {name: value for name, value in content.items() if value not in ("", [])}


def doi_url(benchmark: Benchmark) -> str:
    """The benchmark's DOI as an address; empty where it has none."""
    return f"https://doi.org/{benchmark.doi}" if benchmark.doi else ""


def data_block(content: Mapping[str, Any]) -> SafeString:
    """Content as the text of a `script` of type `application/ld+json`.

    Such a script is a block of data: browsers do not run it, and the policy for scripts does not concern it.
    """
    text = json.dumps(_shown(content), ensure_ascii=False, allow_nan=False)
    return mark_safe(text.translate(ESCAPES))  # noqa: S308 -- no character of HTML is left


def _shown(content: Any) -> Any:  # noqa: ANN401 -- JSON
    """JSON without what old rows hold and pages cannot carry."""
    if isinstance(content, Mapping):
        return {name: _shown(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_shown(value) for value in content]
    return writable(content) if isinstance(content, str) else content


CROISSANT_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
CROISSANT_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in CROISSANT_TERMS},
}


def croissant(
    dataset: Mapping[str, Any],
    bibtex: str,
    files: Mapping[str, DescribedFile],
    columns: Mapping[str, Sequence[tuple[ColumnHead, str]]],
) -> dict[str, Any]:
    """The metadata of an archive in Croissant 1.0: its files, and the columns of its tables.

    Args:
        dataset: what `dataset_of` says of the revision.
        bibtex: how it is cited.
        files: by their names in the archive, each with its SHA-256.
        columns: by the name of each CSV without its ending, its columns with their types: `sc:Text`, `sc:Integer` or
            `sc:Float`.
    """
    known = ("name", "description", "url", "datePublished", "keywords", "isBasedOn", "identifier")
    licence = dataset.get("license", "")
    return {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        **{name: dataset[name] for name in known if name in dataset},
        # Three numbers, as the format asks for; a frozen revision never changes.
        "version": f"{dataset['version']}.0.0",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **({"license": licence if isinstance(licence, str) else licence["name"]} if licence else {}),
        "citeAs": bibtex,
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "description": file.name,
                "contentUrl": name,
                "encodingFormat": file.content_type,
                "sha256": file.sha256,
            }
            for name, file in files.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": table,
                "name": table,
                "description": files[f"{table}.csv"].name,
                **({"key": [{"@id": f"{table}/{key}"} for key in keys]} if (keys := KEYS.get(table.partition("/")[0]))
                   else {}),
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{table}/{heading.key}",
                        "name": heading.key,
                        "description": heading.name,
                        "dataType": kind,
                        "source": {"fileObject": {"@id": f"{table}.csv"}, "extract": {"column": heading.key}},
                        **({"references": {"field": {"@id": REFERENCES[heading.key]}}} if heading.key in REFERENCES
                           else {}),
                    }
                    for heading, kind in columns[table]
                ],
            }
            for table in columns
        ],
    }  # fmt: skip


def citation_file(dataset: Mapping[str, Any], benchmark: Benchmark, input_hash: str | None) -> str:
    """The metadata of an archive in the Citation File Format.

    The authors of scores are many, and not all known: the contributors are named together.

    Args:
        dataset: what `dataset_of` says of the revision.
        benchmark: whose revision.
        input_hash: of its scores and tasks, as far as it may be told.
    """
    fields: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": dataset["name"],
        "version": dataset["version"],
        "date-released": dataset["datePublished"],
        "url": dataset["url"],
        "abstract": dataset["description"],
        "keywords": dataset["keywords"],
    }
    if benchmark.licence in SPDX:
        fields["license"] = benchmark.licence
    elif benchmark.licence.startswith(("https://", "http://")):
        fields["license-url"] = benchmark.licence
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    lines += ["authors:", f"  - name: {json.dumps(f'Contributors to {writable(benchmark.name)}', ensure_ascii=False)}"]
    identifiers = []
    if benchmark.doi:
        identifiers.append(("doi", benchmark.doi, "The benchmark"))
    if input_hash:
        identifiers.append(("other", f"sha256:{input_hash}", "The scores, tasks, weights and groups"))
    if identifiers:
        lines.append("identifiers:")
        for kind, value, about in identifiers:
            lines += [f"  - type: {kind}", f"    value: {json.dumps(value)}", f"    description: {json.dumps(about)}"]
    return "".join(f"{line}\n" for line in lines)
