"""Colombo et al. 2022: rankings from single instances, the labels of the released files put right.

All three aggregations add up one figure a task (`per_task`), so that a ranking on some of the tasks is a sum over
these.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.comparison import agreement_rate, kendall_tau, weighted_distance
from ranking_engine.core.instances import AGGREGATIONS, InstanceScores, aggregate_all
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.instance_tables import read_instances
from ranking_engine.stability.agreement import average_ranks, kendall
from reproduction.boards import files_of
from reproduction.colombo import ONLY_IN_PAPER
from reproduction.tables import Grid, Plot, Progress, Result, Section, number

FILES = ("DIALOG_pc", "DIALOG_tc", "FLICKR", "MLQE", "REAL_SUM", "SUM_EVAL", "TAC_08", "TAC_09", "TAC_11")
BOARDS = tuple(f"instance/{name}" for name in FILES)
NAMES = {"mean": "mean", "one_level": "one level", "two_level": "two levels"}
PAIRS = (("mean", "one_level"), ("mean", "two_level"), ("one_level", "two_level"))
TOPS = range(1, 11)
N_ORDERS = 100
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@cache
def scores_of(name: str) -> InstanceScores:
    """Return a file's scores, with the systems where they are: in the column called `Utterance`."""
    return read_instances(files_of(f"instance/{name}")[0], system_column="Utterance")


def per_task(scores: InstanceScores) -> dict[str, FloatArray]:
    """Return for each aggregation what each task adds to the total of each system, shape (n_systems, n_tasks).

    For scores without gaps: the mean over instances; Borda's points over the instances; Borda's points of those.
    """
    means = np.column_stack([block.mean(axis=1) for block in scores.oriented()])
    points = scores.task_points
    below = (points[:, None] > points[None]).sum(axis=1) + ((points[:, None] == points[None]).sum(axis=1) - 1) / 2
    return {"mean": means, "one_level": points, "two_level": below}


def instances(progress: Progress) -> Result:
    """Rank by single instances with the labels put right (table 3)."""
    lines, taus_of = [], {}
    for step, name in enumerate(FILES):
        progress(step, len(FILES))
        scores = scores_of(name)
        found = aggregate_all(scores)
        taus_of[name] = [kendall_tau(found[a], found[b]) for a, b in PAIRS]
        taus = [number(tau, 3) for tau in taus_of[name]]
        firsts = ["; ".join(scores.system_names[i] for i in found[key].winners) for key in AGGREGATIONS]
        size = f"{scores.n_systems} x {scores.blocks[0].shape[1]} x {len(scores.blocks)}"
        lines.append([name, size, *taus, *firsts])
    header = ["file", "systems x instances x tasks", *(f"tau-b {NAMES[a]}, {NAMES[b]}" for a, b in PAIRS)]
    header += [f"first by {NAMES[key]}" for key in AGGREGATIONS]
    column = header.index(f"first by {NAMES['two_level']}"), header.index(f"first by {NAMES['mean']}")
    facts = {
        "n": len(FILES),
        "n_other_winner": sum(line[column[0]] != line[column[1]] for line in lines),
        "least_tau": min(taus[1] for taus in taus_of.values()),
        "least_tau_file": min(taus_of, key=lambda name: taus_of[name][1]),
    }
    grid = Grid("Mean, Borda over all instances, Borda of Borda", header, lines)
    return Result([], [grid], [_SWAPPED, ONLY_IN_PAPER], facts=facts)


_SWAPPED = (
    "In the released files the columns `System` and `Utterance` hold each other's content, so that their code "
    "ranks documents for systems; here the systems are read from `Utterance`. Theirs also breaks ties by "
    "position, with a sort whose order depends on the processor; here tied systems share their points."
)


def agreement(progress: Progress) -> Result:
    """Compare the first places by mean, by one level and by two (figure 23)."""
    lines, curves = [], {}
    for step, name in enumerate(FILES):
        progress(step, len(FILES))
        found = aggregate_all(scores_of(name))
        for a, b in PAIRS:
            rates = [agreement_rate(found[a], found[b], k) for k in TOPS]
            lines.append([name, f"{NAMES[a]}, {NAMES[b]}", *("-" if np.isnan(r) else number(r) for r in rates)])
            if (a, b) == PAIRS[1]:
                curves[name] = [None if np.isnan(r) else float(r) for r in rates]
    picture = Plot(
        "colombo-first-places",
        "Share of the first k places that mean and two levels give to the same systems",
        "One curve a file; ties that straddle place k share the places left.",
        "k",
        "agreement",
        [str(k) for k in TOPS],
        curves,
    )
    grid = Grid("Agreement of the first k places", ["file", "rankings", *map(str, TOPS)], lines)
    return Result([], [grid], [], [picture])


def subsets(progress: Progress) -> Result:
    """Rank on random shares of the tasks, which are metrics here (figures 19 and 33)."""
    lines, plots, at_half = [], [], {}
    for step, name in enumerate(FILES):
        progress(step, len(FILES))
        curves = subset_curves(per_task(scores_of(name)))
        T = len(curves["mean"])
        places = [max(1, round(share * T)) for share in SHARES]
        lines += [[name, what, *(number(curves[key][k - 1], 3) for k in places)] for key, what in NAMES.items()]
        at_half[name] = {key: float(curves[key][T // 2 - 1]) for key in NAMES}
        if name in ("REAL_SUM", "TAC_08"):
            plots.append(
                Plot(
                    f"colombo-metrics-{name.lower().replace('_', '-')}",
                    f"{name} on random subsets of its metrics",
                    f"Kendall's tau-b with the ranking on all metrics, mean of {N_ORDERS} draws.",
                    "metrics in the subset",
                    "tau-b",
                    [str(k) for k in range(1, T + 1)],
                    {NAMES[key]: [float(v) for v in curves[key]] for key in NAMES},
                )
            )
    header = ["file", "ranked by", *(f"{100 * share:g} % of the metrics" for share in SHARES)]
    best = [max(values, key=lambda key: values[key]) for values in at_half.values()]
    facts = {"n": len(FILES), "n_mean_best": best.count("mean"), "n_two_best": best.count("two_level")}
    facts["n_one_best"] = best.count("one_level")
    title = f"Kendall's tau-b with the ranking on all metrics, mean of {N_ORDERS} draws"
    return Result([], [Grid(title, header, lines)], [_EACH_ITS_OWN], plots, facts=facts)


_EACH_ITS_OWN = "Each aggregation is compared with its own ranking on all metrics. The paper shows plots alone."


def subset_curves(totals: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the mean tau-b of the ranking on k tasks with that on all, for k = 1 to T, by aggregation."""
    T = totals["mean"].shape[1]
    generator = np.random.default_rng(0)
    orders = [generator.permutation(T) for _ in range(N_ORDERS)]
    curves = {}
    for key, table in totals.items():
        full = average_ranks(table.sum(axis=1)[None])[0]
        taus = np.array([kendall(full, average_ranks(np.cumsum(table[:, o], axis=1).T))[0] for o in orders])
        curves[key] = np.nanmean(taus, axis=0)
    return curves


def consensus(progress: Progress) -> Result:
    """Measure how far the three aggregations are from Kemeny's optimum over all instances of all tasks."""
    lines, excess = [], {}
    for step, name in enumerate(FILES):
        progress(step, len(FILES))
        scores = scores_of(name)
        matrix = ScoreMatrix(np.concatenate(list(scores.oriented()), axis=1), system_names=scores.system_names)
        best = rank(matrix, "kemeny")
        least = float(best.details["distance"])
        found = aggregate_all(scores)
        cells = [number(least, 1), "yes" if best.details["proven"] else f"at least {best.details['lower_bound']}"]
        excess[name] = {key: 100 * (weighted_distance(matrix, found[key]) / least - 1) for key in NAMES}
        lines.append([name, *cells, *(f"+{number(excess[name][key])} %" for key in NAMES)])
    header = ["file", "Kemeny's least", "proven", *NAMES.values()]
    title = "Votes that contradict the order, every instance of every task being a voter"
    facts = {key: max(values[key] for values in excess.values()) for key in NAMES}
    return Result([], [Grid(title, header, lines)], [_EXACT], facts={"n": len(FILES), "most_excess": facts})


_EXACT = (
    "Kemeny's consensus is hard in the worst case, and the paper takes Borda for it; on these files a linear program "
    "with cuts settles it at once."
)

SECTIONS = (
    Section("colombo-instances", "Table 3: rankings from single instances, labels put right", BOARDS, instances),
    Section("colombo-first-places", "Figure 23: the first places from single instances", BOARDS, agreement),
    Section(
        "colombo-metrics", "Figures 19 and 33: instances, on subsets of the metrics", BOARDS, subsets, is_slow=True
    ),
    Section("colombo-instance-consensus", "How far instances are from Kemeny's optimum", BOARDS, consensus),
)
