"""The Ladder: a board that moves only when a submission is better beyond the noise of the hidden instances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_INSTANCES = 10_000_000
_SLACK = 1e-9  # a single instance more is exactly one standard error
_DUST = 1e-12  # what rounding leaves of a mean, relative to the greatest loss


@dataclass(frozen=True)
class LadderAnswer:
    """What a submitter is told; it says nothing of a submission that was not better.

    Attributes:
        best_loss: the mean loss of the best submission so far, as the board states it, rounded.
        is_best: the submission became the best one.
    """

    best_loss: float
    is_best: bool


class Ladder:
    """The Ladder mechanism of Blum and Hardt (ICML 2015, arXiv 1502.04585) for the submissions of one team.

    Without a step it has no parameter: a submission becomes the best one if its mean loss is lower than that of the
    best submission by more than the standard error of the paired differences between their losses. This is a paired
    t test with the threshold 1, as in the authors' program (github.com/mrtzh/Ladder.jl, commit 952fbf4). With a step,
    the mean loss has to be lower by more than the step. The first submission is the best one.

    The stated loss is a multiple of 1 / n, n being the number of instances. Losses of 0 and 1 have such a mean anyway;
    of other losses the further digits would leak. Rounding decides nothing: means are compared as they are, because a
    worse submission could be below a best loss that was rounded up. The authors' program does not round where there is
    no step, and rounds to floor(log10(n)) digits where there is one.

    Attributes:
        step: the least improvement, in the unit of the losses, or None for the paired test.
        n_submissions: how many were evaluated.
    """

    def __init__(self, step: float | None = None) -> None:
        """Begin a board without a submission.

        Raises:
            ValueError: the step is not a number of 0 or more.
        """
        if step is not None and not (math.isfinite(step) and step >= 0):
            raise ValueError(f"`step` is {step}; expected a number of 0 or more, or None for the paired test")
        self.step = step
        self.n_submissions = 0
        self._best_losses: NDArray[np.float64] | None = None
        self._best_loss = math.inf

    def submit(self, losses: ArrayLike) -> LadderAnswer:
        """Evaluate a submission.

        Args:
            losses: of each hidden instance, in the same order for every submission, shape (n,); less is better. For
                scores of which more is better pass their negatives.

        Raises:
            ValueError: fewer than two instances, too many, another number than before, or a loss that is not finite.
        """
        values = np.asarray(losses, dtype=np.float64)
        if values.ndim != 1 or not 2 <= len(values) <= MAX_INSTANCES:
            raise ValueError(
                f"`losses` has shape {values.shape}; expected one loss for each of 2 to {MAX_INSTANCES:,} instances"
            )
        if self._best_losses is not None and len(values) != len(self._best_losses):
            raise ValueError(
                f"`losses` has {len(values):,} entries; earlier submissions had {len(self._best_losses):,}"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"`losses` has no finite number at index {int(np.argmin(np.isfinite(values)))}")
        self.n_submissions += 1
        n = len(values)
        is_best = self._best_losses is None
        if self._best_losses is not None:
            gains = self._best_losses - values
            least_gain = float(gains.std(ddof=1)) / math.sqrt(n) if self.step is None else self.step
            dust = _DUST * max(float(np.abs(values).max()), float(np.abs(self._best_losses).max()))
            is_best = float(gains.mean()) > least_gain * (1 + _SLACK) + dust
        if is_best:
            self._best_losses, self._best_loss = values.copy(), round(float(values.sum())) / n
        return LadderAnswer(self._best_loss, is_best)
