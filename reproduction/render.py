"""Sections as Markdown, and all of them as JSON for the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import ranking_engine
from reproduction import printed
from reproduction.essay import claims, essay_text, totals
from reproduction.items import MISSING, PAPERS, PARTLY, WORKS, items, state_counts
from reproduction.tables import AGREES, DIFFERS, OURS_ALONE, Paper, Result, Section

HEADER = ["what", "printed", "their code", "ours", "", "because"]


def section_text(section: Section, result: Result | None, missing: str = "") -> str:
    """Return a section as Markdown; without a result, say why it was not run."""
    lines = [f"### {section.title}", ""]
    if section.sources:
        lines += [f"Their code: {'; '.join(section.sources)}.", ""]
    lines += [f"    python -m reproduction --section {section.key}", ""]
    if result is None:
        return "\n".join([*lines, f"**Not run:** {missing}.", ""])
    if result.rows:
        lines += [counted(result), ""]
        rows = [[r.what, r.printed or "-", r.code or "-", r.ours or "-", r.verdict, r.reason] for r in result.rows]
        lines += [*table(HEADER, rows), ""]
    for grid in result.grids:
        lines += [f"{grid.title}:", "", *table(grid.header, grid.lines), ""]
    for figure in (*result.plots, *result.planes):
        lines += [f"![{figure.title}](figures/{figure.key}.svg)", ""]
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


def document(head: str, papers: Sequence[Paper], results: Mapping[str, Result], missing: Mapping[str, str]) -> str:
    """Return the whole page.

    Args:
        head: how it begins.
        papers: in order.
        results: of the sections that were run, by key.
        missing: why each of the others was not.
    """
    n = totals(results)
    n_unexplained = printed.counts(results).unexplained_rows
    counts = (
        f"{n[AGREES]} rows agree, {n[DIFFERS]} differ, and {n[OURS_ALONE]} are ours alone. Of those that differ, "
        f"{n[DIFFERS] - n_unexplained} have a reason; for {n_unexplained} no cause is known, and they say *not "
        "established*.\n"
    )
    parts = [head, counts, essay_text(claims(results)), numbers_text(results)]
    for paper in papers:
        parts += [f"## {paper.title}\n\n{paper.citation}.\n\n{paper.about}\n"]
        parts += [section_text(s, results.get(s.key), missing.get(s.key, "")) for s in paper.sections]
        if paper.left_out:
            parts.append("### Left out\n\n" + "".join(f"- {what}\n" for what in paper.left_out))
    parts.append(items_text())
    return "\n".join(parts).rstrip() + "\n"


def numbers_text(results: Mapping[str, Result]) -> str:
    """Return what becomes of every number that the papers print."""
    n = printed.counts(results)
    rows = [
        [place.paper.replace("_", " "), place.where, str(place.numbers), str(place.compared), _why(place)]
        for place in printed.places()
    ]
    lines = [
        "## The printed numbers",
        "",
        (
            f"The papers print {n.printed:,} numbers in tables, figures and results. {n.equal:,} of them are ours to "
            f"the last digit; {n.different:,} differ, {n.different - n.unexplained:,} with a reason and "
            f"{n.unexplained} without a known cause; {n.not_compared:,} are not compared, each with a reason."
        ),
        "",
        *table(["paper", "place", "numbers", "compared", "why not the others"], rows),
        "",
    ]
    return "\n".join(lines)


def _why(place: printed.Place) -> str:
    return "; ".join(f"{n}: {why}" for n, why in place.not_compared)


def items_text() -> str:
    """Return what the papers describe, and where it is here."""
    listed = items()
    n = state_counts(listed)
    rows = [
        [str(i.number), PAPERS[i.paper], i.place, i.what, _state_text(i.state, i.lacks), _where_text(i.where)]
        for i in listed
    ]
    lines = [
        "## What the papers describe, and where it is here",
        "",
        (
            f"Of {len(listed)} items that the papers describe, or that the site's design asks for, {n[WORKS]} work, "
            f"{n[PARTLY]} work partly and {n[MISSING]} are missing. For each item that is not whole you read what it "
            "lacks. *Works* means that you can use it here, or that the section named recomputes it; whether the "
            "figures agree, the section says. In paths, put your benchmark's key for `{key}`."
        ),
        "",
        *table(["", "paper", "place", "what", "state", "where"], rows),
        "",
    ]
    return "\n".join(lines)


def _state_text(state: str, lacks: str) -> str:
    return f"{state}: {lacks}" if lacks else state


def _where_text(where: Sequence[tuple[str, str]]) -> str:
    return ", ".join(_one_place(kind, name) for kind, name in where) or "-"


def _one_place(kind: str, name: str) -> str:
    if kind == "doc":
        path = name.removeprefix("docs/")
        link = path if path != name else f"../{name}"  # from the page's own folder
        return f"[{path.partition('#')[0]}]({link})"
    return f"`{name}`" if kind in ("page", "api", "command") else f"{kind} `{name}`"


def as_json(papers: Sequence[Paper], results: Mapping[str, Result]) -> dict[str, Any]:
    """Return what the site's page shows; sections that were not run are left out."""
    return {
        "engine_version": ranking_engine.__version__,
        "totals": totals(results),
        "printed_numbers": asdict(printed.counts(results)),
        "essay": [claim.plain() for claim in claims(results)],
        "papers": [
            {
                "key": _key_of(paper),
                "title": paper.title,
                "citation": paper.citation,
                "left_out": list(paper.left_out),
                "places": [
                    {"where": place.where, "numbers": place.numbers, "compared": place.compared, "why": _why(place)}
                    for place in printed.places()
                    if place.paper.partition("_")[0] == _key_of(paper)
                ],
                "sections": [section_json(s, results[s.key]) for s in paper.sections if s.key in results],
            }
            for paper in papers
        ],
    }


def _key_of(paper: Paper) -> str:
    return paper.sections[0].key.partition("-")[0]


def section_json(section: Section, result: Result) -> dict[str, Any]:
    """Return a section as the site's page shows it."""
    plain = result.plain()
    del plain["facts"]
    return {"key": section.key, "title": section.title, "sources": list(section.sources), **plain}
