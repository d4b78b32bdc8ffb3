"""What Colombo et al. 2022 print, what their repository prints, and the boards that it is about."""

from __future__ import annotations

import numpy as np

from ranking_engine import ScoreMatrix
from reproduction.boards import board
from reproduction.tables import published

PAPER = published("colombo_2022_printed")
CODE = published("colombo_2022")
SOURCES = CODE["sources"]
TEXT = PAPER["text"]
BOARDS = {"GLUE": "colombo-glue", "SuperGLUE": "colombo-superglue", "XTREME": "colombo-xtreme"}
FILES = ("DIALOG_pc", "DIALOG_tc", "FLICKR", "MLQE", "REAL_SUM", "SUM_EVAL", "TAC_08", "TAC_09", "TAC_11")
INSTANCE_BOARDS = tuple(f"instance/{name}" for name in FILES)

NO_NUMBERS = (
    "The paper shows this as plots, which the text at our disposal does not have, so that no figure is compared."
)


def xtreme_as_their_notebook_reads() -> ScoreMatrix:
    """Return XTREME with the columns that their notebook reads, in the order of its file.

    The file has one column more than its header names, so that the overall score is read as the first task, every
    task as the next one, and sentence retrieval is lost. The overall score is not one of our tasks; it is what the
    means that the notebook prints leave.
    """
    matrix = board("colombo-xtreme")
    values = np.array(matrix.values)
    for beginning, mean, _ in CODE["xtreme"]["systems"]:
        i = system_of(matrix, f"{beginning} ")
        values[i, 3] = round(4 * float(mean) - values[i, :3].sum(), 1)
    return matrix.with_values(values)


def as_their_notebook_reads(title: str) -> ScoreMatrix:
    """Return one of BOARDS with the columns that their notebook reads: XTREME's are one off."""
    return xtreme_as_their_notebook_reads() if title == "XTREME" else board(BOARDS[title])


def system_of(matrix: ScoreMatrix, beginning: str) -> int:
    """Return the system whose name begins so."""
    return next(i for i, name in enumerate(matrix.system_names) if name.startswith(beginning))


def with_two_decimals(printed: str) -> str:
    """Return a printed share or correlation as it is compared: the tables leave zeros at the end out."""
    return f"{float(printed):.2f}" if len(printed.partition(".")[2]) < 2 else printed
