"""Colombo et al. 2022, tables 2, 3, 7 and 8: rankings of whole boards by mean and by Borda, and their dispersion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ranking_engine import Ranking, ScoreMatrix, rank
from ranking_engine.core.comparison import agreement_rate, kendall_tau, max_rank_change, task_ranks
from ranking_engine.core.task_distances import dispersion, dispersion_to
from ranking_engine.stability.agreement import kendall
from reproduction.boards import board
from reproduction.colombo import notebooks
from reproduction.colombo.sources import (
    BOARDS,
    CODE,
    PAPER,
    SOURCES,
    TEXT,
    as_their_notebook_reads,
    system_of,
    with_two_decimals,
)
from reproduction.colombo.stopping import ERROR, FAILURE, bernstein_drawn, hoeffding_draws
from reproduction.tables import (
    AGREES,
    DIFFERS,
    Grid,
    Progress,
    Result,
    Row,
    Section,
    compared,
    decimals,
    listed,
    number,
    same,
)

N_FIRST = 10
FIRST, LAST = (1, 3, 5, 10), (3, 5, 10)
N_DRAWS = 100  # of random permutations in table 8

SHIFTED = "their notebook reads the columns one off: the overall score counts as a task, and sentence retrieval is lost"


def rankings(progress: Progress) -> Result:
    """Compare the rankings by mean and by Borda with each other (tables 2, 3 and 7)."""
    rows, lines, firsts = [], [], []
    for step, (title, name) in enumerate(BOARDS.items()):
        progress(step, len(BOARDS))
        matrix = board(name)
        mean, borda = rank(matrix, "mean"), rank(matrix, "borda", ties="average")
        rows += _agreement_rows(title, mean, borda) + _place_rows(title, matrix, mean, borda)
        change = number(max_rank_change(mean, borda) * (mean.n_ranked - 1), 1)
        lines.append([title, f"{mean.n_ranked} of {matrix.n_systems}", number(kendall_tau(mean, borda), 3), change])
        places = range(1, N_FIRST + 1)
        firsts += [[title, str(place), _at(matrix, mean, place), _at(matrix, borda, place)] for place in places]
    grids = [
        Grid("Mean and Borda (ties shared)", ["board", "ranked", "tau-b", "largest change of rank"], lines),
        Grid(f"The first {N_FIRST}", ["board", "rank", "by mean", "by Borda"], firsts),
    ]
    return Result(rows, grids, [THEIR_WAY])


THEIR_WAY = (
    "*Their columns and ties* are those of their notebook: XTREME's columns are read one off, rows are sorted by the "
    "mean first, and tied systems get different places from NumPy's default sort, which is not stable. With more than "
    "16 systems that depends on NumPy's version and on the processor; we take the algorithm of NumPy 1. Their command "
    "line, unlike the notebook, counts GLUE's overall score as a task."
)


def _agreement_rows(title: str, mean: Ranking, borda: Ranking) -> list[Row]:
    """Return the rows of table 2."""
    first, last, (tau,) = PAPER["table_2"][title]
    theirs = notebooks.sorted_by_mean(as_their_notebook_reads(title))
    places = notebooks.mean_places(theirs), notebooks.borda_places(theirs)
    orders = [notebooks.best_first(of) for of in places]
    rows = []
    for what, sizes, printed, is_last in (("first", FIRST, first, False), ("last", LAST, last, True)):
        for k, text in zip(sizes, map(with_two_decimals, printed), strict=True):
            sets = [set(order[-k:] if is_last else order[:k]) for order in orders]
            rows.append(
                compared(
                    f"{title}, share of the {what} {k} in common",
                    agreement_rate(mean, borda, k, least=is_last),
                    printed=text,
                    because=cause(text, len(sets[0] & sets[1]) / k),
                )
            )
    because = cause(tau, notebooks.tau(*places))
    return [*rows, compared(f"{title}, tau", kendall_tau(mean, borda), printed=tau, because=because)]


def cause(printed: str, theirs: float) -> str:
    """Say whether the columns and ties of their notebook explain a printed figure.

    Args:
        printed: the figure.
        theirs: the figure with these columns and ties.
    """
    scale = 10 ** decimals(printed)
    if same(printed, theirs):
        return f"their columns and ties give {number(theirs)}, as printed"
    if math.floor(theirs * scale) == round(float(printed) * scale):
        return f"their columns and ties give {number(theirs, 3)}, printed without rounding"
    return f"cause not established: their columns and ties give {number(theirs)}"


def _place_rows(title: str, matrix: ScoreMatrix, mean: Ranking, borda: Ranking) -> list[Row]:
    """Return the rows of tables 3 and 7: who is at which place by Borda, and their places by mean."""
    n_prints = 2 if title in PAPER["table_3"] else 1
    tables = "tables 3 and 7" if n_prints == 2 else "table 7"
    printed = PAPER["table_3"][title] if n_prints == 2 else PAPER["table_7"][title]
    teams = [team for team, _, _ in printed]
    systems = [system_of(matrix, beginning) for _, _, beginning in printed]
    short = {
        **dict(enumerate(name.split()[0] for name in matrix.system_names)),
        **dict(zip(systems, teams, strict=True)),
    }
    ours = [np.flatnonzero(borda.ranks == place + 1).tolist() for place in range(N_FIRST)]
    n_equal = sum(at == [i] for at, i in zip(ours, systems, strict=True))
    verdict = AGREES if n_equal == N_FIRST else DIFFERS
    by_borda = Row(
        f"{title}, from place 0 by Borda ({tables})",
        ", ".join(teams),
        "",
        ", ".join(" = ".join(short[i] for i in at) or "-" for at in ours),
        verdict,
        "" if verdict == AGREES else _their_places(title, printed),
        N_FIRST,
        n_equal,
    )
    by_mean = listed(
        f"{title}, their places by mean ({tables})",
        [int(mean.ranks[i]) - 1 for i in systems],
        printed=[place for _, place, _ in printed],
        because=_their_places(title, printed),
    )
    return [replace(r, n_printed=n_prints * r.n_printed, n_equal=n_prints * r.n_equal) for r in (by_borda, by_mean)]


def _their_places(title: str, printed: Sequence[Sequence[str]]) -> str:
    """Say how far the columns and ties of their notebook give the printed teams and places by mean."""
    theirs = notebooks.sorted_by_mean(as_their_notebook_reads(title))
    order = notebooks.best_first(notebooks.borda_places(theirs))[: len(printed)]
    # The rows are sorted by mean, so that a system's number is its place by mean.
    n_same = sum(int(place) == i for (_, place, _), i in zip(printed, order, strict=True))
    others = [
        f"{theirs.system_names[i].split()[0]} for {team}"
        for (team, _, beginning), i in zip(printed, order, strict=True)
        if not theirs.system_names[i].startswith(beginning)
    ]
    but = f", with {', '.join(others)}" if others else ", and all teams"
    return f"their columns and ties give {n_same} of the {len(printed)} places by mean as printed{but}"


def _at(matrix: ScoreMatrix, ranking: Ranking, place: int) -> str:
    return "; ".join(n for n, r in zip(matrix.system_names, ranking.ranks, strict=True) if r == place) or "-"


def xtreme(progress: Progress) -> Result:
    """Compare XTREME by mean and by Borda with what the notebook prints."""
    del progress
    printed = CODE["xtreme"]["systems"]
    whole, shifted = board(BOARDS["XTREME"]), as_their_notebook_reads("XTREME")
    in_order = [system_of(whole, f"{beginning} ") for beginning, _, _ in printed]
    matrix, theirs = whole.subset(in_order), shifted.subset(in_order)
    mean, borda = rank(matrix, "mean"), rank(matrix, "borda", ties="average")
    points = notebooks.points(theirs)
    rows = [_third(mean, borda)]
    n_same = sum(int(points[i]) == of for i, (_, _, of) in enumerate(printed))
    what = "Borda points on the columns as their notebook reads them, ties by position"
    n = len(printed)
    verdict = AGREES if n_same == n else DIFFERS
    rows.append(Row(what, "", f"{n} points", f"{n_same} of {n} are the same", verdict))
    alike = sum(same(text, score) for (_, text, _), score in zip(printed, mean.scores, strict=True))
    rows.append(Row("means", "", f"{n} means", f"{alike} of {n} are the same", DIFFERS, SHIFTED))
    for key, ranking, of in (
        ("borda", borda, notebooks.borda_places(theirs)),
        ("mean", mean, notebooks.mean_places(theirs)),
    ):
        code = CODE["xtreme"]["distance"][key]
        what = f"mean Kendall distance of the tasks to the order by {key}"
        own = notebooks.mean_distance(theirs, of, is_of_inverses=False)
        rows.append(compared(f"{what}, columns and ties as theirs", own, code=code))
        rows.append(compared(f"{what}, the four tasks", dispersion_to(matrix, ranking), code=code, because=SHIFTED))
    header = ["system", "mean, their notebook", "mean", "Borda, their notebook", "as theirs", "Borda, ties shared"]
    lines = [
        [name, text, number(mean.scores[i], 3), str(of), str(int(points[i])), number(borda.scores[i], 1)]
        for i, (name, (_, text, of)) in enumerate(zip(matrix.system_names, printed, strict=True))
    ]
    old = CODE["xtreme"]["distance_old"]
    note = (
        f"An earlier run of the same notebook ({SOURCES['tasks_old']}) prints distances of {old['borda']} and "
        f"{old['mean']}, which are those of table 8 (`colombo-dispersion`); the later one remarks that its function of "
        "the distance is a guess."
    )
    return Result(rows, [Grid("XTREME", header, lines)], [note])


def _third(mean: Ranking, borda: Ranking) -> Row:
    """Return the row of the third-best system by mean, which section 5.2.1 finds sixth by Borda."""
    ours = sorted(int(r) for r in borda.ranks[mean.ranks == 3])
    text = " and ".join(map(str, ours))
    printed = TEXT["sixth"][0]
    verdict = AGREES if text == printed else DIFFERS
    shared = f"{text} (two systems are third)" if len(ours) == 2 else text
    n_equal = int(verdict == AGREES)
    return Row("rank by Borda of the third-best system by mean", printed, printed, shared, verdict, SHIFTED, 1, n_equal)


def spread(progress: Progress) -> Result:
    """Measure the dispersion of the tasks, and their distance to each ranking (table 8, and remark 2)."""
    rows, lines, ratios, stops = [], [], [], []
    for step, (title, name) in enumerate(BOARDS.items()):
        progress(step, len(BOARDS))
        matrix = board(name)
        drawn, n_tasks = bernstein_drawn(matrix), int(matrix.votes.sum())
        exact = number(dispersion(matrix, normalized=True), 4)
        stops.append([title, str(n_tasks * (n_tasks - 1) // 2), exact, number(drawn.mean, 4), f"{drawn.n_draws:,}"])
        orders = [rank(matrix, "borda", ties="average"), rank(matrix, "mean"), rank(matrix, "kemeny")]
        distances = [dispersion_to(matrix, ranking) for ranking in orders]
        rows += _distance_rows(title, matrix, distances[:2])
        own = dispersion(matrix)
        ratios.append(distances[2] / own)
        normalised = number(dispersion(matrix, normalized=True), 4)
        lines.append([title, str(matrix.n_systems), number(own, 3), normalised, *(number(d, 3) for d in distances)])
    between = f"{number(min(ratios))} to {number(max(ratios))}"
    for bound, key, is_kept in (
        ("at least", "least_ratio", min(ratios) >= float(TEXT["least_ratio"][0])),
        ("at most", "largest_ratio", max(ratios) <= float(TEXT["largest_ratio"][0])),
    ):
        what = f"distance to Kemeny's consensus over the dispersion, {bound} (remark 2)"
        verdict, reason = (AGREES, "") if is_kept else (DIFFERS, "ours is beyond the bound")
        rows.append(Row(what, TEXT[key][0], "", between, verdict, reason, 1, int(is_kept)))
    header = ["board", "systems", "dispersion", "normalised", "to Borda", "to the mean", "to Kemeny"]
    title = "Mean Kendall distance of the tasks to each other and to three orders"
    grids = [
        Grid(title, header, lines),
        Grid(
            f"Drawing pairs of tasks, until their mean is within {ERROR:g} with probability {1 - FAILURE:g}",
            ["board", "pairs in all", "mean of all", "mean of those drawn", "draws by Bernstein’s bound"],
            stops,
        ),
    ]
    return Result(rows, grids, [HEADINGS, _STOPPING.format(n=f"{hoeffding_draws():,}")])


_STOPPING = (
    "Appendix C.2 proposes to draw pairs of tasks and to stop by bounds of Hoeffding or Bernstein. Hoeffding's bound "
    "asks for {n} draws on any board, the empirical Bernstein bound of Mnih et al. 2008 for those of the table. These "
    "boards have fewer pairs, so that all are counted. With more tasks there is no need to draw either: the mean comes "
    "from how many tasks prefer each of two systems, in one pass over the tasks."
)


def _distance_rows(title: str, matrix: ScoreMatrix, distances: Sequence[float]) -> list[Row]:
    """Return the rows of table 8; `distances` are those to Borda and to the mean."""
    theirs = as_their_notebook_reads(title)
    old = CODE["xtreme"]["distance_old"] if title == "XTREME" else {}
    names = {"borda": ("to Borda", notebooks.borda_places), "mean": ("to the mean", notebooks.mean_places)}
    rows = []
    for (key, (what, places_of)), printed, ours in zip(names.items(), PAPER["table_8"][title], distances, strict=False):
        given = notebooks.mean_distance(theirs, places_of(theirs), is_of_inverses=True)
        result = (
            ", as printed" if same(printed, given) else f", near the printed {printed}; the rest is not established"
        )
        because = f"{INVERSES} {number(given)}{result}"
        rows.append(compared(f"{title}, {what}", ours, printed=printed, code=old.get(key, ""), because=because))
    n = matrix.n_systems
    scatter = _scatter(matrix)
    because = f"theirs is a mean of {N_DRAWS} draws, ours its expectation; such means scatter by {number(scatter, 1)}"
    printed = PAPER["table_8"][title][2]
    what = f"{title}, to random permutations"
    rows.append(compared(what, n * (n - 1) / 4, printed=printed, code=old.get("random", ""), because=because))
    return rows


def _scatter(matrix: ScoreMatrix) -> float:
    """Return the standard deviation of the mean distance of N_DRAWS random permutations to the tasks."""
    generator = np.random.default_rng(0)
    n = matrix.n_systems
    draws = np.array([generator.permutation(n) for _ in range(20 * N_DRAWS)], dtype=float)
    distances = np.mean([kendall(row, draws)[1] for row in task_ranks(matrix)], axis=0) * n * (n - 1) / 2
    return float(distances.std() / math.sqrt(N_DRAWS))


INVERSES = (
    "their function of the distance takes lists of systems and is given lists of places; that, with their columns and "
    "ties, gives"
)
HEADINGS = (
    "The text at our disposal lost the headings of table 8. The first column has the least distances, which appendix "
    "C.3 says are those of their ranking, and an earlier run of their notebook prints XTREME's 12.25 for Borda and "
    f"12.75 for the mean ({SOURCES['tasks_old']}); the third is of random permutations."
)

SECTIONS = (
    Section(
        "colombo-xtreme",
        "Section 5.2.1: XTREME in their notebook",
        ("colombo-xtreme",),
        xtreme,
        (SOURCES["tasks"],),
    ),
    Section(
        "colombo-rankings", "Tables 2, 3 and 7: mean against Borda on three boards", tuple(BOARDS.values()), rankings
    ),
    Section(
        "colombo-dispersion",
        "Table 8 and appendix C: dispersion of the tasks",
        tuple(BOARDS.values()),
        spread,
        (SOURCES["tasks_old"],),
    ),
)
