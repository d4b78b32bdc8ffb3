"""What is unusual about the scores of a submission that waits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.text import in_words, shortened
from leaderboard.submissions.preview.draft import BoardState, row_values
from leaderboard.submissions.rows import CheckedRow

FEWEST_SCORES = 5  # of a task, before one of them can be called unusual
FEWEST_TASKS = 2  # before systems with the same scores are called duplicates, or one that leads everywhere too good


def flags_of(state: BoardState, rows: Sequence[CheckedRow]) -> list[str]:
    """What a moderator should look at twice, in words. Nothing is ever refused for it.

    Unusual: further beyond the best or the worst score of its task than these two are apart. Too good: better than
    every other system on every task. Duplicate: the scores of another system, to the last digit. Removing: the board
    has a score that would be missing.
    """
    flags = []
    tasks = state.configuration.tasks
    places = {system.key: i for i, system in enumerate(state.systems)}
    directions = np.array([task.direction for task in tasks], dtype=int)
    is_other = np.ones(len(state.systems), dtype=bool)
    all_others = _Others.of(state.values)  # of every system that is not on the board yet
    for row in rows:
        own = places.get(row["system"]["key"] or "")
        values = row_values(row["scores"], state.configuration, None)
        name = shortened(row["system"]["name"])
        if own is not None:
            then = row_values(row["scores"], state.configuration, state.values[own])
            removed = [tasks[t].name for t in np.flatnonzero(np.isnan(then) & ~np.isnan(state.values[own]))]
            if removed:
                gone = gettext("%(system)s: removes its scores from the board on %(tasks)s")
                flags.append(gone % {"system": name, "tasks": in_words(removed)})
        is_other[:] = True
        if own is not None:
            is_other[own] = False
        others = all_others if own is None else _Others.of(state.values[is_other])
        unusual = [tasks[t].name for t in np.flatnonzero(others.is_unusual(values))]
        if unusual:
            far = gettext("%(system)s: far outside the range of the others on %(tasks)s")
            flags.append(far % {"system": name, "tasks": in_words(unusual)})
        is_same = ((state.values == values) | (np.isnan(state.values) & np.isnan(values))).all(axis=1)
        n_scores = int((~np.isnan(values)).sum())
        twins = [state.systems[i].name for i in np.flatnonzero(is_same & is_other)] if n_scores >= FEWEST_TASKS else []
        if twins:
            same = gettext("%(system)s: exactly the scores of %(others)s")
            flags.append(same % {"system": name, "others": in_words(twins)})
        elif others.n >= FEWEST_SCORES and others.are_led(values, directions):
            flags.append(gettext("%(system)s: better than every other system on every task") % {"system": name})
    return flags


@dataclass(frozen=True)
class _Others:
    """What the other systems have on each task."""

    n: int
    n_stated: np.ndarray  # how many of them have a score
    least: np.ndarray  # the least score; inf where there is none
    greatest: np.ndarray  # -inf where there is none

    @classmethod
    def of(cls, values: np.ndarray) -> "_Others":
        """Of scores with one row per system, NaN where one is missing."""
        is_missing = np.isnan(values)
        return cls(
            n=len(values),
            n_stated=(~is_missing).sum(axis=0),
            least=np.where(is_missing, np.inf, values).min(axis=0, initial=np.inf),
            greatest=np.where(is_missing, -np.inf, values).max(axis=0, initial=-np.inf),
        )

    def is_unusual(self, values: np.ndarray) -> np.ndarray:
        """By task: whether a score is further beyond the range of the others than that is wide."""
        is_known = ~np.isnan(values) & (self.n_stated >= FEWEST_SCORES)
        spread = np.where(is_known, self.greatest - self.least, 0.0)
        return is_known & ((values > self.greatest + spread) | (values < self.least - spread))

    def are_led(self, values: np.ndarray, directions: np.ndarray) -> bool:
        """Whether scores are better than those of all others on every task that votes."""
        votes = directions != 0
        if votes.sum() < FEWEST_TASKS or np.isnan(values[votes]).any():
            return False
        best = np.where(directions < 0, -self.least, self.greatest)[votes]
        return bool((values[votes] * directions[votes] > best).all())
