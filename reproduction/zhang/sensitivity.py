"""Zhang and Hardt 2024: diversity and sensitivity of benchmarks, with proven bounds, and the plane of the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ranking_engine.core.comparison import task_ranks
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.diversity import Diversity, diversity
from reproduction.boards import board
from reproduction.measures import Measured, interval, of_cardinal, of_diversity, of_ordinal, of_paper_set
from reproduction.tables import (
    AGREES,
    DIFFERS,
    Grid,
    Plane,
    Progress,
    Result,
    Row,
    Section,
    compared,
    number,
    ours_alone,
    published,
)
from reproduction.zhang.released_search import mteb_columns

NOTEBOOKS, PRINTED = published("zhang_2024"), published("zhang_2024_printed")
SOURCES = NOTEBOOKS["sources"]
CARDINAL = tuple(NOTEBOOKS["cardinal"]["sensitivity"])
ORDINAL = tuple(NOTEBOOKS["ordinal"]["sensitivity"])
NOT_PRINTED = ("", "")

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


def sensitivity_of(kind: str, name: str) -> Measured:
    return of_cardinal(name) if kind == "cardinal" else of_ordinal(name)


def sensitivity(kind: str, progress: Progress) -> Result:
    """Compare sensitivities with what the notebooks and the paper print, with the proven bounds beside."""
    code = NOTEBOOKS[kind]["sensitivity"]
    rows, measured = [], {}
    for step, (name, in_code) in enumerate(code.items()):
        progress(step, len(code))
        measured[name] = sensitivity_of(kind, name)
        rows += _sensitivity_rows(name, measured[name], in_code)
    if kind == "ordinal":
        rows.append(_over_half(measured))
    comparable = {name: m for name, m in measured.items() if name != "MTEB"}  # whose columns are others; see REPEATED
    facts = {
        "n": len(code),
        "n_comparable": len(comparable),
        "n_below": sum(float(code[name][0]) + 0.005 < m.tau_b_distance for name, m in comparable.items()),
        "n_proven": sum(m.pairs[0] >= m.pairs[1] for m in measured.values()),
    }
    if kind == "ordinal":
        return Result(rows, [_bounds_grid("Ours, with proven bounds", measured)], [_BOUNDS], facts=facts)
    grids = [
        _bounds_grid("The released code's set of weights, with proven bounds", measured),
        _bounds_grid("The paper's own set of weights, with proven bounds", {name: of_paper_set(name) for name in code}),
    ]
    return Result(rows, grids, [_SETS, _BOUNDS], facts=facts)


def _sensitivity_rows(name: str, measured: Measured, code: Sequence[str]) -> list[Row]:
    tau, change = PRINTED["sensitivity"].get(name, NOT_PRINTED)
    short = REPEATED if name == "MTEB" else STOPS_SHORT
    moved = REPEATED if name == "MTEB" else ONE_SOLUTION
    return [
        compared(f"{name}: (1 - tau) / 2", measured.tau_b_distance, printed=tau, code=code[0], because=short),
        compared(f"{name}: max rank change", measured.moved[0], printed=change, code=code[1], because=moved),
    ]


def _over_half(measured: Mapping[str, Measured]) -> Row:
    """Compare how many ordinal benchmarks have the max rank change that over half of them are printed to have."""
    least = float(PRINTED["over_half"]["max_rank_change"])
    in_code = sum(float(change) >= least for _, change in NOTEBOOKS["ordinal"]["sensitivity"].values())
    ours = sum(m.moved[0] >= least - 1e-9 for m in measured.values())
    is_so = 2 * ours > len(measured)
    what = f"benchmarks of the {len(measured)} with a max rank change of at least {number(least, 1)}"
    texts = ("over half", str(in_code), str(ours))
    return Row(what, *texts, AGREES if is_so else DIFFERS, "" if in_code == ours else ONE_SOLUTION, 1, int(is_so))


def _bounds_grid(title: str, measured: Mapping[str, Measured]) -> Grid:
    header = ["benchmark", "systems", "(1 - tau-b) / 2, at least", "reversed pairs", "max rank change"]
    lines = [
        [name, str(m.n_systems), number(m.tau_b_distance, 4), interval(m.pairs), interval(m.moved)]
        for name, m in measured.items()
    ]
    return Grid(title, header, lines)


_SETS = (
    "The rows above are for the set of weights that the released code searches: a task weighs between 1 % and 100 % on "
    "standardised scores, that is u / σ on raw ones with u between 0.01 and 1. Section 5 of the paper describes "
    "another: weights between ε and 1 on raw scores, where ε is 0.01 if all tasks have the same deviation and else "
    "depends on the smallest and the largest deviation. The text at our disposal lost the formula; ours is "
    "ε = 0.01 σ_min / σ_max, so that this set contains the first and its sensitivities cannot be smaller. The "
    "bounds of the second grid come from less work."
)
_BOUNDS = (
    "Reversed pairs are a share of all pairs. A single figure is proven to be the largest; two are what is reached and "
    "what is proven to be out of reach. tau-b is no monotone function of it where systems tie, so that it has no upper "
    "bound."
)


def diversities(progress: Progress) -> Result:
    """Compare diversities with what the notebooks print."""
    rows, lines = [], []
    code = {**NOTEBOOKS["cardinal"]["diversity"], **NOTEBOOKS["ordinal"]["diversity"]}
    for step, (name, (w, change)) in enumerate(code.items()):
        progress(step, len(code))
        spread, matrix = of_diversity(name), board(name)
        is_whole = not np.isnan(matrix.values).any()
        because = REPEATED if name == "MTEB" else CUT if is_whole else FILLED
        rows.append(compared(f"{name}: 1 - W", spread.diversity, code=w, because=because))
        if is_whole and name != "MTEB":
            cut = 1 - cut_w(task_ranks(matrix))
            rows.append(compared(f"{name}: 1 - W, average ranks cut as theirs", cut, code=w, because=CUT))
        rows += _rank_change_rows(name, change, spread, matrix)
        if name == "MTEB":
            rows += _repeated_rows(matrix, w, change)
        lines.append(
            [
                name,
                number(spread.diversity, 4),
                number(spread.diversity_tie_corrected, 4),
                number(spread.mean_max_rank_change, 4),
                number(spread.largest_max_rank_change, 4),
            ]
        )
    header = ["benchmark", "1 - W", "corrected for ties", "max rank change, mean", "largest"]
    return Result(rows, [Grid("Ours", header, lines)], [_LARGEST])


def _repeated_rows(matrix: ScoreMatrix, w: str, change: str) -> list[Row]:
    """Compare MTEB once more with its columns as the paper describes them, and as the released code has them."""
    described, in_code = (diversity(ScoreMatrix(columns)) for columns in mteb_columns(matrix))
    return [
        ours_alone("MTEB: 1 - W of the seven averages, each as often as it has data sets", number(described.diversity)),
        compared("MTEB: 1 - W, the overall average 56 times beside them", in_code.diversity, code=w),
        compared("MTEB: max rank change, likewise", in_code.mean_max_rank_change, code=change),
    ]


def _rank_change_rows(name: str, code: str, spread: Diversity, matrix: ScoreMatrix) -> list[Row]:
    """Compare the mean of the rank changes; where it differs, also with scores tied that only rounding separates."""
    because = REPEATED if name == "MTEB" else NEARLY_TIED
    row = compared(f"{name}: max rank change, mean over pairs", spread.mean_max_rank_change, code=code, because=because)
    if row.verdict == AGREES or name == "MTEB":
        return [row]
    tied = diversity(matrix.with_values(np.round(matrix.values, NEAR))).mean_max_rank_change
    return [row, compared(f"{name}: the same, near scores tied as theirs", tied, code=code, because=NEARLY_TIED)]


_LARGEST = (
    "What their code returns as the maximum of the rank change is its mean over all pairs of tasks, which is what is "
    "compared; the largest is in the last column."
)


def cut_w(ranks: FloatArray) -> float:
    """Return W after cutting average ranks to whole numbers, as the released code does."""
    m, n = ranks.shape
    sums = np.trunc(ranks).sum(axis=0)
    return float(12 * ((sums - sums.mean()) ** 2).sum() / (m * m * (n**3 - n)))


def plane(kind: str, progress: Progress) -> Result:
    """Put every benchmark on the plane of diversity and sensitivity (figure 2; 3 cardinal, 5 ordinal)."""
    names = CARDINAL if kind == "cardinal" else ORDINAL
    lines, points = [], []
    for step, name in enumerate(names):
        progress(step, len(names))
        outcome, varied = sensitivity_of(kind, name), of_diversity(name)
        lines.append([name, number(varied.diversity_tie_corrected, 4), interval(outcome.pairs)])
        points.append((name, varied.diversity_tie_corrected, *outcome.pairs))
    title = f"Diversity and sensitivity of the {len(names)} {kind} benchmarks"
    picture = Plane(
        f"zhang-plane-{kind}",
        title,
        "A dot is what is reached; a line above it ends where reversals are proven to be impossible.",
        "diversity, corrected for ties",
        "share of pairs that can be reversed",
        points,
    )
    return Result(
        [], [Grid(title, ["benchmark", "1 - W, corrected for ties", "reversed pairs"], lines)], [], [], [picture]
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
        is_slow=True,
    ),
    Section("zhang-diversity", "Diversity", (*CARDINAL, *ORDINAL), diversities, tuple(SOURCES.values())),
    *(
        Section(f"zhang-plane-{kind}", f"{figures}: the plane, {kind}", names, partial(plane, kind), is_slow=True)
        for kind, figures, names in (
            ("cardinal", "Figures 2 and 3", CARDINAL),
            ("ordinal", "Figures 2 and 5", ORDINAL),
        )
    ),
)
