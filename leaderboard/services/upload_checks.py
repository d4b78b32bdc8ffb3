"""What comes in is checked here, row by row, whatever the door: which system is meant, and what its scores are."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from leaderboard.models import Benchmark, Score, Submission, System, Task, User
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.selectors.audience import audience
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.services.instance_vectors import foreign_sets
from leaderboard.services.names import NearMisses
from ranking_engine.names import check_name, fold_name, shorten

FOLDED_LENGTH = 2 * NAME_LENGTH
ADDRESS_LENGTH = 500
DESCRIPTION_LENGTH = 5000
SHOWN_PROBLEMS = 100
is_web_address = URLValidator(schemes=["http", "https"])
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
UNSTORABLE = re.compile("[\\0\\ud800-\\udfff]")
NO_SCORE = {"missing": Score.MissingReason.NOT_REPORTED}


@dataclass(frozen=True)
class RawRow:
    """One system's scores as they came in: nothing checked."""

    system_name: str
    # Task key -> text or number; an empty text or None is a score that is not reported.
    scores: Mapping[str, str | float | None]
    organisation: str = ""
    url: str = ""
    description: str = ""
    line: int | None = None  # of the file that it stands in
    # Task key -> scores of single instances, as `instance_vectors.entry_of` packs them.
    instances: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where (`system_name`, a task's key, ...), in which line of a file, and what."""

    place: str
    message: str
    line: int | None = None
    place_name: str = ""  # what people call the place: a task's name, a column

    def __str__(self) -> str:
        parts = [f"line {self.line}" if self.line else "", f"column {self.place_name!r}" if self.place_name else ""]
        where = ", ".join(part for part in parts if part)
        return f"{where}: {self.message}" if where else self.message


@dataclass
class Problems:
    """All that is wrong with an upload."""

    found: list[Problem] = field(default_factory=list)

    def add(self, place: str, message: str, *, line: int | None = None, place_name: str = "") -> None:
        """Note a problem."""
        self.found.append(Problem(place, message, line, place_name))

    @property
    def by_place(self) -> dict[str, list[str]]:
        """The messages of each place, for a form with a field a place."""
        places: dict[str, list[str]] = {}
        for problem in self.found:
            places.setdefault(problem.place, []).append(problem.message)
        return places

    @property
    def lines(self) -> list[str]:
        """The problems for a page without fields: at most SHOWN_PROBLEMS, in the order of the file."""
        ordered = sorted(self.found, key=lambda problem: problem.line or 0)
        shown = [str(problem) for problem in ordered[:SHOWN_PROBLEMS]]
        return [*shown, f"and {len(ordered) - SHOWN_PROBLEMS} more"] if len(ordered) > SHOWN_PROBLEMS else shown

    def __bool__(self) -> bool:
        return bool(self.found)


class DraftError(ValueError):
    """An upload that cannot become a draft; `problems` says where and why."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("; ".join(problems.lines))
        self.problems = problems

    @property
    def in_words(self) -> str:
        """All that is wrong, for a place without fields."""
        return f"This can no longer be submitted: {'; '.join(self.problems.lines)}"


def parse_score(given: str | float | None, task: Task) -> float | None:
    """A score from a text or a number; None where there is none.

    Raises:
        ValueError: it is no number, not finite, or outside the task's stated range.
    """
    if given is None:
        return None
    shown = given.strip() if isinstance(given, str) else repr(given).removesuffix(".0")
    if not shown:
        return None
    if isinstance(given, str) and not NUMBER.match(shown):
        raise ValueError(
            f"{shown[:40]!r} is not a number; write 71.3, or leave the field empty where there is no score"
        )
    try:
        value = float(given)
    except OverflowError:  # a whole number beyond the greatest float
        value = math.inf
    if not math.isfinite(value):
        raise ValueError(f"{shown[:40]!r} is too large to be a score")
    if task.minimum is not None and value < task.minimum:
        raise ValueError(f"{shown[:40]} is below {task.minimum:g}, the least score of {task.name}")
    if task.maximum is not None and value > task.maximum:
        raise ValueError(f"{shown[:40]} is above {task.maximum:g}, the greatest score of {task.name}")
    return value


def board_systems(benchmark: Benchmark) -> list[BoardSystem]:
    """The systems of the benchmark's latest revision."""
    revision = benchmark.revisions.order_by("-number").first()
    return systems_at(revision) if revision else []


def check_rows(benchmark: Benchmark, owner: User, rows: Sequence[RawRow]) -> list[dict[str, Any]]:
    """The rows of an upload as a draft keeps them.

    Raises:
        DraftError: something in them cannot be stored.
    """
    check = _Check(benchmark, owner, n_rows=len(rows))
    checked = [check.row(row) for row in rows]
    if not rows:
        check.problems.add("rows", "there is no system; an upload has at least one")
    if not check.problems:
        for key, message, line in foreign_sets(benchmark, checked):
            name = check.tasks[key].name
            told = message if line else f"{name}: {message}"
            check.problems.add(key, told, line=line, place_name=name if line else "")
    if check.problems:
        raise DraftError(check.problems)
    return checked


class _Check:
    """What every row is held against, read once."""

    def __init__(self, benchmark: Benchmark, owner: User, *, n_rows: int) -> None:
        self.benchmark = benchmark
        self.problems = Problems()
        self.tasks = {task.key: task for task in Task.objects.filter(benchmark=benchmark, is_archived=False)}
        on_board = board_systems(benchmark)
        self.by_name = {fold_name(system.name): system for system in on_board}
        self.by_key = {system.key: system for system in on_board}
        looking = audience(owner, benchmark)
        self.hides_names = not (looking.sees_names and looking.sees_others)
        known = [] if self.hides_names else [system.name for system in on_board]
        self.near_misses = NearMisses(known, n_asked=n_rows)
        # Systems that were on the board once; one that only waits for a moderator is nobody's business.
        once = System.objects.filter(benchmark=benchmark, changes__isnull=False)
        self.once = dict(once.values_list("name_folded", "pk"))
        self.replaceable = Replaceable(owner, benchmark)
        self.seen: set[str] = set()

    def row(self, row: RawRow) -> dict[str, Any]:
        """One row as a draft keeps it; what is wrong with it is noted."""
        system = self.system(row)
        scores: dict[str, Any] = {}
        n_before = len(self.problems.found)
        for key, given in row.scores.items():
            task = self.tasks.get(key)
            if task is None:
                self.problems.add(key, f"{key!r} is not a task of {self.benchmark.name}", line=row.line)
                continue
            try:
                value = parse_score(given, task)
            except ValueError as error:
                self.problems.add(key, str(error), line=row.line, place_name=task.name if row.line else "")
                continue
            scores[key] = NO_SCORE if value is None else {"value": value}
        is_empty = not any("value" in score for score in scores.values())
        if is_empty and system and len(self.problems.found) == n_before:
            self.problems.add("scores", "no score is given; a submission has at least one", line=row.line)
        checked = {"system": system, "scores": scores, "line": row.line}
        return checked | {"instances": dict(row.instances)} if row.instances else checked

    def system(self, row: RawRow) -> dict[str, Any]:
        """Which system is meant: by name, then by key; else a new one, which is to be confirmed."""
        try:
            name = check_name(row.system_name)
        except ValueError as problem:
            self.problems.add("system_name", str(problem), line=row.line)
            return {}
        folded = fold_name(name)
        if len(folded) > FOLDED_LENGTH:  # a ligature is one letter of a name, and three when names are compared
            self.problems.add("system_name", f"the system name {shorten(name)!r} is too long", line=row.line)
            return {}
        found = self.by_name.get(folded) or self.by_key.get(name)
        full = found.name if found else name
        # A key is no way to learn the name that belongs to it, where names are hidden.
        self._check_once(full, name if self.hides_names else full, row.line)
        known_id = found.id if found else self.once.get(folded)
        if known_id and not self.replaceable(known_id) and self.hides_names:
            self.problems.add("system_name", f"{name} cannot be used; choose another name", line=row.line)
        elif known_id and not self.replaceable(known_id):
            self.problems.add(
                "system_name",
                f"{found.name if found else name} came onto the board through another account; only that account, a "
                f"moderator or an owner replaces its scores. Choose another name, or ask the benchmark's owners.",
                line=row.line,
            )
        self._check_about(row)
        return {
            "key": found.key if found else None,
            "name": found.name if found else name,
            "organisation": row.organisation,
            "url": row.url,
            "description": row.description,
            "near_misses": [] if found else self.near_misses.of(name),
        }

    def _check_once(self, name: str, given: str, line: int | None) -> None:
        if fold_name(name) in self.seen:
            message = f"{given} stands here more than once; a system has one row"
            self.problems.add("system_name", message, line=line)
        self.seen.add(fold_name(name))

    def _check_about(self, row: RawRow) -> None:
        """What a row says of its system beside the name; pages make a link of its address."""
        for place, text, most in (
            ("organisation", row.organisation, NAME_LENGTH),
            ("url", row.url, ADDRESS_LENGTH),
            ("description", row.description, DESCRIPTION_LENGTH),
        ):
            if len(text) > most:
                self.problems.add(place, f"{len(text)} characters; at most {most} are kept", line=row.line)
            if UNSTORABLE.search(text):
                self.problems.add(place, "it holds a character that cannot be stored", line=row.line)
        if row.url:
            try:
                is_web_address(row.url)
            except ValidationError:
                message = f"{row.url[:40]!r} is not an address that begins with http:// or https://"
                self.problems.add("url", message, line=row.line)


class Replaceable:
    """Whether a user may submit scores for a system that is, or was, on the board.

    Where a moderator decides about every submission and names are open, everyone may propose; else only who brought
    the system onto the board, moderators and owners replace its scores.
    """

    def __init__(self, user: User, benchmark: Benchmark) -> None:
        looking = audience(user, benchmark)
        is_moderated = benchmark.submission_policy == Benchmark.SubmissionPolicy.MODERATED
        may_propose = is_moderated and looking.sees_names and looking.sees_others
        self.all = may_propose or looking.may_moderate
        self.own: Iterable[int] = ()
        if not self.all:
            states = [Submission.State.ACCEPTED, Submission.State.WITHDRAWN]
            own = Submission.objects.filter(benchmark=benchmark, batch__uploader=user, state__in=states)
            self.own = set(own.values_list("system_id", flat=True))

    def __call__(self, system_id: int) -> bool:
        """Whether they may for this system."""
        return self.all or system_id in self.own
