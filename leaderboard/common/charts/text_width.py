"""How wide a text is, for drawings that leave the site and are shown with whatever typeface the reader's machine has.

The widths are those of DejaVu Sans, which shares them with Verdana in all that matters here; a drawing states the
measured width with its text (`textLength`), so that another typeface is squeezed or stretched into it.
"""

import math
import unicodedata
from collections.abc import Iterable

# Advance of the characters from U+0020 to U+007E, in thousandths of the size of the type.
ASCII_WIDTHS = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
)  # fmt: skip
WIDE, OTHER = 1000, 700  # of an ideograph; of a letter of another alphabet, rather too much than too little
ELLIPSIS = "…"
LABEL_SIZE = 14  # of a chart's names where a phone shrinks the chart and its type is set larger


def text_width(text: str, size: float) -> float:
    """The width of a line of text, in the unit of `size`."""
    return sum(map(_advance, text)) * size / 1000


def label_room(names: Iterable[str], size: float = LABEL_SIZE) -> int:
    """The room that the longest of a chart's names takes."""
    return math.ceil(max((text_width(name, size) for name in names), default=0))


def _advance(character: str) -> int:
    if " " <= character <= "~":
        return ASCII_WIDTHS[ord(character) - 32]
    if character == ELLIPSIS or unicodedata.east_asian_width(character) in "WF":
        return WIDE
    if unicodedata.combining(character):
        return 0
    plain = unicodedata.normalize("NFD", character)[0]
    return ASCII_WIDTHS[ord(plain) - 32] if " " <= plain <= "~" else OTHER


def fitted(text: str, size: float, most: float) -> str:
    """The text, or as much of its beginning as fits into `most` with an ellipsis."""
    if text_width(text, size) <= most:
        return text
    while text and text_width(text + ELLIPSIS, size) > most:
        text = text[:-1]
    return text.rstrip() + ELLIPSIS
