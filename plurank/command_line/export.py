"""`export`: a table of a site as text."""

from __future__ import annotations

import argparse

from plurank.client.formats import FORMATS
from plurank.command_line.addresses import EXIT_STATUS, add_board_argument, board_at, refusals

EXAMPLES = """\
examples:
  every rule's ranks
      plurank export --board https://boards.example/b/glue/
  one rule's ranking, for a paper
      plurank export --board https://boards.example/b/glue/ rankings/borda --format latex
"""
HELP = "csv, latex, markdown or json (default: csv)"


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "export",
        help="print a table of a site's board",
        description="Print a table of a board: board, scores, tasks, systems, rankings/RULE, prospects, ...",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_board_argument(command)
    command.add_argument("table", metavar="TABLE", nargs="?", default="board", help="default: board")
    command.add_argument(
        "--format",
        metavar="FORMAT",
        choices=list(dict.fromkeys([*FORMATS, *FORMATS.values()])),
        default="csv",
        help=HELP,
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    with refusals():
        return board_at(options.board).export(options.table, options.format)
