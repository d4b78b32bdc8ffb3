"""The rows of a Parquet file of references or predictions, which a process of its own reads: `record_process.py`."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ranking_engine.evaluation.record_process import answers
from ranking_engine.files.limited_process import limited_command
from ranking_engine.files.problems import InputError, Problem
from ranking_engine.text.names import shorten

PROGRAM = Path(__file__).with_name("record_process.py")
PROCESSOR_SECONDS = 60  # that it may take
SECONDS = 120  # until the process is ended, however little of the processor it had
MAX_VALUES = 20_000_000  # those in lists each
LOST = "not readable as Parquet: it takes more memory or time than a file may, or is broken"

Choose = Callable[[Sequence[str]], list[str]]


def records_of(
    data: bytes, choose: Choose, bounds: dict[str, int], *, is_bounded: bool
) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a Parquet file, each with its number and the cells of the chosen columns.

    Args:
        data: of the file.
        choose: a function of all columns that returns those to read; it may raise an InputError.
        bounds: `rows`, `columns`, `bytes` and `characters` of all cells, and `line`: the characters of a row.
        is_bounded: whether this process has bounds on memory and time itself, so that no other one is needed.

    Raises:
        InputError: it cannot be read, or is too large.
        ImportError: pyarrow is not installed.
    """
    bounds = bounds | {"values": MAX_VALUES, "n_bytes": len(data)}
    read = answers if is_bounded else _answers_apart
    number = 0
    for answer in read(data, bounds, choose):
        if isinstance(answer, list):
            number += 1
            yield number, answer
        elif package := answer.get("missing"):
            raise ImportError(f"this needs {package}: install plurank with its extra `files`")
        elif message := answer.get("refused"):
            raise InputError([Problem(message, line=answer["line"])])
        elif "broken" in answer:
            message = f"not readable as Parquet: {shorten(answer['broken'])}"
            raise InputError([Problem(message, line=answer["line"])])


def _answers_apart(data: bytes, bounds: dict[str, int], choose: Choose) -> Iterator[dict[str, Any] | list[Any]]:
    """Yield what `answers` does, as the other process says it."""
    command = limited_command(PROGRAM, PROCESSOR_SECONDS)
    process = subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    source, target = process.stdout, process.stdin
    if source is None or target is None:
        raise RuntimeError("a process with pipes has none")
    timer = threading.Timer(SECONDS, process.kill)
    timer.start()
    try:
        with contextlib.suppress(BrokenPipeError):  # it ended early, and its answer says why
            target.write(json.dumps(bounds).encode() + b"\n" + data)
            target.flush()
        is_ended = False
        while not is_ended:
            line = source.readline(bounds["line"] + 1_000_000)  # a list of columns may be longer than a row
            if not line.endswith(b"\n"):
                raise InputError.of(LOST)
            answer = json.loads(line)
            if isinstance(answer, dict) and "columns" in answer:
                with contextlib.suppress(BrokenPipeError):
                    target.write(json.dumps(choose(answer["columns"])).encode() + b"\n")
                    target.flush()
                continue
            is_ended = isinstance(answer, dict)
            yield answer
    finally:
        timer.cancel()
        process.kill()
        with contextlib.suppress(OSError):
            target.close()
        source.close()
        process.wait()
