"""Metadata of systems: typed fields, such as parameters or a licence, and their values.

A field is declared once, by `read_fields`; a value of it is read by `MetadataField.read`, in whatever way someone
wrote it, and stored as JSON: a number, `true` or `false`, or a text. No ranking depends on either.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Any

from ranking_engine.text.characters import line_problem
from ranking_engine.text.names import FORMULA_PREFIXES, check_name, clean_name, fold_name, shorten

KINDS: Mapping[str, str] = {
    "text": "a text",
    "number": "a number",
    "date": "a date",
    "yes_no": "yes or no",
    "choice": "one of a list",
    "link": "a URL",
}
COLUMN_PREFIX = "meta:"  # of columns of a table that are no tasks
MAX_FIELDS = 24
MAX_FIELD_NAME = 60
MAX_KEY = 30
MAX_UNIT = 40
MAX_CHOICES, MAX_CHOICE = 40, 80
MAX_TEXT = 300
MAX_NUMBER_TEXT = 40
MAX_WRITTEN = 4_000  # characters that are looked at at all
GREATEST = 10**18
LEAST = 1e-18  # of a number that is not 0
FIRST_YEAR, LAST_YEAR = 1900, 2200
RESERVED = frozenset({"organisation", "url", "description", "tags", "baseline"})  # every system has these anyway
KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NUMBER = re.compile(r"([+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s?([kKmMbBtT]?)")
SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
LINK = re.compile(r"https?://[^\s/?#@]+\.[^\s/?#@]+([/?#]\S*)?", re.IGNORECASE)
TRUTHS = dict.fromkeys(("yes", "true", "1", "y"), True) | dict.fromkeys(("no", "false", "0", "n"), False)

Value = str | float | int | bool


@dataclass(frozen=True)
class MetadataField:
    """One thing that may be said of every system.

    Attributes:
        key: what addresses, columns and programs call it: lower-case letters and digits with single hyphens.
        name: what people call it.
        kind: one of KINDS.
        unit: of a number, such as "tokens".
        choices: the texts that a value may be, where the kind is `choice`.
        is_column: whether boards have a column of it unless someone chooses others.
    """

    key: str
    name: str
    kind: str = "text"
    unit: str = ""
    choices: tuple[str, ...] = ()
    is_column: bool = False

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        return {
            "text": f"a text of at most {MAX_TEXT} characters",
            "number": "a number such as 7000000000, 7B or 0.15",
            "date": "a date such as 2024, 2024-05 or 2024-05-31",
            "yes_no": "yes or no",
            "choice": f"one of {', '.join(self.choices)}",
            "link": "a URL that begins with http:// or https://",
        }[self.kind]

    @property
    def declaration(self) -> dict[str, Any]:
        """The field as it is stored: what has its default is left out."""
        stored = {one.name: getattr(self, one.name) for one in fields(self)} | {"choices": list(self.choices)}
        return {name: value for name, value in stored.items() if value or name in ("key", "name", "kind")}

    @classmethod
    def stored(cls, declaration: Mapping[str, Any]) -> MetadataField:
        """The field of a `declaration` that was checked when it was stored."""
        return cls(**{**declaration, "choices": tuple(declaration.get("choices", ()))})

    def read(self, written: Any) -> Value | None:  # noqa: ANN401 -- whatever someone sent
        """A value as it is stored; None where nothing is said.

        Args:
            written: a text, or for numbers and yes or no also a number or a truth value.

        Raises:
            ValueError: it is no value of this field; the message says what is allowed.
        """
        if written is None or (isinstance(written, str) and not written.strip()):
            return None
        is_whole = isinstance(written, int) and abs(written) < GREATEST  # of more digits a text may not even be made
        is_short = isinstance(written, str) and len(written) <= MAX_WRITTEN
        if not (is_whole or is_short or isinstance(written, float | Decimal)):
            raise ValueError(f"it is not {self.allowed}")
        if isinstance(written, bool):
            value: Value | None = written if self.kind == "yes_no" else None
        elif self.kind == "number":
            value = read_number(written)
        elif self.kind == "yes_no":
            value = TRUTHS.get(str(written).strip().casefold())
        elif not isinstance(written, str):
            value = _date(str(written)) if self.kind == "date" else None
        else:
            text = clean_name(written)
            if problem := line_problem(text):
                raise ValueError(f"it {problem}")
            if text.startswith(FORMULA_PREFIXES):
                raise ValueError(f"it begins with {text[0]!r}, which spreadsheets take for a formula")
            if self.kind == "date":
                value = _date(text)
            elif self.kind == "choice":
                value = next((choice for choice in self.choices if fold_name(choice) == fold_name(text)), None)
            elif self.kind == "link":
                value = text if len(text) <= MAX_TEXT and LINK.fullmatch(text) else None
            else:
                value = text if len(text) <= MAX_TEXT else None
        if value is None:
            raise ValueError(f"{shorten(str(written), 40)!r} is not {self.allowed}")
        return value

    def text(self, value: Any) -> str:  # noqa: ANN401 -- whatever is stored
        """A stored value as people read it, without its unit: 7 B, yes, 2024-05."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float):
            for factor, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
                if abs(value) >= factor:
                    return f"{value / factor:.4g} {letter}".replace("-", "\N{MINUS SIGN}")
            text = f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.6g}"
            return text.replace("-", "\N{MINUS SIGN}")
        return str(value)

    def written(self, value: Any) -> str:  # noqa: ANN401 -- whatever is stored
        """A stored value as a file has it: it reads back to the same value."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return repr(value).removesuffix(".0") if isinstance(value, int | float) else str(value)

    def number(self, value: Any) -> float | None:  # noqa: ANN401 -- whatever is stored
        """A stored number as it is, a date as years and a fraction of them; None for every other kind.

        A month is its first day, and a year its first.
        """
        if self.kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        first = self.first_day(value)
        return None if first is None else first.year + (first.timetuple().tm_yday - 1) / 366

    def first_day(self, value: Any) -> date | None:  # noqa: ANN401 -- whatever is stored
        """The first day of a stored date, which may be a month or a year; None for every other kind."""
        parts = DATE.fullmatch(str(value)) if self.kind == "date" else None
        if parts is None:
            return None
        try:
            return date(*(int(part) if part else 1 for part in parts.groups()))
        except ValueError:
            return None


# What an owner may begin with.
STARTER = (
    MetadataField("parameters", "Parameters", "number", is_column=True),
    MetadataField("active-parameters", "Active parameters", "number"),
    MetadataField("open-weights", "Open weights", "yes_no", is_column=True),
    MetadataField("licence", "Licence"),
    MetadataField("released", "Released", "date", is_column=True),
    MetadataField("context-length", "Context length", "number", "tokens"),
    MetadataField("price-in", "Price of input", "number", "USD per million tokens"),
    MetadataField("price-out", "Price of output", "number", "USD per million tokens"),
    MetadataField("paper", "Paper", "link"),
    MetadataField("code", "Code", "link"),
    MetadataField("model-card", "Model card", "link"),
    MetadataField("base-model", "Base model"),
    MetadataField("kind", "Kind", "choice", choices=("model", "ensemble", "baseline", "human")),
)


def read_fields(declared: Any) -> tuple[MetadataField, ...]:  # noqa: ANN401 -- whatever someone sent
    """The fields that someone declares, checked.

    Args:
        declared: a list of objects with `name`, `kind` and, where they state them, `key`, `unit`, `choices` (a list)
            and `is_column`. A key is made from the name where there is none.

    Raises:
        ValueError: it is no such list, or there is too much of something; the message names the field.
    """
    is_list = isinstance(declared, Sequence) and not isinstance(declared, str | bytes)
    if not is_list or len(declared) > MAX_FIELDS:
        raise ValueError(f"{len(declared)} fields; at most {MAX_FIELDS} are kept" if is_list else "they are no list")
    read: list[MetadataField] = []
    for number, entry in enumerate(declared, start=1):
        one = read_field(entry, number)
        if any(one.key == other.key for other in read):
            raise ValueError(f"two fields have the key {one.key!r}")
        if any(fold_name(one.name) == fold_name(other.name) for other in read):
            raise ValueError(f"two fields are called {one.name!r}")
        read.append(one)
    return tuple(read)


def read_field(entry: Any, number: int) -> MetadataField:  # noqa: ANN401 -- whatever someone sent
    """One field that someone declares, as `read_fields` takes it.

    Args:
        entry: the object.
        number: its place in the list, from 1.

    Raises:
        ValueError: it is no such object; the message names the field.
    """
    if wrong := _wrong_shape(entry):
        raise ValueError(f"field {number} {wrong}")
    name, kind = check_name(entry.get("name", ""), "field"), entry.get("kind", "text")
    called, unit = f"the field {shorten(name)!r}", clean_name(entry.get("unit", ""))
    slug = re.sub(r"[^a-z0-9]+", "-", name.casefold())[:MAX_KEY].strip("-")
    key = entry.get("key", "") or slug
    if len(name) > MAX_FIELD_NAME:
        raise ValueError(f"{called} has a name of {len(name)} characters; at most {MAX_FIELD_NAME} are kept")
    if len(key) > MAX_KEY or not KEY.fullmatch(key):
        raise ValueError(
            f"{called} has the key {shorten(key)!r}; a key is lower-case letters, digits, hyphens, at most {MAX_KEY}"
        )
    if key in RESERVED:
        raise ValueError(f"{called} has the key {key!r}, and every system has that anyway; choose another name")
    if kind not in KINDS:
        raise ValueError(f"{called} is of the kind {shorten(kind)!r}; expected one of {', '.join(KINDS)}")
    if len(unit) > MAX_UNIT or (problem := line_problem(unit)):
        raise ValueError(
            f"{called} has a unit of {len(unit)} characters; at most {MAX_UNIT} are kept"
            if len(unit) > MAX_UNIT
            else f"the unit of {called} {problem}"
        )
    choices = [clean_name(choice) for choice in entry.get("choices", ())]
    for choice in choices:
        if not choice or len(choice) > MAX_CHOICE or line_problem(choice):
            raise ValueError(f"{called} has a choice that is no line of 1 to {MAX_CHOICE} characters")
        if "," in choice:
            raise ValueError(f"{called} has the choice {shorten(choice)!r}; a choice has no comma, which parts choices")
    if len(set(map(fold_name, choices))) < len(choices):
        raise ValueError(f"{called} has a choice twice")
    if (kind == "choice") != bool(choices):
        raise ValueError(f"{called} has {'no choices' if kind == 'choice' else f'choices, and is of the kind {kind}'}")
    return MetadataField(
        key, name, kind, unit if kind == "number" else "", tuple(choices), entry.get("is_column", False)
    )


def _wrong_shape(entry: Any) -> str:  # noqa: ANN401 -- whatever someone sent
    """What is wrong with the types of a declaration and with how much it says; empty where nothing is.

    Args:
        entry: one field, as `read_field` takes it.
    """
    known = [one.name for one in fields(MetadataField)]
    if not isinstance(entry, Mapping):
        return "is no object with a name and a kind"
    if unknown := [name for name in entry if name not in known]:
        return f"says {shorten(str(unknown[0]))!r}; it may say {', '.join(known)}"
    if no_text := [name for name in ("key", "name", "kind", "unit") if not isinstance(entry.get(name, ""), str)]:
        return f"has a {no_text[0]} that is no text"
    if not isinstance(entry.get("is_column", False), bool):
        return "has an `is_column` that is neither true nor false"
    choices = entry.get("choices", ())
    if not isinstance(choices, list | tuple) or not all(isinstance(choice, str) for choice in choices):
        return "has choices that are no list of texts"
    return f"has {len(choices)} choices; at most {MAX_CHOICES} are kept" if len(choices) > MAX_CHOICES else ""


def read_values(
    declared: Sequence[MetadataField], written: Mapping[str, Any]
) -> tuple[dict[str, Value], list[tuple[str, str]]]:
    """Values of one system by the key of their field, and what is wrong.

    Args:
        declared: the fields.
        written: by the key or the name of a field, in any case.

    Returns:
        The values that are said, and for each that cannot be read, or has no field, its label and what is wrong.
    """
    by_label = {one.key: one for one in declared} | {fold_name(one.name): one for one in declared}
    values: dict[str, Value] = {}
    problems: list[tuple[str, str]] = []
    labels: dict[str, str] = {}
    for label, text in written.items():
        field = by_label.get(fold_name(label))
        if field is None:
            names = ", ".join(one.key for one in declared)
            known = f"the fields are {names}" if names else "this benchmark declares none"
            problems.append((label, f"{shorten(label)!r} is no field of the systems; {known}"))
            continue
        if field.key in labels:
            problems.append(
                (label, f"{shorten(label)!r} is the field that {shorten(labels[field.key])!r} names already")
            )
            continue
        labels[field.key] = label
        try:
            value = field.read(text)
        except ValueError as error:
            problems.append((label, str(error)))
        else:
            if value is not None:
                values[field.key] = value
    return values, problems


def read_number(written: str | float | Decimal) -> float | int | None:
    """A number to 12 significant digits, also `7B` and `1,300`; None where it is none, or too large.

    Raises:
        ValueError: it is too close to 0.
    """
    if isinstance(written, str):
        match = NUMBER.fullmatch(written.strip()) if len(written) <= MAX_NUMBER_TEXT else None
        if match is None:
            return None
        exact = Decimal(match[1].replace(",", "")) * SUFFIXES[match[2].lower()]
    else:
        exact = Decimal(repr(written)) if isinstance(written, float) else Decimal(written)
    number = float(f"{exact:.12g}") if exact.is_finite() else math.inf
    if abs(number) >= GREATEST:
        return None
    if exact and abs(number) < LEAST:
        raise ValueError(f"it is closer to 0 than {LEAST:g}; write 0, or use a smaller unit")
    return int(number) if number.is_integer() else number


def _date(text: str) -> str | None:
    """An ISO date, a month or a year."""
    match = DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part) if part else 1 for part in match.groups())
    try:
        date(year, month, day)
    except ValueError:
        return None
    return text.strip() if FIRST_YEAR <= year <= LAST_YEAR else None
