"""The papers, in the order of the page, and what the page says at its head."""

from __future__ import annotations

import ranking_engine
from reproduction import (
    colombo,
    newer_rules,
    open_questions,
    order_properties,
    pavao,
    pavao_matrices,
)
from reproduction.rofin import paper as rofin
from reproduction.tables import Paper, Section
from reproduction.zhang import arrow, baselines, curves, sensitivity

LOST = (
    "The win rates of the example in section 3, and what section 5 says in brackets of OpenLLM, GLUE and SuperGLUE: "
    "the text at our disposal lost them."
)
PICTURES = (
    "The points of figures 1 to 6, except those that the notebooks print: the text at our disposal has no pictures."
)
COLOMBO_PICTURES = (
    "The curves and bars of figures 4, 7, 18, 19, 23, 33, 39 and 45, whose experiments are here: the text at our "
    "disposal has no pictures."
)

PAPERS = (
    rofin.PAPER,
    Paper(
        "Diversity and stability",
        sensitivity.NOTEBOOKS["citation"],
        "The paper prints table 1, correlations and some numbers in sentences. Its figures are plots; they are "
        "compared by what the authors' notebooks print "
        f"([their repository]({sensitivity.NOTEBOOKS['repository']})). The leaderboards are the demonstration's.",
        (*sensitivity.SECTIONS, *baselines.SECTIONS, *curves.SECTIONS, *arrow.SECTIONS),
        (
            LOST,
            PICTURES,
        ),
    ),
    Paper(
        "What are the best systems?",
        colombo.CITATION,
        "*Printed* is the paper, in a text that lost its formulas: what a row or a column is about is deduced, and "
        f"said. *Their code* is what the notebooks and the README of [their repository]({colombo.REPOSITORY}) print.",
        colombo.SECTIONS,
        (COLOMBO_PICTURES,),
    ),
    Paper(
        "Judging competitions and benchmarks",
        pavao.CITATION,
        "The published side is the paper and the authors' matrices and result files "
        f"([their repository]({pavao_matrices.REPOSITORY})). After it comes the same experiment on leaderboards of the "
        "demonstration and on synthetic scores.",
        (*pavao_matrices.SECTIONS, *order_properties.SECTIONS, *pavao.SECTIONS),
    ),
    Paper(
        "What the papers leave open",
        "Four questions that the four papers raise or leave open",
        "All of it is ours alone, on the leaderboards of the demonstration.",
        (*open_questions.SECTIONS, *newer_rules.SECTIONS),
    ),
)


def sections() -> list[Section]:
    return [section for paper in PAPERS for section in paper.sections]


def head() -> str:
    return f"""# The papers, recomputed

Every number that four papers print in tables and results, beside ours: what the paper prints, what its authors' code
prints, what we compute, whether ours agrees, and why where it does not. `make papers` wrote this page with version
{ranking_engine.__version__} of the engine; do not edit it. What others print is typed, with its source, in
`reproduction/published/`; all our figures are computed, from fixed seeds. The command under a heading computes that
section alone.

Leaderboards without a licence are read from the folder that `PLURANK_REFERENCE_DATA` names; where it is absent their
sections say *not run*. *Agrees* means that ours rounds to what the paper prints, or to what the code prints where the
paper has no such figure, to the last digit; a figure half-way between two roundings agrees with both. In a grid, a cell
that differs has ours in bold and theirs beside it.
"""
