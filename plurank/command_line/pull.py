"""`pull`: the scores of a board and what describes them, as files that every command reads."""

from __future__ import annotations

import argparse

from plurank.command_line.addresses import EXIT_STATUS, add_board_argument, board_at, refusals

EXAMPLES = """\
examples:
  plurank pull --board https://boards.example/b/glue/ glue
  plurank rank glue/scores.csv
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "pull",
        help="write the scores of a site's board into a folder",
        description="Write scores.csv and benchmark.toml of a board into a folder; nothing is written over.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_board_argument(command)
    command.add_argument("folder", metavar="FOLDER", help="is made where it is not there")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Write the files and return their paths."""
    with refusals():
        return "".join(f"{path}\n" for path in board_at(options.board).pull(options.folder))
