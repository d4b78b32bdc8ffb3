"""The scores of a submission that waits, beside those of the board."""

from dataclasses import dataclass

import numpy as np

from leaderboard.common.text import value_text
from leaderboard.submissions.preview.draft import BoardState, row_values
from leaderboard.submissions.rows import CheckedRow


@dataclass(frozen=True)
class ReviewedScore:
    """A score of a batch beside the one on the board; a text is empty where there is no score."""

    text: str
    board_text: str

    @property
    def is_changed(self) -> bool:
        """Whether the board has another score, which this one would replace or remove."""
        return bool(self.board_text) and self.text != self.board_text

    @property
    def is_added(self) -> bool:
        """Whether the board has no score."""
        return bool(self.text) and not self.board_text


@dataclass(frozen=True)
class ReviewedRow:
    """One system of a batch."""

    name: str
    is_new: bool
    scores: list[ReviewedScore]  # one per task


def reviewed(row: CheckedRow, state: BoardState) -> ReviewedRow:
    """A system as a batch would have it, beside the board as it is."""
    place = next((i for i, system in enumerate(state.systems) if system.key == row["system"]["key"]), None)
    old = np.full(len(state.configuration.tasks), np.nan) if place is None else state.values[place]
    new = row_values(row["scores"], state.configuration, None if place is None else old)
    texts = [["" if np.isnan(value) else value_text(value) for value in values] for values in (new, old)]
    scores = [ReviewedScore(*pair) for pair in zip(*texts, strict=True)]
    return ReviewedRow(row["system"]["name"], place is None, scores)
