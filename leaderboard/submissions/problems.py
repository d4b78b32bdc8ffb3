"""What is wrong with what was sent in: in which file, where, and what; for forms, programs and importers alike."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

SHOWN_PROBLEMS = 100
KEPT_PROBLEMS = 2000  # a form has a field for each of 1,000 tasks; the others are counted


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        message: what.
        place: where, for programs and forms: `system_name`, a task's key, `systems[0].name`.
        line: of a file.
        place_name: what people call the place: a task's name, a column.
        source: the file and where in it, as people read it.
    """

    message: str
    place: str = ""
    line: int | None = None
    place_name: str = ""
    source: str = ""

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

    def add(self, place: str, message: str, *, line: int | None = None, place_name: str = "") -> None:
        """Note a problem."""
        if len(self.listed) < KEPT_PROBLEMS:
            self.listed.append(Problem(message, place, line, place_name))
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
        """The problems for a page without fields: at most SHOWN_PROBLEMS, in the order of the file."""
        ordered = sorted(self.listed, key=lambda problem: problem.line or 0)
        first = [str(problem) for problem in ordered[:SHOWN_PROBLEMS]]
        n_more = len(ordered) + self.n_more - len(first)
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

    @classmethod
    def of(cls, message: str, place: str = "") -> "InputError":
        """The error of one problem."""
        return cls([Problem(message, place)])

    def at(self, placed: Callable[[Problem], Problem]) -> "InputError":
        """The same problems, each where `placed` says that it is."""
        return InputError(map(placed, self.problems.listed))

    @property
    def in_words(self) -> str:
        """All that is wrong, for a place without fields."""
        return f"This can no longer be submitted: {'; '.join(self.problems.lines)}"


class SubmissionError(ValueError):
    """A step that cannot be taken now."""


class StalePreviewError(SubmissionError):
    """The board moved on since the preview that was confirmed."""


class NewSystemError(SubmissionError):
    """The draft names systems that are not on the board, and nobody said that they are to be created."""


class QuotaError(SubmissionError):
    """No more may be submitted now; the message says how many were and when there will be more."""
