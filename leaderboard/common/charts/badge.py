"""The drawing of a badge: two fields side by side, each as wide as its text."""

from dataclasses import dataclass

from leaderboard.common.charts.text_width import fitted, text_width
from ranking_engine.text.characters import writable

SIZE = 11.0  # of the type
HEIGHT = 20
PADDING = 7
MARK = 23  # the site's mark at the left, with its gap
MAX_LABEL, MAX_MESSAGE = 230.0, 290.0
# Grounds for white letters; each has a contrast of more than 4.5 to them.
TONES = {"first": "#4338b8", "plain": "#3f4853", "quiet": "#5d6672"}


@dataclass(frozen=True)
class BadgeDrawing:
    """Everything the template needs, in pixels."""

    label: str
    message: str
    sentence: str
    ground: str
    label_x: float
    label_width: float
    message_x: float
    message_width: float
    split: float  # where the right field begins
    width: float
    height: int = HEIGHT


def draw_badge(label: str, message: str, sentence: str, tone: str) -> BadgeDrawing:
    """Measure a badge; what is too long is cut, and is whole in `told`."""
    label, message, sentence = map(writable, (label, message, sentence))
    label, message = fitted(label, SIZE, MAX_LABEL), fitted(message, SIZE, MAX_MESSAGE)
    label_width, message_width = (round(text_width(text, SIZE), 1) for text in (label, message))
    label_x = PADDING + MARK
    split = round(label_x + label_width + PADDING, 1)
    return BadgeDrawing(
        label=label,
        message=message,
        sentence=sentence,
        ground=TONES[tone],
        label_x=label_x,
        label_width=label_width,
        message_x=round(split + PADDING, 1),
        message_width=message_width,
        split=split,
        width=round(split + 2 * PADDING + message_width, 1),
    )
