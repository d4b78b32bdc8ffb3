"""What every importer makes of its files: records of one shape, what was left out, and what cannot be read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from ranking_engine.core.decimals import NUMBER, rounded_score, rounding_note
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.metadata import GREATEST
from ranking_engine.files.number_forms import NO_NUMBER
from ranking_engine.files.problems import InputError, Problem
from ranking_engine.text.characters import UNSHOWABLE
from ranking_engine.text.names import shorten

MAX_RECORDS = 50_000
MAX_PROBLEMS = 100
MAX_NOTES = 100
MAX_FACTS = 50_000  # of what files say of systems beside their scores
FACT_LENGTH = 300  # characters of one of them
LABEL_LENGTH = 200  # of a task, a metric, a system as a file calls it


@dataclass(frozen=True, eq=False)
class Instances:
    """Scores of single instances, of which a score is the mean: their names, sorted, and as many values.

    `clusters` are the names of their clusters, empty for an instance by itself; empty where the file names none.
    """

    names: tuple[str, ...]
    values: FloatArray
    clusters: tuple[str, ...] = ()

    @property
    def named_clusters(self) -> list[tuple[str, str]]:
        """The names of the instances that have a cluster, with its name."""
        return [(name, cluster) for name, cluster in zip(self.names, self.clusters, strict=False) if cluster]


@dataclass(frozen=True)
class Record:
    """One score as a file states it. Empty texts and None are what the file does not say.

    `value` is None where the file has a place for the score and says that there is none. `standard_error` is on the
    value's scale, `n` the number of instances, `source` and `raw_hash` name the file and the SHA-256 of its bytes.
    `place` is where in the file it is. `missing` is the word for why there is no value, where the file has one.
    `shots` is the number of examples in the prompt, where the file states it apart from the task.
    `aside` says why the score is a column that is left empty unless someone chooses it: it is a mean of others, or says
    how the run was made. `instances` are the scores whose mean it is, where files have them.
    """

    system: str
    task: str
    metric: str
    value: float | None
    revision: str = ""
    split: str = ""
    subset: str = ""
    standard_error: float | None = None
    n: int | None = None
    higher_is_better: bool | None = None
    source: str = ""
    raw_hash: str = ""
    missing: str = ""
    aside: str = ""
    shots: int | None = None
    instances: Instances | None = None
    place: str = field(default="", compare=False)

    @property
    def column(self) -> tuple[str, str, str, str]:
        """What the score is of: task, split, subset and metric."""
        return (self.task, self.split, self.subset, self.metric)


def problem_in(message: str, source: str = "", place: str = "") -> Problem:
    """A problem of a file, at a place in it; each may be empty."""
    return Problem(message, source=", ".join(showable(part) for part in (source, place) if part))


@dataclass(frozen=True)
class Recognised:
    """What files were understood to be.

    `notes` say what was left out and how figures were read; `warnings` what a reader has to know before they confirm.
    `metadata` has, by the name of a system, what the files say of it beside scores: by the key of one of `STARTER`, of
    `ranking_engine.files.metadata`, or by `organisation`, the value as the file has it. `rounded` are the numbers that
    were rounded, as the files have them.
    """

    format_key: str
    format_name: str
    records: Sequence[Record]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    metadata: Mapping[str, Mapping[str, str | float | bool]] = field(default_factory=dict)
    rounded: Sequence[float] = ()

    @property
    def with_rounding(self) -> "Recognised":
        """The same with a note that says what was rounded: once for all files, however many were read at a time."""
        note = rounding_note(np.array(self.rounded))
        return replace(self, notes=[*self.notes, note][:MAX_NOTES]) if note else self


@dataclass
class Collector:
    """Gathers what one importer reads; `done` raises where something could not be read."""

    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    source: str = ""
    raw_hash: str = ""
    rounded: list[float] = field(default_factory=list)  # what numbers were before they were rounded
    metadata: dict[str, dict[str, str | float | bool]] = field(default_factory=dict)  # by system, as of Recognised
    n_facts: int = 0
    closer_name: str = ""  # of the format of these files, where there is one that says more; empty for its own
    shapes: set[str] = field(default_factory=set)  # of the tables that were read, in words

    def of(self, source: str, raw_hash: str) -> None:
        """Say which file the next records are of."""
        self.source, self.raw_hash = source, raw_hash

    def refuse(self, message: str, place: str = "") -> None:
        """Note something that cannot be read."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem_in(message, self.source, place))

    def note(self, text: str) -> None:
        """Say what was left out, once."""
        if text not in self.notes and len(self.notes) < MAX_NOTES:
            self.notes.append(text)

    def warn(self, text: str) -> None:
        """Say what a reader has to know before they confirm."""
        if text not in self.warnings and len(self.warnings) < MAX_NOTES:
            self.warnings.append(text)

    def describe(self, system: str, facts: Mapping[str, object]) -> None:
        """Keep what a file says of a system beside its scores; what is no short text, number or truth is left out.

        Args:
            system: as the file calls it.
            facts: by the key of a field.
        """
        for key, given in facts.items():
            value = given
            if isinstance(given, str):
                value = " ".join(given.split()) if len(given) <= FACT_LENGTH and not UNSHOWABLE.search(given) else ""
            is_number = isinstance(value, int | float) and -GREATEST < value < GREATEST
            if not (is_number or (isinstance(value, str) and is_stated(value))):
                continue
            if system and self.n_facts < MAX_FACTS:
                self.n_facts += 1
                self.metadata.setdefault(system, {})[key] = cast("str | float | bool", value)

    def label(self, given: object, what: str, place: str) -> str:
        """A text as a file calls something; what cannot be one is refused, and empty."""
        if given is None:
            return ""
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            self.refuse(f"the {what} is not text", place)
            return ""
        if isinstance(given, float) and not math.isfinite(given):
            self.refuse(f"the {what} is {given}, which is not text", place)
            return ""
        text = " ".join(str(given).split()) if not isinstance(given, int) or abs(given) < 10**15 else "a large number"
        if len(text) > LABEL_LENGTH:
            self.refuse(f"the {what} has {len(text)} characters; the limit is {LABEL_LENGTH}", place)
            return ""
        if UNSHOWABLE.search(text):
            self.refuse(f"the {what} contains a character that cannot be shown", place)
            return ""
        return text

    def number(self, given: object, place: str) -> float | None:
        """A finite number to 12 significant digits, as a number or as text; None, with a problem, where it is none."""
        try:
            exact = number_of(given)
        except ValueError as error:
            self.refuse(str(error), place)
            return None
        rounded = rounded_score(exact)
        if rounded != exact:
            self.rounded.append(exact)
        return rounded

    def error_of(self, given: object, place: str) -> float | None:
        """A standard error; None where the file says that there is none ("N/A", NaN)."""
        if not is_stated(given) or (isinstance(given, float) and math.isnan(given)):
            return None
        error = self.number(given, place)
        if error is not None and error < 0:
            self.refuse("a standard error cannot be below 0", place)
            return None
        return error

    def count_of(self, given: object, place: str) -> int | None:
        """A number of instances; None where none is stated."""
        if not is_stated(given) or (isinstance(given, float) and math.isnan(given)):
            return None
        count = self.number(given, place)
        if count is None:
            return None
        if count < 0 or count != int(count) or count >= 2**31:
            self.refuse("the number of instances must be a whole number from 0", place)
            return None
        return int(count)

    def count_of_run(
        self, effective: object, original: object, place: str, task: str, *, remark: str = ""
    ) -> int | None:
        """On how many instances a task was run; None where it is not stated. Warns of fewer than the task has.

        Args:
            effective: the number as the file states it.
            original: how many the task has, as the file states it.
            place: where both are.
            task: as a warning calls it.
            remark: what a warning says beside the numbers.
        """
        n_run, n_whole = self.count_of(effective, place), self.count_of(original, place)
        if n_run is not None and n_whole is not None and n_run < n_whole:
            self.warn(f"{self.source}, {task}: run with a limit, on {n_run} of {n_whole} instances{remark}")
        return n_run

    def add(self, record: Record) -> None:
        """Keep a record.

        Raises:
            InputError: there are more than are read.
        """
        if len(self.records) >= MAX_RECORDS:
            raise InputError([problem_in(f"more than {MAX_RECORDS:,} scores; import them in parts", self.source)])
        self.records.append(record)

    def done(self, format_key: str, format_name: str) -> Recognised:
        """What was read.

        Raises:
            InputError: something could not be read, or nothing was.
        """
        if not self.problems and not any(record.value is not None for record in self.records):
            why = f" ({'; '.join(self.notes[:3])})" if self.notes else ""
            self.problems.append(Problem(f"these files contain no scores{why}"))
        if self.problems:
            raise InputError(self.problems)
        systems = {record.system for record in self.records}
        metadata = {system: facts for system, facts in self.metadata.items() if system in systems}
        return Recognised(format_key, format_name, self.records, self.notes, self.warnings, metadata, self.rounded)


def number_of(given: object) -> float:
    """A finite number from a number or a text.

    Raises:
        ValueError: it is none.
    """
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError("this is not a number")  # noqa: TRY004 -- the caller collects one kind of error
    if isinstance(given, str) and not NUMBER.fullmatch(given.strip()):
        raise ValueError(f"{showable(given)!r} is not a number")
    try:
        number = float(given)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a score must be a finite number")
    return number


def is_stated(given: object) -> bool:
    """Whether something is where a score would: neither nothing nor a word for nothing."""
    return given is not None and not (isinstance(given, str) and given.strip().casefold() in NO_NUMBER)


def showable(text: str) -> str:
    """A text from a file as a message may repeat it."""
    return shorten(UNSHOWABLE.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split())))


def a_mapping(given: object) -> Mapping[Any, Any]:
    """The mapping itself; an empty one in place of anything else."""
    return given if isinstance(given, Mapping) else {}


def a_list(given: object) -> Sequence[Any]:
    """The list itself; an empty one in place of anything else."""
    return given if isinstance(given, list) else []
