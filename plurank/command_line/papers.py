"""`papers`: what four papers compute, of your own scores."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plurank.board import DEFAULT_POLICY, Board
from plurank.command_line.outputs import FORMATS, written
from plurank.tables import ResultTable
from ranking_engine.catalogue.registry import RULES
from ranking_engine.command_line.inputs import EXIT_STATUS, UsageError, add_input_arguments, read_inputs
from ranking_engine.command_line.progress import ProgressBar
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.catalogue import EXPERIMENTS

EXAMPLES = """\
examples:
  what each paper computes, and which command computes it of your scores
      plurank papers
  the quick figures of all four, of your scores
      plurank papers scores.csv
  one paper's, with its experiments; takes minutes
      plurank papers scores.csv --paper pavao-2021 --studies --format csv

The papers' own tables, recomputed on their own leaderboards, are in docs/papers.md of the repository. The leaderboards
are not part of the package; some have no licence. In a checkout, `python -m reproduction` recomputes the page.
"""


@dataclass(frozen=True)
class Paper:
    """A paper whose rules and experiments the engine has.

    Attributes:
        key: as `--paper` names it.
        citation: authors, title, place.
        mark: how the sources of rules and studies name it.
        further_rules: that it uses, though others are their source.
    """

    key: str
    citation: str
    mark: str
    further_rules: tuple[str, ...] = ()

    @property
    def rules(self) -> list[str]:
        """The keys of its rules."""
        return [key for key, rule in RULES.items() if self.mark in rule.source or key in self.further_rules]

    @property
    def studies(self) -> list[str]:
        """The keys of the studies that name it as their source."""
        return [key for key, study in EXPERIMENTS.items() if self.mark in study.source]


PAPERS = (
    Paper(
        "rofin-2023",
        "Rofin et al. 2023, Vote'n'Rank: Revision of Benchmarking with Social Choice Theory, EACL 2023",
        "Rofin et al. 2023",
    ),
    Paper(
        "zhang-2024",
        "Zhang and Hardt 2024, Inherent Trade-Offs between Diversity and Stability in Multi-Task Benchmarks, ICML 2024",
        "Zhang and Hardt 2024",
        ("mean", "win_rate"),
    ),
    Paper(
        "colombo-2022",
        "Colombo et al. 2022, What are the best Systems? New Perspectives on NLP Benchmarking, NeurIPS 2022",
        "Colombo et al. 2022",
        ("borda", "kemeny"),
    ),
    Paper(
        "pavao-2021",
        "Pavao, Vaccaro and Guyon 2021, Judging competitions and benchmarks: a candidate election approach, ESANN 2021",
        "Pavao et al. 2021",
        ("mean", "copeland"),
    ),
)
BY_KEY = {paper.key: paper for paper in PAPERS}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "papers",
        help="what four papers compute, of your own scores",
        description="What four papers compute, of your own scores; without a file, what that is.",
        epilog=EXAMPLES + EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(command, is_file_optional=True)
    command.add_argument("--paper", choices=list(BY_KEY), action="append", help="this one alone; repeatable")
    command.add_argument(
        "--studies", action="store_true", help="run their experiments too, with their own numbers of repeats: minutes"
    )
    command.add_argument("--seed", metavar="N", type=int, default=0, help="of the random numbers (default: 0)")
    command.add_argument(
        "--missing", metavar="POLICY", choices=list(MISSING_POLICIES), help="for missing scores, as for rank"
    )
    command.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Return the figures, or what can be computed, in the format asked for."""
    papers = [BY_KEY[key] for key in options.paper or BY_KEY]
    if not options.files:
        if options.studies:
            raise UsageError("--studies needs a FILE")
        return described(papers) if options.format == "table" else written(contents(papers), options.format)
    if options.seed < 0:
        raise UsageError(f"--seed is {options.seed}; expected 0 or more")
    matrix, benchmark = read_inputs(options)
    policy = options.missing or (benchmark.policy if benchmark else None) or DEFAULT_POLICY
    return written(figures(matrix, policy, papers, with_studies=options.studies, seed=options.seed), options.format)


def contents(papers: Sequence[Paper]) -> ResultTable:
    """What each paper computes, and the command that computes it."""
    columns: dict[str, list[Any]] = {"paper": [], "part": [], "what": [], "command": []}
    for paper in papers:
        lines = [("", paper.citation, f"plurank papers FILE --paper {paper.key}")]
        options = " ".join(f"--rule {rule}" for rule in paper.rules)
        lines.append(("rules", ", ".join(RULES[rule].name for rule in paper.rules), f"plurank rank FILE {options}"))
        if paper.key == "rofin-2023":
            lines.append(("section 3.2", "Who can win under some weights of the tasks?", "plurank prospects FILE"))
        for key in paper.studies:
            study = EXPERIMENTS[key]
            place = next(part for part in study.source.split("; ") if paper.mark in part)
            lines.append((place.removeprefix(f"{paper.mark}, ").removeprefix("Vote'n'Rank, "), study.question,
                          f"plurank stability FILE --study {key}"))  # fmt: skip
        for part, what, command in lines:
            for name, text in zip(columns, (paper.key, part, what, command), strict=True):
                columns[name].append(text)
    return ResultTable("What four papers compute", columns, [])


def described(papers: Sequence[Paper]) -> str:
    """The same for a terminal: sentences are no cells."""
    lines = []
    for paper in papers:
        for row in contents([paper]):
            lines.append(f"{row['part']}: {row['what']}" if row["part"] else f"{paper.key}\n{row['what']}")
            lines += [f"    {row['command']}", ""]
    return "\n".join(lines)


def figures(matrix: ScoreMatrix, policy: str, papers: Sequence[Paper], *, with_studies: bool, seed: int) -> ResultTable:
    """The figures of papers, of a matrix: each with the paper, the rule, and where it is on a curve."""
    board = Board(matrix, missing=policy)
    columns: dict[str, list[Any]] = {"paper": [], "part": [], "rule": [], "figure": [], "place": [], "value": []}
    notes: list[str] = []
    for paper in papers:
        lines = [
            *_quick_figures(board, paper, notes, seed),
            *(experiments(board, paper, notes, seed) if with_studies else ()),
        ]
        for line in lines:
            for name, value in zip(columns, (paper.key, *line), strict=True):
                columns[name].append(value)
    title = f"The figures of {len(papers)} papers, of {matrix.n_systems} systems on {matrix.n_tasks} tasks"
    return ResultTable(title, columns, list(dict.fromkeys(notes)))


Line = tuple[str, str, str, str, Any]


def _quick_figures(board: Board, paper: Paper, notes: list[str], seed: int) -> Iterator[Line]:
    """What takes seconds: winners and taus of the paper's rules; who can win; how far the tasks agree."""
    leaderboard = board.rank(*paper.rules)
    notes += leaderboard.notes
    for key, names in leaderboard.winners.items():
        yield "rules", key, "winners", "", "; ".join(names) or None
    comparison = board.compare(*paper.rules)
    for row in comparison if "mean" in comparison.columns else ():
        yield "rules", row["rule"], "tau-b with the mean", "", row["mean"]
    if paper.key == "rofin-2023":
        prospects = board.prospects(seed=seed)
        can_win = [name for name, can in zip(prospects["system"], prospects["can_win"], strict=True) if can]
        yield "prospects", "majority", "systems that can win under some weights", "", len(can_win)
        for name in can_win:
            yield "prospects", "majority", "can win", "", name
    if "diversity" in paper.studies:
        agreement = board.agreement()
        notes += agreement.notes
        for measure, value in zip(agreement["measure"], agreement["value"], strict=True):
            yield "diversity", "", measure, "", value


def experiments(board: Board, paper: Paper, notes: list[str], seed: int) -> Iterator[Line]:
    """The paper's experiments, each with its own parameters."""
    studies = [key for key in paper.studies if key != "diversity"]
    with ProgressBar(paper.key) as bar:
        for number, key in enumerate(studies):
            bar(number, len(studies), key)
            try:
                table = board.study(key, seed=seed)
            except ValueError as error:
                notes.append(str(error))
                continue
            yield from ((key, row["rule"], row["figure"], row["place"], row["value"]) for row in table)
            notes += table.notes[2:]
