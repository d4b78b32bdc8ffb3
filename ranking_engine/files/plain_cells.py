"""Cells of plain CSV, many lines at once: no quotes, as many cells in every line, no blank line.

What is not plain is not refused here: the functions return None, and the caller reads it with care.
"""

from __future__ import annotations

import numpy as np

from ranking_engine.core.score_matrix import FloatArray


def plain_columns(lines: list[str], width: int) -> list[list[str]] | None:
    """Return the cells of `width` columns of lines, with their ends or without; None where these are not plain."""
    n_commas = width - 1
    if any(line.count(",") != n_commas for line in lines):
        return None
    text = "".join(lines)
    if '"' in text:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    text = text.removesuffix("\n")
    if "\r" in text or text.count("\n") != len(lines) - 1:
        return None
    cells = text.replace("\n", ",").split(",")
    return [cells[k::width] for k in range(width)]


def numbers(cells: list[str]) -> FloatArray | None:
    """Return the numbers in `cells`, NaN for an empty one; None where one holds anything but a finite number."""
    n_empty = 0
    try:
        scores = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        n_empty = cells.count("")
        try:
            scores = np.fromiter((float(cell or "nan") for cell in cells), dtype=np.float64, count=len(cells))
        except ValueError:
            return None
    if np.count_nonzero(np.isfinite(scores)) != len(cells) - n_empty:
        return None
    text = "".join(cells)  # Python reads more as numbers than a table may hold: 1_000, digits of other scripts
    return scores if "_" not in text and text.isascii() else None
