"""Zhang and Hardt 2024: diversity and sensitivity of benchmarks, with proven bounds, and how the two go together."""

from __future__ import annotations

from functools import partial

import numpy as np

from ranking_engine.core.comparison import task_ranks
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.diversity import Diversity, diversity
from reproduction.boards import board
from reproduction.measures import Measured, interval, of_cardinal, of_diversity, of_ordinal
from reproduction.tables import (
    AGREES,
    Grid,
    Plane,
    Progress,
    Result,
    Row,
    Section,
    compared,
    number,
    published,
)

PRINTED = published("zhang_2024")
SOURCES = PRINTED["sources"]
CARDINAL = tuple(PRINTED["cardinal"]["sensitivity"])
ORDINAL = tuple(PRINTED["ordinal"]["sensitivity"])

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
    """Compare sensitivities with what is printed, with the proven bounds beside."""
    printed = PRINTED[kind]["sensitivity"]
    rows, lines, found_all = [], [], {}
    for step, (name, (tau, change)) in enumerate(printed.items()):
        progress(step, len(printed))
        found = found_all[name] = sensitivity_of(kind, name)
        short = REPEATED if name == "MTEB" else STOPS_SHORT
        moved = REPEATED if name == "MTEB" else ONE_SOLUTION
        rows.append(compared(f"{name}: (1 - tau) / 2", found.tau_b_distance, code=tau, because=short))
        rows.append(compared(f"{name}: max rank change", found.moved[0], code=change, because=moved))
        bounds = [interval(found.pairs), interval(found.moved)]
        lines.append([name, str(found.n_systems), number(found.tau_b_distance, 4), *bounds])
    header = ["benchmark", "systems", "(1 - tau-b) / 2, at least", "reversed pairs", "max rank change"]
    facts = {
        "n_rows": len(printed),
        "n_below": sum(float(printed[name][0]) + 0.005 < m.tau_b_distance for name, m in found_all.items()),
        "n_proven": sum(m.pairs[0] >= m.pairs[1] for m in found_all.values()),
    }
    return Result(rows, [Grid("Ours, with proven bounds", header, lines)], [_BOUNDS], facts=facts)


_BOUNDS = (
    "Reversed pairs are a share of all pairs. A single figure is proven to be the largest; two are what is reached and "
    "what is proven to be out of reach. tau-b is no monotone function of it where systems tie, so that it has no upper "
    "bound."
)


def diversities(progress: Progress) -> Result:
    """Compare diversities with what is printed."""
    rows, lines = [], []
    printed = {**PRINTED["cardinal"]["diversity"], **PRINTED["ordinal"]["diversity"]}
    for step, (name, (w, change)) in enumerate(printed.items()):
        progress(step, len(printed))
        found, matrix = of_diversity(name), board(name)
        is_whole = not np.isnan(matrix.values).any()
        because = REPEATED if name == "MTEB" else CUT if is_whole else FILLED
        rows.append(compared(f"{name}: 1 - W", found.diversity, code=w, because=because))
        if is_whole and name != "MTEB":
            cut = 1 - cut_w(task_ranks(matrix))
            rows.append(compared(f"{name}: 1 - W, average ranks cut as theirs", cut, code=w, because=CUT))
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
    row = compared(
        f"{name}: max rank change, mean over pairs", found.mean_max_rank_change, code=printed, because=because
    )
    if row.verdict == AGREES or name == "MTEB":
        return [row]
    tied = diversity(matrix.with_values(np.round(matrix.values, NEAR))).mean_max_rank_change
    return [row, compared(f"{name}: the same, near scores tied as theirs", tied, code=printed, because=NEARLY_TIED)]


_LARGEST = (
    "What their code returns as the maximum of the rank change is its mean over all pairs of tasks, which is what is "
    "compared; the largest stands in the last column."
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
        found, varied = sensitivity_of(kind, name), of_diversity(name)
        lines.append([name, number(varied.diversity_tie_corrected, 4), interval(found.pairs)])
        points.append((name, varied.diversity_tie_corrected, *found.pairs))
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
