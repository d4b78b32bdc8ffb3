"""The files that the commands read."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ranking_engine.benchmark_file import BenchmarkFile, read_benchmark, to_matrix
from ranking_engine.names import fold_name, shorten
from ranking_engine.score_matrix import ScoreMatrix
from ranking_engine.tables import TableError, TableIssue, read_table
from ranking_engine.weights import exact_weight

STANDARD_INPUT = "-"


def add_input_arguments(command: argparse.ArgumentParser) -> None:
    """Declare FILE, --benchmark and --weights."""
    command.add_argument(
        "file", metavar="FILE", help="scores.csv: `system` and a column for each task; - is standard input"
    )
    command.add_argument(
        "--benchmark",
        metavar="FILE",
        type=Path,
        help="benchmark.toml: tasks, groups, weights (default: benchmark.toml beside FILE, if there is one)",
    )
    command.add_argument(
        "--weights",
        metavar="FILE",
        type=Path,
        help='JSON such as {"RTE": 2, "CoLA": "1/3"}; other tasks keep theirs',
    )


def read_inputs(options: argparse.Namespace) -> tuple[ScoreMatrix, BenchmarkFile | None]:
    """Read the table and what describes it.

    Raises:
        TableError: bad input, with its place.
        OSError: a file cannot be opened.
    """
    benchmark = _read_benchmark(options)
    if options.file == STANDARD_INPUT:
        table = read_table(sys.stdin.buffer, name="standard input", allow_formula_names=True)
    else:
        table = read_table(options.file, allow_formula_names=True)
    matrix = to_matrix(table, benchmark)
    return (_reweighted(matrix, options.weights) if options.weights else matrix), benchmark


def _read_benchmark(options: argparse.Namespace) -> BenchmarkFile | None:
    if options.benchmark is not None:
        return read_benchmark(options.benchmark)
    beside = Path(options.file).with_name("benchmark.toml") if options.file != STANDARD_INPUT else None
    if beside is None or not beside.is_file():
        return None
    print(f"note: using {beside}", file=sys.stderr)
    return read_benchmark(beside)


def _reweighted(matrix: ScoreMatrix, path: Path) -> ScoreMatrix:
    positions = {fold_name(name): t for t, name in enumerate(matrix.task_names)}
    weights = list(matrix.weights)
    for name, weight in _weights_object(path).items():
        if fold_name(name) not in positions:
            raise _error(path, f"unknown task {shorten(name)!r}: the table has none")
        try:
            weights[positions[fold_name(name)]] = exact_weight(weight, f"the weight of {shorten(name)!r}")
        except ValueError as error:
            raise _error(path, str(error)) from error
    if not any(weights):
        raise _error(path, "the weights of all tasks are zero")
    return matrix.with_weights(weights)


def _weights_object(path: Path) -> dict[str, Any]:
    try:
        weights = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise _error(path, f"not valid JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise _error(path, "not valid JSON") from error
    if not isinstance(weights, dict):
        raise _error(path, 'expected a JSON object such as {"RTE": 2}')
    return weights


def _error(path: Path, message: str, line: int | None = None) -> TableError:
    return TableError([TableIssue(line, None, None, message)], str(path))
