"""Cells of files as references and predictions: what each kind of value looks like, and what is wrong with a cell."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ranking_engine.core.decimals import NUMBER
from ranking_engine.evaluation.metric import LARGEST, MAX_LABEL, Kind, Metric, plain_label
from ranking_engine.text.characters import line_problem
from ranking_engine.text.names import shorten

MAX_NUMBER = 64  # characters
MAX_TEXT = 100_000  # characters
MAX_TEXTS = 100  # references of one instance
MAX_ITEMS = 10_000  # of one instance: tags, documents, labels
MAX_RELEVANCE = 1_000
SUM_TOLERANCE = 1e-3  # by which the probabilities of an instance may differ from 1: they are rounded


def label_of(cell: object) -> str:
    """Return a cell as a label: 1, 1.0, "1" and "1.0" are the same, as are true, "true" and "True" (`plain_label`).

    Raises:
        ValueError: it is none.
    """
    return plain_label(name_of(cell, "label"))


def name_of(cell: object, what: str) -> str:
    """Return a cell as an id or another name: the number 1 or 1.0 is the text "1", true is "true".

    Raises:
        ValueError: it is none.
    """
    if isinstance(cell, str):
        text = cell.strip()
    elif isinstance(cell, bool):
        text = "true" if cell else "false"
    elif isinstance(cell, int) and abs(cell) < 10**18:
        text = str(cell)
    elif isinstance(cell, float) and math.isfinite(cell):
        text = str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    else:
        raise ValueError(f"no {what}" if cell is None else f"{_quoted(cell)} is no {what}")
    if not text:
        raise ValueError(f"no {what}")
    if len(text) > MAX_LABEL:
        raise ValueError(f"a {what} of {len(text):,} characters; at most {MAX_LABEL} are allowed")
    if problem := line_problem(text):
        raise ValueError(f"the {what} {shorten(text)!r} {problem}")
    return text


def number_of(cell: object, lowest: float = -LARGEST, highest: float = LARGEST) -> float:
    """Return a cell as a finite number within bounds.

    Raises:
        ValueError: it is none.
    """
    number = math.nan
    if isinstance(cell, str):
        text = cell.strip()
        if len(text) <= MAX_NUMBER and NUMBER.fullmatch(text):
            number = float(text)
    elif isinstance(cell, (int, float)) and not isinstance(cell, bool):
        try:
            number = float(cell)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        raise ValueError("no number" if cell in (None, "") else f"{_quoted(cell)} is not a finite number")
    if not lowest <= number <= highest:
        raise ValueError(f"{number:g} is outside {lowest:g} to {highest:g}")
    return number


def text_of(cell: object) -> str:
    """Return a cell as a text, which may be empty.

    Raises:
        ValueError: it is none, or too long.
    """
    if cell is None:
        raise ValueError("no text")
    if not isinstance(cell, str):
        raise ValueError(f"{_quoted(cell)} is no text")  # noqa: TRY004 -- what is wrong is the value of a file
    if len(cell) > MAX_TEXT:
        raise ValueError(f"{len(cell):,} characters; at most {MAX_TEXT:,} are allowed")
    if not cell.isascii() and any("\ud800" <= character <= "\udfff" for character in cell):
        raise ValueError("half of a character (a surrogate) is in the text")
    return cell


def texts_of(cell: object) -> tuple[str, ...]:
    """Return a cell as one or several texts: a text, a list, or a list as JSON in a cell of CSV.

    Raises:
        ValueError: it is none.
    """
    value = _unpacked(cell)
    if isinstance(value, str):
        return (text_of(value),)
    return tuple(text_of(item) for item in _items(value, "texts", most=MAX_TEXTS))


def tags_of(cell: object) -> tuple[str, ...]:
    """Return a cell as tags: a list, a list as JSON, or a text with spaces between them.

    Raises:
        ValueError: it is none.
    """
    value = _unpacked(cell)
    items = value.split() if isinstance(value, str) else value
    return tuple(name_of(item, "tag") for item in _items(items, "tags"))


def _documents_of(cell: object) -> tuple[str, ...]:
    """Return a cell as documents in order, the best first: a list, or a text with spaces between them.

    Raises:
        ValueError: it is none, or a document is there twice.
    """
    value = _unpacked(cell)
    items = value.split() if isinstance(value, str) else value
    documents = tuple(name_of(item, "document") for item in _items(items, "documents", least=0))
    if len(set(documents)) < len(documents):
        known: set[str] = set()
        twice = next(name for name in documents if name in known or known.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the document {shorten(twice)!r} is there twice")
    return documents


def _relevance_of(cell: object) -> dict[str, int]:
    """Return a cell as the relevance of documents: an object with whole numbers, or the relevant ones as a list.

    Raises:
        ValueError: it is none.
    """
    value = _unpacked(cell)
    if not isinstance(value, Mapping):
        return dict.fromkeys(_documents_of(value), 1)
    relevance: dict[str, int] = {}
    for name, grade in _entries(value, "documents"):
        number = number_of(grade, 0, MAX_RELEVANCE)
        if not number.is_integer():
            raise ValueError(f"the relevance {number:g} of {shorten(name)!r} is no whole number")
        document = name_of(name, "document")
        if document in relevance:
            raise ValueError(f"the document {shorten(document)!r} is there twice")
        relevance[document] = int(number)
    return relevance


def _probabilities_of(cell: object) -> float | dict[str, float]:
    """Return a cell as probabilities: an object with a number for each label, or one number for the positive label.

    Raises:
        ValueError: it is none, a probability is outside 0 to 1, a label is there twice, or their sum is not 1.
    """
    value = _unpacked(cell)
    if not isinstance(value, Mapping):
        return number_of(value, 0, 1)
    chances: dict[str, float] = {}
    for name, chance in _entries(value, "labels"):
        label = label_of(name)
        if label in chances:  # as 1 and 1.0 are
            raise ValueError(f"the label {shorten(label)!r} is there twice: {shorten(name)!r} is the same label")
        chances[label] = number_of(chance, 0, 1)
    total = math.fsum(chances.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(f"the probabilities sum to {total:.6g}, not to 1")
    return chances


READERS: dict[Kind, Callable[[object], Any]] = {
    Kind.LABEL: label_of,
    Kind.NUMBER: number_of,
    Kind.PROBABILITIES: _probabilities_of,
    Kind.TEXT: text_of,
    Kind.TEXTS: texts_of,
    Kind.TAGS: tags_of,
    Kind.RELEVANCE: _relevance_of,
    Kind.DOCUMENTS: _documents_of,
    Kind.NOTHING: lambda _cell: None,
}


def prediction_reader(metric: Metric) -> Callable[[object], Any]:
    """Return the function that reads a cell as a prediction for a metric; it raises ValueError."""
    if metric.prediction_kind == Kind.NUMBER:
        lowest, highest = metric.lowest_prediction, metric.highest_prediction
        return lambda cell: number_of(cell, lowest, highest)
    return READERS[metric.prediction_kind]


def _quoted(cell: object) -> str:
    if isinstance(cell, (list, tuple)):
        return "a list"
    if isinstance(cell, Mapping):
        return "an object"
    return repr(shorten(str(cell)[:100])) if not isinstance(cell, int) or abs(cell) < 10**40 else "a long number"


def _unpacked(cell: object) -> object:
    """Return a cell, and what a cell of CSV holds as JSON."""
    if cell is None:
        raise ValueError("nothing is there")
    if not isinstance(cell, str):
        return cell
    text = text_of(cell)
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError('it begins as JSON and is none; write a text that begins so as a list: ["[1] ..."]') from error


def _items(value: object, what: str, least: int = 1, most: int = MAX_ITEMS) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{_quoted(value)} is no list of {what}")  # noqa: TRY004 -- as above
    if not least <= len(value) <= most:
        raise ValueError(f"{len(value):,} {what}; expected {least} to {most:,}")
    return value


def _entries(value: Mapping[Any, Any], what: str) -> list[tuple[str, object]]:
    if not 1 <= len(value) <= MAX_ITEMS:
        raise ValueError(f"{len(value):,} {what}; expected 1 to {MAX_ITEMS:,}")
    return [(str(name), entry) for name, entry in value.items() if entry is not None]
