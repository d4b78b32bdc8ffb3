"""Conditions on the weights: bounds on the weight of a set of tasks, inequalities between sets, an objective.

As Vote'n'Rank states them (Rofin et al. 2023, section 3.2). Weights are shares: over the voting tasks they sum to 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.weights import exact_weight
from ranking_engine.text.names import fold_name, listed, shorten

Row = list[Fraction]
Goal = Literal["minimise", "maximise"]


class ConditionError(ValueError):
    """A condition that cannot be read, or names what the benchmark does not have; the message is one line."""


@dataclass(frozen=True)
class TaskSet:
    """Some tasks, by name, and all voting tasks of some groups; a task named twice counts once."""

    tasks: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " + ".join([*map(_quoted, self.tasks), *(f"group:{_quoted(group)}" for group in self.groups)])

    def indicator(self, matrix: ScoreMatrix) -> Row:
        """Return 1 for each task of the set and 0 for the others, over the voting tasks of `matrix`.

        Raises:
            ConditionError: an unknown name, a task that does not vote, or an empty set.
        """
        members: set[int] = set()
        places = {fold_name(task): t for t, task in enumerate(matrix.task_names)}
        for name in self.tasks:
            t = places.get(fold_name(name))
            if t is None:
                check_no_number(name)
                raise ConditionError(f"unknown task {shorten(name)!r}; there are {listed(matrix.task_names, limit=10)}")
            if not matrix.votes[t]:
                why = "it is unordered" if matrix.directions[t] == 0 else "its weight is 0"
                raise ConditionError(f"the task {shorten(name)!r} does not vote: {why}")
            members.add(t)
        groups = {fold_name(group): group for group in matrix.groups if group is not None}
        for name in self.groups:
            group = groups.get(fold_name(name))
            if group is None:
                there_are = listed(sorted(groups.values()), limit=10) if groups else "none"
                raise ConditionError(f"unknown group {shorten(name)!r}; there are {there_are}")
            voting = {t for t in range(matrix.n_tasks) if matrix.groups[t] == group and matrix.votes[t]}
            if not voting:
                raise ConditionError(f"the group {shorten(name)!r} has no task of weight above 0")
            members |= voting
        if not members:
            raise ConditionError("a condition names no task")
        return [Fraction(t in members) for t in range(matrix.n_tasks) if matrix.votes[t]]


@dataclass(frozen=True)
class Bound:
    """at_least <= weight of the set <= at_most; None for one of them where there is no such bound."""

    of: TaskSet
    at_least: Fraction | None = None
    at_most: Fraction | None = None

    @property
    def sides(self) -> list[Bound]:
        """The lower and the upper bound, each by itself."""
        low = [] if self.at_least is None else [Bound(self.of, at_least=self.at_least)]
        return low + ([] if self.at_most is None else [Bound(self.of, at_most=self.at_most)])

    def __str__(self) -> str:
        if self.at_least == self.at_most:
            return f"{self.of} = {self.at_least}"
        if self.at_most is None:
            return f"{self.of} >= {self.at_least}"
        low = "" if self.at_least is None else f"{self.at_least} <= "
        return f"{low}{self.of} <= {self.at_most}"

    def rows(self, matrix: ScoreMatrix) -> list[Row]:
        """Return rows a with a @ w >= 0 exactly for the weights w, of sum 1, that keep the bound."""
        members = self.of.indicator(matrix)
        low = [] if self.at_least is None else [[entry - self.at_least for entry in members]]
        return low + ([] if self.at_most is None else [[self.at_most - entry for entry in members]])


@dataclass(frozen=True)
class Order:
    """The weight of one set is at least that of another."""

    more: TaskSet
    less: TaskSet

    def __str__(self) -> str:
        return f"{self.more} >= {self.less}"

    def rows(self, matrix: ScoreMatrix) -> list[Row]:
        """As for a bound."""
        pairs = zip(self.more.indicator(matrix), self.less.indicator(matrix), strict=True)
        return [[more - less for more, less in pairs]]


@dataclass(frozen=True)
class Objective:
    """Among the weights under which a system wins, those of the least or the most weight of a set."""

    goal: Goal
    of: TaskSet

    def __str__(self) -> str:
        return f"{self.goal} {self.of}"


@dataclass(frozen=True)
class Conditions:
    """What the weights have to satisfy, all of it, and at most one objective."""

    bounds: tuple[Bound, ...] = ()
    orders: tuple[Order, ...] = ()
    objective: Objective | None = None

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Conditions:
        """Read conditions such as these, one a text; empty texts are passed over.

        `CoLA + RTE >= 0.3`, `0.1 <= group:QA <= 1/2`, `"a + b" = 20%`, `CoLA >= RTE + WNLI`, `minimise group:QA`.
        Names are those of tasks, or of groups after `group:`; in double quotes where they hold `+`, `<`, `>`, `=`
        or are numbers. Names are looked up when the conditions are used.

        Raises:
            ConditionError: a text that cannot be read, or a second objective.
        """
        bounds: list[Bound] = []
        orders: list[Order] = []
        objective: Objective | None = None
        for text in texts:
            if not text.strip():
                continue
            if aim := _OBJECTIVE.match(text):
                if objective is not None:
                    raise ConditionError(f"{_excerpt(text)} is a second objective; there can be only one")
                goal: Goal = "minimise" if aim[1].lower().startswith("min") else "maximise"
                objective = Objective(goal, _set(aim[2], text))
                continue
            new_bounds, new_orders = _comparisons(text)
            bounds += new_bounds
            orders += new_orders
        return cls(tuple(bounds), tuple(orders), objective)

    @property
    def texts(self) -> tuple[str, ...]:
        """The conditions as text that `parse` reads: bounds, each side by itself, then orders, then the objective."""
        sides = [side for bound in self.bounds for side in bound.sides]
        return tuple(map(str, [*sides, *self.orders, *([self.objective] if self.objective else [])]))

    def check(self, matrix: ScoreMatrix) -> None:
        """Raise a ConditionError unless every name is that of a voting task or of a group with one."""
        self.rows(matrix)
        if self.objective is not None:
            self.objective.of.indicator(matrix)

    def rows(self, matrix: ScoreMatrix) -> list[Row]:
        """Return a row a over the voting tasks, with a @ w >= 0, for each of `texts` but the objective."""
        conditions: list[Bound | Order] = [*self.bounds, *self.orders]
        return [row for condition in conditions for row in condition.rows(matrix)]


_OBJECTIVE = re.compile(r"\s*(minimi[sz]e|maximi[sz]e)\s+(.+)", re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(r'\s*("(?:[^"]|"")*"|<=|>=|=|\+(?=\s)|≤|≥|[^\s"<>=≤≥]+)')
_LIKE_A_NUMBER = re.compile(
    r"[+-]?(?:nan|inf(?:inity)?|[.,]?[0-9][0-9.,_]*(?:e[+-]?[0-9]+)?(?:\s*/\s*[+-]?[0-9.,]+)?)\s*%?", re.IGNORECASE
)
_RELATIONS = {"<=": "<=", "≤": "<=", ">=": ">=", "≥": ">=", "=": "="}
_EXAMPLES = "expected something like `CoLA + RTE >= 0.3`, `CoLA >= RTE` or `minimise group:QA`"


def check_no_number(name: str) -> None:
    """Check that the name of an unknown task was not meant as a number.

    Raises:
        ConditionError: it was; the message says which numbers are read.
    """
    if _LIKE_A_NUMBER.fullmatch(name):
        raise ConditionError(
            f"{shorten(name)!r} is no share of the weight; write a number from 0 to 1, such as 0.3 or 1/3, or from 0% "
            "to 100%"
        )


def _comparisons(text: str) -> tuple[list[Bound], list[Order]]:
    parts: list[str] = [""]
    relations: list[str] = []
    for token in _tokens(text):
        if token in _RELATIONS:
            relations.append(_RELATIONS[token])
            parts.append("")
        else:
            parts[-1] += f" {token}"
    if not relations or not all(part.strip() for part in parts):
        raise ConditionError(f"{_excerpt(text)} is no condition; {_EXAMPLES}")
    sides: list[TaskSet | Fraction] = []
    for part in parts:
        number = _number(part)
        if number is not None and number > 1:
            check_no_number(part.strip())
        sides.append(_set(part, text) if number is None else number)
    bounds: list[Bound] = []
    orders: list[Order] = []
    for left, relation, right in zip(sides, relations, sides[1:], strict=False):
        pairs = {"<=": [(right, left)], ">=": [(left, right)], "=": [(left, right), (right, left)]}[relation]
        for more, less in pairs:
            match more, less:
                case TaskSet(), TaskSet():
                    orders.append(Order(more, less))
                case TaskSet(), Fraction():
                    bounds.append(Bound(more, at_least=less))
                case Fraction(), TaskSet():
                    bounds.append(Bound(less, at_most=more))
                case _:
                    raise ConditionError(f"{_excerpt(text)} compares two numbers; {_EXAMPLES}")
    # Two bounds of one text on the same set are one.
    by_set: dict[TaskSet, Bound] = {}
    for bound in bounds:
        other = by_set.get(bound.of, Bound(bound.of))
        lows = [b.at_least for b in (other, bound) if b.at_least is not None]
        highs = [b.at_most for b in (other, bound) if b.at_most is not None]
        by_set[bound.of] = Bound(bound.of, max(lows, default=None), min(highs, default=None))
    return list(by_set.values()), orders


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise ConditionError(f"{_excerpt(text)} is no condition; {_EXAMPLES}")
        tokens.append(match[1])
        position = match.end()
    return tokens


def _number(part: str) -> Fraction | None:
    text = part.strip()
    share, factor = (text[:-1], Fraction(1, 100)) if text.endswith("%") else (text, Fraction(1))
    if not re.match(r"[0-9.]", share):
        return None
    try:
        return exact_weight(share.strip()) * factor
    except ValueError:
        return None


def _set(part: str, text: str) -> TaskSet:
    tasks: list[str] = []
    groups: list[str] = []
    words: list[str] = []
    for word in [*_tokens(part), "+"]:
        if word != "+":
            words.append(word)
            continue
        name = " ".join(words)
        if not name:
            raise ConditionError(f"{_excerpt(text)} has a + without a task before or after it")
        is_group = name.lower().startswith("group:")
        name = name[6:].strip() if is_group else name
        if len(name) > 1 and name[0] == name[-1] == '"':
            name = name[1:-1].replace('""', '"')
        (groups if is_group else tasks).append(name)
        words = []
    return TaskSet(tuple(tasks), tuple(groups))


def _quoted(name: str) -> str:
    is_plain = re.fullmatch(r'[^\s"<>=≤≥+]+(?: [^\s"<>=≤≥+]+)*', name) and _number(name) is None
    return name if is_plain and not name.lower().startswith("group:") else '"' + name.replace('"', '""') + '"'


def _excerpt(text: str) -> str:
    return repr(shorten(text.strip()))
