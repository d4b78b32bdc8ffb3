"""`compare`: how far the rules agree, rule by rule."""

from __future__ import annotations

import argparse
import math
from typing import Any

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.command_line.formats import Blocks, Layout, TitledGrid, add_format_argument
from ranking_engine.command_line.inputs import (
    EXIT_STATUS,
    OPTION_LIST,
    UsageError,
    add_input_arguments,
    add_rule_arguments,
    read_rankings,
    rule_argument,
)
from ranking_engine.command_line.rank import board, rule_notes
from ranking_engine.core.comparison import LEAST, TOP, compare, kendall_w, rank_changes, task_ranks
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.scaling import map_of_rankings
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.core.task_distances import TaskVotes
from ranking_engine.stability.separability.group_agreement import group_agreement
from ranking_engine.stability.separability.task_likeness import CLUSTER_TAU, task_likeness
from ranking_engine.text.grids import cell
from ranking_engine.text.names import listed

Report = dict[str, Any]

_SHARED = ("aggregation", "missing", "condorcet_winner", "smith_set", "choice_sets")
CHOICE_SETS = {
    "weak_condorcet_winners": "Weak Condorcet winners",
    "condorcet_loser": "Condorcet loser",
    "schwartz_set": "Schwartz set",
    "uncovered_set": "Uncovered set",
    "essential_set": "Essential set",
}

NOTED_CYCLES = 3  # of those in the JSON

# what the JSON calls a matrix, and what readers do
MATRICES = {
    "kendall_tau": "Kendall's tau-b",
    "spearman": "Spearman's correlation",
    "normalized_distance": "Kendall distance, as a share of all pairs",
    "max_rank_change": "Largest rank change, as a share of n - 1",
}

# what the JSON and the CSV say of one rule by itself
OWN_FIGURES = (
    "n_ranked", "n_tied", "n_in_ties", "dispersion_to", "weighted_distance", "kemeny_excess", "kemeny_excess_share",
)  # fmt: skip

EXAMPLES = """\
examples:
  how far all quick rules agree, and how many places each system wins against the first one
      python -m ranking_engine compare scores.csv
  how far from the Kemeny optimum three rules are
      python -m ranking_engine compare scores.csv --rule borda --rule copeland --rule mean --rule kemeny
  changes counted from the mean, agreement on the first ten places, a row for each pair of rules
      python -m ranking_engine compare scores.csv --reference mean --top 10 --format csv

measures (all compare ranks, and know about ties; docs/rules/comparison.md defines each): Kendall's tau-b and distance,
Spearman's correlation, the largest rank change, the agreement of the first and the last k places; for each rule the
number of ties and the mean distance to the tasks; for the tasks Kendall's W, diversity and dispersion; for rules and
tasks together a map, on which those that order the systems alike are near each other.
"""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "compare",
        help="compare the rankings of the rules",
        description="How far the rules agree, rule by rule.",
        epilog=f"{EXAMPLES}\n{OPTION_LIST}{EXIT_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_arguments(command)
    add_rule_arguments(command)
    command.add_argument(
        "--reference",
        metavar="KEY",
        type=rule_argument,
        help="the rule from which rank changes are counted (default: the first that ranks)",
    )
    for name, ends, default in (("--top", "first", TOP), ("--least", "last", LEAST)):
        command.add_argument(
            name,
            metavar="K",
            type=_places,
            action="append",
            help=f"agreement of the {ends} K places; repeatable (default: {', '.join(map(str, default))})",
        )
    add_format_argument(command)
    command.set_defaults(run=run)


def _places(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) < 10**9):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of places; expected 1, 2, 3, ...")
    return int(text)


def run(options: argparse.Namespace) -> str:
    """Rank, compare, and return the report in the format asked for."""
    rankings = read_rankings(options)
    ranked = {key: ranking for key, ranking in rankings.by_rule.items() if ranking.status == "ranked"}
    reference = options.reference or next(iter(ranked), None)
    if reference is not None and reference not in ranked:
        other = rankings.by_rule.get(reference)
        reason = f": {other.reason}" if other else "; name it with --rule"
        raise UsageError(f"--reference {reference} gives no ranking to compare with{reason}")
    comparison = compare(ranked, top=_distinct(options.top, TOP), least=_distinct(options.least, LEAST))
    whole = board(rankings, options.aggregation)
    # In two steps the Kemeny order is that of the groups, and nothing is counted beyond its distance to the tasks.
    matrix, kemeny = rankings.matrix, None if options.aggregation == "two_step" else ranked.get("kemeny")
    votes = TaskVotes.of(matrix)
    # Kendall's W of the voting tasks is on the systems with a score on all of them.
    ranks = task_ranks(matrix.subset(systems=matrix.is_complete)) if matrix.is_complete.any() else None
    drawn = map_of_rankings(list(ranked.values()), matrix)
    plain = math.nan if ranks is None else kendall_w(ranks)
    corrected = math.nan if ranks is None else kendall_w(ranks, is_tie_corrected=True)
    names, likeness, groups = comparison.names, task_likeness(matrix), group_agreement(matrix)

    def table(values: Any) -> Report:  # noqa: ANN401 -- an array of integers or floats
        """Return a matrix as {rule: {rule: value}}."""
        return {a: dict(zip(names, _numbers(row), strict=True)) for a, row in zip(names, values, strict=True)}

    report = {
        **{part: whole[part] for part in _SHARED},
        "reference": reference,
        "systems": list(matrix.system_names),
        "rules": {
            key: _entry(votes, ranking, kemeny)
            | {part: value for part, value in whole["rules"][key].items() if part in {"options", "details"}}
            for key, ranking in ranked.items()
        },
        "not_compared": {
            key: ranking.reason or "it names a winner and does not rank"
            for key, ranking in rankings.by_rule.items()
            if key not in ranked
        },
        **{name: table(getattr(comparison, name)) for name in ("n_common", *MATRICES, "kendall_distance")},
        "agreement_top": {str(k): table(rates) for k, rates in comparison.top.items()},
        "agreement_least": {str(k): table(rates) for k, rates in comparison.least.items()},
        "rank_changes": {
            key: dict(zip(matrix.system_names, _numbers(rank_changes(ranked[reference], ranking)), strict=True))
            for key, ranking in ranked.items()
            if reference is not None
        },
        "map": None
        if drawn is None
        else {
            "members": [
                {"kind": kind, "name": name, "x": round(x, 6), "y": round(y, 6)}
                for (kind, name), (x, y) in zip(drawn.members, drawn.plane.points.tolist(), strict=True)
            ],
            "share": finite_or_none(drawn.plane.share),
            "stress": finite_or_none(drawn.plane.stress),
            "left_out": [name for _, name in drawn.left_out],
        },
        "tasks": {
            "n_complete": int(matrix.is_complete.sum()),
            "kendall_w": finite_or_none(plain),
            "kendall_w_tie_corrected": finite_or_none(corrected),
            "diversity": finite_or_none(1 - plain),
            "dispersion": finite_or_none(votes.dispersion),
            "groups": {
                "groups": [
                    {
                        "group": group.name,
                        "tasks": [matrix.task_names[t] for t in group.tasks],
                        "mean_tau": finite_or_none(group.mean_tau),
                    }
                    for group in groups.groups
                ],
                "pairs": [
                    {
                        "first": groups.groups[pair.first].name,
                        "second": groups.groups[pair.second].name,
                        "kendall_tau": finite_or_none(pair.tau),
                        "same_top": finite_or_none(pair.same_top),
                        "mean_column_tau": finite_or_none(pair.mean_column_tau),
                    }
                    for pair in groups.pairs
                ],
            },
            "likeness": {
                "reason": likeness.reason,
                "effective_number": finite_or_none(likeness.effective_number),
                "tasks": [matrix.task_names[t] for t in likeness.tasks],
                "left_out": [matrix.task_names[t] for t in likeness.left_out],
                "merges": [[merge.first, merge.second, merge.distance, merge.size] for merge in likeness.merges],
                "order": list(likeness.order),
                "clusters": [
                    [matrix.task_names[t] for t in tasks] for tasks in likeness.clusters(CLUSTER_TAU) if len(tasks) > 1
                ],
            },
        },
    }
    return LAYOUT.written(report, options.format)


def _distinct(places: list[int] | None, default: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(places))) if places else default


def _entry(votes: TaskVotes, ranking: Ranking, kemeny: Ranking | None) -> Report:
    """Return what is to say of one rule: how many systems it ranks and ties, how far the tasks are from it.

    `kemeny_excess` is how much more weight contradicts it than the Kemeny order, where Kemeny ranks the same systems,
    and `kemeny_excess_share` the same as a share of what contradicts that order.
    """
    weight = votes.weight_against(ranking)
    excess = None if kemeny is None else votes.excess(ranking, kemeny)
    return {
        "name": get_rule(ranking.rule).name,
        "n_ranked": ranking.n_ranked,
        "n_tied": ranking.n_tied,
        "n_in_ties": ranking.n_in_ties,
        "dispersion_to": finite_or_none(votes.dispersion_to(ranking)),
        "weighted_distance": None if weight is None else float(weight),
        "kemeny_excess": excess.weight if excess else None,
        "kemeny_excess_share": excess.share if excess else None,
    }


def _numbers(values: FloatArray) -> list[float | None]:
    return [value if isinstance(value, int) else finite_or_none(value) for value in values.tolist()]  # counts stay


def _rows(report: Report) -> list[list[object]]:
    """Return a row for each pair of rules, with every measure and the first rule's figures; empty where is none."""
    square = ["n_common", *MATRICES, "kendall_distance"]
    rates = [(key, k) for key in ("agreement_top", "agreement_least") for k in report[key]]
    rows: list[list[object]] = [["rule", "other", *square, *(f"{key}_{k}" for key, k in rates), *OWN_FIGURES]]
    for a in report["rules"]:
        for b in report["rules"]:
            cells = [report[name][a][b] for name in square] + [report[key][k][a][b] for key, k in rates]
            rows.append([a, b, *cells, *(report["rules"][a][name] for name in OWN_FIGURES)])
    return rows


def _blocks(report: Report) -> Blocks:
    """Return the titled tables that readers see."""
    names = {key: entry["name"] for key, entry in report["rules"].items()}
    if not names:
        return []
    blocks: Blocks = [
        TitledGrid([["", *names.values()], *([names[a], *map(cell, report[key][a].values())] for a in names)], title)
        for key, title in MATRICES.items()
    ]
    reference = report["reference"]
    others = {key: name for key, name in names.items() if key != reference}
    changes = [["system", *others.values()]]
    for system in report["systems"]:
        values = [report["rank_changes"][key][system] for key in others]
        changes.append([system, *("-" if v is None else f"{v:+g}" if v else "0" for v in values)])
    if drawn := report["map"]:
        places = [[f"{one['name']} ({one['kind']})", f"{one['x']:.3f}", f"{one['y']:.3f}"] for one in drawn["members"]]
        blocks.append(TitledGrid([["", "across", "up"], *places], "Map of rules and tasks: near is alike"))
    rates = [
        (report[f"agreement_{end}"][k], f"{end} {k}") for end in ("top", "least") for k in report[f"agreement_{end}"]
    ]
    own = ("tied", "in ties", "distance to tasks", "weight against", "more than Kemeny", "share more")
    summary = [["", "tau-b", *(label for _, label in rates), *own]]
    for key, entry in report["rules"].items():
        row = [names[key], cell(report["kendall_tau"][reference][key])]
        row += [cell(table[reference][key]) for table, _ in rates]
        row += [str(entry["n_tied"]), str(entry["n_in_ties"])]
        figures = ("dispersion_to", "weighted_distance", "kemeny_excess", "kemeny_excess_share")
        summary.append([*row, *(cell(entry[figure]) for figure in figures)])
    agreement = f"Agreement with {names[reference]}"
    return [
        *blocks,
        TitledGrid(summary, f"{agreement}; ties; mean Kendall distance to the tasks; weight of tasks against it"),
        TitledGrid(changes, f"Places won against {names[reference]}"),
    ]


def _notes(report: Report) -> list[str]:
    """Return one line for each thing that the tables do not tell."""
    tasks = report["tasks"]
    notes = [note for key, entry in report["rules"].items() for note in rule_notes(key, entry)]
    notes += [f"{get_rule(key).name} is not compared: {reason}" for key, reason in report["not_compared"].items()]
    if report["choice_sets"] is not None:
        sets = {"Condorcet winner": [report["condorcet_winner"]], "Smith set": report["smith_set"]}
        sets |= {title: report["choice_sets"][key] for key, title in CHOICE_SETS.items()}
        for title, systems in sets.items():
            names = [systems] if isinstance(systems, str) else systems
            if names and names != [None]:
                notes.append(f"{title}: {listed(names, limit=10)}")
        for cycle in report["choice_sets"]["cycles"][:NOTED_CYCLES]:
            notes.append(f"Cycle: {' beats '.join([*cycle, cycle[0]])}")
    complete = "1 complete system" if tasks["n_complete"] == 1 else f"{tasks['n_complete']} complete systems"
    notes.append(
        f"Tasks: Kendall's W {cell(tasks['kendall_w'])} (corrected for ties "
        f"{cell(tasks['kendall_w_tie_corrected'])}) over {complete}; "
        f"mean Kendall distance of two tasks {cell(tasks['dispersion'])}"
    )
    notes += [
        f"Groups {pair['first']} and {pair['second']}: tau-b of their rankings {cell(pair['kendall_tau'])}, "
        f"of two columns of a data set {cell(pair['mean_column_tau'])}"
        for pair in tasks["groups"]["pairs"]
    ]
    if tasks["likeness"]["effective_number"] is not None:
        notes.append(
            f"Effective number of tasks: {tasks['likeness']['effective_number']:.1f} of "
            f"{len(tasks['likeness']['tasks'])}"
        )
        notes += [f"Similar tasks: {listed(names, limit=10)}" for names in tasks["likeness"]["clusters"]]
    if report["aggregation"] != "basic":
        notes.append(f"Aggregation: {report['aggregation']}")
    return [*notes, f"Missing scores: {report['missing']}"]


LAYOUT = Layout(rows=_rows, blocks=_blocks, notes=_notes)
