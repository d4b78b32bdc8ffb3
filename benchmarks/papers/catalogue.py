"""The papers, in the order of the page, and what the page says at its head."""

from __future__ import annotations

import ranking_engine
from benchmarks.papers import rofin, rofin_studies
from benchmarks.papers.tables import Paper, Section

TOYS = (
    "Tables 6 and 7 and figure 3, the toy examples: they stand in the paper alone, not in its repository. The "
    "rules' pages in `docs/rules/` have toy tables of their own, each worked through and tested."
)

PAPERS = (
    Paper(
        "Vote'n'Rank",
        rofin.PRINTED["citation"],
        "The published side is what the authors' notebooks print "
        f"([their repository]({rofin.PRINTED['repository']})); the leaderboards are those of that repository.",
        (*rofin.SECTIONS, *rofin_studies.SECTIONS),
        (
            TOYS,
            "The paper's own print is compared only where it is known to differ from the notebooks (VALUE, Borda).",
        ),
    ),
)


def sections() -> list[Section]:
    return [section for paper in PAPERS for section in paper.sections]


def head() -> str:
    return f"""# The papers, recomputed

Every table of four papers that can be recomputed, beside what the engine says: the published figure, ours, whether
they agree, and why where they do not. `make papers` wrote this page with version {ranking_engine.__version__} of the
engine; do not edit it. Published figures are typed, with their source, in `benchmarks/papers/published/`; every figure
of ours is computed, from fixed seeds. The command under a heading computes that section alone.

Leaderboards that may not stand in this repository are read from the folder that `PLURANK_REFERENCE_DATA` names; where
it is absent their sections say *not run*. *Agrees* means that ours rounds to what was printed, to the last digit;
in a grid, a cell that differs holds ours in bold and the published figure beside it.
"""
