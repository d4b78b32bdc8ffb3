"""Votes that someone brings along, from their text to ratings: read and rated in one child process."""

from dataclasses import dataclass, field
from typing import Any

from ranking_engine.files.problems import InputError
from ranking_engine.votes.reading import read_votes
from ranking_engine.votes.report import flip_sentence, vote_report

NAME = "the votes"
MAX_CELLS = 5_000  # of the table of categories, which a page can take


@dataclass(frozen=True)
class CategoryRow:
    """A category, the number of its votes, and the points of each system; None for one without."""

    name: str
    n_votes: int
    points: list[float | None]


def category_rows(report: dict[str, Any]) -> list[CategoryRow]:
    """The ratings by category of a report, systems in the order of its ratings, as far as a page can take them."""
    systems = [row["system"] for row in report.get("systems", ())]
    n_rows = MAX_CELLS // max(1, len(systems))
    return [
        CategoryRow(part["category"], part["n_votes"], [part["points"].get(system) for system in systems])
        for part in report.get("categories", {}).get("categories", ())[:n_rows]
    ]


@dataclass(frozen=True)
class RatedVotes:
    """What votes say, or why they cannot be read or rated.

    Attributes:
        report: as `vote_report` has it; None where there are problems.
        problems: sentences, each with its line.
        first_place: how few votes decide the first place.
    """

    report: dict[str, Any] | None = None
    problems: list[str] = field(default_factory=list)
    first_place: str = ""

    @property
    def categories(self) -> list[CategoryRow]:
        """The ratings by category, systems in the order of the ratings."""
        return category_rows(self.report or {})

    @property
    def category_problems(self) -> list[str]:
        """What is missing of the ratings by category, and why."""
        categories = (self.report or {}).get("categories", {})
        own = [f"{part['category']}: {part['problem']}" for part in categories.get("categories", ()) if part["problem"]]
        parts = categories.get("categories", ())
        n_left_out = len(parts) - len(self.categories)
        more = [f"{n_left_out:,} more categories are not shown; `plurank votes` has all"] if n_left_out else []
        return [*own[:MAX_CELLS], *categories.get("problems", ())[:MAX_CELLS], *more]


def rated_votes(data: bytes, model: str, cluster: str, n_systems: int, n_votes: int) -> RatedVotes:
    """Read votes and rate them.

    Args:
        data: CSV, JSON lines or a JSON list.
        model, cluster: as for `vote_report`.
        n_systems, n_votes: that are rated at most.
    """
    try:
        votes = read_votes(data, name=NAME, max_votes=n_votes, formats=("csv", "jsonl", "json"))
        if votes.n_systems > n_systems:
            return RatedVotes(problems=[f"{votes.n_systems:,} systems; at most {n_systems:,} are rated here"])
        report = vote_report(votes, model, cluster=cluster)
    except InputError as error:
        return RatedVotes(problems=error.problems.lines)
    except ValueError as error:
        return RatedVotes(problems=[str(error)])
    return RatedVotes(report, first_place=flip_sentence(report["first_place"]))
