"""Rofin et al. 2023, Vote'n'Rank: the paper, with its sections in the order of the paper."""

from __future__ import annotations

from reproduction.rofin import (
    agreement,
    passages,
    properties,
    rankings,
    small_boards,
    studies,
    toys,
    users,
    who_can_win,
)
from reproduction.rofin.boards import NOTEBOOKS
from reproduction.tables import Paper

PAPER = Paper(
    "Vote'n'Rank",
    NOTEBOOKS["citation"],
    "*Printed* is what the paper prints, in the text of arXiv 2210.05769v3; that text lost the pictures of its tables "
    "and the ticks of table 8. *Their code* is what the authors' notebooks print "
    f"([their repository]({NOTEBOOKS['repository']})); the leaderboards are those of that repository.",
    (
        *rankings.SECTIONS,
        *agreement.SECTIONS,
        *passages.SECTIONS,
        *who_can_win.SECTIONS,
        *studies.SECTIONS,
        *users.SECTIONS,
        toys.FIGURE_1,
        *toys.SECTIONS,
        *properties.SECTIONS,
        *small_boards.SECTIONS,
    ),
    (
        "The curves of figure 2 digit by digit: they are a picture.",
        (
            "The ticks of table 8 and the names of systems in the tables, which the text at our disposal lost; what "
            "its arrows, counts and sums say of them is compared."
        ),
    ),
)
