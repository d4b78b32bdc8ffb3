"""Numbers as tables of results have them: `61.0 %`, `1,250`, `0.61 ± 0.01`, `0.30 (0.02)`, `n/a`.

What a comma means is read from the whole table (`decimal_mark`), never from one cell: 1,250 may be 1250 or 1.25.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ranking_engine.core.decimals import NUMBER

MAX_NUMBER = 400  # characters of a cell with a number; a longer cell is none
NO_NUMBER = frozenset({
    "", "-", "--", "–", "—", "?", "n/a", "na", "<na>", "#n/a", "#na", "nan", "none", "null", "nil", "missing",
})  # fmt: skip
SPREAD = "figures after ± or in parentheses are left out: the files do not say what they measure"
MIXED = "some cells have a percent sign and others have none; write all of them in the same way"
_SPACES = "\u00a0\u202f\u2009"  # that some languages write between groups of digits
_COMMA_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?", re.ASCII)
_POINT_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+", re.ASCII)
_SPACE_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:[ \u00a0\u202f\u2009][0-9]{3})+(?:[.,][0-9]+)?", re.ASCII)
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_WITH_SPREAD = re.compile(r"([^±()\[\]]*?)(?:(?:±|\+/-|\+-)([^±()\[\]]*)|\(([^±()\[\]]*)\)|\[([^±()\[\]]*)\])")
_PARTS = re.compile(r"[±()\[\]%]|\+/-|\+-")  # what is between a number and its spread
_MAX_WITH_SPREAD = 200  # characters of a number and its spread


@dataclass(frozen=True)
class UnclearMarkError(Exception):
    """The decimal mark cannot be told.

    Attributes:
        place: of the cell that shows it, counted from 0 among those that were given.
        message: what is unclear.
    """

    place: int
    message: str


@dataclass(frozen=True)
class CellNumber:
    """What a cell says.

    Attributes:
        value: the number; None where the cell says that there is none.
        spread: the figure after ± or in parentheses; None where there is none. Files do not say what it measures.
        is_percent: whether a percent sign is behind the number.
    """

    value: float | None
    spread: float | None = None
    is_percent: bool = False


def cell_number(text: str, decimal: str = ".") -> CellNumber | None:
    """Return what a cell says, or None where it is no number in any of these forms.

    Args:
        text: of the cell.
        decimal: the decimal mark of the table; with a point, commas may group digits, with a comma, points may.
    """
    text = text.strip()
    if text.casefold() in NO_NUMBER:
        return CellNumber(None)
    if len(text) > MAX_NUMBER:
        return None
    text = text.replace("\N{MINUS SIGN}", "-")
    if NUMBER.fullmatch(plain := _plain(text, decimal)):
        return CellNumber(float(plain))
    spread: float | None = None
    if len(text) <= _MAX_WITH_SPREAD and (parts := _WITH_SPREAD.fullmatch(text.rstrip("%").rstrip())):
        text, behind = parts[1].strip() + ("%" if text.endswith("%") else ""), parts[2] or parts[3] or ""
        width = _plain(behind.strip().rstrip("%").rstrip(), decimal)
        if NUMBER.fullmatch(width):
            spread = float(width)
        elif parts[4] is None:  # in brackets is an interval, which is not read
            return None
    is_percent = text.endswith("%")
    number = _plain(text.rstrip("%").rstrip(), decimal)
    return CellNumber(float(number), spread, is_percent) if NUMBER.fullmatch(number) else None


@dataclass(frozen=True)
class Forms:
    """In which forms the cells of a table are.

    Attributes:
        decimal: the decimal mark, `.` or `,`.
        missing: texts that were read as missing scores, with the number of cells of each; no empty ones.
        grouped: the first number with marks or spaces between groups of digits, as it is in the table; empty where
            there is none.
        grouped_value: what that was read as.
    """

    decimal: str = "."
    missing: Mapping[str, int] = field(default_factory=dict)
    grouped: str = ""
    grouped_value: float = 0.0


class ColumnNumbers:
    """Reads the cells of a table, and gathers what is said once for a whole column.

    Args:
        mark: finds the decimal mark of the table, which few tables need; an empty text where it cannot be told.
    """

    def __init__(self, mark: Callable[[], str]) -> None:
        self._find_mark, self._mark = mark, ""
        self._is_known = self._has_spread = False
        self.n_numbers: defaultdict[int, int] = defaultdict(int)  # by column, those without a percent sign
        self._n_percents: defaultdict[int, int] = defaultdict(int)
        self._missing: Counter[str] = Counter()
        self._grouped: tuple[str, float] = ("", 0.0)

    def read(self, column: int, text: str) -> CellNumber | None:
        """Return what a cell says, or None where it is no number."""
        if not self._is_known:
            self._mark, self._is_known = self._find_mark(), True
        cell = cell_number(text, self._mark) if self._mark else None
        if cell is not None and cell.value is None:
            self._missing[text.strip()] += 1
        if cell is not None and cell.value is not None:
            number = _PARTS.split(text)[0].strip()
            groups = (_SPACE_GROUPS, _POINT_GROUPS if self._mark == "," else _COMMA_GROUPS)
            if not self._grouped[0] and any(pattern.fullmatch(number) for pattern in groups):
                self._grouped = (text.strip(), cell.value)
            self._has_spread = self._has_spread or cell.spread is not None
            counts = self._n_percents if cell.is_percent else self.n_numbers
            counts[column] += 1
        return cell

    def forms(self, decimal: str) -> Forms:
        """In which forms the cells are.

        Args:
            decimal: the decimal mark, where no cell that was read here shows it.
        """
        return Forms(self._mark or decimal, dict(self._missing), *self._grouped)

    @property
    def mixed_columns(self) -> list[int]:
        """The columns in which some numbers have a percent sign and others have none."""
        return [column for column in self._n_percents if self.n_numbers[column]]

    @property
    def remarks(self) -> list[str]:
        """What is to be told of the forms of numbers."""
        percent = self._n_percents and "percent signs are left out: 61 % is the score 61"
        return [text for text in (percent, SPREAD if self._has_spread else "") if text]


def decimal_mark(cells: Iterable[str]) -> str:
    """Return the decimal mark of a table, `.` or `,`: what at least one of its numbers shows, and no other contradicts.

    Args:
        cells: those of its scores, as they are in the file.

    Raises:
        UnclearMarkError: some numbers have a decimal point and others a comma, or every comma may as well group digits.
    """
    first_with: dict[str, int] = {}
    unclear: tuple[int, str] | None = None
    for place, cell in enumerate(cells):
        if "," not in cell and "." not in cell:
            continue
        text = cell.strip()[:MAX_NUMBER].replace("\N{MINUS SIGN}", "-")
        for number in [text] if NUMBER.fullmatch(text) else map(str.strip, _PARTS.split(text)):
            mark = ""
            if _EITHER.fullmatch(number):
                mark = "." if number.count(",") > 1 else ""
                unclear = unclear or (place, text)
            elif ("." in number and NUMBER.fullmatch(number)) or _COMMA_GROUPS.fullmatch(number):
                mark = "."
            elif _DECIMAL_COMMA.fullmatch(number) or _POINT_GROUPS.fullmatch(number):
                mark = ","
            if mark:
                first_with.setdefault(mark, place)
                if len(first_with) == 2:
                    raise UnclearMarkError(place, "the table mixes decimal points and commas; use only one")
    if unclear and not first_with:
        place, text = unclear
        raise UnclearMarkError(place, f"{text!r} may be a decimal number or a large one; write decimal points")
    return "," if "," in first_with else "."


def mark_of(cells: Iterable[str]) -> str:
    """Return the decimal mark of a table, `.` or `,`; empty where it cannot be told.

    Args:
        cells: those of its scores.
    """
    try:
        return decimal_mark(cells)
    except UnclearMarkError:
        return ""


def _plain(text: str, decimal: str) -> str:
    """The number with a decimal point and without marks between groups of digits."""
    if _SPACE_GROUPS.fullmatch(text):
        text = re.sub(f"[ {_SPACES}]", "", text)
    if decimal == ",":
        if _POINT_GROUPS.fullmatch(text):
            text = text.replace(".", "")
        return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) or "." not in text else "mixed"
    return text.replace(",", "") if _COMMA_GROUPS.fullmatch(text) else text
