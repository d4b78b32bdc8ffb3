"""Categories of votes as tasks: a table of ratings by category, to which every rule applies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.text.names import shorten
from ranking_engine.votes.data import NO_CATEGORY, Votes
from ranking_engine.votes.ratings import POINTS, rate

MAX_CATEGORIES = 1_000
WITHOUT_CATEGORY = "no category"
ALL_VOTES = "all votes"


@dataclass(frozen=True, eq=False)
class CategoryScores:
    """Ratings by category.

    Attributes:
        matrix: systems x categories, ratings in points; missing where a system is not among those of its category that
            the votes connect. Systems without any rating are left out.
        errors: as `matrix.values`, standard errors in points; NaN without.
        n_votes: of each category.
        n_of_systems: as `matrix.values`, how many votes of the category each system is in.
        problems: by category, what is missing and why.
    """

    matrix: ScoreMatrix
    errors: FloatArray
    n_votes: tuple[int, ...]
    n_of_systems: NDArray[np.intp]
    problems: dict[str, str]

    @property
    def board_errors(self) -> FloatArray:
        """The errors that a board states of these scores: `errors` times the root of n / (n - 1).

        A board takes the errors of two scores as independent. Those of ratings relative to the mean of n systems are
        not: what one system gains, the others lose. With the factor the squares of two errors add up to that of the
        difference where all systems have the same error, and always of two systems.
        """
        n_rated = (~np.isnan(self.matrix.values)).sum(axis=0)
        return np.asarray(self.errors * np.sqrt(n_rated / (n_rated - 1)))


def category_scores(
    votes: Votes, model: str = "half_wins", *, cluster: str = "vote", prior: float = 0.0
) -> CategoryScores:
    """Rate the systems in each category by itself.

    A rating is relative to the mean of the systems of its category, so that ratings of two categories with different
    systems do not compare; ranks within a category do not depend on that. Votes without a category are one of their
    own; votes that have none at all are the one task "all votes". Where the votes of a category do not connect its
    systems, the largest connected group is rated.

    Args:
        votes: with categories.
        model, cluster, prior: as for `rate`.

    Raises:
        ValueError: an argument is not as described, there are more than MAX_CATEGORIES, or no category has two systems
            that can be compared.
    """
    n_categories = len(votes.category_names)
    if n_categories > MAX_CATEGORIES:
        raise ValueError(f"{n_categories:,} categories; at most {MAX_CATEGORIES:,} can be tasks")
    place = {name: i for i, name in enumerate(votes.system_names)}
    numbers = [*range(n_categories), *([NO_CATEGORY] if (votes.categories == NO_CATEGORY).any() else [])]
    columns, errors, counts, names, n_votes, problems = [], [], [], [], [], {}
    for number in numbers:
        name = (
            votes.category_names[number]
            if number != NO_CATEGORY
            else ALL_VOTES
            if n_categories == 0
            else WITHOUT_CATEGORY
        )
        chosen = votes.where((votes.categories == number) & (votes.weights > 0)).compact()
        ratings = rate(chosen, model, cluster=cluster, prior=prior)
        members = ratings.connectedness.members(ratings.connectedness.largest)
        if len(members) < 2 or not ratings.is_fitted:
            reason = ratings.problems[-1] if ratings.problems else "its votes connect no two systems"
            problems[name] = f"no ratings: {reason}"
            continue
        if n_missing := chosen.n_systems - len(members):
            problems[name] = f"{n_missing} of {chosen.n_systems} systems are not connected with the others"
        rows = [place[chosen.system_names[i]] for i in members]
        points, points_errors = np.full((2, votes.n_systems), np.nan)
        points[rows] = ratings.points[members]
        points_errors[rows] = POINTS * ratings.intervals.errors[members]
        columns.append(points)
        errors.append(points_errors)
        counts.append(np.zeros(votes.n_systems, dtype=np.intp))
        counts[-1][[place[name] for name in chosen.system_names]] = ratings.n_votes
        names.append(name)
        n_votes.append(chosen.n_votes)
    if not columns:
        listing = "; ".join(f"{shorten(name)}: {problem}" for name, problem in list(problems.items())[:3])
        raise ValueError(f"no category has ratings ({listing})" if listing else "there are no votes")
    values = np.stack(columns, axis=1)
    has_any = ~np.isnan(values).all(axis=1)
    systems = [name for name, is_kept in zip(votes.system_names, has_any, strict=True) if is_kept]
    matrix = ScoreMatrix(values[has_any], system_names=systems, task_names=names)
    errors_of, counts_of = np.stack(errors, axis=1)[has_any], np.stack(counts, axis=1)[has_any]
    return CategoryScores(matrix, errors_of, tuple(n_votes), counts_of, problems)
