"""An uploaded table as it was read: its first scores, and how its cells were understood."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.language.numbers import in_language, localise
from leaderboard.common.text import in_words, shortened, value_text
from ranking_engine.files.tables import Table

SHOWN_SYSTEMS, SHOWN_TASKS = 50, 20
SHOWN_TEXTS = 5  # that were read as missing scores
SEPARATORS = {
    ",": gettext_noop("Columns are separated by commas."),
    ";": gettext_noop("Columns are separated by semicolons."),
    "\t": gettext_noop("Columns are separated by tabs."),
}
DECIMAL_MARKS = {
    ".": gettext_noop("The decimal mark is a point."),
    ",": gettext_noop("The decimal mark is a comma."),
}


@dataclass(frozen=True)
class ReadSystem:
    """The first scores of one system, as texts; empty where one is missing."""

    name: str
    texts: list[str]


@dataclass(frozen=True)
class TableReading:
    """A table as it was read.

    Attributes:
        sentences: how it was read.
        task_names: of the first tasks.
        rows: the first systems with their scores on these tasks.
        n_more_systems: that are in the table and not in `rows`.
        n_more_tasks: that are in the table and not in `task_names`.
    """

    sentences: list[str]
    task_names: Sequence[str]
    rows: list[ReadSystem]
    n_more_systems: int
    n_more_tasks: int


def reading_of(table: Table) -> TableReading:
    """The first systems and tasks of a table, and in sentences what its cells were read as."""
    cells = table.cells
    sentences = [gettext(SEPARATORS[table.dialect.delimiter]), gettext(DECIMAL_MARKS[cells.decimal])]
    if cells.grouped:
        sentences.append(
            gettext("Marks between groups of digits are left out: “%(text)s” is the score %(score)s.")
            % {"text": shortened(cells.grouped), "score": in_language(value_text(cells.grouped_value))}
        )
    if cells.missing:
        texts = [
            ngettext("“%(text)s” (%(n)s cell)", "“%(text)s” (%(n)s cells)", n) % {"text": text, "n": localise(n, ",")}
            for text, n in islice(cells.missing.items(), SHOWN_TEXTS)
        ]
        read = in_words(texts, SHOWN_TEXTS, len(cells.missing))
        sentences.append(gettext("Read as missing scores: %(texts)s.") % {"texts": read})
    sentences += [f"{remark[:1].upper()}{remark[1:]}." for remark in table.remarks]
    values = table.values[:SHOWN_SYSTEMS, :SHOWN_TASKS].tolist()
    return TableReading(
        sentences,
        table.task_names[:SHOWN_TASKS],
        [
            ReadSystem(name, ["" if value != value else in_language(value_text(value)) for value in row])  # noqa: PLR0124
            for name, row in zip(table.system_names, values, strict=False)
        ],
        max(0, len(table.system_names) - SHOWN_SYSTEMS),
        max(0, len(table.task_names) - SHOWN_TASKS),
    )
