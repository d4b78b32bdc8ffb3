"""What is wrong with an upload: where, in which line of a file, and what, for forms, pages and the API alike."""

from dataclasses import dataclass, field

SHOWN_PROBLEMS = 100
KEPT_PROBLEMS = 2000  # a form has a field for each of 1,000 tasks; the others are counted


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
    n_more: int = 0  # that were not kept

    def add(self, place: str, message: str, *, line: int | None = None, place_name: str = "") -> None:
        """Note a problem."""
        if len(self.found) < KEPT_PROBLEMS:
            self.found.append(Problem(place, message, line, place_name))
        else:
            self.n_more += 1

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
        n_more = len(ordered) + self.n_more - len(shown)
        return [*shown, f"and {n_more} more"] if n_more else shown

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
