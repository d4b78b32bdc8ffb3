"""Files of scores, of every format that the site reads, as boards."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from plurank.board import Board
from plurank.scores import Scores
from plurank.workbooks import read_parquet, read_workbook
from ranking_engine.files.problems import InputError
from ranking_engine.files.tables import Table, TableError, read_table
from ranking_engine.text.close_names import CloseNames

TABLES = frozenset({".csv", ".tsv", ".txt", ""})
WORKBOOKS = frozenset({".xlsx", ".xlsb", ".xls", ".ods"})
OF_OTHERS = ("_stderr", "_n")  # ends of the names of columns that say something of another one


def read(
    *paths: str | Path,
    format: str = "",  # noqa: A002 -- the word that people type
    metric: str = "",
    system: str = "",
    benchmark: str | Path | None = None,
    **of_board: Any,  # noqa: ANN401 -- as Board has them
) -> Board:
    """Read files of scores as a board.

    Tables (CSV, TSV) have a row a system; a `benchmark.toml` beside one says what its tasks are. Workbooks (.xlsx) and
    Parquet files have the same shape. All others are result files of other programs: lm-eval, lighteval, HELM, MTEB,
    OpenCompass, BIG-bench, model cards and further ones; docs/importing.md describes each.

    Args:
        paths: files, folders with files, or patterns such as "results/*.json".
        format: the key of the format, one of `plurank.FORMATS`, where files could be of several.
        metric: read these scores alone, such as "acc", where a program states several.
        system: the name of the system, where the files name none.
        benchmark: the benchmark.toml; default the one beside a table.
        of_board: further arguments of `Board`, such as `lower_is_better`, `weights`, `missing`; they come before what
            the files state.

    Returns:
        The board; `notes` say what was left out and how figures were read.

    Raises:
        ValueError: a file cannot be read; the message names file, line and column.
        OSError: a file cannot be opened.
        ImportError: YAML, a workbook or a Parquet file, and `plurank[files]` is not installed.
    """
    files = files_of(paths)
    kind = files[0].suffix.casefold()
    if len(files) == 1 and not (format or metric):
        if kind in WORKBOOKS:
            return Board(read_workbook(files[0]), **of_board)
        if kind == ".parquet":
            return Board(read_parquet(files[0]), **of_board)
        if kind in TABLES:
            try:
                table = read_table(files[0], allow_formula_names=True)
            except TableError as error:
                # It may be a table of another shape; if it is none, what was wrong with it as a plain one is said.
                try:
                    return _board_of_results(files, format, metric, system, of_board)
                except InputError:
                    raise error from None
            names = set(table.task_names)
            # Columns of standard errors are no tasks; importers know them.
            if not any(name.removesuffix(end) in names for end in OF_OTHERS for name in names if name.endswith(end)):
                return board_of_table(table, files[0], benchmark, of_board)
    return _board_of_results(files, format, metric, system, of_board)


def files_of(paths: Iterable[str | Path]) -> list[Path]:
    """The files that paths name, those of a folder or a pattern in alphabetical order."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            files += sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        elif set("*?[") & set(str(path)) and not path.exists():
            root = Path(path.anchor or ".")
            files += sorted(file for file in root.glob(str(path.relative_to(path.anchor))) if file.is_file())
        else:
            files.append(path)
    if not files:
        raise ValueError(f"there is no file: {', '.join(map(str, paths)) or 'no path was named'}")
    return files


def board_of_table(table: Table, path: Path, benchmark: str | Path | bytes | None, of_board: dict[str, Any]) -> Board:
    """Return the board of a plain table, as its benchmark.toml describes it.

    Args:
        table: with the scores.
        path: of the table.
        benchmark: the description, or its path; None for the one beside the table, if there is one.
        of_board: further arguments of `Board`.

    Raises:
        ValueError: the description cannot be read, or does not go with the table.
    """
    from ranking_engine.files.benchmark_file import read_benchmark, to_matrix  # noqa: PLC0415 -- loaded when asked for

    beside = path.with_name("benchmark.toml")
    source = benchmark or (beside if beside.is_file() else None)
    description = None if source is None else read_benchmark(source)
    policy = {"missing": description.policy} if description and description.policy else {}
    board = Board(to_matrix(table, description), **(policy | of_board))
    described = f"described by {source}" if isinstance(source, str | Path) else ""
    board.notes = tuple(note for note in (table.rounding, described) if note)
    return board


def _board_of_results(files: list[Path], format_key: str, metric: str, system: str, of_board: dict[str, Any]) -> Board:
    from ranking_engine.importers import SourceFile, read_results  # noqa: PLC0415 -- loaded when asked for
    from ranking_engine.importers.documents import MAX_BYTES  # noqa: PLC0415
    from ranking_engine.importers.results_table import table_of  # noqa: PLC0415

    if sum(file.stat().st_size for file in files) > MAX_BYTES:
        raise InputError.of(f"more than {MAX_BYTES // 2**20} MB; read them in parts")
    results = table_of(read_results([SourceFile(str(file), file.read_bytes()) for file in files], format_key))
    columns = dict(enumerate(results.columns))
    if metric:
        columns = {c: column for c, column in columns.items() if column.metric.casefold() == metric.casefold()}
        if not columns:
            metrics = list(dict.fromkeys(column.metric for column in results.columns))
            close = CloseNames(metrics).suggestion(metric) or f"; there are {', '.join(metrics)}"
            raise ValueError(f"there is no metric {metric[:60]!r}{close}")
    # A column is called as its task where that alone says which it is.
    alone = {column.task for column in columns.values()}
    is_clear = len(alone) == len(columns)
    tasks = [column.task if is_clear else column.name for column in columns.values()]
    names = [f"{name or system} ({revision})" if revision else name or system for name, revision in results.systems]
    if not all(name for name, _ in results.systems) and not system:
        raise ValueError('the files name no system; say its name: `system="..."`')
    if len({name for name, _ in results.systems}) == len(names):
        names = [name or system for name, _ in results.systems]
    values = np.full((len(names), len(tasks)), np.nan)
    place = {c: t for t, c in enumerate(columns)}
    for s, c, value, _, _ in results.cells:
        if c in place and value is not None:
            values[s, place[c]] = value
    directions = [
        task for task, column in zip(tasks, columns.values(), strict=True) if column.higher_is_better is False
    ]
    board = Board(Scores(values, names, tasks), **{"lower_is_better": directions, **of_board})
    board.notes = (f"read as {results.format_name}", *results.notes, *results.warnings)
    return board
