"""Colombo et al. 2022, section 5.1 and tables 5 and 6: how many systems, tasks and scores there are."""

from __future__ import annotations

from reproduction.boards import board
from reproduction.colombo.instances import scores_of
from reproduction.colombo.sources import BOARDS, FILES, INSTANCE_BOARDS, PAPER, SOURCES, TEXT
from reproduction.tables import Progress, Result, Row, Section, compared, listed

HALVES = ("-a", "-b", "-m", "-mm")  # ends of the names of columns that are metrics or parts of one task
KINDS = {"summary evaluation", "image description", "dialogue", "translation"}


def sizes(progress: Progress) -> Result:
    """Count systems, tasks and scores."""
    boards = {title: board(name) for title, name in BOARDS.items()}
    rows = [
        listed(
            f"{title}: systems, columns",
            [matrix.n_systems, matrix.n_tasks],
            printed=PAPER["table_5"][title],
            because=NAMES_COUNTED,
        )
        for title, matrix in boards.items()
    ]
    n_board_scores = sum(matrix.n_systems * matrix.n_tasks for matrix in boards.values())
    rows.append(compared("scores in all", n_board_scores, printed=PAPER["table_5"]["total"], because=NAMES_COUNTED))
    instance_rows, n_instance_scores = _instance_rows(progress)
    n_scores = n_board_scores + n_instance_scores
    rows += instance_rows
    printed = TEXT["scores"][0]
    rows.append(
        Row("thousands of scores, more than", printed, "", str(n_scores // 1000), *_verdict(n_scores > 270_000), 1, 1)
    )
    n_boards = len(BOARDS) + len(FILES)
    rows.append(compared("benchmarks", n_boards, printed=TEXT["benchmarks"][0], because=THREE_AND_NINE))
    for title, key, diagnostics in (("GLUE", "glue_tasks", {"AX"}), ("SuperGLUE", "superglue_tasks", set())):
        tasks = {_task_of(name) for name in boards[title].task_names} - diagnostics
        rows.append(compared(f"{title}: tasks", len(tasks), printed=TEXT[key][0]))
    rows.append(compared("kinds of NLG task", len(KINDS), printed=TEXT["kinds"][0], because=FOUR_LISTED))
    return Result(rows, [], [HEADINGS])


def _instance_rows(progress: Progress) -> tuple[list[Row], int]:
    """Return the rows of table 6 and the number of all scores of instances."""
    rows, n_scores = [], 0
    for step, name in enumerate(FILES):
        progress(step, len(FILES))
        scores = scores_of(name)
        n_pairs = scores.blocks[0].size
        n_scores += n_pairs * len(scores.blocks)
        rows.append(listed(f"{name}: tasks, instances", [len(scores.blocks), n_pairs], printed=PAPER["table_6"][name]))
    rows.append(compared("scores of instances in all", n_scores, printed=PAPER["table_6"]["total"]))
    return rows, n_scores


def _verdict(is_true: bool) -> tuple[str, str]:
    return ("agrees", "") if is_true else ("differs", "fewer scores than the paper states")


def _task_of(column: str) -> str:
    """Return the task of a column: MNLI of MNLI-mm, AX-g of AX-g-b, but AX-b and WSC of themselves."""
    end = next((end for end in sorted(HALVES, key=len, reverse=True) if column.endswith(end)), "")
    return column if column == "AX-b" else column.removesuffix(end)


NAMES_COUNTED = (
    "their notebook counts the column of the systems' names: it prints the shapes (105, 15), (24, 15) and (15, 5), and "
    "2010 for all their cells"
)
THREE_AND_NINE = "the paper has three boards and nine data sets of instances; cause not established"
FOUR_LISTED = "the sentence itself lists four"
HEADINGS = (
    "Tables 5 and 6 head their columns `# of tasks` and `# of instance`. In table 5 these are systems and columns, in "
    "table 6 tasks and pairs of a document and a system."
)

SECTIONS = (
    Section(
        "colombo-sizes",
        "Sections 1 and 5.1, tables 5 and 6: the boards and data sets",
        (*BOARDS.values(), *INSTANCE_BOARDS),
        sizes,
        (SOURCES["tasks"],),
    ),
)
