"""How something on this site is cited: as a sentence, and as an entry of BibTeX."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext

from leaderboard.models import Benchmark, Publication
from ranking_engine.text.characters import writable

LATEX = re.compile(r"[\\{}%&$#_~^]")


@dataclass(frozen=True)
class Citation:
    """How something with an address is cited."""

    text: str
    bibtex: str


def cite_address(label: str, title: str, address: str, *, year: int, note: str, doi: str = "") -> Citation:
    """The citation of a page of this site.

    Args:
        label: of the entry of BibTeX.
        title: what the page says, in a line.
        address: of the page, as it can be opened from outside.
        year: in which what it says was published.
        note: which state of it this is, without a full stop.
        doi: of what it is about, without a resolver; empty where it has none.
    """
    entries = [
        f"  title        = {{{{{_latex(title)}}}}},",
        f"  year         = {{{year}}},",
        f"  howpublished = {{\\url{{{address}}}}},",
        f"  note         = {{{_latex(note)}}}" + ("," if doi else ""),
    ]
    if doi:
        entries.append(f"  doi          = {{{doi}}}")
    bibtex = "\n".join([f"@misc{{{label},", *entries, "}"])
    resolved = f" https://doi.org/{doi}" if doi else ""
    return Citation(text=f"{title} ({year}). {note}. {address}{resolved}", bibtex=bibtex)


def cite_figure(
    benchmark: Benchmark, publication: Publication, what: str, address: str, input_hash: str | None, *, part: str = ""
) -> Citation:
    """The citation of a figure of a published revision.

    Args:
        benchmark: whose figure.
        publication: of the revision that it is of.
        what: the figure, such as `ranks under 30 rules`.
        address: at which it is shown, with its revision.
        input_hash: of its scores and tasks, as far as it may be told.
        part: what tells the entry from those of other figures of the revision.
    """
    return cite_address(
        f"{benchmark.key}-r{publication.revision.number}{part and f'-{part}'}",
        f"{benchmark.name}: {what}",
        address,
        year=publication.published_at.year,
        note=revision_note(publication.revision.number, publication.engine_version, input_hash),
        doi=benchmark.doi,
    )


def revision_note(number: int, engine_version: str, input_hash: str | None) -> str:
    """Which state of a board something is of: its revision, and what computed it from which scores and tasks.

    Args:
        number: of the revision.
        engine_version: of the ranking engine.
        input_hash: of its scores and tasks, as far as it may be told.
    """
    text = gettext("Revision %(number)s, ranking engine %(version)s")
    if input_hash:
        text = gettext("Revision %(number)s, ranking engine %(version)s, scores and tasks SHA-256 %(hash)s")
    return text % {"number": number, "version": engine_version, "hash": input_hash}


def _latex(text: str) -> str:
    named = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    named |= {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}  # BibTeX counts braces after a backslash, too
    return LATEX.sub(lambda character: named.get(character[0], f"\\{character[0]}"), writable(text))
