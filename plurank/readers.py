"""Files of scores, of every format that the site reads, as boards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from plurank.board import Board
from plurank.matrices import direction_doubts, stated_directions
from ranking_engine import importers
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers.score_files import ScoreFiles, read_score_files

FORMATS: Mapping[str, str] = MappingProxyType({one.key: one.name for one in importers.FORMATS})


def read(
    *paths: str | Path,
    format: str = "",  # noqa: A002 -- the word that people type
    metric: str = "",
    system: str = "",
    benchmark: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    sheet: str = "",
    **of_board: Any,  # noqa: ANN401 -- as Board has them
) -> Board:
    """Read files of scores as a board.

    Tables (CSV, Excel, Parquet, JSON, Markdown and others) have one row per system or one per score; a `benchmark.toml`
    next to one describes its tasks, as it does in a folder or an archive of both. All others are result files of other
    programs: lm-eval, lighteval, HELM, MTEB, inspect_ai, OpenCompass, BIG-bench, model cards and further ones;
    docs/importing.md describes each. Files in .zip archives are read too.

    Args:
        paths: files, folders with files, or patterns such as "results/*.json".
        format: the key of the format, a key of `plurank.FORMATS`, where files could be of several.
        metric: read these scores alone, such as "acc", where a program states several.
        system: the name of the system, where the files name none.
        benchmark: the benchmark.toml; default the one beside a table, or in its folder or archive.
        columns: what columns of a table are, where that is not clear: `{"Team": "system", "acc": "score", "se":
            "stderr:acc", "n": "n:acc", "date": "ignored"}`; docs/importing.md lists what a column can be.
        sheet: of a workbook, where several have cells.
        of_board: further arguments of `Board`, such as `lower_is_better`, `weights`, `missing`; they come before what
            the files state.

    Returns:
        The board; `notes` say what was left out and how figures were read.

    Raises:
        ValueError: a file cannot be read; the message names file, line and column.
        OSError: a file cannot be opened.
        ImportError: YAML, a workbook or a Parquet file, and `plurank[files]` is not installed.
    """
    choices = ColumnChoices(roles=columns or {}, sheet=sheet) if columns or sheet else None
    scores = read_score_files(paths, importer=format, metric=metric, system=system, columns=choices)
    return board_of_files(scores, benchmark, of_board)


def board_of_files(scores: ScoreFiles, benchmark: str | Path | bytes | None, of_board: dict[str, Any]) -> Board:
    """Return the board of files, as a benchmark.toml describes it.

    Args:
        scores: what the files say.
        benchmark: the description, or its path; None for the one of the files.
        of_board: further arguments of `Board`.

    Raises:
        ValueError: the description cannot be read, or does not go with the scores.
    """
    description = scores.description(benchmark)
    matrix = scores.matrix(description)
    directed = list(stated_directions(of_board.get("lower_is_better", ())))
    notes, settings = list(scores.notes), {}
    if description is not None:
        settings = {
            "missing": description.policy, "aggregation": description.aggregation, "variants": description.variants
        }  # fmt: skip
        directed += description.directed_tasks
        notes += [] if isinstance(benchmark, bytes) else [f"described by {description.source}"]
    notes += direction_doubts(matrix, directed)
    return Board(matrix, notes=notes, **({name: value for name, value in settings.items() if value} | of_board))
