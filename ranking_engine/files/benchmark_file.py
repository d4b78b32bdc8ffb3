"""benchmark.toml: what the tasks, groups and systems of a scores.csv are, and how they vote.

    gamma = 95              # the optimality threshold, in the tasks' unit
    policy = "median"       # for missing scores; commands and Python call it `missing`
    aggregation = "basic"   # or "weighted", "balanced", "two_step": how groups of tasks count
    default_rule = "borda"  # by which a site orders the board; commands and Python rank by all
    variants = ["copeland[variant=lower]", "positional[vector=12,10,8]"]    # ranked beside the rules

    [[task]]
    name = "RTE"            # also key, group, weight, metric, unit, minimum, maximum, chance
    direction = "higher"    # or "lower", or "unordered", which never votes
    precision = 0.1         # the smallest difference that means anything: scores are rounded to its multiples
    cluster = "inference"   # tasks of one cluster are not independent; without it, those of one group

    [[group]]
    name = "inference"      # also key, weight
    weight = 2

    [[system]]
    name = "T5"
    key = "t5"
    baseline = "human"      # or "other": what others are measured against; marks the row, and no ranking depends on it
    metadata = { parameters = 11e9 }

    [[field]]               # of the systems' metadata; also key, unit, choices, is_column
    name = "Parameters"
    kind = "number"         # or "text", "date", "yes_no", "choice", "link"

Other values at the top (title, source, licence, ...) are kept as metadata.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from ranking_engine.catalogue.registry import read_variants
from ranking_engine.core.aggregation import AGGREGATIONS
from ranking_engine.core.decimals import exact_precision
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.weights import exact_weight
from ranking_engine.files.bounded_toml import read_toml
from ranking_engine.files.metadata import MetadataField, Value, read_fields, read_values
from ranking_engine.files.tables import Table, TableError, TableIssue
from ranking_engine.text.characters import line_problem
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import clean_name, fold_name, name_problem, shorten

BASELINES = ("none", "human", "other", "guest")
OF_BOARD = ("gamma", "policy", "variants")  # at the top, and no metadata
DIRECTIONS: Mapping[str, int] = {"higher": 1, "lower": -1, "unordered": 0}
DIRECTION_NAMES: Mapping[int, str] = {number: name for name, number in DIRECTIONS.items()}
METADATA = frozenset({"tags"})  # kept as metadata although they look like a slip for a section
OF_TASKS = ("direction", "weight", "minimum", "maximum", "chance", "precision", "cluster")  # at the top no metadata
ELSEWHERE: Mapping[str, str] = {  # what an option of commands and of Python is called here
    "missing": "this is called `policy` here",
    "ties": "commands and Python have this option, and no file",
    "lower_is_better": 'a [[task]] says direction = "lower"',
    "weights": "each [[task]] states its weight",
    "group_weights": "each [[group]] states its weight",
    "clusters": "each [[task]] states its cluster",
    **dict.fromkeys(OF_TASKS, "this belongs in a [[task]]"),
}
SECTIONS: Mapping[str, frozenset[str]] = {
    "task": frozenset({
        "name", "key", "direction", "group", "weight", "metric", "unit", "minimum", "maximum", "chance", "precision",
        "cluster",
    }),
    "group": frozenset({"name", "key", "weight"}),
    "field": frozenset({"name", "key", "kind", "unit", "choices", "is_column"}),
    "system": frozenset({"name", "key", "baseline", "metadata"}),
}  # fmt: skip


@dataclass(frozen=True)
class TaskEntry:
    """A `[[task]]`: what is not stated has its default."""

    name: str
    key: str | None = None
    direction: int = 1
    group: str | None = None
    weight: Fraction = Fraction(1)
    metric: str | None = None
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    chance: float | None = None
    precision: float | None = None
    cluster: str | None = None
    is_direction_stated: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class BenchmarkFile:
    """The contents of a benchmark.toml.

    Attributes:
        source: what errors call the file.
        text: the file itself, in which errors look for their line.
        metadata: the values at the top other than gamma, policy and variants.
        tasks: in the order of the file.
        group_weights: the stated groups, those without a task among them; one without a weight weighs 1.
        group_keys, system_keys: the stated groups and systems with their keys, None where none is stated.
        system_baselines: "human" or "other" of the systems that others are measured against, by name.
        metadata_fields: what is said of systems beside scores.
        system_metadata: the values of these fields that are stated, by the name of a system.
        gamma, policy: None where not stated.
        variants: keys of variants of rules that are ranked too.
    """

    source: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tasks: tuple[TaskEntry, ...] = ()
    group_weights: Mapping[str, Fraction] = field(default_factory=dict)
    group_keys: Mapping[str, str | None] = field(default_factory=dict)
    system_keys: Mapping[str, str | None] = field(default_factory=dict)
    system_baselines: Mapping[str, str] = field(default_factory=dict)
    metadata_fields: tuple[MetadataField, ...] = ()
    system_metadata: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    gamma: float | None = None
    policy: str | None = None
    variants: tuple[str, ...] = ()

    @property
    def aggregation(self) -> str | None:
        """How groups of tasks count, if the file states one of `AGGREGATIONS`; a site writes and reads it."""
        return self.metadata.get("aggregation")

    @property
    def directed_tasks(self) -> list[str]:
        """The names of the tasks whose direction the file states."""
        return [task.name for task in self.tasks if task.is_direction_stated]

    def fail(self, message: str, section: str | None = None, index: int = 0, key: str | None = None) -> NoReturn:
        """Raise a TableError about `key` of the `index`-th entry (from 0) of `section`, or of the top.

        The TOML parser tells no lines, so this looks in the text for that of the key, else for that of the section.
        """
        place: int | None = None
        current: str | None = None
        count = -1
        states_key = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=" if key is not None else r"(?!)")
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := re.match(r"\s*\[\[?\s*([^\]\s]+)\s*\]", line):
                if place is not None and section is not None:
                    break
                current = header[1].strip("\"'")
                count += current == section
                is_here = (current == section and count == index) or (section is None and current == key)
                place = number if is_here else place
            elif current == section and (section is None or count == index) and states_key.match(line):
                place = number
                break
        raise TableError([TableIssue(place, None, None, message)], self.source)


def read_benchmark(source: str | Path | bytes, *, name: str | None = None) -> BenchmarkFile:
    """Read a benchmark.toml from a path or from its bytes.

    Raises:
        TableError: with the line, where it can be told; also where the file is beyond a bound of `bounded_toml`.
        OSError: the file cannot be opened.
    """
    if isinstance(source, (str, Path)):
        name, source = name or str(source), Path(source).read_bytes()
    called = name or "benchmark.toml"
    text, raw = read_toml(source, called)
    return _BenchmarkParser(BenchmarkFile(called, text), raw).parse()


class _BenchmarkParser:
    """Turns the parsed TOML into a BenchmarkFile; `blank` is an empty one, which places the errors."""

    def __init__(self, blank: BenchmarkFile, raw: dict[str, Any]) -> None:
        self.blank, self.raw, self.fail = blank, raw, blank.fail

    def parse(self) -> BenchmarkFile:
        metadata = {}
        known = CloseNames([*SECTIONS, *OF_BOARD])
        for key, value in self.raw.items():
            if key in SECTIONS or key in OF_BOARD:
                continue
            hint = f" at the top: {ELSEWHERE[key]}" if key in ELSEWHERE else known.suggestion(key, cutoff=0.75)
            is_table = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value))
            if (hint and key not in METADATA) or is_table:
                self.fail(f"unknown key {shorten(key)!r}{hint or known.suggestion(key)}", key=key)
            metadata[key] = value
        for section in SECTIONS:
            self._check_section(section)
        policy, _ = self._choice("policy", MISSING_POLICIES), self._choice("aggregation", AGGREGATIONS)
        try:
            declared = read_fields(self.raw.get("field", []))
        except ValueError as error:
            self.fail(str(error), key="field")
        baselines, system_metadata = {}, {}
        for k, entry in enumerate(self.raw.get("system", [])):
            baseline = entry.get("baseline", BASELINES[0])
            if baseline not in BASELINES:
                self.fail(f"baseline is {baseline!r}; expected one of {', '.join(BASELINES)}", "system", k, "baseline")
            if baseline != BASELINES[0]:
                baselines[self._name("system", k)] = baseline
            written = entry.get("metadata", {})
            if not isinstance(written, dict):
                self.fail("metadata is no table such as { parameters = 7e9 }", "system", k, "metadata")
            texts = {key: value.isoformat() if isinstance(value, date) else value for key, value in written.items()}
            system_metadata[self._name("system", k)], problems = read_values(declared, texts)
            for label, problem in problems:
                self.fail(f"metadata, {shorten(label)}: {problem}", "system", k, "metadata")
        variants = self.raw.get("variants", [])
        if not isinstance(variants, list) or not all(isinstance(variant, str) for variant in variants):
            self.fail('`variants` is not a list of texts such as "copeland[variant=lower]"', key="variants")
        try:
            variants = read_variants(variants)
        except ValueError as error:
            self.fail(f"`variants`: {error}", key="variants")
        group_keys = self._keys("group")
        return BenchmarkFile(
            source=self.blank.source,
            text=self.blank.text,
            metadata=metadata,
            tasks=tuple(self._task(k) for k in range(len(self.raw.get("task", [])))),
            group_weights={name: self._weight("group", k) for k, name in enumerate(group_keys)},
            group_keys=group_keys,
            system_keys=self._keys("system"),
            system_baselines=baselines,
            metadata_fields=declared,
            system_metadata=system_metadata,
            gamma=self._number(None, 0, "gamma"),
            policy=policy,
            variants=variants,
        )

    def _choice(self, key: str, choices: Iterable[str]) -> str | None:
        value = self.raw.get(key)
        if value is not None and value not in list(choices):
            self.fail(f"{key} is {value!r}; expected one of {', '.join(choices)}", key=key)
        return value

    def _check_section(self, section: str) -> None:
        entries = self.raw.get(section, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.fail(f"`{section}` must be written as [[{section}]]", key=section)
        seen: set[str] = set()
        for k, entry in enumerate(entries):
            for key in entry:
                if key not in SECTIONS[section]:
                    hint = CloseNames(SECTIONS[section]).suggestion(key)
                    self.fail(f"unknown key {shorten(key)!r} in [[{section}]]{hint}", section, k, key)
            name = self._name(section, k)
            if fold_name(name) in seen:
                self.fail(f"the {section} {shorten(name)!r} is stated twice", section, k, "name")
            seen.add(fold_name(name))
        if section == "group":  # one may have lost its last task, but not look like a slip of one that tasks name
            tasks, names = self.raw.get("task", []), [self._name(section, k) for k in range(len(entries))]
            named = {self._label(k, "group") for k in range(len(tasks))}
            unstated = CloseNames(label for label in named.difference(names) if label)
            for k, name in enumerate(names):
                if name not in named and ((hint := unstated.suggestion(name)) or not tasks):
                    self.fail(f"no task belongs to the group {shorten(name)!r}{hint}", section, k, "name")

    def _name(self, section: str, k: int) -> str:
        name = self._text(section, k, "name") if "name" in self.raw[section][k] else ""
        if problem := name_problem(name, allow_formula=True):
            self.fail(f"the name of a [[{section}]] {problem}", section, k, "name")
        return clean_name(name)

    def _task(self, k: int) -> TaskEntry:
        entry = self.raw["task"][k]
        text = {key: self._text("task", k, key) for key in ("key", "metric", "unit") if key in entry}
        direction = entry.get("direction", "higher")
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            self.fail(f"direction is {direction!r}; expected one of {', '.join(DIRECTIONS)}", "task", k, "direction")
        precision = entry.get("precision")
        try:
            precision = None if precision is None else exact_precision(precision)
        except ValueError as error:
            self.fail(str(error), "task", k, "precision")
        minimum, maximum = self._number("task", k, "minimum"), self._number("task", k, "maximum")
        if minimum is not None and maximum is not None and minimum > maximum:
            self.fail(f"the minimum {minimum:g} is above the maximum {maximum:g}", "task", k, "minimum")
        return TaskEntry(
            name=self._name("task", k),
            direction=DIRECTIONS[direction],
            is_direction_stated="direction" in entry,
            group=self._label(k, "group"),
            weight=self._weight("task", k),
            minimum=minimum,
            maximum=maximum,
            chance=self._number("task", k, "chance"),
            precision=precision,
            cluster=self._label(k, "cluster"),
            **text,
        )

    def _label(self, k: int, key: str) -> str | None:
        """The group or the cluster of a task; an empty text is none."""
        label = clean_name(self._text("task", k, key)) if key in self.raw["task"][k] else ""
        if label and (problem := name_problem(label, allow_formula=True)):
            self.fail(f"the {key} of a [[task]] {problem}", "task", k, key)
        return label or None

    def _keys(self, section: str) -> dict[str, str | None]:
        return {
            self._name(section, k): self._text(section, k, "key") if "key" in entry else None
            for k, entry in enumerate(self.raw.get(section, []))
        }

    def _weight(self, section: str, k: int) -> Fraction:
        try:
            return exact_weight(self.raw[section][k].get("weight", 1))
        except ValueError as error:
            self.fail(str(error), section, k, "weight")

    def _number(self, section: str | None, k: int, key: str) -> float | None:
        value = (self.raw[section][k] if section else self.raw).get(key)
        if value is None:
            return None
        number = math.nan
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            with suppress(OverflowError):
                number = float(value)
        if not math.isfinite(number):
            self.fail(f"{key} is {shorten(str(value))!r}; expected a finite number", section, k, key)
        return number

    def _text(self, section: str, k: int, key: str) -> str:
        value = self.raw[section][k][key]
        if not isinstance(value, str):
            self.fail(f"{key} is {shorten(str(value))!r}; expected a text", section, k, key)
        # Names have a check of their own.
        if key not in ("name", "group", "cluster") and (problem := line_problem(value)):
            self.fail(f"{key} {problem}", section, k, key)
        return value


def to_matrix(table: Table, benchmark: BenchmarkFile | None = None) -> ScoreMatrix:
    """Join a table with its benchmark file; without one, all tasks are higher-is-better with weight 1.

    Columns and rows match by name, then by key. Every column must be a stated task and every stated task and
    system must be in the table, unless no task is stated at all; a near miss is an error with a suggestion.
    """
    if benchmark is None:
        return ScoreMatrix(table.values, system_names=table.system_names, task_names=table.task_names)
    _match_all(benchmark, "system", benchmark.system_keys.items(), table.system_names)
    tasks = [TaskEntry(name) for name in table.task_names]
    if benchmark.tasks:
        matched = _match_all(benchmark, "task", [(task.name, task.key) for task in benchmark.tasks], table.task_names)
        for column, name in enumerate(table.task_names, start=2):
            if column - 2 not in matched:
                hint = CloseNames([task.name for task in benchmark.tasks]).suggestion(name)
                message = f"unknown task: {benchmark.source} does not state it{hint}"
                raise TableError([TableIssue(table.header_line, column, name, message)], table.source)
        tasks = [benchmark.tasks[matched[column]] for column in range(len(table.task_names))]
    groups = {task.group for task in tasks}
    if not any(task.weight for task in tasks):
        benchmark.fail("the weights of all tasks are zero", "task", 0, "weight")
    return ScoreMatrix(
        table.values,
        system_names=table.system_names,
        task_names=[task.name for task in tasks],
        directions=[task.direction for task in tasks],
        weights=[task.weight for task in tasks],
        groups=[task.group for task in tasks],
        group_weights={name: weight for name, weight in benchmark.group_weights.items() if name in groups},
        gamma=benchmark.gamma,
        minimum=[task.minimum for task in tasks],
        maximum=[task.maximum for task in tasks],
        chance=[task.chance for task in tasks],
        precision=[task.precision for task in tasks],
        clusters=[task.cluster for task in tasks],
    )


def _match_all(
    benchmark: BenchmarkFile, section: str, entries: Iterable[tuple[str, str | None]], names: tuple[str, ...]
) -> dict[int, int]:
    """Return for each matched position in `names` the index of its entry, given as (name, key)."""
    positions = {fold_name(name): position for position, name in enumerate(names)}
    matched: dict[int, int] = {}
    for k, (name, key) in enumerate(entries):
        position = positions.get(fold_name(name), positions.get(fold_name(key)) if key else None)
        if position is None:
            hint = CloseNames(names).suggestion(name)
            benchmark.fail(f"unknown {section} {shorten(name)!r}: the table has none{hint}", section, k, "name")
        matched[position] = k
    return matched
