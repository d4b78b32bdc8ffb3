"""Zhang and Hardt 2024: diversity and sensitivity of benchmarks, with proven bounds, and how the two go together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import numpy as np

from benchmarks.papers.boards import board
from benchmarks.papers.tables import (
    AGREES,
    OURS_ALONE,
    Grid,
    Progress,
    Result,
    Row,
    Section,
    compared,
    number,
    published,
)
from ranking_engine import RULES
from ranking_engine.axioms import sentence, stored_witnesses
from ranking_engine.comparison import task_ranks
from ranking_engine.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.catalogue import run_study
from ranking_engine.stability.diversity import Diversity, diversity
from ranking_engine.stability.sensitivity.baselines import (
    CARDINAL_SHAPE,
    N_TRIALS,
    ORDINAL_RANDOM_TOP,
    ORDINAL_SHAPE,
    Baseline,
    baseline,
)
from ranking_engine.stability.sensitivity.cardinal import CardinalSensitivity, cardinal_sensitivity
from ranking_engine.stability.sensitivity.ordinal import OrdinalSensitivity, ordinal_sensitivity

PRINTED = published("zhang_2024")
SOURCES = PRINTED["sources"]
CARDINAL = tuple(PRINTED["cardinal"]["sensitivity"])
ORDINAL = tuple(PRINTED["ordinal"]["sensitivity"])
N_CARDINAL_TRIALS = 2  # of their 5: a random one takes some 20 seconds
BASELINE_KEYS: Mapping[str, Baseline] = {"Constant": "constant", "Random": "random"}

STOPS_SHORT = "their search stops before the worst case; the engine returns the weights or systems that reach ours"
ONE_SOLUTION = "theirs is the change at the one solution where their search ends; ours is the largest there is"
REPEATED = (
    "their columns are seven averages repeated as often as each has data sets, beside the overall average repeated 56 "
    "times; ours are the seven, weighted by their numbers of data sets for sensitivity"
)
CUT = "theirs cuts average ranks to whole numbers before W"
NEARLY_TIED = "theirs ties scores that differ by a rounding error, where the columns are averages of two metrics"
NEAR = 7  # decimals; theirs ties what is within 1e-8
FILLED = "theirs cuts average ranks to whole numbers, and gives systems without any score the means of the tasks"


@cache
def of_cardinal(name: str) -> CardinalSensitivity:
    return cardinal_sensitivity(board(name))


@cache
def of_ordinal(name: str) -> OrdinalSensitivity:
    return ordinal_sensitivity(board(name))


@cache
def of_diversity(name: str) -> Diversity:
    return diversity(board(name))


def sensitivity(kind: str, progress: Progress) -> Result:
    """Compare sensitivities with what is printed, with the proven bounds beside."""
    printed = PRINTED[kind]["sensitivity"]
    rows, lines = [], []
    for step, (name, (tau, change)) in enumerate(printed.items()):
        progress(step, len(printed))
        found = of_cardinal(name) if kind == "cardinal" else of_ordinal(name)
        short = REPEATED if name == "MTEB" else STOPS_SHORT
        moved = REPEATED if name == "MTEB" else ONE_SOLUTION
        rows.append(compared(f"{name}: (1 - tau) / 2", tau, found.tau_b_distance, short))
        rows.append(compared(f"{name}: max rank change", change, found.max_rank_change.lower, moved))
        lines.append(_bounds_line(name, found))
    header = ["benchmark", "systems", "(1 - tau-b) / 2, at least", "reversed pairs", "max rank change"]
    return Result(rows, [Grid("Ours, with proven bounds", header, lines)], [_BOUNDS])


_BOUNDS = (
    "Reversed pairs are a share of all pairs. A single figure is proven to be the largest; two are what is reached and "
    "what is proven to be out of reach. tau-b is no monotone function of it where systems tie, so that it has no upper "
    "bound."
)


def _bounds_line(name: str, found: CardinalSensitivity | OrdinalSensitivity) -> list[str]:
    systems = found.systems if isinstance(found, CardinalSensitivity) else found.top
    intervals = [found.discordant_share, found.max_rank_change]
    shown = [
        number(i.lower, 4) if i.is_proven else f"{number(i.lower, 4)} to {number(i.upper, 4)}" for i in intervals
    ]
    return [name, str(len(systems)), number(found.tau_b_distance, 4), *shown]


def diversities(progress: Progress) -> Result:
    """Compare diversities with what is printed."""
    rows, lines = [], []
    printed = {**PRINTED["cardinal"]["diversity"], **PRINTED["ordinal"]["diversity"]}
    for step, (name, (w, change)) in enumerate(printed.items()):
        progress(step, len(printed))
        found, matrix = of_diversity(name), board(name)
        is_whole = not np.isnan(matrix.values).any()
        because = REPEATED if name == "MTEB" else CUT if is_whole else FILLED
        rows.append(compared(f"{name}: 1 - W", w, found.diversity, because))
        if is_whole and name != "MTEB":
            cut = 1 - cut_w(task_ranks(matrix))
            rows.append(compared(f"{name}: 1 - W, average ranks cut as theirs", w, cut, CUT))
        rows += _rank_change_rows(name, change, found, matrix)
        lines.append(
            [
                name,
                number(found.diversity, 4),
                number(found.diversity_tie_corrected, 4),
                number(found.mean_max_rank_change, 4),
                number(found.largest_max_rank_change, 4),
            ]
        )
    header = ["benchmark", "1 - W", "corrected for ties", "max rank change, mean", "largest"]
    return Result(rows, [Grid("Ours", header, lines)], [_LARGEST])


def _rank_change_rows(name: str, printed: str, found: Diversity, matrix: ScoreMatrix) -> list[Row]:
    """Compare the mean of the rank changes; where it differs, also with scores tied that only rounding tells apart."""
    because = REPEATED if name == "MTEB" else NEARLY_TIED
    row = compared(f"{name}: max rank change, mean over pairs", printed, found.mean_max_rank_change, because)
    if row.verdict == AGREES or name == "MTEB":
        return [row]
    tied = diversity(matrix.with_values(np.round(matrix.values, NEAR))).mean_max_rank_change
    return [row, compared(f"{name}: the same, near scores tied as theirs", printed, tied, NEARLY_TIED)]


_LARGEST = (
    "What their code returns as the maximum of the rank change is its mean over all pairs of tasks, which is what is "
    "compared; the largest stands in the last column."
)


def cut_w(ranks: FloatArray) -> float:
    """Return W after cutting average ranks to whole numbers, as the released code does."""
    m, n = ranks.shape
    sums = np.trunc(ranks).sum(axis=0)
    return float(12 * ((sums - sums.mean()) ** 2).sum() / (m * m * (n**3 - n)))


def baselines(kind: str, progress: Progress) -> Result:
    """Compare the benchmarks without structure: means over five seeds."""
    rows = []
    printed = PRINTED[kind]["baselines"]
    for step, (title, key) in enumerate(BASELINE_KEYS.items()):
        progress(step, len(BASELINE_KEYS))
        sensitivities, diversities_of = of_baseline(kind, key)
        measures = {"sensitivity": sensitivities, "diversity": diversities_of}
        names = {"sensitivity": ("(1 - tau) / 2", "max rank change"), "diversity": ("1 - W", "max rank change")}
        for measure, values in measures.items():
            because = STOPS_SHORT if measure == "sensitivity" else CUT
            rows += [
                compared(f"{title}, {measure}: {what}", text, value, because)
                for what, text, value in zip(names[measure], printed[measure][title], values, strict=True)
            ]
    return Result(rows, notes=[_TRIALS])


_TRIALS = (
    f"The scores are drawn by numpy's legacy generator with seeds from 0, as in their code: {N_TRIALS} of them, as "
    f"theirs, for the ordinal baselines, the first {N_CARDINAL_TRIALS} for the cardinal ones. The searches "
    "are cut short of proofs."
)


@cache
def of_baseline(kind: str, key: Baseline) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the means over all trials of both sensitivities and both diversities."""
    shape = CARDINAL_SHAPE if kind == "cardinal" else ORDINAL_SHAPE
    sensitivities, diversities_of = [], []
    for seed in range(N_CARDINAL_TRIALS if kind == "cardinal" else N_TRIALS):
        matrix = baseline(key, *shape, seed=seed)
        sensitivities.append(_baseline_sensitivity(kind, key, matrix))
        measured = diversity(matrix)
        diversities_of.append((measured.diversity, measured.mean_max_rank_change))
    means = [tuple(np.mean(values, axis=0).tolist()) for values in (sensitivities, diversities_of)]
    return means[0], means[1]


def _baseline_sensitivity(kind: str, key: Baseline, matrix: ScoreMatrix) -> tuple[float, float]:
    found: CardinalSensitivity | OrdinalSensitivity
    if kind == "cardinal":
        found = cardinal_sensitivity(matrix, max_programs=0, box_work=0)
    else:
        found = ordinal_sensitivity(matrix, n_top=ORDINAL_RANDOM_TOP if key == "random" else None, max_nodes=1)
    return found.tau_b_distance, found.max_rank_change.lower


def correlation(kind: str, progress: Progress) -> Result:
    """Compare how diversity and sensitivity go together: Pearson's correlation over benchmarks and baselines."""
    printed = PRINTED[kind]
    names = CARDINAL if kind == "cardinal" else ORDINAL
    ours = {}
    for step, name in enumerate(names):
        progress(step, len(names) + 1)
        found = of_cardinal(name) if kind == "cardinal" else of_ordinal(name)
        ours[name] = (of_diversity(name).diversity, found.tau_b_distance)
    without = pearson(ours.values())
    for title, key in BASELINE_KEYS.items():
        sensitivities, diversities_of = of_baseline(kind, key)
        ours[title] = (diversities_of[0], sensitivities[0])
    theirs = {
        name: (float(printed["diversity"][name][0]), float(printed["sensitivity"][name][0])) for name in names
    }
    real = pearson(theirs.values())
    for title, (w, _) in printed["baselines"]["diversity"].items():
        theirs[title] = (float(w), float(printed["baselines"]["sensitivity"][title][0]))
    text = PRINTED["correlation"][kind]
    because = "our figures differ, see above"
    if "ImageNet" in printed["baselines"]["diversity"]:
        because += "; ImageNet, a baseline of theirs, is not among ours"
    n = len(names)
    return Result(
        [
            compared("of the figures that they print, baselines included", text, pearson(theirs.values())),
            compared("of our figures, Constant and Random included", text, pearson(ours.values()), because),
            Row(f"of the figures that they print, the {n} real benchmarks alone", "", number(real), OURS_ALONE),
            Row(f"of our figures, the {n} real benchmarks alone", "", number(without), OURS_ALONE),
        ]
    )


def pearson(pairs: object) -> float:
    return float(np.corrcoef(np.array(list(pairs)).T)[0, 1])  # type: ignore[call-overload]


def smallest_subsets(progress: Progress) -> Result:
    """Find how few tasks give the ranking by mean of all."""
    names = ("VTAB", "SuperGLUE", "GLUE", "MTEB", "Open LLM")
    parameters = {"rules": ["mean"], "n_repeats": 1, "n_best": 1000, "largest_best": 6}
    lines = []
    for step, name in enumerate(names):
        progress(step, len(names))
        found = run_study("task_subsets", board(name), parameters, seed=0).summary["rules"]["mean"]
        smallest = "more than 6" if found["smallest"] is None else str(found["smallest"])
        best = [*(number(tau, 3) for tau in found["best"]), *([""] * 6)][:6]
        lines.append([name, str(board(name).n_tasks), *best, smallest])
    header = ["benchmark", "tasks", *(f"best of {k}" for k in range(1, 7)), "smallest that gives the full ranking"]
    title = "Kendall's tau-b of the best of at most 1,000 subsets of each size with the ranking on all tasks"
    return Result([], [Grid(title, header, lines)], [_PLOT])


_PLOT = "The paper shows this as a plot alone."


def arrow(progress: Progress) -> Result:
    """Show on stored boards what Arrow's theorem says must fail somewhere."""
    del progress
    rows = []
    for rule in ("win_rate", "borda", "copeland", "kemeny"):
        found = next(kept for key, kept in stored_witnesses().items() if key[0] == rule and key[2] == "iia")
        n, T = found.board.values.shape
        what = f"{RULES[rule].name}, {n} systems on {T} tasks, depends on irrelevant systems"
        rows.append(Row(what, "", sentence(found.witness), OURS_ALONE))
    found = stored_witnesses()["condorcet", "", "transitivity"]
    rows.append(Row("the majority relation runs in a circle", "", sentence(found.witness), OURS_ALONE))
    return Result(rows, notes=[_ARROW])


_ARROW = (
    "The paper's example stands in the paper alone. These are small boards stored for the property table; the "
    "tests re-check each from the definition. The mean keeps the order of any two systems whatever joins, and is no "
    "ordinal rule."
)


SECTIONS = (
    Section(
        "zhang-cardinal",
        "Sensitivity of cardinal benchmarks to label noise",
        CARDINAL,
        partial(sensitivity, "cardinal"),
        (SOURCES["cardinal"],),
        is_slow=True,
    ),
    Section(
        "zhang-ordinal",
        "Sensitivity of ordinal benchmarks to added systems",
        ORDINAL,
        partial(sensitivity, "ordinal"),
        (SOURCES["ordinal"],),
    ),
    Section("zhang-diversity", "Diversity", (*CARDINAL, *ORDINAL), diversities, tuple(SOURCES.values())),
    *(
        Section(
            f"zhang-baselines-{kind}",
            f"Baselines, {kind}",
            (),
            partial(baselines, kind),
            (SOURCES[kind],),
            is_slow=True,
        )
        for kind in ("cardinal", "ordinal")
    ),
    *(
        Section(
            f"zhang-correlation-{kind}",
            f"Diversity against sensitivity, {kind}",
            names,
            partial(correlation, kind),
            (SOURCES[kind],),
            is_slow=True,
        )
        for kind, names in (("cardinal", CARDINAL), ("ordinal", ORDINAL))
    ),
    Section("zhang-subsets", "The smallest sufficient subset of tasks", CARDINAL, smallest_subsets),
    Section("zhang-arrow", "Arrow's theorem, worked through", (), arrow),
)
