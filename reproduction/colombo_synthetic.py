"""Colombo et al. 2022, section 4: synthetic instances, some tasks manipulated or on another scale.

As in the released notebook, ten systems are scored on 12 instances of each of 11 tasks; system i has strength
-φ i and a score adds Gumbel noise, so that every instance is a Plackett-Luce order. Manipulated tasks hold the
reverse of the true order on all their instances; rescaled ones are honest, multiplied by λ. The error is the
normalised Kendall distance to the true order.
"""

from __future__ import annotations

import numpy as np

from ranking_engine.core.instances import InstanceScores
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.agreement import average_ranks, kendall
from reproduction.colombo_instances import NAMES, per_task
from reproduction.tables import Grid, Plot, Progress, Result, Section, number

N_SYSTEMS, N_TASKS, N_INSTANCES = 10, 11, 12
STRENGTHS = (0.01, 0.1, 0.5)
FACTORS = (1, 2, 5, 10, 100, 1000)
N_REPEATS = 100
TRUE_RANKS = np.arange(1.0, N_SYSTEMS + 1)


def drawn(strength: float, repeat: int, *, is_turned: bool = False) -> dict[str, FloatArray]:
    """Return what each task adds to the totals; see `per_task`."""
    generator = np.random.default_rng([repeat, round(1000 * strength)])
    truth = -strength * np.arange(N_SYSTEMS)[:, None]
    if is_turned:
        blocks = [np.tile(np.arange(float(N_SYSTEMS))[:, None], N_INSTANCES) for _ in range(N_TASKS)]
    else:
        blocks = [truth + generator.gumbel(size=(N_SYSTEMS, N_INSTANCES)) for _ in range(N_TASKS)]
    systems, tasks = (tuple(str(k) for k in range(n)) for n in (N_SYSTEMS, N_TASKS))
    return per_task(InstanceScores(systems, tasks, tuple(blocks)))


def errors(totals: FloatArray) -> FloatArray:
    """Return the normalised Kendall distance of each column's ranking to the true order."""
    return kendall(TRUE_RANKS, average_ranks(totals.T))[1]


def manipulated(progress: Progress) -> Result:
    """Manipulate 0 to all tasks (figure 4)."""
    lines, plots, facts = [], [], {}
    for step, strength in enumerate(STRENGTHS):
        progress(step, len(STRENGTHS))
        turned = drawn(strength, 0, is_turned=True)
        found: dict[str, list[FloatArray]] = {key: [] for key in NAMES}
        for repeat in range(N_REPEATS):
            honest = drawn(strength, repeat)
            for key in NAMES:
                found[key].append(errors(_mixed(honest[key], turned[key])))
        curves = {key: np.mean(found[key], axis=0) for key in NAMES}
        lines += [[f"{strength:g}", NAMES[key], *(number(v, 3) for v in curves[key])] for key in NAMES]
        facts[f"{strength:g}"] = {key: float(curves[key][2]) for key in NAMES}
        plots.append(
            Plot(
                f"colombo-manipulated-{round(100 * strength)}",
                f"Error by number of manipulated tasks, φ = {strength:g}",
                f"Normalised Kendall distance to the true order, mean of {N_REPEATS} draws.",
                f"manipulated tasks of {N_TASKS}",
                "error",
                [str(k) for k in range(N_TASKS + 1)],
                {NAMES[key]: [float(v) for v in curves[key]] for key in NAMES},
            )
        )
    header = ["φ", "ranked by", *(str(k) for k in range(N_TASKS + 1))]
    title = f"Normalised Kendall distance to the true order by number of manipulated tasks, mean of {N_REPEATS} draws"
    return Result([], [Grid(title, header, lines)], [_LARGE], plots, facts=facts)


def _mixed(honest: FloatArray, turned: FloatArray) -> FloatArray:
    """Return the totals when the first 0, 1, ..., T tasks are replaced, a column each."""
    columns = [np.hstack([turned[:, :k], honest[:, k:]]).sum(axis=1) for k in range(N_TASKS + 1)]
    return np.stack(columns, axis=1)


_LARGE = (
    "A manipulated task states gaps of 1 between neighbours, as much as the noise on one instance: the mean trusts "
    "their size, Borda their order alone. φ is how clearly the systems differ; the paper shows plots alone."
)


def rescaled(progress: Progress) -> Result:
    """Multiply one honest task by a factor (figure 4)."""
    lines, curves_of = [], {}
    for step, strength in enumerate(STRENGTHS):
        progress(step, len(STRENGTHS))
        found: dict[str, list[FloatArray]] = {key: [] for key in NAMES}
        for repeat in range(N_REPEATS):
            honest = drawn(strength, repeat)
            for key in NAMES:
                # Points do not change with the scale; means do.
                factors = np.array(FACTORS if key == "mean" else [1] * len(FACTORS), dtype=float)
                rest = honest[key][:, 1:].sum(axis=1)[:, None]
                found[key].append(errors(rest + honest[key][:, :1] * factors))
        curves_of[strength] = {key: np.mean(found[key], axis=0) for key in NAMES}
        lines += [[f"{strength:g}", NAMES[k], *(number(v, 3) for v in curves_of[strength][k])] for k in NAMES]
    clearest = STRENGTHS[-1]
    picture = Plot(
        "colombo-rescaled",
        f"Error when one task is multiplied, φ = {clearest:g}",
        f"Normalised Kendall distance to the true order, mean of {N_REPEATS} draws.",
        "factor of one task",
        "error",
        [str(f) for f in FACTORS],
        {NAMES[key]: [float(v) for v in curves_of[clearest][key]] for key in NAMES},
        top=0.05,
    )
    facts = {key: [float(v) for v in curves_of[clearest][key]] for key in NAMES}
    title = f"Normalised Kendall distance to the true order by the factor of one task, mean of {N_REPEATS} draws"
    header = ["φ", "ranked by", *(str(f) for f in FACTORS)]
    return Result([], [Grid(title, header, lines)], [], [picture], facts=facts)


SECTIONS = (
    Section("colombo-manipulated", "Figure 4: synthetic tasks, manipulated", (), manipulated),
    Section("colombo-rescaled", "Figure 4: synthetic tasks, on another scale", (), rescaled),
)
