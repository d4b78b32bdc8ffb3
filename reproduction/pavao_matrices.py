"""Pavao et al. 2021 as printed: their six matrices, the properties, criteria and correlations of table 2.

The matrices and the result files are those of the authors' repository, Didayolo/ranking-esann-2021 at commit 3cdf1a9.
They have no licence, so that they are read from the reference folder and not kept here.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ranking_engine import Ranking, ScoreMatrix, compare, rank
from ranking_engine.axioms import entry
from ranking_engine.core.comparison import task_ranks
from ranking_engine.stability.diversity import diversity
from reproduction import store
from reproduction.boards import files_of, pavao_matrix
from reproduction.drawn_copies import CRITERIA, RULES, criteria, mean_of_known
from reproduction.pavao import NAMES, SIX, ranked
from reproduction.studies import judged, slug
from reproduction.tables import Grid, Progress, Result, Row, Section, compared, listed, number, ours_alone, published

PRINTED = published("pavao_2021_printed")
MATRICES = tuple(PRINTED["matrices"])
BOARDS = tuple(f"pavao/{name}" for name in MATRICES)
REPOSITORY = "https://github.com/Didayolo/ranking-esann-2021"
SOURCE = "Didayolo/ranking-esann-2021, data/ and results/ at commit 3cdf1a9"
RESULT_FILES = {
    "condorcet": "condorcet_winner_rate.csv",
    "judge_stability": "stability_judge_ranking.csv",
    "candidate_stability": "stability_candidate_ranking.csv",
}
CODE_NAMES = {
    "mean": "Mean", "median": "Median", "average_rank": "Average rank", "success_rate": "Success rate",
    "relative_difference": "Relative difference", "copeland": "Copeland's method",
}  # fmt: skip
CRITERION_NAMES = {
    "winner_rank": "winner's rank",
    "condorcet": "Condorcet rate",
    "generalization": "generalisation",
    "judge_stability": "stability (judge)",
    "candidate_stability": "stability (candidate)",
}
PROPERTIES = ("majority", "condorcet_winner", "consistency", "participation", "iia", "local_iia", "copies")
N_TRIALS, N_ROUNDS = 2_000, 10
N_COPIED_TRIALS, N_COPIED_ROUNDS = 500, 3
OF_OPENML = (500, 3)  # trials and rounds: it has 292 systems


def sizes(progress: Progress) -> Result:
    """Compare the matrices themselves: data sets, algorithms and the concordance W (table 1)."""
    del progress
    rows = []
    for name, (n_sets, n_algorithms, w) in PRINTED["matrices"].items():
        matrix = pavao_matrix(name)
        size = listed(
            f"{name}: data sets, algorithms", [matrix.n_tasks, matrix.n_systems], printed=[n_sets, n_algorithms]
        )
        rows += [size, compared(f"{name}: W", 1 - diversity(matrix).diversity_tie_corrected, printed=w)]
    return Result(rows)


def measured_criteria(progress: Progress) -> Result:
    """Compare the five criteria of the six rules, means over the six matrices (table 2, center)."""
    of_engine = {name: _of_engine(name, progress) for name in MATRICES}
    of_copies = {name: _with_copies(name) for name in MATRICES}
    of_ranks = {name: _with_copies(name, of_ranks=True) for name in MATRICES}
    files = {criterion: result_file(file) for criterion, file in RESULT_FILES.items()}
    rows: list[Row] = []
    for place, (criterion, title) in enumerate(CRITERION_NAMES.items()):
        printed = [PRINTED["criteria"][rule][place] for rule in RULES]
        code = [f"{files[criterion][rule]:.3f}" for rule in RULES] if criterion in files else []
        ours = [mean_of_known([of_engine[name][rule][place] for name in MATRICES]) for rule in RULES]
        rows.append(listed(f"{title}, six rules", ours, printed=printed, code=code, because=REASONS[criterion]))
        copied = [mean_of_known([of_copies[name][rule][place] for name in MATRICES]) for rule in RULES]
        said = ", ".join(number(value, 3) for value in copied)
        rows.append(ours_alone(f"{title}, a system drawn twice taking part twice, (u - v) / (u + v)", said))
    by_ranks = [
        number(mean_of_known([of_ranks[name]["relative_difference"][place] for name in MATRICES]), 3)
        for place in range(len(CRITERIA))
    ]
    rows.append(
        ours_alone("the five criteria of relative difference, taken of ranks in place of scores", ", ".join(by_ranks))
    )
    header = ["matrix", "rule", *CRITERION_NAMES.values()]
    grids = [
        Grid(
            title,
            header,
            [[name, NAMES[rule], *(number(v, 3) for v in of[name][rule])] for name in MATRICES for rule in RULES],
        )
        for title, of in (("Each matrix, by our study", of_engine), ("Each matrix, copies taking part", of_copies))
    ]
    facts = stability_facts()
    of_others = [of_ranks[name]["relative_difference"][3] for name in MATRICES if name != "Artificial"]
    facts["of_ranks"], facts["of_ranks_others"] = float(by_ranks[3]), mean_of_known(of_others)
    notes = [_about_resampling(of_copies), _about_relative(facts), _about_statlog()]
    return Result(rows, grids, notes, facts=facts)


def _about_resampling(of_copies: Mapping[str, Mapping[str, list[float]]]) -> str:
    gap = max(
        abs(of_copies[name][rule][place] - files_of_matrix(criterion, name)[rule])
        for name in MATRICES
        for rule in RULES
        for place, criterion in ((3, "judge_stability"), (4, "candidate_stability"))
    )
    return (
        "The caption speaks of b = 5 benchmarks; in standard errors the paper counts the two AutoDL matrices as one. "
        "The printed figures are those of means over all six matrices. Our study lets a system that is drawn twice "
        "take part once. The rows below each comparison let it take part twice, as theirs, and divide by u + v: on no "
        f"matrix do they differ from the result files of the two stabilities by more than {number(gap)}."
    )


def stability_facts() -> dict[str, float]:
    """Return the judge stability of two rules in the result files: over all matrices, on Artificial, and without it."""
    of_matrices = {name: files_of_matrix("judge_stability", name) for name in MATRICES}
    others = [name for name in MATRICES if name != "Artificial"]
    facts = {"printed": float(PRINTED["criteria"]["relative_difference"][3])}
    for rule in ("relative_difference", "average_rank"):
        facts[rule] = mean_of_known([of[rule] for of in of_matrices.values()])
        facts[f"{rule}_artificial"] = of_matrices["Artificial"][rule]
        facts[f"{rule}_others"] = mean_of_known([of_matrices[name][rule] for name in others])
    return facts


def _about_relative(facts: Mapping[str, float]) -> str:
    text = {key: number(value, 3) for key, value in facts.items()}
    return (
        "The paper recommends the relative difference for its stability under other judges, printed as "
        f"{text['printed']}. In the authors' result files it is {text['relative_difference']}, above the average "
        f"rank's {text['average_rank']} because of one matrix: Artificial, {text['relative_difference_artificial']} "
        f"against {text['average_rank_artificial']}. Its scores are of both signs, where u + v comes close to 0 and a "
        "few quotients decide everything. Without it the average rank is ahead, "
        f"{text['average_rank_others']} to {text['relative_difference_others']}. The printed figures of this rule are "
        "not those of the files. They come out when the relative difference is taken of ranks on each task in place of "
        f"scores: the stability is {text['of_ranks']} then, and {text['of_ranks_others']} without Artificial; winner's "
        "rank, Condorcet rate and generalisation follow too (last row), and so do the correlations with other rules. "
        "The stability by candidates does not."
    )


def _about_statlog() -> str:
    rules = ("mean", "median", "average_rank", "success_rate")

    def turned() -> dict[str, Any]:
        return dict(criteria(-pavao_matrix("Statlog").values, N_COPIED_TRIALS, 1))

    as_stored, as_turned = _with_copies("Statlog"), store.kept("copies-statlog-turned", ("pavao/Statlog",), turned)
    in_files = files_of_matrix("condorcet", "Statlog")
    rates = [
        ", ".join(number(values) for values in column)
        for column in (
            [in_files[rule] for rule in rules],
            [as_stored[rule][1] for rule in rules],
            [float(as_turned[rule][1]) for rule in rules],
        )
    ]
    return (
        "Statlog has error rates, and the authors' files fit the reading that a higher one is better: their Condorcet "
        f"rates of mean, median, average rank and success rate are {rates[0]}; ours are {rates[1]} in this reading, "
        f"and {rates[2]} with the sign turned."
    )


def _of_engine(name: str, progress: Progress) -> dict[str, list[float]]:
    """Return the five criteria by rule from the study `judge_bootstrap`."""
    n_trials, n_rounds = OF_OPENML if name == "OpenML" else (N_TRIALS, N_ROUNDS)
    keys = [study for _, _, study in SIX.values()]
    of_study = judged(
        f"judge-bootstrap-pavao-{slug(name)}",
        (f"pavao/{name}",),
        pavao_matrix(name),
        keys,
        n_trials,
        n_rounds,
        progress,
    )["rules"]
    nan = float("nan")
    values = {rule: [of_study[study][c]["mean"] for c in CRITERIA] for rule, (_, _, study) in SIX.items()}
    return {rule: [nan if v is None else float(v) for v in of_rule] for rule, of_rule in values.items()}


def _with_copies(name: str, *, of_ranks: bool = False) -> dict[str, list[float]]:
    """Return the five criteria by rule where copies take part; of `of_ranks`, the relative difference is of ranks."""

    def compute() -> dict[str, Any]:
        n_trials, n_rounds = (100, 1) if name == "OpenML" else (N_COPIED_TRIALS, N_COPIED_ROUNDS)
        return dict(criteria(pavao_matrix(name).values, n_trials, n_rounds, of_ranks=of_ranks))

    kept = store.kept(f"copies-{'ranks-' if of_ranks else ''}{slug(name)}", (f"pavao/{name}",), compute)
    return {
        rule: [float("nan") if value is None else float(value) for value in of_rule] for rule, of_rule in kept.items()
    }


@cache
def _lines_of(file: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return the rule, the matrix and the other cells of each line of one of the authors' result files."""
    path = next(path for path in files_of(BOARDS[0]) if path.name == file)
    csv.field_size_limit(1 << 30)
    with path.open(newline="", encoding="utf-8") as lines:
        cells = list(csv.reader(lines))[1:]
    matrices = [next(cell for cell in line if cell in MATRICES) for line in cells]
    return tuple(
        (line[0].strip(), matrix, tuple(cell for cell in line[1:] if cell != matrix))
        for line, matrix in zip(cells, matrices, strict=True)
    )


def files_of_matrix(criterion: str, name: str) -> dict[str, float]:
    """Return the mean of a criterion on one matrix by rule, from the authors' result files."""
    numbers = {"True": 1.0, "False": 0.0}
    means = {}
    for rule, matrix, values in _lines_of(RESULT_FILES[criterion]):
        if matrix == name:
            known = [numbers[v] if v in numbers else float(v) for v in values if v not in ("", "nan")]
            means[rule] = mean_of_known(known)
    return {rule: means[code_name] for rule, code_name in CODE_NAMES.items()}


def result_file(file: str) -> dict[str, float]:
    """Return the mean over the six matrices by rule."""
    criterion = next(key for key, name in RESULT_FILES.items() if name == file)
    of_matrices = [files_of_matrix(criterion, name) for name in MATRICES]
    return {rule: mean_of_known([of[rule] for of in of_matrices]) for rule in RULES}


_DRAWS = "random draws on both sides"
REASONS = {
    "winner_rank": f"{_DRAWS}; a system takes part once here; the printed relative difference is of ranks, see below",
    "condorcet": f"{_DRAWS}, few of Artificial with a Condorcet winner; the printed relative difference is of ranks",
    "generalization": f"{_DRAWS}; the printed relative difference is of ranks, see below",
    "judge_stability": f"{_DRAWS}; for the relative difference u + v against |u| + |v|, and of ranks in print",
    "candidate_stability": "a system drawn twice takes part once here, so that copies do not move the success rate",
}


def correlations(progress: Progress) -> Result:
    """Compare Spearman's correlations of the six rules, mean over the six matrices (table 2, right)."""
    as_defined, as_printed = [], []
    for step, name in enumerate(MATRICES):
        progress(step, len(MATRICES))
        rankings = ranked(pavao_matrix(name))
        as_defined.append(compare(rankings).spearman)
        rankings["copeland"] = rank(pavao_matrix(name), "copeland", variant="lower")
        rankings["relative_difference"] = rank(rank_board(name), "relative_difference")
        as_printed.append(compare(rankings).spearman)
    mean = np.mean(as_printed, axis=0)
    rows = [
        listed(
            f"{NAMES[rule]} with the six rules",
            mean[i].tolist(),
            printed=PRINTED["correlations"][rule],
            because="one last digit, of mean and success rate; cause not established",
        )
        for i, rule in enumerate(RULES)
    ]
    names = [NAMES[rule] for rule in RULES]
    lines = [
        [names[i], *(number(value) for value in line)] for i, line in enumerate(np.mean(as_defined, axis=0).tolist())
    ]
    grid = Grid("The same as the paper defines the rules: of scores, ties one half", ["", *names], lines)
    return Result(rows, [grid], [_AS_PRINTED])


def rank_board(name: str) -> ScoreMatrix:
    """Return a matrix with the ranks on each task in place of the scores, 1 being best."""
    ranks = task_ranks(pavao_matrix(name)).T
    return ScoreMatrix(ranks, directions=[-1] * ranks.shape[1])


_AS_PRINTED = (
    "The printed figures come out, all but one last digit, when the relative difference is taken of the ranks on each "
    "task in place of the scores, and when Copeland counts wins alone. The paper's text defines both otherwise: of "
    "scores, and with one half for a tie. Those figures are in the last table of this section."
)


def printed_properties(progress: Progress) -> Result:
    """Compare which rule has which property (table 2, left)."""
    del progress
    rows = []
    for rule, (key, options, _) in SIX.items():
        ours = [float(entry(key, prop, options).holds) for prop in PROPERTIES]
        rows.append(listed(f"{NAMES[rule]}: {', '.join(SHORT)}", ours, printed=PRINTED["properties"][rule]))
    return Result(rows, notes=[_OTHER_DEFINITIONS])


SHORT = ("majority", "Condorcet", "consistency", "participation", "IIA", "local IIA", "clone-proof")
_OTHER_DEFINITIONS = (
    "1 says that the rule has the property. Consistency and participation are about rankings in the paper and about "
    "winners here. Clone-proof is compared with our independence of copies, which has the paper's definition. Our "
    "independence of clones is Tideman's: there a clone is a system that no other one separates from the first, and "
    "what counts is who wins. Mean and median keep all others in place when copies join, and can let a near copy win."
)


def opposed_judges(progress: Progress) -> Result:
    """Work the paper's limit case: two pairs of judges with opposite rankings as scores (section 3)."""
    del progress
    first = [4.0, 3.0, 2.0, 1.0]
    whole = ScoreMatrix(np.array([first, first, first[::-1], first[::-1]]).T, system_names=["A", "B", "C", "D"])
    fewer = whole.subset(tasks=[0, 1, 2])
    rows = []
    for rule, (key, options, _) in SIX.items():
        before, after = (rank(matrix, key, **options) for matrix in (whole, fewer))
        rows.append(ours_alone(NAMES[rule], f"{_order(whole, before)}; with one judge less {_order(fewer, after)}"))
    lines = [[name, *(number(x, 0) for x in row)] for name, row in zip(whole.system_names, whole.values, strict=True)]
    return Result(rows, [Grid("The scores", ["system", *whole.task_names], lines)], [_OPPOSED])


def _order(matrix: ScoreMatrix, ranking: Ranking) -> str:
    """Return the systems best first, as `A > B = C`."""
    ranks: Mapping[str, int] = dict(zip(matrix.system_names, ranking.ranks.tolist(), strict=True))
    places = sorted(set(ranks.values()))
    return " > ".join(" = ".join(name for name, r in ranks.items() if r == place) for place in places)


_OPPOSED = (
    "The paper says that all methods but the relative difference return a tie of all here, and that without one judge "
    "they follow the other three, where the relative difference stays closer to its former opinion: it prefers "
    "systems on which the judges disagree little."
)

SECTIONS = (
    Section("pavao-matrices", "Table 1: the six matrices", BOARDS, sizes, (SOURCE,)),
    Section(
        "pavao-printed-criteria",
        "Table 2, center: the criteria as printed",
        BOARDS,
        measured_criteria,
        (SOURCE,),
        is_slow=True,
    ),
    Section(
        "pavao-printed-correlations", "Table 2, right: correlations of the six rules", BOARDS, correlations, (SOURCE,)
    ),
    Section("pavao-printed-properties", "Table 2, left: properties as printed", (), printed_properties),
    Section("pavao-opposed-judges", "Section 3: two pairs of opposite judges", (), opposed_judges),
)
