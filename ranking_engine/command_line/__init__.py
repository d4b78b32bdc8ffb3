"""The command line: `python -m ranking_engine rank|intervals|compare|prospects|stability|instances|votes|score ...`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from ranking_engine import __version__
from ranking_engine.command_line import compare, instances, intervals, metrics, prospects, rank, score, stability, votes
from ranking_engine.command_line.inputs import EXIT_STATUS, UsageError
from ranking_engine.files.problems import InputError
from ranking_engine.files.tables import TableError

FAULT, BAD_INPUT = 1, 2
SHOWN_PROBLEMS = 3  # of files; the first ones say enough for a line
INTERRUPTED = 130

EPILOG = """
examples:
  python -m ranking_engine rank scores.csv
  python -m ranking_engine intervals scores.csv --simultaneous
  python -m ranking_engine compare scores.csv --rule borda --rule copeland --rule kemeny
  python -m ranking_engine prospects scores.csv
  python -m ranking_engine COMMAND --help
"""


def main(arguments: Sequence[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    """Run one command and return the exit status: 0, or 2 for bad input, told on one line; 130 on Ctrl-C.

    Args:
        arguments: default those of the process.
        parser: default that of `python -m ranking_engine`.
    """
    text = None
    try:
        options = (parser or argument_parser()).parse_args(arguments)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may know fewer letters than names have
        text = options.run(options)
        if sys.stdout is None:
            raise OSError("it is closed")  # noqa: TRY301 -- one place says what cannot be written
        print(text, end="")
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except TableError as error:
        return _fail(error.one_line())
    except (UsageError, ImportError) as error:  # ImportError: of an extra of the distribution; it says which
        return _fail(str(error), getattr(error, "status", BAD_INPUT))
    except InputError as error:
        return _fail("; ".join(error.problems.lines[:SHOWN_PROBLEMS]))
    except MemoryError as error:
        return _fail(f"the table is too large for this machine's memory: {error}")
    except OSError as error:
        if text is None:
            return _fail(f"{error.filename or 'input'}: {error.strerror or error}")
        if sys.stdout is not None:  # all is computed, and cannot be written, as where a disk is full
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fail(f"standard output: {error.strerror or error}", FAULT)
    return 0


class Command(Protocol):
    """What the module of a command offers: it declares itself, and its arguments have `run(options)` return text."""

    def add_command(self, commands: Any) -> None:  # noqa: ANN401 -- argparse keeps its type to itself
        """Declare the command and its arguments."""


class _CommandParser(argparse.ArgumentParser):
    """Tells what is wrong with the arguments on one line, as everything else is told."""

    def error(self, message: str) -> NoReturn:
        sys.exit(_fail(f"{message}; {self.prog} --help tells more"))


def argument_parser(
    prog: str = "python -m ranking_engine",
    version: str = f"ranking_engine {__version__}",
    further: Sequence[Command] = (),
) -> argparse.ArgumentParser:
    """Return the parser of all commands and their arguments.

    Args:
        prog: what the command is called, in examples too.
        version: what `--version` says.
        further: commands beside the engine's.
    """
    parser = _CommandParser(
        prog=prog,
        description="Ranking rules for multi-task benchmarks, side by side.",
        epilog=EPILOG + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (rank, intervals, compare, prospects, stability, instances, votes, metrics, score, *further):
        command.add_command(commands)
    for each in (parser, *commands.choices.values()):
        each.epilog = (each.epilog or "").replace("python -m ranking_engine", prog)
    return parser


def _fail(message: str, status: int = BAD_INPUT) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return status
