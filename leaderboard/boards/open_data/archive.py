"""A frozen revision as one zip: its tables, what machines read of them, and how to cite them."""

import hashlib
import json

from django.urls import reverse

from leaderboard.benchmarks.releases import cite
from leaderboard.boards.open_data.instances import ABOUT, ROWS_A_FILE, ArchivedInstances, archived_instances
from leaderboard.boards.open_data.metadata import DescribedFile, citation_file, croissant, dataset_of
from leaderboard.boards.open_data.tables import TABLES, check_size
from leaderboard.common.cache import BoundedCache
from leaderboard.common.citations import Citation
from leaderboard.common.files import ColumnHead, export_csv, json_text, markdown_text
from leaderboard.common.parquet import CONTENT_TYPE, export_parquet
from leaderboard.common.site_address import site_address
from leaderboard.common.zips import zip_of
from leaderboard.models import Publication, Release
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.scores import systems_at

PACKED_BYTES = 32 * 2**20  # that each process keeps
_packed: BoundedCache[bytes] = BoundedCache(PACKED_BYTES)


def release_zip(release: Release, publication: Publication, input_hash: str | None) -> bytes:
    """The archive of a frozen revision: while what it says is the same, so are its bytes.

    What can change is what the owners write about the benchmark, studies that are done later, and Parquet files, with
    the version of pyarrow.

    It is packed once and kept in memory under a hash of all that it is made of: every text, every row of every table,
    and the stored hashes of scores of single instances. These are read at each download, so that what is taken down or
    changed is not served again, and nothing has to be deleted.

    Args:
        release: with its benchmark and revision.
        publication: of its revision.
        input_hash: of its scores and tasks, as far as it may be told.

    Returns:
        A zip of one folder: `README.md`, `CITATION.cff`, `croissant.json`, a CSV a table, and the folders `parquet`
        and, if all readers see scores of single instances, `instances`.

    Raises:
        TooManyRowsError: a table would be too long.
    """
    check_size(publication)
    benchmark = release.benchmark
    tables = {name: make(benchmark, publication) for name, (_, make) in TABLES.items()}
    instances = archived_instances(benchmark, publication)
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
    texts = {
        "README.md": readme(release, publication, citation, input_hash, instances),
        "CITATION.cff": citation_file(dataset, benchmark, input_hash),
    }
    folder = f"{benchmark.key}-{release.key}"

    def pack() -> bytes:
        contents: dict[str, bytes] = {}
        described: dict[str, DescribedFile] = {}
        columns: dict[str, list[tuple[ColumnHead, str]]] = {}

        def add(name: str, about: str, content_type: str, content: bytes) -> None:
            contents[name] = content
            described[name] = DescribedFile(name, content_type, about, hashlib.sha256(content).hexdigest())

        for name, table in tables.items():
            columns[name] = []
            for k, heading in enumerate(table.headings):
                values = [] if heading.is_text else [row[k] for row in table.rows if row[k] is not None]
                is_whole = bool(values) and all(isinstance(value, int) for value in values)
                kind = "sc:Text" if heading.is_text else "sc:Integer" if is_whole else "sc:Float"
                columns[name].append((heading, kind))
            add(f"{name}.csv", TABLES[name][0], "text/csv", "".join(export_csv(table)).encode())
            add(f"parquet/{name}.parquet", TABLES[name][0], CONTENT_TYPE, export_parquet(table))
        for file in instances.files:
            columns[file.name] = [(heading, "sc:Text" if heading.is_text else "sc:Float") for heading in file.headings]
            add(f"{file.name}.csv", ABOUT, "text/csv", "".join(export_csv(file.table())).encode())
        metadata = json_text(json.loads(json.dumps(croissant(dataset, citation.bibtex, described, columns))))
        written = {**texts, "croissant.json": metadata}
        return zip_of(folder, {**{name: text.encode() for name, text in written.items()}, **contents})

    rows = [(name, list(table.headings), list(table.rows)) for name, table in tables.items()]
    state = repr((folder, texts, dataset, citation, rows, instances))
    return _packed.get_or_make(hashlib.sha256(state.encode("utf-8", "surrogatepass")).digest(), pack, len)


def readme(
    release: Release,
    publication: Publication,
    citation: Citation,
    input_hash: str | None,
    instances: ArchivedInstances,
) -> str:
    """What the archive is, for people."""
    benchmark = release.benchmark
    facts = [
        f"Revision: {release.revision.number}",
        f"Frozen: {release.created_at.date().isoformat()}",
        f"Ranking engine: {publication.engine_version}",
        *([f"Scores, tasks, weights and groups, SHA-256: {input_hash}"] if input_hash else []),
        *([f"DOI of the benchmark: {benchmark.doi}"] if benchmark.doi else []),
        f"Licence: {markdown_text(benchmark.licence) or 'none is stated; ask the owners before you publish the data'}",
    ]
    lines = [
        f"# {markdown_text(benchmark.name)}, {markdown_text(release.name)}",
        "",
        "Scores, ranks, prospects and stability studies of one frozen revision of a leaderboard.",
        "",
        *(f"- {fact}" for fact in facts),
        "",
        "| file | what it is |",
        "|---|---|",
        *(f"| `{name}.csv` | {about} |" for name, (about, _) in TABLES.items()),
        *([f"| `instances/TASK-NUMBER.csv` | {ABOUT} |"] if instances.files else []),
        "| `croissant.json` | the same in Croissant, for programs: `mlcroissant validate --jsonld croissant.json` |",
        "| `CITATION.cff` | how to cite it |",
        "",
        "A row is one observation. Systems, tasks and rules are named by their keys; their names are in the tables",
        "of these. An empty cell is a missing value, and the last column of `scores.csv` says why it is missing.",
        "The folder `parquet` has the same tables without single instances, with the types of their columns.",
        instances.why_none or f"Scores of single instances are in files of about {ROWS_A_FILE:,} lines at most.",
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
