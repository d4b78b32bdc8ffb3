"""The files and arguments that the commands share."""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import RULES, TIES, get_rule, in_order, listed_rules
from ranking_engine.catalogue.rule_names import rule_key
from ranking_engine.command_line.progress import ProgressBar
from ranking_engine.command_line.rule_options import EXAMPLE, RuleOptions, option_lines, read_rule_options
from ranking_engine.core.aggregation import AGGREGATIONS, reweighted
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.threshold import derived_gamma_of
from ranking_engine.core.weights import exact_weight
from ranking_engine.files.benchmark_file import BenchmarkFile
from ranking_engine.files.directions import beyond_scales, doubtful_tasks
from ranking_engine.files.roles import ROLES, ColumnChoices
from ranking_engine.files.tables import TableError, TableIssue, read_table
from ranking_engine.importers.score_files import ScoreFiles, read_score_files
from ranking_engine.text.names import fold_name, shorten

STANDARD_INPUT = "-"
_VECTOR_RULE = "positional"  # whose vector --vector states
DEFAULT_POLICY = "undefined"
REWEIGHTINGS = ("basic", "weighted", "balanced")  # those of AGGREGATIONS that are weights of tasks

OPTION_LIST = "options of rules, the default first:\n" + "\n".join(f"  {line}" for line in option_lines()) + "\n"

EXIT_STATUS = """
exit status: 0 it is done; 1 a fault in the program itself, or its output cannot be written; 2 bad input or arguments,
or a table too large for the memory, reported on one line of standard error that names file, line and column where there
are any; 130 interrupted.
"""


class UsageError(ValueError):
    """Arguments that do not go together; the message is one line. `status` is the exit status of the program."""

    status = 2


def add_input_arguments(command: argparse.ArgumentParser, *, is_file_optional: bool = False) -> None:
    """Declare FILE, how it is read, --benchmark, --weights, --all-tasks and --gamma."""
    command.add_argument(
        "files",
        metavar="FILE",
        nargs="*" if is_file_optional else "+",
        help="scores.csv: `system` and a column for each task; - is standard input. Or another table (Excel, Parquet, "
        "JSON, Markdown), or result files of other programs: lm-eval, HELM, inspect_ai, MTEB, ...; .zip, too",
    )
    command.add_argument("--importer", metavar="KEY", default="", help="the format (default: it is recognised)")
    command.add_argument(
        "--metric", metavar="NAME", default="", help="read these scores alone, such as acc, where there are several"
    )
    command.add_argument(
        "--column",
        metavar="NAME=ROLE",
        action="append",
        default=[],
        type=_column_role,
        help="what a column of a table is, where that is not clear, such as Team=system, acc=score, se=stderr:acc, "
        f"date=ignored; repeatable; a role is one of {', '.join(ROLES)}",
    )
    command.add_argument("--sheet", metavar="NAME", default="", help="of a workbook, where several have cells")
    command.add_argument("--system-name", metavar="NAME", default="", help="of the system, where the files name none")
    command.add_argument(
        "--benchmark",
        metavar="FILE",
        type=Path,
        help="benchmark.toml: tasks, groups, weights (default: the one beside FILE or in the folder, if there is one)",
    )
    command.add_argument(
        "--weights",
        metavar="FILE",
        type=Path,
        help='JSON such as {"RTE": 2, "CoLA": "1/3"}; other tasks keep theirs',
    )
    command.add_argument(
        "--all-tasks",
        action="store_true",
        help="let tasks of weight 0, which are shown and do not vote, vote with weight 1",
    )
    command.add_argument(
        "--gamma",
        metavar="G",
        type=float,
        help="the optimality threshold, in the tasks' unit, such as 95 (default: the benchmark file's, else 95 %% of "
        "the maximum that all tasks of weight above 0 state)",
    )


def add_rule_arguments(command: argparse.ArgumentParser) -> None:
    """Declare which rules rank, and how: --rule, --option, --vector, --aggregation, --missing, --ties."""
    command.add_argument(
        "--rule",
        metavar="KEY",
        action="append",
        type=rule_argument,
        help=f"one of {', '.join(RULES)}, or a variant such as copeland[variant=lower]; repeatable "
        f"(default: all but {', '.join(key for key, rule in RULES.items() if not rule.is_listed)}, and the variants of "
        "the benchmark file)",
    )
    command.add_argument(
        "--option",
        metavar="RULE.NAME=VALUE",
        action="append",
        default=[],
        help=f"an option of one rule, such as {EXAMPLE}; repeatable; all are listed below. A rule that "
        "is named here is ranked too",
    )
    command.add_argument(
        "--vector",
        metavar="POINTS",
        help="the same as --option positional.vector=POINTS: points for the first position, the second, ...; then 0",
    )
    command.add_argument(
        "--aggregation",
        choices=list(AGGREGATIONS),
        help="how groups of tasks count (default: the benchmark file's, else basic, the tasks' own weights)",
    )
    command.add_argument(
        "--missing",
        metavar="POLICY",
        choices=list(MISSING_POLICIES),
        help=f"for missing scores, one of {', '.join(MISSING_POLICIES)} "
        f"(default: the benchmark file's policy, else {DEFAULT_POLICY})",
    )
    command.add_argument("--ties", choices=list(TIES), help="for ties within a task (default: each rule's own)")


def _column_role(text: str) -> tuple[str, str]:
    """Return the column and the role that an argument names, or raise an ArgumentTypeError."""
    name, mark, role = text.rpartition("=")
    if not mark or role.partition(":")[0] not in ROLES:
        raise argparse.ArgumentTypeError(f"{shorten(text)!r}: expected NAME=ROLE, such as Team=system")
    return name, role


def rule_argument(text: str) -> str:
    """Return the key of the rule, or the variant, that an argument names, or raise an ArgumentTypeError."""
    try:
        return rule_key(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def count_argument(text: str) -> int:
    """Return the number of an argument, 0 or more, or raise an ArgumentTypeError."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shorten(text)!r} is no whole number") from None
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


@dataclass(frozen=True)
class Rankings:
    """What the arguments ask for, ranked.

    Attributes:
        matrix: with the weights of the aggregation asked for; for `two_step`, its own.
        by_rule: the rankings, by the rule's key.
        missing: the missing-score policy in force.
        ties: the convention for ties within a task that was asked for; None for each rule's own.
        options: the options stated, by rule.
        derived_gamma: the optimality threshold of the matrix, where it follows from the tasks and no one stated it.
    """

    matrix: ScoreMatrix
    by_rule: dict[str, Ranking]
    missing: str
    ties: str | None
    options: RuleOptions
    derived_gamma: float | None


def read_rankings(options: argparse.Namespace) -> Rankings:
    """Read the table and rank it.

    Raises:
        TableError, InputError, UsageError, OSError, ImportError: as for `read_inputs`.
    """
    vector = [] if options.vector is None else [f"{_VECTOR_RULE}.vector={options.vector}"]
    try:
        rule_options = read_rule_options([*options.option, *vector])
    except ValueError as error:
        raise UsageError(str(error)) from error
    rules = list(dict.fromkeys([*(options.rule or listed_rules()), *rule_options]))
    for rule in (rule for rule in map(get_rule, rules) if rule.parameters and rule.key not in rule_options):
        if rule.key == _VECTOR_RULE:
            raise UsageError(f"--rule {rule.key} needs --vector, such as --vector 12,10,8")
        raise UsageError(f"--rule {rule.key} needs {' '.join(f'--option {rule.key}.{n}=...' for n in rule.parameters)}")
    matrix, benchmark = read_inputs(options)
    is_stated = options.gamma is not None or (benchmark is not None and benchmark.gamma is not None)
    if benchmark and not options.rule:
        rules = in_order([*rules, *benchmark.variants])
    missing = options.missing or (benchmark.policy if benchmark else None) or DEFAULT_POLICY
    if options.aggregation != "two_step":
        matrix = aggregated(matrix, options.aggregation)
    aggregation = "two_step" if options.aggregation == "two_step" else "basic"
    with ProgressBar("ranking") as bar:
        rankings = rank_all(
            matrix, rules, aggregation=aggregation, missing=missing, ties=options.ties, options=rule_options,
            progress=lambda done, total, key: bar(done, total, get_rule(key).name),
        )  # fmt: skip
    return Rankings(matrix, rankings, missing, options.ties, rule_options, None if is_stated else matrix.gamma)


def aggregated(matrix: ScoreMatrix, aggregation: str) -> ScoreMatrix:
    """Return the matrix with the weights of `--aggregation`, or raise a UsageError: two steps have no such weights."""
    if aggregation == "two_step":
        raise UsageError("the benchmark ranks in two steps, which this command does not: state --aggregation")
    try:
        return reweighted(matrix, aggregation)
    except ValueError as error:
        raise UsageError(f"--aggregation {aggregation}: {error}") from error


def read_inputs(options: argparse.Namespace) -> tuple[ScoreMatrix, BenchmarkFile | None]:
    """Read the scores and what describes them; an aggregation that no one asked for becomes the benchmark's own.

    Raises:
        TableError, InputError: bad input, with its place.
        UsageError: arguments that do not go together, or a threshold that is not finite.
        OSError: a file cannot be opened.
        ImportError: what reads this kind of file is not installed.
    """
    if options.files == [STANDARD_INPUT]:
        scores = ScoreFiles.of_table(read_table(sys.stdin.buffer, name="standard input", allow_formula_names=True))
    elif STANDARD_INPUT in options.files:
        raise UsageError(f"{STANDARD_INPUT} is standard input, which is read alone")
    else:
        choices = ColumnChoices(dict(options.column), sheet=options.sheet)
        scores = read_score_files(
            options.files,
            importer=options.importer,
            metric=options.metric,
            system=options.system_name,
            columns=choices if options.column or options.sheet else None,
        )
    for note in scores.notes:
        print(f"note: {note}", file=sys.stderr)
    if options.benchmark is None and scores.about is not None:
        print(f"note: using {scores.about.name}", file=sys.stderr)
    benchmark = scores.description(options.benchmark)
    if "aggregation" in options and options.aggregation is None:
        options.aggregation = (benchmark.aggregation if benchmark else None) or "basic"
    matrix = scores.matrix(benchmark)
    directed_tasks = benchmark.directed_tasks if benchmark else []
    for name, word in doubtful_tasks(matrix.task_names, matrix.directions.tolist(), directed_tasks):
        print(
            f"note: {shorten(name)} counts as higher is better, though its name says {word!r}; is less better there? "
            'A benchmark.toml says so by direction = "lower", or the opposite by direction = "higher"',
            file=sys.stderr,
        )
    for note in beyond_scales(matrix):
        print(f"note: {note}", file=sys.stderr)
    if options.gamma is not None:
        if not math.isfinite(options.gamma):
            raise UsageError(f"--gamma is {options.gamma}; expected a finite number, such as 95")
        matrix = matrix.with_gamma(options.gamma)
    if options.weights:
        matrix = _reweighted(matrix, options.weights)
    if options.all_tasks:
        matrix = matrix.with_weights([weight or 1 for weight in matrix.weights])
    if matrix.gamma is None and (derived := derived_gamma_of(matrix)) is not None:
        print(f"note: gamma = {derived}; --gamma or the benchmark file may state another", file=sys.stderr)
        matrix = matrix.with_gamma(derived.gamma)
    return matrix, benchmark


def _reweighted(matrix: ScoreMatrix, path: Path) -> ScoreMatrix:
    try:
        new_weights = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise _error(path, f"not valid JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise _error(path, "not valid JSON") from error
    if not isinstance(new_weights, dict):
        raise _error(path, 'expected a JSON object such as {"RTE": 2}')
    weights = list(matrix.weights)
    for name, weight in new_weights.items():
        same = [t for t, task in enumerate(matrix.task_names) if fold_name(task) == fold_name(name)]
        places = [t for t in same if matrix.task_names[t] == name] or same
        if not places:
            raise _error(path, f"unknown task {shorten(name)!r}: the table has none")
        if len(places) > 1:
            names = " or ".join(repr(matrix.task_names[t]) for t in places)
            raise _error(path, f"the task {shorten(name)!r} could be {names}; write it as it is there")
        try:
            weights[places[0]] = exact_weight(weight, f"the weight of {shorten(name)!r}")
        except ValueError as error:
            raise _error(path, str(error)) from error
    if not any(weights):
        raise _error(path, "the weights of all tasks are zero")
    return matrix.with_weights(weights)


def _error(path: Path, message: str, line: int | None = None) -> TableError:
    return TableError([TableIssue(line, None, None, message)], str(path))
