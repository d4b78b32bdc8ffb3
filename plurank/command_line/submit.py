"""`submit`: result files to a site, as a person's upload of them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from plurank.command_line.addresses import (
    EXIT_STATUS,
    RejectedError,
    add_board_argument,
    board_at,
    refusals,
)
from plurank.command_line.outputs import FORMATS, written
from plurank.tables import ResultTable
from ranking_engine.command_line.inputs import UsageError
from ranking_engine.importers.score_files import files_of

EXAMPLES = """\
examples:
  what would change, and nothing stored
      plurank submit results.json --board https://boards.example/b/glue/ --dry-run
  from a job that may run again: one submission however often
      plurank submit results.json --board https://boards.example/b/glue/ --key run-42 --format markdown
  columns and systems that the site does not know by their names
      plurank submit scores.csv --board https://boards.example/b/glue/ --mapping mapping.json

  predictions that the site scores, a file for each task; or one file with a column task
      plurank submit cola=cola.csv sst-2=sst2.jsonl --predictions "Deep Thought" --board https://boards.example/b/glue/

mapping.json says which task a column is and what a system is called here; a dry run lists the columns:
  {"tasks": {"cola, mcc": "CoLA"}, "systems": {"acme/deep-thought": "Deep Thought"}}
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "submit",
        help="submit files of scores to a site's board",
        description="Submit result files of other programs, or tables, to a board; print the ranks they get.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("files", metavar="FILE", nargs="+", type=Path, help="lm-eval, HELM, MTEB, CSV, ...")
    add_board_argument(command)
    command.add_argument("--dry-run", action="store_true", help="say what would change, and store nothing")
    command.add_argument("--importer", metavar="KEY", default="", help="the format (default: it is recognised)")
    command.add_argument(
        "--mapping", metavar="FILE", type=Path, help="JSON: tasks and scales by column, names of systems"
    )
    command.add_argument(
        "--kept",
        action="store_true",
        help="read columns and systems as you said the last time, here or on the page; keep what --mapping says",
    )
    command.add_argument(
        "--predictions",
        metavar="SYSTEM",
        default="",
        help="the files are predictions of this system: TASK=FILE for each task, or one FILE with a column task",
    )
    command.add_argument("--trial", action="store_true", help="score predictions on the development split only")
    command.add_argument("--note", default="", help="for the history")
    command.add_argument("--key", default="", help="what is sent again under this key is one submission")
    command.add_argument(
        "--wait", metavar="SECONDS", type=float, default=300, help="for the board with it; 0: do not (default: 300)"
    )
    command.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Submit, wait, and return the ranks in the format asked for."""
    if options.predictions:
        return _scores_of_predictions(options)
    mapping = None
    if options.mapping is not None:
        try:
            mapping = json.loads(options.mapping.read_bytes())
        except ValueError as error:
            raise UsageError(f"--mapping {options.mapping}: not valid JSON: {error}") from error
        if not isinstance(mapping, dict):
            raise UsageError(f'--mapping {options.mapping}: expected an object such as {{"tasks": {{...}}}}')
    remote = board_at(options.board)
    paths = [path for named in options.files for path in ([named] if named.exists() else files_of([named]))]
    with refusals():
        answer: Any = remote.import_files(
            *paths, dry_run=options.dry_run, importer=options.importer, mapping=mapping,
            note=options.note, key=options.key, kept=options.kept,
        )  # fmt: skip
        if options.dry_run:
            from plurank.client.uploads import changes_of  # noqa: PLC0415 -- needs urllib3

            for note in (*answer["notes"], *answer["warnings"]):
                print(f"note: {note}", file=sys.stderr)
            if answer["preview"] is None:
                assigned = [f"{column['column']!r} -> {column['assigned'] or '?'}" for column in answer["columns"]]
                problems = "; ".join(problem["message"] for problem in answer["problems"])
                raise UsageError(f"{problems} (columns: {', '.join(assigned)}); --mapping says which is which")
            return written(changes_of(answer["preview"]), options.format)
        print(f"note: submission {answer.uuid} is {answer.state}", file=sys.stderr)
        if options.wait and answer.state not in ("pending", "approved"):
            try:
                answer.wait(options.wait)
            except TimeoutError as error:
                raise RejectedError(str(error)) from error
        if answer.state in ("rejected", "retracted", "withdrawn", "failed"):
            reasons = "; ".join(event["reason"] for event in answer.status["events"] if event["reason"])
            raise RejectedError(f"submission {answer.uuid} is {answer.state}{f': {reasons}' if reasons else ''}")
        systems = answer.status["systems"]
        entries = [entry for entry in systems if answer.state == "published" and entry["system"]]
        columns: dict[str, list[Any]] = {"rule": []}
        for entry in entries:
            ranks = remote.transport.get(f"{remote.path}systems/{entry['system']}/")["ranks"]
            columns["rule"] = [rank["rule"] for rank in ranks]
            columns[entry["name"]] = [rank["rank"] for rank in ranks]
        if not entries:  # not published: its state alone
            columns = {"system": [one["name"] for one in systems], "state": [answer.state] * len(systems)}
        return written(ResultTable(f"Submission {answer.uuid}: {answer.state}", columns, []), options.format)


def _scores_of_predictions(options: argparse.Namespace) -> str:
    """Submit predictions, wait until they are scored, and return the scores."""
    from plurank.client.predictions import send_predictions  # noqa: PLC0415 -- needs urllib3

    named = [str(path).partition("=") for path in options.files]
    is_whole = len(named) == 1 and not named[0][1]
    if not is_whole and not all(task and path for task, _, path in named):
        raise UsageError("with --predictions write TASK=FILE for each task, or one FILE with a column task")
    files = Path(named[0][0]) if is_whole else {task: Path(path) for task, _, path in named}
    remote = board_at(options.board)
    with refusals():
        about = {"note": options.note} if options.note else {}
        sent = send_predictions(
            remote.transport, remote.key, options.predictions, files, trial=options.trial, key=options.key, **about
        )
        print(f"note: predictions {sent.uuid} are {sent.state}", file=sys.stderr)
        if options.wait:
            try:
                sent.wait(options.wait)
            except TimeoutError as error:
                raise RejectedError(str(error)) from error
    if sent.state == "refused":
        reasons = "; ".join(problem["message"] for problem in sent.status["problems"])
        raise RejectedError(f"predictions {sent.uuid} were refused: {reasons}")
    if best := sent.status.get("best"):  # older sites have no such field
        print(
            f"note: {sent.status['outcome']} The site does not tell its scores; the best submission so far is "
            f"{best['system']} ({best['uuid']})",
            file=sys.stderr,
        )
    results = sent.status["results"]
    columns = {name: [one[name] for one in results] for name in ("task", "value", "standard_error", "n_instances")}
    return written(ResultTable(f"Predictions {sent.uuid}: {sent.state}", columns, []), options.format)
