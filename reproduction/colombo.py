"""Colombo et al. 2022: rankings by mean and by Borda, Kemeny's consensus, single instances, robustness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ranking_engine import RULES, Pairwise, Ranking, ScoreMatrix, rank
from ranking_engine.core.comparison import (
    agreement_rate,
    dispersion,
    dispersion_to,
    kendall_tau,
    max_rank_change,
    weighted_distance,
)
from ranking_engine.stability.catalogue import run_study
from reproduction.boards import board
from reproduction.tables import (
    AGREES,
    DIFFERS,
    Grid,
    Plot,
    Progress,
    Result,
    Row,
    Section,
    compared,
    number,
    published,
    same,
)

PRINTED = published("colombo_2022")
SOURCES = PRINTED["sources"]
BOARDS = {"GLUE": "colombo-glue", "SuperGLUE": "colombo-superglue", "XTREME": "colombo-xtreme"}
N_FIRST = 10
MORE_BOARDS = ("VTAB", "BigCode", "MTEB", "Open LLM", "MMLU", "BIG-Bench Hard")

SHIFTED = "their notebook reads the columns one off: the overall score counts as a task, and sentence retrieval is lost"


def xtreme_as_printed() -> tuple[ScoreMatrix, list[int]]:
    """Return XTREME with the systems in the printed order, and the printed points."""
    matrix = board("colombo-xtreme")
    rows = [
        next(i for i, name in enumerate(matrix.system_names) if name.startswith(f"{beginning} "))
        for beginning, _, _ in PRINTED["xtreme"]["systems"]
    ]
    return matrix.subset(rows), [points for _, _, points in PRINTED["xtreme"]["systems"]]


def as_their_notebook_reads(matrix: ScoreMatrix) -> ScoreMatrix:
    """Return XTREME with the column that they read in place of sentence retrieval.

    The overall score is no task of ours; it is what the printed mean of four columns leaves.
    """
    means = np.array([float(mean) for _, mean, _ in PRINTED["xtreme"]["systems"]])
    values = np.array(matrix.values)
    values[:, 3] = np.round(4 * means - values[:, :3].sum(axis=1), 1)
    return matrix.with_values(values)


def xtreme(progress: Progress) -> Result:
    """Compare XTREME by mean and by Borda with what the notebook prints."""
    del progress
    matrix, points = xtreme_as_printed()
    theirs = as_their_notebook_reads(matrix)
    mean, borda = rank(matrix, "mean"), rank(matrix, "borda", ties="average")
    by_place = by_position(theirs)
    rows, lines = [], []
    for i, (_, printed, _) in enumerate(PRINTED["xtreme"]["systems"]):
        name = matrix.system_names[i]
        lines.append(
            [
                name,
                printed,
                number(mean.scores[i], 3),
                str(points[i]),
                str(int(by_place[i])),
                number(borda.scores[i], 1),
            ]
        )
    same_points = int((by_place == np.array(points)).sum())
    n = len(points)
    verdict = AGREES if same_points == n else DIFFERS
    what = "Borda points on the columns as their notebook reads them, ties by position"
    rows.append(Row(what, "", f"{n} points", f"{same_points} of {n} are the same", verdict))
    alike = sum(same(p, s) for (_, p, _), s in zip(PRINTED["xtreme"]["systems"], mean.scores, strict=True))
    rows.append(Row("means", "", f"{n} means", f"{alike} of {n} are the same", DIFFERS, SHIFTED))
    for key, ranking in (("borda", borda), ("mean", mean)):
        printed = PRINTED["xtreme"]["distance"][key]
        what = f"mean Kendall distance of the tasks to the order by {key}"
        rows.append(compared(f"{what}, columns and ties as theirs", their_distance(theirs, key), code=printed))
        rows.append(compared(f"{what}, the four tasks", dispersion_to(matrix, ranking), code=printed, because=SHIFTED))
    header = ["system", "mean, published", "mean", "Borda, published", "as theirs", "Borda, ties shared"]
    old = PRINTED["xtreme"]["distance_old"]
    note = (
        f"An earlier run of the same notebook ({SOURCES['tasks_old']}) prints distances of {old['borda']} and "
        f"{old['mean']}; the later one remarks that the function of the distance is a guess."
    )
    return Result(rows, [Grid("XTREME", header, lines)], [note])


def their_distance(matrix: ScoreMatrix, key: str) -> float:
    """Return the mean Kendall distance of the tasks to an order, all with ties broken by position."""
    broken = matrix.with_values(places(matrix.scores))
    totals = by_position(matrix) if key == "borda" else rank(matrix, "mean").scores
    return dispersion_to(broken, Ranking.from_scores(key, places(totals)))


def places(scores: np.ndarray) -> np.ndarray:
    """Return the positions in ascending order, ties broken by position, as two sorts in a row do."""
    return np.argsort(np.argsort(scores, axis=0, kind="stable"), axis=0, kind="stable").astype(float)


def by_position(matrix: ScoreMatrix) -> np.ndarray:
    """Return Borda points with ties within a task broken by position."""
    return np.asarray(places(matrix.scores).sum(axis=1))


def rankings(progress: Progress) -> Result:
    """Compare the rankings by mean and by Borda with each other."""
    lines, firsts = [], []
    for step, (title, name) in enumerate(BOARDS.items()):
        progress(step, len(BOARDS))
        matrix = board(name)
        mean, borda = rank(matrix, "mean"), rank(matrix, "borda", ties="average")
        rates = [number(agreement_rate(mean, borda, k)) for k in (1, 3, 5, 10)]
        n = f"{mean.n_ranked} of {matrix.n_systems}"
        change = number(max_rank_change(mean, borda) * (mean.n_ranked - 1), 1)
        lines.append([title, n, number(kendall_tau(mean, borda), 3), *rates, change])
        firsts += first_systems(title, matrix, mean, borda)
    header = ["board", "ranked", "tau-b", "top 1", "top 3", "top 5", "top 10", "largest change of rank"]
    grids = [Grid("Mean and Borda (ties shared)", header, lines)]
    grids.append(Grid(f"The first {N_FIRST}", ["board", "rank", "by mean", "by Borda"], firsts))
    return Result([], grids, [ONLY_IN_PAPER, SCORE_COLUMN])


ONLY_IN_PAPER = "The figures of these tables stand in the paper alone, not in its repository, so that ours stand alone."
SCORE_COLUMN = (
    "Their released code counts the overall score, the mean itself, as a task, and breaks ties within a task by "
    "position; ours does neither. Systems that lack a score are left out here."
)


def first_systems(title: str, matrix: ScoreMatrix, mean: Ranking, borda: Ranking) -> list[list[str]]:
    return [[title, str(place), _at(matrix, mean, place), _at(matrix, borda, place)] for place in range(1, N_FIRST + 1)]


def _at(matrix: ScoreMatrix, ranking: Ranking, place: int) -> str:
    names = [name for name, r in zip(matrix.system_names, ranking.ranks, strict=True) if r == place]
    return "; ".join(names) or "-"


def consensus(progress: Progress) -> Result:
    """Measure how far Borda's order is from the best order of Kemeny, and the mean's."""
    boards_of = {**BOARDS, **{name: name for name in MORE_BOARDS}}
    lines, excess = [], {}
    for step, (title, name) in enumerate(boards_of.items()):
        progress(step, len(boards_of))
        matrix = board(name)
        best = rank(matrix, "kemeny")
        distance = float(best.details["distance"])
        cells = [number(distance, 1), "yes" if best.details["proven"] else f"at least {best.details['lower_bound']}"]
        for rule, ties in (("borda", "average"), ("mean", None), ("copeland", None)):
            ranking = rank(matrix, rule, ties=ties)
            is_whole = ranking.n_ranked == best.n_ranked
            found = weighted_distance(matrix, ranking)
            if rule == "borda" and is_whole:
                excess[title] = 100 * (found / distance - 1)
            cells.append(f"{number(found, 1)} (+{number(100 * (found / distance - 1))} %)" if is_whole else "-")
        lines.append([title, f"{matrix.n_systems} x {matrix.n_tasks}", *cells])
    header = ["board", "systems x tasks", "Kemeny's least", "proven", "Borda", "mean", "Copeland"]
    title = "Weight of the tasks that contradict an order, over all pairs of systems; a tie in the order costs half"
    worst = max(excess, key=lambda title: excess[title])
    facts = {"worst": worst, "most_excess": excess[worst], "n": len(excess), "least_excess": min(excess.values())}
    return Result([], [Grid(title, header, lines)], [OPTIMUM], facts=facts)


OPTIMUM = (
    "The paper takes Borda for an approximation of Kemeny's consensus; here the consensus is exact, and proven. A dash "
    "stands where a rule that needs all scores leaves systems out, so that distances are not about the same systems."
)


def spread(progress: Progress) -> Result:
    """Measure the dispersion of the tasks, and their distance to each ranking (table 8)."""
    lines = []
    for step, (title, name) in enumerate(BOARDS.items()):
        progress(step, len(BOARDS))
        matrix = board(name)
        matrix = matrix.subset(np.flatnonzero(np.isfinite(matrix.values).all(axis=1)))
        orders = [rank(matrix, "mean"), rank(matrix, "borda", ties="average"), rank(matrix, "kemeny")]
        own = [number(dispersion(matrix), 3), number(dispersion(matrix, normalized=True), 4)]
        distances = [number(dispersion_to(matrix, ranking), 3) for ranking in orders]
        lines.append([title, str(matrix.n_systems), *own, *distances])
    header = ["board", "systems", "dispersion", "normalised", "to the mean", "to Borda", "to Kemeny"]
    title = "Mean Kendall distance of the tasks to each other and to three orders, systems with all scores"
    return Result([], [Grid(title, header, lines)], [ONLY_IN_PAPER])


def robustness(name: str, progress: Progress) -> Result:
    """Turn tasks upside down, and multiply one task, under mean and Borda."""
    parameters = {"rules": ["mean", "borda"], "n_repeats": 100}
    found = run_study("corrupted_tasks", board(BOARDS[name]), parameters, seed=0, progress=progress).summary
    numbers, factors, rules = found["n_reversed"], found["factors"], found["rules"]
    turned = [[RULES[rule].name, *(number(value, 3) for value in rules[rule]["reversed"])] for rule in TWO]
    scaled = [[RULES[rule].name, *(number(value, 3) for value in rules[rule]["scaled"])] for rule in TWO]
    grids = [
        Grid("Normalised Kendall distance by number of tasks turned upside down", ["rule", *map(str, numbers)], turned),
        Grid("The same by the factor of one task, mean over tasks", ["rule", *(f"{f:g}" for f in factors)], scaled),
    ]
    said = "Normalised Kendall distance to the ranking before, "
    plots = [
        Plot(
            f"colombo-turned-{name.lower()}",
            f"{name} with tasks turned upside down",
            said + "mean of 100 draws of the tasks.",
            "tasks turned upside down",
            "distance",
            [str(k) for k in numbers],
            {RULES[rule].name: [float(v) for v in rules[rule]["reversed"]] for rule in TWO},
        ),
        Plot(
            f"colombo-scaled-{name.lower()}",
            f"{name} with one task multiplied",
            said + "mean over the tasks.",
            "factor",
            "distance",
            [f"{f:g}" for f in factors],
            {RULES[rule].name: [float(v) for v in rules[rule]["scaled"]] for rule in TWO},
            top=0.2,
        ),
    ]
    most = {rule: max(float(v) for v in rules[rule]["scaled"]) for rule in TWO}
    return Result([], grids, [_PLOTS], plots, facts={"most_scaled": most})


_PLOTS = "The paper shows such experiments as plots alone."
TWO = ("mean", "borda")


def subsets(name: str, progress: Progress) -> Result:
    """Rank on random subsets of the tasks, under mean and Borda."""
    parameters = {"rules": list(TWO), "n_repeats": 100, "n_best": 1, "largest_best": 1}
    found = run_study("task_subsets", board(BOARDS[name]), parameters, seed=0, progress=progress).summary["rules"]
    n = len(found["mean"]["mean"])
    lines = [[RULES[rule].name, *(number(tau, 3) for tau in found[rule]["mean"])] for rule in TWO]
    title = "Kendall's tau-b with the ranking on all tasks by number of tasks, mean of 100 subsets"
    picture = Plot(
        f"colombo-subsets-{name.lower()}",
        f"{name} on random subsets of its tasks",
        title + ".",
        "tasks in the subset",
        "tau-b",
        [str(k) for k in range(1, n + 1)],
        {RULES[rule].name: [float(v) for v in found[rule]["mean"]] for rule in TWO},
    )
    facts = {"at_half": {rule: float(found[rule]["mean"][n // 2 - 1]) for rule in TWO}, "n": n}
    return Result([], [Grid(title, ["rule", *map(str, range(1, n + 1))], lines)], [_PLOTS], [picture], facts=facts)


PARADOX = ScoreMatrix(
    [[0, 0, 49, 100], [1, 1, 50, 1], [2, 2, 0, 2]], system_names=["A", "B", "C"], task_names=["t1", "t2", "t3", "t4"]
)


def paradox(progress: Progress) -> Result:
    """Show the paradox of pairs that the authors describe: mean, pairs and consensus say three things."""
    del progress
    pairs = Pairwise.of(PARADOX).margins
    said = {1: ">", 0: "=", -1: "<"}
    sign = np.sign(pairs.astype(float)).astype(int)
    shown = f"B {said[sign[1, 0]]} A, C {said[sign[2, 1]]} B, A {said[sign[0, 2]]} C"
    claims = {
        "by mean": ("A > B > C", _order("mean")),
        "in pairs": ("B > A, C > B, A = C", shown),
        "by their method, Borda": ("C > B > A", _order("borda")),
        "by Kemeny, exactly": ("C > B > A", _order("kemeny")),
    }
    rows = [Row(what, "", said, ours, AGREES if said == ours else DIFFERS) for what, (said, ours) in claims.items()]
    lines = [[name, *(f"{x:g}" for x in row)] for name, row in zip(PARADOX.system_names, PARADOX.values, strict=True)]
    return Result(rows, [Grid("A board of ours that does this", ["system", *PARADOX.task_names], lines)], [_IMAGE])


_IMAGE = "What happens is told in their README; their own scores stand in an image there, so that this board is ours."


def _order(rule: str) -> str:
    ranks: Sequence[int] = rank(PARADOX, rule).ranks.tolist()
    return " > ".join(PARADOX.system_names[ranks.index(place)] for place in sorted(ranks))


SECTIONS = (
    Section("colombo-paradox", "Table 1 and the paradox of pairs", (), paradox, (SOURCES["readme"],)),
    Section(
        "colombo-xtreme",
        "Tables 2 and 7: XTREME by mean and by Borda",
        ("colombo-xtreme",),
        xtreme,
        (SOURCES["tasks"],),
    ),
    Section("colombo-rankings", "Tables 2 to 4: mean against Borda on three boards", tuple(BOARDS.values()), rankings),
    Section(
        "colombo-consensus",
        "How far Borda is from Kemeny's optimum",
        (*BOARDS.values(), *MORE_BOARDS),
        consensus,
        is_slow=True,
    ),
    Section("colombo-dispersion", "Table 8: dispersion of the tasks", tuple(BOARDS.values()), spread),
    *(
        Section(
            f"colombo-robustness-{name.lower()}",
            f"Corrupted and rescaled tasks, {name}",
            (source,),
            partial(robustness, name),
        )
        for name, source in BOARDS.items()
    ),
    *(
        Section(
            f"colombo-subsets-{name.lower()}",
            f"Figures 7 and 18: subsets of tasks, {name}",
            (source,),
            partial(subsets, name),
        )
        for name, source in BOARDS.items()
    ),
)
