"""Sections as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.papers.tables import AGREES, DIFFERS, OURS_ALONE, Paper, Result, Section

HEADER = ["what", "published", "ours", "", "because"]


def section_text(section: Section, result: Result | None, missing: str = "") -> str:
    """Return a section as Markdown; without a result, say why it was not run."""
    lines = [f"### {section.title}", ""]
    if section.sources:
        lines += [f"Published: {'; '.join(section.sources)}.", ""]
    lines += [f"    python -m benchmarks.papers --section {section.key}", ""]
    if result is None:
        return "\n".join([*lines, f"**Not run:** {missing}.", ""])
    if result.rows:
        lines += [counted(result), ""]
        rows = [[row.what, row.published or "-", row.ours, row.verdict, row.reason] for row in result.rows]
        lines += [*table(HEADER, rows), ""]
    for grid in result.grids:
        lines += [f"{grid.title}:", "", *table(grid.header, grid.lines), ""]
    for note in result.notes:
        lines += [note, ""]
    return "\n".join(lines)


def counted(result: Result) -> str:
    """Return how many rows agree, differ, or are ours alone."""
    counts = {verdict: sum(row.verdict == verdict for row in result.rows) for verdict in (AGREES, DIFFERS, OURS_ALONE)}
    parts = [f"{n} {_verb(verdict, n)}" for verdict, n in counts.items() if n]
    return f"{', '.join(parts)}."


def _verb(verdict: str, n: int) -> str:
    singular = {AGREES: "row agrees", DIFFERS: "differs", OURS_ALONE: "was not published as a figure"}
    plural = {AGREES: "rows agree", DIFFERS: "differ", OURS_ALONE: "were not published as figures"}
    return (singular if n == 1 else plural)[verdict]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_line(header), _line(["---"] * len(header))]
    return lines + [_line(row) for row in rows]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def document(head: str, papers: Sequence[Paper], texts: dict[str, str]) -> str:
    """Return the whole page: `texts` holds every section by key."""
    parts = [head]
    for paper in papers:
        parts += [f"## {paper.title}\n\n{paper.citation}.\n\n{paper.about}\n"]
        parts += [texts[section.key] for section in paper.sections]
        if paper.left_out:
            parts.append("### Left out\n\n" + "".join(f"- {what}\n" for what in paper.left_out))
    return "\n".join(parts).rstrip() + "\n"
