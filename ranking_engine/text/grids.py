"""Tables of text cells as aligned text, Markdown or LaTeX: first row the header, first column the names."""

from __future__ import annotations

import unicodedata

from ranking_engine.text.markup import escape_latex, escape_markdown

Grid = list[list[str]]


def cell(value: object) -> str:
    """Return a figure of a report as readers see it: three decimals of a float, "-" where there is none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "-" if value is None else str(value)


def text_grid(grid: Grid) -> list[str]:
    """Return the lines of `grid`, the first column aligned left and the others right."""
    widths = [max(_width(row[column]) for row in grid) for column in range(len(grid[0]))]
    lines = []
    for name, *cells in grid:
        aligned = [_padded(cell, width, right=True) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([_padded(name, widths[0]), *aligned]).rstrip())
    return lines


def markdown_grid(grid: Grid) -> list[str]:
    """Return the lines of `grid` as a Markdown table."""
    header, *rows = [[escape_markdown(cell) for cell in row] for row in grid]
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return ["| " + " | ".join(row) + " |" for row in [header, rule, *rows]]


def latex_grid(grid: Grid) -> list[str]:
    """Return the lines of `grid` as a LaTeX tabular; its rules need the package booktabs."""
    header, *rows = [" & ".join(escape_latex(cell) for cell in row) + r" \\" for row in grid]
    columns = "l" + "r" * (len(grid[0]) - 1)
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        header,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _width(text: str) -> int:
    """The columns that `text` takes in a terminal: two for wide characters, none for combining ones."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(bool(unicodedata.combining(character)) for character in text)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space
