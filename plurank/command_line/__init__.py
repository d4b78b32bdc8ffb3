"""The command `plurank`: the engine's commands, and those that talk to a site."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from plurank.command_line import completion, evaluate, export, papers, pull, submit
from plurank.version import __version__
from ranking_engine.command_line import argument_parser, main as run_command

SITE_STATUS = """\
of submit, pull, export and evaluate also: 3 the site refused or did not answer; 4 the submission was rejected or
withdrawn, or its board is not published yet.
"""


def parser() -> ArgumentParser:
    """Return the parser of all commands."""
    commands = (papers, submit, pull, export, evaluate, completion)
    whole = argument_parser("plurank", f"plurank {__version__}", commands)
    whole.epilog = f"{whole.epilog}\n{SITE_STATUS}"
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 2 for bad input, 3 where a site refuses, 4 where it rejects."""
    return run_command(arguments, parser())
