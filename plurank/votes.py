"""Votes: which of two systems was better; their ratings, and boards whose tasks are the categories of votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurank.board import Board
from plurank.tables import ResultTable
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.text.names import shorten
from ranking_engine.votes.categories import category_scores
from ranking_engine.votes.columns import winner_of
from ranking_engine.votes.data import Votes
from ranking_engine.votes.elo import elo
from ranking_engine.votes.flips import fewest_votes
from ranking_engine.votes.ratings import POINTS, Ratings, rate
from ranking_engine.votes.reading import read_votes as votes_of_file
from ranking_engine.votes.report import flip_report, flip_sentence, system_rows


class VoteSet:
    """Votes on pairs of systems, one entry per vote in every argument.

    Args:
        first, second: the names of the two systems.
        winners: who won: "a" or "model_a", "b" or "model_b", the winner's name, "tie", or "both_bad".
        weights: how much each vote counts; default 1.
        categories, voters, prompts: names, None where there is none.
        times: numbers that grow with time, for Elo ratings.
        covariates: by name, what else may have decided votes, as differences: the first system's less the second's.

    Raises:
        ValueError: something cannot be read; the message names the vote, or the argument.

    >>> votes = VoteSet(["A", "B", "A"], ["B", "A", "B"], ["A", "A", "tie"])
    >>> votes.rate()["system"]
    ['A', 'B']
    """

    def __init__(
        self,
        first: Sequence[str],
        second: Sequence[str],
        winners: Sequence[object],
        *,
        weights: Sequence[float] | None = None,
        categories: Sequence[str | None] | None = None,
        voters: Sequence[str | None] | None = None,
        prompts: Sequence[str | None] | None = None,
        times: Sequence[float] | None = None,
        covariates: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        outcomes = []
        for k, row in enumerate(zip(winners, first, second, strict=True), start=1):
            outcome = winner_of(*row)
            if outcome is None:
                raise ValueError(f"vote {k:,}: {shorten(str(row[0]))!r} is no outcome; expected a, b, tie or both_bad")
            outcomes.append(outcome)
        self.votes = Votes.of(
            list(first), list(second), outcomes, weights=weights, categories=categories, voters=voters,
            prompts=prompts, times=times, covariates=dict(covariates or {}),
        )  # fmt: skip
        """The engine's arrays."""

    @classmethod
    def of(cls, votes: Votes) -> VoteSet:
        """Return the votes of the engine's arrays."""
        vote_set = cls.__new__(cls)
        vote_set.votes = votes
        return vote_set

    def __len__(self) -> int:
        return self.votes.n_votes

    def __repr__(self) -> str:
        return f"VoteSet({self.votes.n_votes} votes, {self.votes.n_systems} systems)"

    def rate(self, model: str = "half_wins", **settings: Any) -> VoteRatings:  # noqa: ANN401 -- of the engine
        """Return ratings of maximum likelihood with intervals.

        Args:
            model: how ties count: "half_wins", "davidson" or "rao_kupper".
            settings: of `ranking_engine.votes.ratings.rate`: `cluster` ("vote", "voter", "prompt"), `level`,
                `n_resamples` (0 for sandwich intervals), `seed`, `prior`, `with_covariates`.

        Raises:
            ValueError: a setting is not as described.
        """
        ratings = rate(self.votes, model, **settings)
        rows = system_rows(ratings)
        keys = ("system", "rank", "points", "lower", "upper", "rank_lower", "rank_upper", "n_votes", "group")
        columns = {key: [row[key] for row in rows] for key in keys}
        notes = [f"{problem}." for problem in ratings.problems]
        notes += [
            f"{part.name}: {POINTS * part.value:.1f} points (standard error {POINTS * part.error:.1f}) "
            f"per {part.unit:.4g}."
            for part in ratings.coefficients
        ]
        return VoteRatings(f"Ratings from {self.votes.n_votes:,} votes", columns, notes, ratings)

    def first_place(self, model: str = "half_wins", *, prior: float = 0.0) -> dict[str, Any]:
        """Return the fewest votes found without which the first system is no longer first alone.

        Args:
            model, prior: as for `rate`.

        Returns:
            `leader`, `rival`, `n_votes`, `share`, `is_exact` (else an upper bound, confirmed by a fit), `least` (fewer
            do not, which is proven), `removed`, `problem`, and all of it as a `sentence`.

        Raises:
            ValueError: the model is none.
        """
        report = flip_report(fewest_votes(self.votes, model, prior=prior), self.votes.system_names)
        return {**report, "sentence": flip_sentence(report)}

    def elo(self, *, k: float = 30.0, n_orders: int = 20, seed: int = 0) -> ResultTable:
        """Return Elo ratings, which depend on the order of the votes, and their extremes over random orders.

        Args:
            k: the most that one vote moves a rating.
            n_orders: how many random orders.
            seed: of these.

        Raises:
            ValueError: `k` is not positive, or `n_orders` not between 0 and 100.
        """
        result = elo(self.votes, k=k, n_orders=n_orders, seed=seed)
        order = sorted(range(self.votes.n_systems), key=lambda i: (-result.ratings[i], i))
        columns: dict[str, list[Any]] = {"system": [self.votes.system_names[i] for i in order]}
        columns |= {"elo": result.ratings[order].tolist(), "least": result.least[order].tolist()}
        columns["greatest"] = result.greatest[order].tolist()
        taken = "by time" if result.is_by_time else "as given"
        note = f"Votes {taken}; least and greatest over {n_orders} random orders of the same votes."
        return ResultTable("Elo ratings", columns, [note])

    def board(self, model: str = "half_wins", *, prior: float = 0.0, **of_board: Any) -> Board:  # noqa: ANN401
        """Return the ratings by category as a board: categories are its tasks, and every rule applies.

        Args:
            model, prior: as for `rate`.
            of_board: further arguments of `Board`, such as `missing`.

        Raises:
            ValueError: no category has two systems that can be compared.
        """
        scores = category_scores(self.votes, model, prior=prior)
        notes = [f"{name}: {problem}." for name, problem in scores.problems.items()]
        return Board(scores.matrix, notes=notes, **of_board)


@dataclass(frozen=True, eq=False, repr=False)
class VoteRatings(ResultTable):
    """Ratings from votes: `system`, `rank`, `points` (mean 1000; 400 more: 10 times the strength), their interval, the
    ranks between which the system is, `n_votes`, and the `group` of systems that the votes connect, by which ranks are.

    Attributes:
        ratings: the engine's, with strengths, errors, coefficients, the tie parameter and what cannot be compared.
    """

    ratings: Ratings

    def is_whole(self, column: str) -> bool:
        """Whether a column is of whole numbers, also where it is empty."""
        return column in ("rank", "rank_lower", "rank_upper", "n_votes", "group")

    @property
    def coefficients(self) -> dict[str, tuple[float, float | None]]:
        """What each covariate is worth in points per its unit, and the standard error."""
        parts = self.ratings.coefficients
        return {part.name: (POINTS * part.value, finite_or_none(POINTS * part.error)) for part in parts}


def read_votes(
    path: str | Path, *, columns: Mapping[str, str] | None = None, covariates: Sequence[str] = ()
) -> VoteSet:
    """Read votes from CSV, JSON lines, JSON or Parquet, in the shape of Chatbot Arena's files or a plain one.

    Args:
        path: the file.
        columns: roles by column, where names do not say them: `{"left": "a", "right": "b", "better": "winner", "judge":
            "voter"}`; further ones are "category", "prompt", "time" and "weight".
        covariates: what else may have decided votes: NAME for the columns NAME_a and NAME_b, of which the relative
            difference is taken, or for one with the difference; "length", "headers", "lists" and "bold" in files of
            Chatbot Arena.

    Raises:
        ValueError: the file cannot be read; the message names file, line and column.
        OSError: it cannot be opened.
        ImportError: it is a Parquet file, and `plurank[files]` is not installed.
    """
    return VoteSet.of(votes_of_file(path, columns=columns, covariates=covariates))
