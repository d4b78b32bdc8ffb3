"""Files of scores of every format as one table: tables, workbooks, Parquet, and result files of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ranking_engine.core.instances import InstanceScores
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.files.benchmark_file import BenchmarkFile, read_benchmark, to_matrix
from ranking_engine.files.instance_tables import cluster_codes
from ranking_engine.files.problems import InputError
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.files.tables import SYSTEM_COLUMNS, Table, TableError, read_table
from ranking_engine.importers import SourceFile, UnclearColumnsError, benchmark_folder, read_results
from ranking_engine.importers.documents import MAX_TOTAL, unpacked_files
from ranking_engine.importers.results_table import FileColumn, Import, table_of
from ranking_engine.importers.table import FORMAT as TABLE, table_in
from ranking_engine.text.close_names import CloseNames

TABLES = frozenset({".csv", ".tsv", ".txt", ""})
OF_OTHERS = ("_stderr", "_n")  # ends of the names of columns that say something of another one
NAMING_PARTS = 3  # of a path: some programs name the system by two folders; messages need the end of the path


@dataclass(frozen=True, eq=False)
class ScoreFiles:
    """Scores as files have them.

    Attributes:
        table: with the names.
        lower_is_better: the tasks of which the files say so.
        notes: how the files were read, and what was left out.
        is_one_table: whether they are one file that is a table, which a benchmark.toml beside it describes.
        about: that benchmark.toml, or the one of the same folder or archive; None where there is none.
    """

    table: Table
    lower_is_better: frozenset[str]
    notes: tuple[str, ...]
    is_one_table: bool
    about: SourceFile | None = None

    @classmethod
    def of_table(cls, table: Table) -> ScoreFiles:
        """A table with one row per system."""
        return cls(table, frozenset(), tuple(table.remarks), is_one_table=True)

    def description(self, benchmark: str | Path | bytes | None = None) -> BenchmarkFile | None:
        """Return what describes the scores: the benchmark.toml that someone states, else `about`, else nothing.

        Raises:
            TableError: it cannot be read.
            OSError: it cannot be opened.
        """
        if benchmark is not None:
            return read_benchmark(benchmark)
        return None if self.about is None else read_benchmark(self.about.data, name=self.about.name)

    def matrix(self, benchmark: BenchmarkFile | None = None) -> ScoreMatrix:
        """Return the scores as `benchmark` describes them; what it does not say of a direction, the files do.

        Raises:
            TableError: the description does not go with the table.
        """
        matrix = to_matrix(self.table, benchmark)
        directed = set(benchmark.directed_tasks) if benchmark else set()
        directions = [
            -1 if own in self.lower_is_better and name not in directed else direction
            for own, name, direction in zip(
                self.table.task_names, matrix.task_names, matrix.directions.tolist(), strict=True
            )
        ]
        return replace(matrix, directions=np.array(directions)) if self.lower_is_better else matrix


def read_score_files(
    paths: Iterable[str | Path],
    *,
    importer: str = "",
    metric: str = "",
    system: str = "",
    columns: ColumnChoices | None = None,
) -> ScoreFiles:
    """Read files of scores.

    Args:
        paths: files, folders with files, or patterns such as "results/*.json".
        importer: the key of the format, where files could be of several.
        metric: read these scores alone, where a program states several.
        system: the name of the system, where the files name none.
        columns: what the columns of a table are, where that is not clear, and its sheet.

    Raises:
        TableError, InputError: a file cannot be read; the message names file, line and column.
        OSError: a file cannot be opened.
        ImportError: YAML, a workbook or a Parquet file, and what reads it is not installed.
    """
    files = files_of(paths)
    filters = ResultFilters(importer, metric, system, columns)
    if len(files) == 1 and files[0].suffix.casefold() in TABLES:
        scores = _one_table(SourceFile(str(files[0]), files[0].read_bytes()), filters)
    else:
        sources = _sources(files)
        folder = unpacked_files(sources) if importer in ("", benchmark_folder.FORMAT.key) else []
        if benchmark_folder.recognise(folder):
            about, table = sorted(folder, key=lambda file: file.base)
            scores = _one_table(table, replace(filters, importer=""))
            return replace(scores, about=about, notes=(f"read as {benchmark_folder.FORMAT.name}", *scores.notes))
        scores = _results(sources, filters)
    beside = files[0].with_name("benchmark.toml")
    if scores.is_one_table and beside.is_file():
        return replace(scores, about=SourceFile(str(beside), beside.read_bytes()))
    return scores


def _one_table(file: SourceFile, filters: ResultFilters) -> ScoreFiles:
    """The scores of a table of any shape."""
    if filters.importer or filters.metric or filters.columns:
        return _results([file], filters)
    try:
        table = read_table(file.data, name=file.name, allow_formula_names=True)
    except TableError as error:
        # It may be a table of another shape; if it is none, what was wrong with it as a plain one is said. Where a
        # column names the tasks, it is one with a row per score.
        try:
            return _results([file], filters)
        except UnclearColumnsError as unclear:
            # A table with its systems in the first column is a plain one, with a slip in its cells.
            columns_found = unclear.table.columns
            if columns_found.names[0].casefold() in SYSTEM_COLUMNS and not columns_found.is_long:
                raise error from None
            raise
        except InputError as other:
            try:
                is_long = table_in(SourceFile(file.base, file.data)).columns.is_long
            except InputError:
                is_long = False
            raise (other if is_long else error) from None
    names = set(table.task_names)
    # Columns of standard errors are no tasks; importers know them.
    if any(name.removesuffix(end) in names for end in OF_OTHERS for name in names if name.endswith(end)):
        return _results([file], filters)
    return ScoreFiles.of_table(table)


@dataclass(frozen=True)
class ResultFilters:
    """What is read of result files, as `read_score_files` has it."""

    importer: str
    metric: str
    system: str
    columns: ColumnChoices | None


def files_of(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files that paths name, those of a folder or a pattern in alphabetical order.

    Raises:
        InputError: there is none.
    """
    files: list[Path] = []
    named = [Path(path) for path in paths]
    for path in named:
        if path.is_dir():
            files += sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        elif set("*?[") & set(str(path)) and not path.exists():
            root = Path(path.anchor or ".")
            files += sorted(file for file in root.glob(str(path.relative_to(path.anchor))) if file.is_file())
        else:
            files.append(path)
    if not files:
        raise InputError.of(f"there is no file: {', '.join(map(str, named)) or 'no path was named'}")
    return files


def _results(files: Sequence[SourceFile], filters: ResultFilters) -> ScoreFiles:
    system = filters.system
    results = _import_of(files, filters)
    columns = _columns_of(results, filters.metric)
    columns = {c: column for c, column in columns.items() if not column.aside} or columns
    tasks = _task_names_of(columns)
    if not all(name for name, _ in results.systems) and not system:
        raise InputError.of("the files name no system; say its name: `system` in Python, --system-name in a command")
    systems = [name or system for name, _ in results.systems]
    if len(set(systems)) < len(systems):
        revisions = [revision for _, revision in results.systems]
        systems = [f"{name} ({rev})" if rev else name for name, rev in zip(systems, revisions, strict=True)]
    values = np.full((len(systems), len(tasks)), np.nan)
    place = {c: t for t, c in enumerate(columns)}
    for s, c, value, _, _ in results.cells:
        if c in place and value is not None:
            values[s, place[c]] = value
    lower = [task for task, column in zip(tasks, columns.values(), strict=True) if column.higher_is_better is False]
    source = files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"
    metadata = {}
    for label in dict.fromkeys(label for facts in results.metadata.values() for label in facts):
        of_systems = [results.metadata.get(name, {}).get(label, "") for name, _ in results.systems]
        metadata[label] = tuple("no" if fact is False else "yes" if fact is True else str(fact) for fact in of_systems)
    table = Table(tuple(systems), tuple(tasks), values, (1,) * len(systems), source=source, metadata=metadata)
    notes = (f"read as {results.format_name}", *results.notes, *results.warnings)
    is_one_table = results.format_key == TABLE.key and len(files) == 1
    return ScoreFiles(table, frozenset(lower), notes, is_one_table)


def _sources(files: Sequence[Path]) -> list[SourceFile]:
    """The files themselves.

    Raises:
        InputError: they are too large.
    """
    if sum(file.stat().st_size for file in files) > MAX_TOTAL:
        raise InputError.of(f"more than {MAX_TOTAL // 2**20} MB; read them in parts")
    return [SourceFile(str(file), file.read_bytes()) for file in files]


def _import_of(files: Sequence[SourceFile], filters: ResultFilters) -> Import:
    """What result files say, as a table."""
    parts = [Path(file.name).parts for file in files]
    names = [str(Path(*("..." if len(p) > NAMING_PARTS else "", *p[-NAMING_PARTS:]))) for p in parts]
    if len(set(names)) < len(names):
        names = [file.name for file in files]
    named = [replace(file, name=name) for name, file in zip(names, files, strict=True)]
    try:
        results = table_of(read_results(named, filters.importer, columns=filters.columns))
    except UnclearColumnsError as unclear:
        name = unclear.table.columns.names[0]
        how = f". In a command --column {f'{name}=system'!r} says so, in Python columns={ {name: 'system'}!r}"
        raise UnclearColumnsError(unclear.table, how) from None
    except InputError as error:
        if isinstance(error.__cause__, ImportError):
            raise ImportError("; ".join(error.problems.lines)) from error  # noqa: TRY004 -- what is missing is a package
        raise
    if filters.columns and filters.columns.roles and results.format_key != TABLE.key:
        raise InputError.of(f"roles of columns are for tables; these files are read as {results.format_name}")
    return results


def _columns_of(results: Import, metric: str) -> dict[int, FileColumn]:
    """The columns by their numbers, of one metric alone where one is named.

    Raises:
        InputError: there is no such metric.
    """
    columns = dict(enumerate(results.columns))
    if metric:
        columns = {c: column for c, column in columns.items() if column.metric.casefold() == metric.casefold()}
        if not columns:
            metrics = list(dict.fromkeys(column.metric for column in results.columns))
            close = CloseNames(metrics).suggestion(metric) or f"; there are {', '.join(metrics)}"
            raise InputError.of(f"there is no metric {metric[:60]!r}{close}")
    return columns


def _task_names_of(columns: Mapping[int, FileColumn]) -> list[str]:
    """What the columns are called: as their tasks where these alone say which they are."""
    is_clear = len({column.task for column in columns.values()}) == len(columns)
    return [column.task if is_clear else column.name for column in columns.values()]


def read_instance_files(
    paths: Iterable[str | Path], *, metric: str = "", system: str = "", lower: Sequence[str] = ()
) -> InstanceScores:
    """Read the scores of single instances that lm-evaluation-harness or lighteval wrote.

    Args:
        paths: samples or details, beside the results of their runs or alone, or folders of them.
        metric: read these scores alone, where there are several.
        system: the name of the system, where neither results nor folders name one.
        lower: the tasks on which a lower score is better; what results say of others counts, too.

    Raises:
        InputError: a file cannot be read, or none has scores of instances.
        OSError: a file cannot be opened.
        ImportError: they are details, and what reads Parquet is not installed.
    """
    results = _import_of(_sources(files_of(paths)), ResultFilters("", "", "", None))
    columns = _columns_of(results, metric)
    columns = {c: columns[c] for c in sorted({c for _, c in results.instances} & columns.keys())}
    if not columns:
        raise InputError.of("these files have no scores of single instances")
    systems = sorted({s for s, _ in results.instances})
    names = [results.systems[s][0] or system for s in systems]
    if not all(names):
        raise InputError.of("the files name no system; say its name with --system-name, or add the results of the run")
    tasks = _task_names_of(columns)
    if unknown := next((task for task in lower if task not in tasks), None):
        raise InputError.of(f"no task is called {unknown[:60]!r}; there are {', '.join(tasks[:20])}")
    blocks, clusters, instance_names = [], [], []
    for c in columns:
        of_column = {k: results.instances[s, c] for k, s in enumerate(systems) if (s, c) in results.instances}
        places: dict[str, int] = {}
        for one in of_column.values():
            for name in one.names:
                places.setdefault(name, len(places))
        block = np.full((len(systems), len(places)), np.nan)
        for k, one in of_column.items():
            block[k, [places[name] for name in one.names]] = one.values
        blocks.append(block)
        instance_names.append(tuple(places))
        of_instances = {name: cluster for one in of_column.values() for name, cluster in one.named_clusters}
        clusters.append([of_instances.get(name, "") for name in places])
    directions = [
        -1 if task in lower or column.higher_is_better is False else 1
        for task, column in zip(tasks, columns.values(), strict=True)
    ]
    codes_of_tasks = cluster_codes(*clusters) if any(map(any, clusters)) else ()
    return InstanceScores(
        tuple(names), tuple(tasks), tuple(blocks), tuple(directions), codes_of_tasks, tuple(instance_names)
    )
