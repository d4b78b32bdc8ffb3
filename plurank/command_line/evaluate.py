"""`evaluate`: an owner's own program scores the predictions of a board, outside the site."""

from __future__ import annotations

import argparse
import importlib
import os
import socket
import sys
import time
from typing import TYPE_CHECKING

from plurank.command_line.addresses import EXIT_STATUS, add_board_argument, board_at, refusals
from ranking_engine.command_line.inputs import UsageError

if TYPE_CHECKING:
    from plurank.client.predictions import Evaluator

EXAMPLES = """\
examples:
  score whatever waits, and stop
      plurank evaluate --board https://boards.example/b/chess/ --with my_evaluator:score --once
  keep looking every ten seconds
      plurank evaluate --board https://boards.example/b/chess/ --with my_evaluator:score

my_evaluator.py has a function that gets the predictions and returns a number:
  def score(predictions):
      lines = predictions.content.decode().splitlines()[1:]
      return sum(line.endswith(",e4") for line in lines) / len(lines)

if the references have a public and a private split, `predictions.splits` names both, and the function returns a
score of each:
  return EvaluatorReport(0.5, splits={"public": 0.4, "private": 0.6})  # from plurank.client
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "evaluate",
        help="score the predictions of your own board by your own program",
        description="Fetch predictions from a board that you own, score them by your own function, report the "
        "scores. Your token needs the scope `evaluate` alone.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_board_argument(command)
    command.add_argument(
        "--with", dest="evaluator", metavar="MODULE:FUNCTION", required=True, help="what scores a file of predictions"
    )
    command.add_argument("--once", action="store_true", help="stop when nothing waits (default: keep looking)")
    command.add_argument("--every", metavar="SECONDS", type=float, default=10, help="between two looks (default: 10)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Evaluate what waits; return how much it was."""
    from plurank.client.errors import InvalidInputError  # noqa: PLC0415 -- needs urllib3
    from plurank.client.predictions import evaluate_next  # noqa: PLC0415 -- needs urllib3

    module_name, _, function_name = options.evaluator.partition(":")
    sys.path.insert(0, "")  # as `python -m` does
    try:
        evaluator: Evaluator = getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"--with {options.evaluator}: {error}; expected module:function") from error
    if not callable(evaluator):
        raise UsageError(f"--with {options.evaluator}: this is no function")
    remote = board_at(options.board)
    n_evaluated = 0
    with refusals():
        while True:
            try:
                evaluated = evaluate_next(
                    remote.transport, remote.key, evaluator, program=f"{socket.gethostname()}:{os.getpid()}"
                )
            except InvalidInputError as error:
                raise UsageError(
                    f"--with {options.evaluator}: the site does not take what it returned. {error}"
                ) from error
            if evaluated:
                n_evaluated += evaluated.is_taken
                print(f"note: {evaluated.sentence}", file=sys.stderr)
            elif options.once:
                return f"{n_evaluated} file{'' if n_evaluated == 1 else 's'} evaluated\n"
            else:
                time.sleep(max(0.1, options.every))
