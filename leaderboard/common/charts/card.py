"""The picture that other sites show next to a link to a board: PNG, because they accept nothing else.

Pillow is loaded when the first card is drawn: few processes ever draw one.
"""

import io
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

WIDTH, HEIGHT = 1200, 630
MARGIN = 72
DRAWING = 2  # raised when the drawing changes, so that no one keeps an older one
FONTS = Path(__file__).parent / "fonts"
PAPER, INK, SOFT, LINE, ACCENT = "#f5f6f8", "#16191f", "#525a66", "#868f9c", "#4338b8"
# The rules that elect the first, the second and the third camp, and all others.
CAMPS = ("#4338b8", "#b54708", "#00785f", "#a6afbc")
# The mark of the site on a ground of 36 x 24: three lines, each with its heights at the places where it lies flat.
MARK_PLACES = (5, 13, 23, 31)
MARK = ((LINE, (4, 20, 4, 12)), (LINE, (20, 12, 20, 20)), (ACCENT, (12, 4, 12, 4)))
FINER = 4  # lines are drawn so many times larger, and smoothed when the drawing is made smaller


@dataclass(frozen=True)
class Card:
    """What a card says, in texts that are all drawn."""

    name: str
    label: str  # over the winner
    winner: str
    verdict: str  # a sentence
    shares: tuple[int, ...]  # how many rules elect the first camp, the second, the third, and all others
    facts: str  # the last line
    camp: int | None = 0  # which share is of the rules with this winner, which has the colour of that part of the bar


def draw_card(card: Card) -> bytes:
    """The card as a PNG."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 -- slow import

    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    drawing = ImageDraw.Draw(image)
    drawing.rectangle((0, 0, WIDTH, 14), fill=ACCENT)
    image.paste(_mark(84, 56), (MARGIN - 5, 58))
    drawing.text((MARGIN + 92, 86), "Plurank", font=_font(34, bold=True), fill=INK, anchor="lm")
    y = _lines(drawing, card.name, 156, size=60, line=70, most=2, bold=True)
    y = max(y + 20, 264)
    drawing.text((MARGIN, y), cut(card.label, 30), font=_font(30), fill=SOFT)
    colour_of_winner = INK if card.camp is None else CAMPS[card.camp]
    y = _lines(drawing, card.winner, y + 42, size=52, line=60, most=1, bold=True, fill=colour_of_winner)
    # The rules, as a bar in which each camp has its share.
    x, width, total = float(MARGIN), WIDTH - 2 * MARGIN, sum(card.shares)
    for share, colour in zip(card.shares, CAMPS, strict=False):
        if share:
            end = x + width * share / total
            gap = 4 if end < MARGIN + width - 1 else 0
            drawing.rectangle((round(x), 446, round(end) - gap, 466), fill=colour)
            x = end
    _lines(drawing, card.verdict, 486, size=28, line=36, most=2, fill=INK)
    drawing.text((MARGIN, 592), cut(card.facts, 26), font=_font(26), fill=SOFT, anchor="lm")
    out = io.BytesIO()
    image.quantize(64).save(out, "PNG", optimize=True)  # few colours: a third of the bytes
    return out.getvalue()


def is_drawable(text: str) -> bool:
    """Whether the typeface has all letters of a text."""
    return all(map(_has_glyph, set(text)))


@cache
def _font(size: int, *, bold: bool = False) -> "FreeTypeFont":
    from PIL import ImageFont  # noqa: PLC0415 -- slow import

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    # The simple layout: the typeface has no letters that join, and it is the same with every build of Pillow.
    return ImageFont.truetype(str(FONTS / name), size, layout_engine=ImageFont.Layout.BASIC)


def _has_glyph(character: str) -> bool:
    if character.isspace():
        return True
    font = _font(20)
    return bytes(font.getmask(character)) != bytes(font.getmask("\uffff"))


def _lines(
    drawing: "ImageDraw",
    text: str,
    y: int,
    *,
    size: int,
    line: int,
    most: int,
    bold: bool = False,
    fill: str = INK,
) -> int:
    """Draw a text in at most so many lines, broken between words. Returns where the next line would begin."""
    font = _font(size, bold=bold)
    words, lines = text.split(), [""]
    while words:
        tried = f"{lines[-1]} {words[0]}".strip()
        if drawing.textlength(tried, font=font) <= WIDTH - 2 * MARGIN or not lines[-1]:
            lines[-1] = tried
            words.pop(0)
        elif len(lines) == most:
            lines[-1] = f"{lines[-1]} {' '.join(words)}"
            break
        else:
            lines.append("")
    for row in lines:
        drawing.text((MARGIN, y), cut(row, size, bold=bold), font=font, fill=fill)
        y += line
    return y


def cut(text: str, size: int, *, bold: bool = False) -> str:
    """As many of the first words of a line as fit, with an ellipsis where some are left out; part of a longer word."""
    font, most = _font(size, bold=bold), WIDTH - 2 * MARGIN
    if font.getlength(text) <= most:
        return text
    whole = text
    while text and font.getlength(f"{text}…") > most:
        text = text[:-1]
    if not whole[len(text)].isspace() and " " in text:
        text = text.rpartition(" ")[0]
    return f"{text.rstrip(' ,;:')}…"


def _mark(width: int, height: int) -> Any:  # noqa: ANN401 -- an image of Pillow
    from PIL import Image, ImageDraw  # noqa: PLC0415 -- slow import

    scale = width / 36 * FINER
    image = Image.new("RGB", (width * FINER, height * FINER), PAPER)
    drawing = ImageDraw.Draw(image)
    for colour, heights in MARK:
        nodes = list(zip(MARK_PLACES, heights, strict=True))
        points: list[tuple[float, float]] = [(2, heights[0])]
        for (x, y), (next_x, next_y) in pairwise(nodes):
            # A curve from one place to the next that is level at both: a cubic with handles of 4.
            for t in (k / 24 for k in range(25)):
                weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
                across, down = (x, x + 4, next_x - 4, next_x), (y, y, next_y, next_y)
                points.append((sum(map(mul, weights, across)), sum(map(mul, weights, down))))
        path = [(x * scale, y * scale) for x, y in [*points, (34, heights[-1])]]
        drawing.line(path, fill=colour, width=round(2.25 * scale), joint="curve")
    return image.resize((width, height), Image.Resampling.LANCZOS)
