"""Reading references and predictions from CSV, JSON lines and Parquet; everything that is wrong is reported at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ranking_engine.evaluation.instances import Predictions, References
from ranking_engine.evaluation.metric import Kind, Metric
from ranking_engine.evaluation.rows import MAX_CHARACTERS, rows_of, too_many_characters
from ranking_engine.evaluation.values import READERS, name_of, number_of, prediction_reader
from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.text.names import shorten

MAX_WEIGHT = 1e9
MAX_NAMED = 20  # ids that are missing, by name; the others are counted

ID = "id"
ID_COLUMNS = ("id", "instance", "instance_id")
REFERENCE_COLUMNS = ("reference", "references", "label", "target", "answer", "answers")
PREDICTION_COLUMNS = ("prediction", "predictions", "probability", "probabilities", "output", "score")
DETAILS = ("split", "weight", "cluster", "category")
PROBABILITY_PREFIX = "probability:"  # before a label: a column of CSV for each


def read_references(data: bytes, name: str, metric: Metric, *, is_bounded: bool = False) -> References:
    """Read what is hidden of a task.

    Columns: `id`; `reference`, also called `references`, `label`, `target`, `answer` or `answers`; and, if there is
    any, `split`, `weight`, `cluster` and `category`. Other columns are passed over and named in the result.

    Args:
        data: of the file: CSV, JSON lines or Parquet.
        name: what errors call the file.
        metric: says which kind of value references are.
        is_bounded: whether this process has bounds on memory and time; otherwise another one that has reads Parquet.

    Raises:
        InputError: with every problem and its line.
        ImportError: it is a Parquet file, and pyarrow is not installed.
    """
    roles = {
        **dict.fromkeys(ID_COLUMNS, ID),
        **dict.fromkeys(REFERENCE_COLUMNS, "reference"),
        **{detail: detail for detail in DETAILS},
    }
    reader = CellReader(
        data,
        name,
        lambda column: roles.get(column.casefold()),
        {"reference": metric.reference_kind.value},
        is_bounded=is_bounded,
    )
    needed = () if metric.reference_kind == Kind.NOTHING else ("reference",)
    read = READERS[metric.reference_kind]
    ids: dict[str, int] = {}
    values: list[Any] = []
    details: dict[str, list[Any]] = {}
    for line, instance, cells in reader.rows((ID, *needed)):
        if instance in ids:
            reader.wrong(line, ID, f"{shorten(instance)!r} is already on line {ids[instance]:,}", "ids are there twice")
            continue
        ids[instance] = line
        values.append(reader.value(line, "reference", read, cells.get("reference")) if needed else None)
        for detail in DETAILS:
            if detail in cells and detail not in details:  # JSON lines may have it from some line on
                details[detail] = ["" if detail != "weight" else 1.0] * (len(values) - 1)
        for detail, column in details.items():
            column.append(reader.value(line, detail, _DETAIL_READERS[detail], cells.get(detail)))
    if not ids:
        reader.problems.add("", "there are no rows")
    reader.fail()
    if "split" in details and "" in details["split"]:
        place = details["split"].index("")
        reader.wrong(list(ids.values())[place], "split", "no split, while other rows have one", "rows have no split")
        reader.fail()
    return References(
        tuple(ids),
        tuple(values),
        tuple(details["split"]) if "split" in details else None,
        np.array(details["weight"], dtype=np.float64) if "weight" in details else None,
        tuple(details["cluster"]) if "cluster" in details else None,
        tuple(details["category"]) if "category" in details else None,
        tuple(reader.ignored),
    )


def read_predictions(
    data: bytes,
    name: str,
    expected: References | Sequence[str],
    metric: Metric,
    *,
    others: Collection[str] = (),
    is_bounded: bool = False,
) -> Predictions:
    """Read what a system predicts, and check it line by line against the instances.

    Columns: `id`, and `prediction`, also called `predictions`, `probability`, `probabilities`, `output` or `score`; for
    probabilities of several labels a column `probability:LABEL` for each, or in JSON an object.

    Args:
        data: of the file: CSV, JSON lines or Parquet.
        name: what errors call the file.
        expected: the references, or the ids of the instances alone: what needs the references, such as whether there
            are as many tags as tokens, is then not checked. No message says anything of a reference's value.
        metric: says which kind of value predictions are.
        others: ids of further instances, such as those of other splits: their predictions are passed over.
        is_bounded: as `read_references` has it.

    Raises:
        InputError: with every problem and its line: ids that are missing, unknown or there twice, and values of
            another kind or out of range.
        ImportError: it is a Parquet file, and pyarrow is not installed.
    """
    roles = {**dict.fromkeys(ID_COLUMNS, ID), **dict.fromkeys(PREDICTION_COLUMNS, "prediction")}
    takes_chances = metric.prediction_kind == Kind.PROBABILITIES

    def role_of(column: str) -> str | None:
        if takes_chances and column.casefold().startswith(PROBABILITY_PREFIX):
            return PROBABILITY_PREFIX + column[len(PROBABILITY_PREFIX) :].strip()
        return roles.get(column.casefold())

    reader = CellReader(data, name, role_of, {"prediction": metric.prediction_kind.value}, is_bounded=is_bounded)
    ids = expected.ids if isinstance(expected, References) else tuple(expected)
    place = {instance: k for k, instance in enumerate(ids)}
    passed_over = frozenset(others)
    lines = [0] * len(ids)
    values: list[Any] = [None] * len(ids)
    strange: str | None = None  # the first id that is unknown
    read = prediction_reader(metric)
    for line, instance, cells in reader.rows((ID, "prediction")):
        k = place.get(instance)
        if k is None and instance in passed_over:
            continue
        if k is None:
            strange = instance if strange is None else strange
            reader.wrong(line, ID, f"no instance is called {shorten(instance)!r}", "ids are unknown")
            continue
        if lines[k]:
            reader.wrong(line, ID, f"{shorten(instance)!r} is already on line {lines[k]:,}", "ids are there twice")
            continue
        lines[k] = line
        values[k] = reader.value(line, "prediction", read, cells["prediction"])
        if metric.prediction_kind == Kind.TAGS and isinstance(expected, References) and values[k] is not None:
            n_tags, n_tokens = len(values[k]), len(expected.values[k])
            if n_tags != n_tokens:
                reader.wrong(
                    line, "prediction", f"{n_tags:,} tags for {n_tokens:,} tokens", "rows have too few or too many tags"
                )
    if strange is not None and not any(lines):  # one cause, and not two problems for each row
        message = (
            f"it has none of the {len(ids):,} instances of this task, such as {shorten(ids[0])!r}; its ids, such as "
            f"{shorten(strange)!r}, are of another task or another split"
        )
        raise InputError([Problem(message, ID, source=name)])
    missing = [instance for instance, line in zip(ids, lines, strict=True) if not line]
    gaps = [Problem(f"no prediction for {shorten(instance)!r}", ID) for instance in missing[:MAX_NAMED]]
    if len(missing) > MAX_NAMED:
        n_more = len(missing) - MAX_NAMED
        gaps.append(Problem(f"no prediction for {n_more:,} more of the {len(ids):,} instances", ID))
    reader.problems.listed[:0] = gaps
    reader.fail()
    return Predictions(ids, tuple(values), tuple(reader.ignored))


class CellReader:
    """Reads rows, and collects what is wrong with them; `nouns` say what a column has, where its name does not."""

    def __init__(
        self,
        data: bytes,
        name: str,
        role_of: Callable[[str], str | None],
        nouns: Mapping[str, str],
        *,
        is_bounded: bool,
    ) -> None:
        self.data, self.name, self.role_of, self.nouns, self.is_bounded = data, name, role_of, nouns, is_bounded
        self.problems = Problems()
        self.ignored: dict[str, None] = {}
        self.n_characters = 0

    def rows(self, needed: Sequence[str]) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
        """Yield the rows that have an id: their line, their id and their cells by role.

        Args:
            needed: roles; where the first row lacks one of them, nothing is read.

        Raises:
            InputError: with what was noted so far, where the file cannot be read further.
        """
        try:
            yield from self.row_values(needed)
        except InputError as error:
            listed = self.problems.listed
            listed += [problem for problem in error.problems.listed if problem not in listed]
            self.fail()

    def row_values(self, needed: Sequence[str]) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
        """Yield what `rows` does; an error says only what came last."""
        is_first = True
        rows = rows_of(self.data, self.role_of, self.problems, self.ignored, is_bounded=self.is_bounded)
        for line, cells in rows:
            chances = {role: cells[role] for role in cells if role.startswith(PROBABILITY_PREFIX)}
            if chances:
                cells["prediction"] = {role[len(PROBABILITY_PREFIX) :]: cell for role, cell in chances.items()}
            missing = [role for role in needed if role not in cells]
            if missing and is_first:
                there = ", ".join(self.ignored) or "none"
                wanted = " and ".join(repr(role) for role in missing)
                raise InputError([Problem(f"no column is called {wanted}; other columns: {there}", line=line)])
            is_first = False
            if missing:
                self.problems.add("", f"no {' and no '.join(missing)}", line=line, cause="rows lack a key")
                continue
            self.n_characters += sum(len(cell) for cell in cells.values() if isinstance(cell, str))
            if self.n_characters > MAX_CHARACTERS:
                raise InputError([too_many_characters(line)])
            instance = self.value(line, ID, lambda cell: name_of(cell, "id"), cells[ID])
            if instance is not None:
                yield line, instance, cells

    def value(self, line: int, column: str, read: Callable[[object], Any], cell: object) -> Any:  # noqa: ANN401 -- of the kind that `read` returns
        """Return what a cell holds; what is wrong with it is noted, and None returned."""
        try:
            return read(cell)
        except ValueError as error:
            self.wrong(line, column, str(error), f"cells are no {self.nouns.get(column, column)} that can be read")
            return None

    def wrong(self, line: int, column: str, message: str, cause: str) -> None:
        """Note what is wrong with a cell."""
        self.problems.add(column, message, line=line, place_name=column, cause=cause)

    def fail(self) -> None:
        """Raise an InputError if anything is wrong."""
        if self.problems:
            for k, problem in enumerate(self.problems.listed):
                self.problems.listed[k] = dataclasses.replace(problem, source=self.name)
            raise InputError(self.problems)


_DETAIL_READERS: dict[str, Callable[[object], Any]] = {
    "weight": lambda cell: 1.0 if cell in (None, "") else weight_of(cell),
    **dict.fromkeys(("split", "cluster", "category"), lambda cell: "" if cell in (None, "") else name_of(cell, "name")),
}


def weight_of(cell: object) -> float:
    """Return a cell as the weight of an instance, or raise a ValueError."""
    weight = number_of(cell, 0, MAX_WEIGHT)
    if weight <= 0:
        raise ValueError("a weight of 0; leave the instance out, or give it a weight above 0")
    return weight
