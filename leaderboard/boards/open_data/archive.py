"""A frozen revision as one zip: its tables, what machines read of them, and how to cite them."""

import hashlib
import json

from django.urls import reverse

from leaderboard.benchmarks.releases import cite
from leaderboard.boards.open_data.metadata import DescribedFile, citation_file, croissant, dataset_of
from leaderboard.boards.open_data.tables import TABLES, check_size
from leaderboard.common.citations import Citation
from leaderboard.common.files import ColumnHead, ExportTable, export_csv, json_text, markdown_text
from leaderboard.common.parquet import CONTENT_TYPE, export_parquet, has_parquet
from leaderboard.common.site_address import site_address
from leaderboard.common.zips import zip_of
from leaderboard.models import Publication, Release
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.scores import systems_at


def release_zip(release: Release, publication: Publication, input_hash: str | None) -> bytes:
    """The archive of a frozen revision: while what it says is the same, so are its bytes.

    What can change is what the owners write about the benchmark, and studies that are done later. Parquet files, which
    are in it where the site has pyarrow, depend on the version of that.

    Args:
        release: with its benchmark and revision.
        publication: of its revision.
        input_hash: of its inputs, as far as it may be told.

    Returns:
        A zip of one folder: `README.md`, `CITATION.cff`, `croissant.json`, a CSV a table, and a folder `parquet`.

    Raises:
        TooManyRowsError: a table would be too long.
    """
    check_size(publication)
    benchmark = release.benchmark
    contents: dict[str, bytes] = {}
    described: dict[str, DescribedFile] = {}
    columns: dict[str, list[tuple[ColumnHead, str]]] = {}
    for name, (about, make) in TABLES.items():
        table = make(benchmark, publication)
        columns[name] = [(heading, column_type(table, k)) for k, heading in enumerate(table.headings)]
        contents[f"{name}.csv"] = "".join(export_csv(table)).encode()
        described[f"{name}.csv"] = DescribedFile("", "text/csv", about)
        if has_parquet():
            contents[f"parquet/{name}.parquet"] = export_parquet(table)
            described[f"parquet/{name}.parquet"] = DescribedFile("", CONTENT_TYPE, about)
    described = {
        name: DescribedFile(name, file.content_type, file.name, hashlib.sha256(contents[name]).hexdigest())
        for name, file in described.items()
    }
    address = site_address(reverse("release", args=[benchmark.key, release.key]))
    citation = cite(release, address, input_hash)
    dataset = dataset_of(
        benchmark,
        publication,
        url=address,
        n_systems=len(systems_at(publication.revision)),
        task_names=[task.name for task in configuration_of(publication.revision).tasks],
        files=(),
        release=release,
    )
    metadata = croissant(dataset, citation.bibtex, described, columns)
    texts = {
        "README.md": readme(release, publication, citation, input_hash),
        "CITATION.cff": citation_file(dataset, benchmark, input_hash),
        "croissant.json": json_text(json.loads(json.dumps(metadata))),
    }
    files = {**{name: text.encode() for name, text in texts.items()}, **contents}
    return zip_of(f"{benchmark.key}-{release.key}", files)


def column_type(table: ExportTable, column: int) -> str:
    """The type of a column: `sc:Text`, `sc:Integer` or `sc:Float`; rows that are there are looked at, not used up."""
    if table.headings[column].is_text:
        return "sc:Text"
    values = [row[column] for row in table.rows if row[column] is not None]
    return "sc:Integer" if values and all(isinstance(value, int) for value in values) else "sc:Float"


def readme(release: Release, publication: Publication, citation: Citation, input_hash: str | None) -> str:
    """What the archive is, for people."""
    benchmark = release.benchmark
    facts = [
        f"Revision: {release.revision.number}",
        f"Frozen: {release.created_at.date().isoformat()}",
        f"Ranking engine: {publication.engine_version}",
        *([f"Inputs, SHA-256: {input_hash}"] if input_hash else []),
        *([f"DOI of the benchmark: {benchmark.doi}"] if benchmark.doi else []),
        f"Licence: {markdown_text(benchmark.licence) or 'none is stated; ask the owners before you publish the data'}",
    ]
    lines = [
        f"# {markdown_text(benchmark.name)}, {markdown_text(release.name)}",
        "",
        "Scores, ranks and stability studies of one frozen revision of a leaderboard.",
        "",
        *(f"- {fact}" for fact in facts),
        "",
        "| file | what it is |",
        "|---|---|",
        *(f"| `{name}.csv` | {about} |" for name, (about, _) in TABLES.items()),
        "| `croissant.json` | the same in Croissant, for programs: `mlcroissant validate --jsonld croissant.json` |",
        "| `CITATION.cff` | how to cite it |",
        "",
        "A row is one observation. Systems, tasks and rules are named by their keys; their names are in the tables",
        "of these. An empty cell is a missing value, and the last column of `scores.csv` says why it is missing.",
        *(["The folder `parquet` has the same tables with the types of their columns."] if has_parquet() else []),
        "Scores of single instances are not in the archive.",
        "",
        "## How to cite it",
        "",
        markdown_text(citation.text),
        "",
        "```bibtex",
        citation.bibtex,
        "```",
    ]
    return "".join(f"{line}\n" for line in lines)
