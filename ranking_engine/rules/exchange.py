"""Scores in the unit of one task, by the rate at which systems trade one for the other: Dynascore.

Ma et al. 2021, Dynaboard, NeurIPS 34: the average marginal rate of substitution of a task with the task whose unit is
taken. Rofin et al. 2023, section 2.1, name it as a way to make scores comparable.
"""

from __future__ import annotations

import numpy as np

from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.text.names import listed

CUTOFF = 1e-4  # of the largest |score| in the unit's task: smaller steps are noise, as in the authors' program


def exchange_rates(scores: FloatArray, unit: int) -> FloatArray:
    """Return for each task how much of it systems trade for 1 of the task `unit`; NaN where no step is large enough.

    With the systems in the order of their scores on `unit`, it is the mean over neighbours of
    |step on the task| / |step on `unit`|, of steps on `unit` that are above CUTOFF. Where systems tie on `unit`, they
    are one step with the mean of their scores: the authors' program takes them in the order in which they come.

    Args:
        scores: oriented and complete, shape (n_systems, n_tasks).
        unit: the index of the task.
    """
    levels, level_of = np.unique(scores[:, unit], return_inverse=True)
    sums = np.zeros((len(levels), scores.shape[1]))
    np.add.at(sums, level_of.ravel(), scores)
    steps = np.abs(np.diff(sums / np.bincount(level_of.ravel())[:, None], axis=0))
    own = np.diff(levels)
    is_large = own > CUTOFF * np.abs(levels).max()
    if not is_large.any():
        return np.full(scores.shape[1], np.nan)
    return np.asarray((steps[is_large] / own[is_large, None]).mean(axis=0))


def dynascore(profile: Profile, unit: str) -> Outcome:
    """Return the weighted mean of the oriented scores, each divided by its rate of exchange with the task `unit`.

    A task on which all systems have the same score has the rate 0 and adds nothing. Where they differ on a task, and
    only where they tie on `unit` or in steps below CUTOFF, it has no rate, and nothing is ranked.
    """
    names = list(profile.matrix.task_names)
    if unit not in names:
        return Outcome(None, "undefined", f"there is no task {unit!r} of weight above 0 whose unit could be taken")
    rates = exchange_rates(profile.scores, names.index(unit))
    if np.isnan(rates).any():
        return Outcome(
            None, "undefined", f"no two neighbours on {unit} differ by more than {CUTOFF:.2%} of its largest score"
        )
    has_no_rate = (rates == 0) & (np.ptp(profile.scores, axis=0) > 0)
    if has_no_rate.any():
        tasks = listed([names[t] for t in np.flatnonzero(has_no_rate)])
        return Outcome(None, "undefined", f"systems that differ on {tasks} do not differ enough on {unit} for a rate")
    converted = np.where(rates > 0, profile.scores / np.where(rates > 0, rates, 1.0), 0.0)
    details = {"exchange_rates": dict(zip(names, rates.tolist(), strict=True))}
    return Outcome(converted @ (profile.weights / profile.weights.sum()), details=details)
