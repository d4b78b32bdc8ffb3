"""Reading files of votes: CSV, JSON lines, a JSON list, Parquet; in the shape of Chatbot Arena's files or a plain one.

Everything that is wrong is reported with its line, up to a number. What a file may hold is bounded before the work.
"""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.files.texts import NotTextError, decoded
from ranking_engine.text.names import clean_name, fold_name, name_problem, shorten
from ranking_engine.votes.categories import MAX_CATEGORIES
from ranking_engine.votes.columns import (
    METADATA,
    VoteColumns,
    amount_of,
    one_hot_winner,
    relative_gap,
    seconds_of,
    winner_of,
)
from ranking_engine.votes.data import MAX_SYSTEMS, NO_CATEGORY, Votes
from ranking_engine.votes.records import (
    Record,
    csv_records,
    json_records,
    jsonl_records,
    parquet_records,
    text_format,
)

MAX_BYTES = 2_000_000_000
MAX_VOTES = 5_000_000
MAX_COVARIATES = 20
MAX_WRONG = 1_000  # problems after which the rest of a file is not read
MAX_LABEL = 1_000  # characters of what says who voted, or on what
PARQUET_MARK = b"PAR1"
FORMATS = ("csv", "jsonl", "json", "parquet")


def read_votes(
    source: str | Path | bytes,
    *,
    name: str = "",
    columns: Mapping[str, str] | None = None,
    covariates: Sequence[str] = (),
    max_bytes: int = MAX_BYTES,
    max_votes: int = MAX_VOTES,
    formats: Sequence[str] = FORMATS,
) -> Votes:
    """Read votes.

    Args:
        source: a file, or its bytes.
        name: what errors call the file; default its path.
        columns: roles by column, where their names do not say them: "a", "b", "winner", "category", "voter", "prompt",
            "time", "weight".
        covariates: what else may have decided votes; see `VoteColumns.of`. Of two columns the relative difference is
            taken, (a - b) / (|a| + |b|).
        max_bytes, max_votes: larger files are refused.
        formats: which of FORMATS are read.

    Raises:
        InputError: with every problem and its line, up to MAX_WRONG.
        OSError: the file cannot be opened.
        ImportError: it is a Parquet file, and pyarrow is not installed.
    """
    return read_labelled_votes(
        source, name=name, columns=columns, covariates=covariates, max_bytes=max_bytes, max_votes=max_votes,
        formats=formats,
    )[0]  # fmt: skip


Labels = dict[str, tuple[str, ...]]


def read_labelled_votes(
    source: str | Path | bytes,
    *,
    name: str = "",
    columns: Mapping[str, str] | None = None,
    covariates: Sequence[str] = (),
    max_bytes: int = MAX_BYTES,
    max_votes: int = MAX_VOTES,
    formats: Sequence[str] = FORMATS,
) -> tuple[Votes, Labels]:
    """Read votes as `read_votes` does, and what the file calls the voters and prompts, by their numbers.

    Args:
        source, name, columns, covariates, max_bytes, max_votes, formats: as for `read_votes`.

    Returns:
        The votes; by role ("voter", "prompt"), where the file has its column, the text of each number.

    Raises:
        InputError, OSError, ImportError: as for `read_votes`.
    """
    called = name or (str(source) if isinstance(source, (str, Path)) else "votes")
    try:
        if len(covariates) > MAX_COVARIATES:
            raise InputError.of(f"{len(covariates)} covariates; at most {MAX_COVARIATES} are fitted")
        path = Path(source) if isinstance(source, (str, Path)) else None
        n_bytes = path.stat().st_size if path else len(source)  # type: ignore[arg-type]
        if n_bytes > max_bytes:
            raise InputError.of(f"the file has {n_bytes:,} bytes; at most {max_bytes:,} are read")
        if path:
            with path.open("rb") as file:
                start = file.read(len(PARQUET_MARK))
        else:
            start = bytes(source[: len(PARQUET_MARK)])  # type: ignore[index, arg-type]

        def find(header: Sequence[str]) -> VoteColumns:
            return VoteColumns.of(header, columns or {}, covariates)

        text = ""
        if start != PARQUET_MARK:
            try:
                text = decoded(path.read_bytes() if path else source, guesses=False)[0]  # type: ignore[arg-type]
            except NotTextError as error:
                raise InputError([Problem(str(error), line=error.line)]) from error
        kind = "parquet" if start == PARQUET_MARK else text_format(text)
        if kind not in formats:
            raise InputError.of(f"this is {kind}; expected one of {', '.join(formats)}")
        if kind == "parquet":
            rows = parquet_records(path or source, find, max_votes=max_votes, max_bytes=max_bytes)  # type: ignore[arg-type]
        else:
            rows = {"csv": csv_records, "jsonl": jsonl_records, "json": json_records}[kind](text, find)
        reader = VoteReader(rows[0], max_votes)
        return reader.read(rows[1]), {role: tuple(known) for role, known in reader.labels.items()}
    except InputError as error:

        def placed(problem: Problem) -> Problem:
            return dataclasses.replace(problem, source=called)

        raise error.at(placed) from error


class Names:
    """Numbers names as they occur; names that differ in case alone are the same.

    Args:
        what: they are names of.
        most: that there may be.
    """

    def __init__(self, what: str, most: int) -> None:
        self.what, self.most = what, most
        self.names: list[str] = []
        self.known: dict[object, int] = {}
        self.by_fold: dict[str, int] = {}

    def number(self, cell: object) -> int:
        """Return the number of a name.

        Raises:
            ValueError: it cannot be a name, or there are too many.
        """
        is_text = isinstance(cell, (str, int, float, type(None))) and not isinstance(cell, bool)
        if not is_text or (isinstance(cell, float) and not math.isfinite(cell)):
            raise ValueError(f"{shorten(repr(cell))} is no name of a {self.what}")
        number = self.known.get(cell)
        if number is None:
            text = clean_name("" if cell is None else str(cell)[: MAX_LABEL + 1])
            if problem := name_problem(text, allow_formula=True):
                raise ValueError(f"the name of the {self.what} {shorten(text)!r} {problem}")
            number = self.by_fold.setdefault(fold_name(text), len(self.names))
            if number == len(self.names):
                if number >= self.most:
                    raise InputError.of(f"more than {self.most:,} different names of the {self.what}")
                self.names.append(text)
            self.known[cell] = number
        return number


class WrongVoteError(ValueError):
    """A cell that cannot be read; `column` is where, and `cause` what to say of many such cells."""

    def __init__(self, column: str, message: str, cause: str = "") -> None:
        super().__init__(message)
        self.column, self.cause = column, cause


class VoteReader:
    """Reads rows and collects what is wrong with them.

    Args:
        columns: what is read.
        max_votes: the most rows.
    """

    def __init__(self, columns: VoteColumns, max_votes: int) -> None:
        self.columns, self.max_votes = columns, max_votes
        place = {name: k for k, name in enumerate(columns.names)}
        self.places = {role: place[column] for role, column in columns.roles.items()}
        self.one_hot = [place[column] for column in columns.one_hot]
        self.covariates = [
            (name, [place[METADATA]] if name in columns.in_metadata else [place[column] for column in pair if column])
            for name, pair in columns.covariates.items()
        ]
        self.systems = Names("system", MAX_SYSTEMS)
        self.categories = Names("category", MAX_CATEGORIES)
        self.labels: dict[str, dict[str, int]] = {role: {} for role in ("voter", "prompt") if role in self.places}
        self.numbers = [role for role in ("time", "weight") if role in self.places]
        # First, second, outcome, category; voters and prompts; times and weights; covariates: as `vote_of` has them.
        n_whole = 4 + len(self.labels)
        kinds = "i" * n_whole + "d" * (len(self.numbers) + len(self.covariates))
        self.arrays: list[array[Any]] = [array(kind) for kind in kinds]

    def read(self, records: Iterable[Record]) -> Votes:
        """Return the votes of all rows.

        Raises:
            InputError: with every problem, up to MAX_WRONG.
        """
        problems, n_wrong, n_rows = Problems(), 0, 0
        for line, cells in records:
            n_rows += 1
            if n_rows > self.max_votes:
                raise InputError.of(f"more than {self.max_votes:,} votes")
            try:
                vote = self.vote_of(cells)
            except WrongVoteError as error:
                problems.add("", str(error), line=line, place_name=error.column, cause=error.cause)
                n_wrong += 1
                if n_wrong >= MAX_WRONG:
                    break
                continue
            for values, value in zip(self.arrays, vote, strict=True):
                values.append(value)
        if problems:
            raise InputError(problems)
        if not n_rows:
            raise InputError.of("there are no votes")
        return self.votes()

    def vote_of(self, cells: Sequence[Any]) -> list[Any]:
        """Return what one row says, in the order of `arrays`.

        Raises:
            WrongVoteError: a cell cannot be read.
        """
        places, names = self.places, self.columns.roles
        first, second = cells[places["a"]], cells[places["b"]]
        i = self.number_of(self.systems, first, names["a"])
        j = self.number_of(self.systems, second, names["b"])
        if i == j:
            raise WrongVoteError(names["b"], f"{shorten(str(second))!r} is compared with itself")
        if self.one_hot:
            outcome = one_hot_winner([cells[k] for k in self.one_hot])
            if outcome is None:
                raise WrongVoteError(self.columns.one_hot[0], "none of the three columns alone is 1")
        else:
            winner = cells[places["winner"]]
            outcome = winner_of(winner, first, second)
            if outcome is None:
                raise WrongVoteError(
                    names["winner"],
                    f"{shorten(str(winner))!r} is no outcome; expected model_a, model_b, tie or tie (bothbad)",
                    "cells are no outcome (model_a, model_b, tie, tie (bothbad))",
                )
        category = cells[places["category"]] if "category" in places else None
        vote: list[Any] = [
            i, j, outcome,
            NO_CATEGORY if category in (None, "") else self.number_of(self.categories, category, names["category"]),
        ]  # fmt: skip
        for role, known in self.labels.items():
            cell = cells[places[role]]
            text = "" if cell is None else str(cell)
            if len(text) > MAX_LABEL and role == "voter":
                raise WrongVoteError(names[role], f"{len(text):,} characters; at most {MAX_LABEL:,} are allowed")
            vote.append(known.setdefault(text, len(known)) if text else -1)
        for role in self.numbers:
            number = _number_or_nan(seconds_of if role == "time" else float, cells[places[role]])
            if not math.isfinite(number) or (role == "weight" and number < 0):
                what = "time" if role == "time" else "weight"
                raise WrongVoteError(names[role], f"{shorten(str(cells[places[role]]))!r} is no {what}")
            vote.append(number)
        for name, where in self.covariates:
            values = [cells[k] for k in where]
            if name in self.columns.in_metadata:
                record = values[0] if isinstance(values[0], Mapping) else {}
                values = [record.get(part) for part in self.columns.covariates[name]]
            amounts = [_number_or_nan(amount_of, value) for value in values]
            gap = relative_gap(*amounts) if len(amounts) == 2 else amounts[0]
            if not math.isfinite(gap):
                raise WrongVoteError(self.columns.names[where[0]], f"no number of the covariate {shorten(name)!r}")
            vote.append(gap)
        return vote

    def number_of(self, names: Names, cell: object, column: str) -> int:
        """Return the number of a name, or raise a WrongVoteError that names its column."""
        try:
            return names.known[cell]
        except (KeyError, TypeError):
            try:
                return names.number(cell)
            except InputError:
                raise
            except (ValueError, TypeError) as error:
                raise WrongVoteError(column, str(error)) from error

    def votes(self) -> Votes:
        """Return what was read as votes, systems and categories in sorted order of their names."""
        systems, system_places = in_order(self.systems.names)
        categories, category_places = in_order(self.categories.names)
        columns = [np.frombuffer(values, dtype=values.typecode) for values in self.arrays]
        first, second, outcomes, codes = columns[:4]
        n_labels, n_numbers = len(self.labels), len(self.numbers)
        labels = dict(zip(self.labels, columns[4 : 4 + n_labels], strict=True))
        numbers = dict(zip(self.numbers, columns[4 + n_labels : 4 + n_labels + n_numbers], strict=True))
        gaps = columns[4 + n_labels + n_numbers :]
        known = codes >= 0
        placed = codes.copy()
        placed[known] = category_places[codes[known]]
        votes = Votes(
            systems,
            system_places[first],
            system_places[second],
            outcomes.astype(np.int8),
            numbers.get("weight", np.ones(len(first))),
            placed,
            categories,
            labels.get("voter"),
            labels.get("prompt"),
            numbers.get("time"),
            np.stack(gaps, axis=1) if gaps else np.zeros((len(first), 0)),
            tuple(self.columns.covariates),
        )
        votes.check()
        return votes


def _number_or_nan(read: Callable[[Any], float], cell: object) -> float:
    """Return what `read` makes of a cell, NaN where it cannot."""
    try:
        return read(cell)
    except (ValueError, TypeError, OverflowError):
        return math.nan


def in_order(names: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray[Any, np.dtype[np.int32]]]:
    """Return names in sorted order, and the new place of each."""
    order = sorted(range(len(names)), key=names.__getitem__)
    places = np.empty(len(names), dtype=np.int32)
    places[order] = np.arange(len(names))
    return tuple(names[k] for k in order), places
