"""What is wrong with what was sent in: in which file, where, and what; for forms, programs and importers alike."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

SHOWN_PROBLEMS = 100
KEPT_PROBLEMS = 2000  # a form has a field for each of 1,000 tasks; the others are counted
MAX_PLACES = 3  # of one cause that a page lists line by line: more are counted, and told once


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        message: what.
        place: where, for programs and forms: `system_name`, a task's key, `systems[0].name`.
        line: of a file.
        place_name: what people call the place: a task's name, a column.
        source: the file and where in it, as people read it.
        cause: what to say of many places with the same cause, as in "12 ..."; empty where each place has its own.
    """

    message: str
    place: str = ""
    line: int | None = None
    place_name: str = ""
    source: str = ""
    cause: str = ""

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        column = f"column {self.place_name!r}" if self.place_name else ""
        where = ", ".join(part for part in (self.source, line, column) if part)
        return f"{where}: {self.message}" if where else self.message


@dataclass
class Problems:
    """All that is wrong with what was sent in."""

    listed: list[Problem] = field(default_factory=list)
    n_more: int = 0  # that were not kept

    def add(self, place: str, message: str, *, line: int | None = None, place_name: str = "", cause: str = "") -> None:
        """Note a problem."""
        if len(self.listed) < KEPT_PROBLEMS:
            self.listed.append(Problem(message, place, line, place_name, cause=cause))
        else:
            self.n_more += 1

    @property
    def by_place(self) -> dict[str, list[str]]:
        """The messages of each place, for a form with a field a place."""
        places: dict[str, list[str]] = {}
        for problem in self.listed:
            places.setdefault(problem.place, []).append(problem.message)
        return places

    @property
    def lines(self) -> list[str]:
        """The problems for a page without fields: at most SHOWN_PROBLEMS, in the order of the file.

        One cause in many lines is one problem, with how many there are and the first lines.
        """
        ordered = sorted(self.listed, key=lambda problem: problem.line or 0)
        by_cause: dict[tuple[str, str, str], list[Problem]] = {}
        for number, problem in enumerate(ordered):
            is_shared = problem.cause and problem.line
            key = ("", problem.place_name, problem.cause) if is_shared else (str(number), "", "")
            by_cause.setdefault(key, []).append(problem)
        texts: list[tuple[int, str]] = []
        for same in by_cause.values():
            if len(same) > MAX_PLACES:
                where = ", ".join(str(problem.line) for problem in same[:MAX_PLACES])
                column = f"column {same[0].place_name!r}: " if same[0].place_name else ""
                text = f"{column}{len(same):,} {same[0].cause}; first on lines {where}"
                texts.append((same[0].line or 0, text))
            else:
                texts += [(problem.line or 0, str(problem)) for problem in same]
        texts.sort(key=lambda text: text[0])
        first = [text for _, text in texts[:SHOWN_PROBLEMS]]
        n_more = len(texts) + self.n_more - len(first)
        return [*first, f"and {n_more} more"] if n_more else first

    def __bool__(self) -> bool:
        return bool(self.listed)


class InputError(ValueError):
    """Something that was sent in and cannot be taken; `problems` say where and why.

    Args:
        problems: all of them.
    """

    def __init__(self, problems: Problems | Iterable[Problem]) -> None:
        self.problems = problems if isinstance(problems, Problems) else Problems(list(problems))
        super().__init__("; ".join(self.problems.lines))

    def __reduce__(self) -> tuple[type["InputError"], tuple[Problems]]:
        return type(self), (self.problems,)

    @classmethod
    def of(cls, message: str, place: str = "") -> "InputError":
        """The error of one problem."""
        return cls([Problem(message, place)])

    def at(self, placed: Callable[[Problem], Problem]) -> "InputError":
        """The same problems, each where `placed` says that it is."""
        return InputError(map(placed, self.problems.listed))
