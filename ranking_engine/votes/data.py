"""Votes as arrays, and how often each pair of systems met with which result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.text.names import check_name, shorten

Codes = NDArray[np.int32]

FIRST, SECOND, TIE, BOTH_BAD = range(4)  # who won
OUTCOMES = ("a", "b", "tie", "both_bad")
WON, LOST, TIED = range(3)  # the result for the system of a pair whose name is earlier
CLUSTERS = ("vote", "voter", "prompt")
MAX_SYSTEMS = 2_000  # tables of all pairs are made, and equations with an unknown per system solved
NO_CATEGORY = -1


@dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """Comparisons of two systems, one entry per vote in every array.

    Attributes:
        system_names: unique, in sorted order.
        first, second: the places of the two systems among the names, different from each other.
        outcomes: FIRST, SECOND, TIE or BOTH_BAD.
        weights: how much each vote counts; not negative.
        categories: the place among `category_names`, NO_CATEGORY for none.
        voters, prompts: numbers from 0 for who voted and on what, -1 where that is not known; None where no vote says.
        times: when, as numbers that grow with time; None where unknown. Only Elo ratings use them.
        covariates: (n_votes, n_covariates), what else may have decided the vote, as a difference between the first
            system's answer and the second's: it changes its sign when the two change places.
        covariate_names: one per column.
    """

    system_names: tuple[str, ...]
    first: Codes
    second: Codes
    outcomes: NDArray[np.int8]
    weights: FloatArray
    categories: Codes
    category_names: tuple[str, ...] = ()
    voters: Codes | None = None
    prompts: Codes | None = None
    times: FloatArray | None = None
    covariates: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    covariate_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.covariate_names:
            object.__setattr__(self, "covariates", np.zeros((len(self.first), 0)))

    @classmethod
    def of(
        cls,
        first: Sequence[str],
        second: Sequence[str],
        outcomes: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        categories: Sequence[str | None] | None = None,
        voters: Sequence[str | None] | None = None,
        prompts: Sequence[str | None] | None = None,
        times: ArrayLike | None = None,
        covariates: dict[str, ArrayLike] | None = None,
    ) -> Votes:
        """Return votes, checked, from one entry per vote in every argument.

        Args:
            first, second: the names of the two systems.
            outcomes: 0 the first won, 1 the second won, 2 a tie, 3 both are bad.
            weights: default 1 for each.
            categories, voters, prompts: names, None where there is none.
            times: numbers that grow with time.
            covariates: by name, the difference between the first system's answer and the second's.

        Raises:
            ValueError: an array has another length, a system is compared with itself, a name is no name, a number is
                not finite or a weight negative, or there are more than MAX_SYSTEMS systems.
        """
        n_votes = len(first)
        names = sorted({*first, *second})
        if len(names) > MAX_SYSTEMS:
            raise ValueError(f"{len(names):,} systems; at most {MAX_SYSTEMS:,} can be compared")
        for name in names:
            check_name(name, allow_formula=True)
        place = {name: i for i, name in enumerate(names)}
        category_names, category_codes = _coded(categories or [None] * n_votes)
        named = covariates or {}
        columns = [_checked_numbers(values, n_votes, f"covariate {name!r}") for name, values in named.items()]
        votes = cls(
            tuple(names),
            np.fromiter(map(place.__getitem__, first), dtype=np.int32, count=n_votes),
            np.fromiter(map(place.__getitem__, second), dtype=np.int32, count=len(second)),
            np.asarray(outcomes, dtype=np.int8).reshape(-1),
            np.ones(n_votes) if weights is None else _checked_numbers(weights, n_votes, "weights"),
            category_codes,
            category_names,
            None if voters is None else _coded(voters)[1],
            None if prompts is None else _coded(prompts)[1],
            None if times is None else _checked_numbers(times, n_votes, "times"),
            np.stack(columns, axis=1) if columns else np.zeros((n_votes, 0)),
            tuple(named),
        )
        votes.check()
        return votes

    def check(self) -> None:
        """Raise a ValueError where arrays have different lengths or hold what cannot be."""
        n_votes = self.n_votes
        for what, values in (
            ("second", self.second), ("outcomes", self.outcomes), ("weights", self.weights),
            ("categories", self.categories), ("voters", self.voters), ("prompts", self.prompts),
            ("times", self.times), ("covariates", self.covariates),
        ):  # fmt: skip
            if values is not None and len(values) != n_votes:
                raise ValueError(f"`{what}` has {len(values):,} entries for {n_votes:,} votes")
        if (same := np.flatnonzero(self.first == self.second)).size:
            name = self.system_names[self.first[same[0]]]
            raise ValueError(f"vote {same[0] + 1:,} compares {shorten(name)!r} with itself")
        if n_votes and not (self.outcomes.min() >= FIRST and self.outcomes.max() <= BOTH_BAD):
            raise ValueError("an outcome is none of 0 (the first won), 1 (the second won), 2 (tie), 3 (both bad)")
        if n_votes and self.weights.min() < 0:
            raise ValueError(f"vote {int(self.weights.argmin()) + 1:,} has a negative weight")

    def __repr__(self) -> str:
        return f"Votes({self.n_votes} votes, {self.n_systems} systems)"

    @property
    def n_votes(self) -> int:
        """The number of votes, those of weight 0 among them."""
        return len(self.first)

    @property
    def n_systems(self) -> int:
        """The number of systems."""
        return len(self.system_names)

    def where(self, is_kept: NDArray[np.bool_]) -> Votes:
        """Return these votes alone; systems that have none left keep their places."""
        return Votes(
            self.system_names, self.first[is_kept], self.second[is_kept], self.outcomes[is_kept],
            self.weights[is_kept], self.categories[is_kept], self.category_names,
            None if self.voters is None else self.voters[is_kept],
            None if self.prompts is None else self.prompts[is_kept],
            None if self.times is None else self.times[is_kept],
            self.covariates[is_kept], self.covariate_names,
        )  # fmt: skip

    def compact(self) -> Votes:
        """Return the same votes without systems that are in none."""
        used, places = np.unique(np.concatenate([self.first, self.second]), return_inverse=True)
        return dataclasses.replace(
            self,
            system_names=tuple(self.system_names[i] for i in used),
            first=places[: self.n_votes].astype(np.int32),
            second=places[self.n_votes :].astype(np.int32),
        )

    def clusters(self, by: str) -> tuple[Codes, int] | None:
        """Return the cluster of each vote and their number, or None where each vote is one of its own.

        Args:
            by: "vote", "voter" or "prompt". A vote whose voter or prompt is not known is a cluster of its own.

        Raises:
            ValueError: `by` is none of these, or no vote says it.
        """
        if by not in CLUSTERS:
            raise ValueError(f"`cluster` is {by!r}; expected one of {', '.join(CLUSTERS)}")
        if by == "vote":
            return None
        labels = self.voters if by == "voter" else self.prompts
        if labels is None:
            raise ValueError(f"the votes do not say the {by}, by which errors are to be clustered")
        _, numbers = np.unique(labels, return_inverse=True)
        unknown = np.flatnonzero(labels < 0)
        start = int(numbers.max(initial=-1)) + 1
        numbers = numbers.astype(np.int32)
        numbers[unknown] = start + np.arange(len(unknown))
        if unknown.size:  # the number that all unknown ones shared is free now
            _, numbers = np.unique(numbers, return_inverse=True)
        return numbers.astype(np.int32), int(numbers.max(initial=-1)) + 1


def _coded(names: Iterable[str | None]) -> tuple[tuple[str, ...], Codes]:
    """Return the distinct names in sorted order, and the place of each among them; -1 for None."""
    given = list(names)
    distinct = sorted({name for name in given if name is not None})
    place: dict[str | None, int] = {name: i for i, name in enumerate(distinct)}
    place[None] = -1
    return tuple(distinct), np.fromiter(map(place.__getitem__, given), dtype=np.int32, count=len(given))


def _checked_numbers(values: ArrayLike, n_votes: int, what: str) -> FloatArray:
    """Return `values` as finite floats, one per vote, or raise a ValueError that names `what`."""
    numbers = np.asarray(values, dtype=np.float64).reshape(-1)
    if len(numbers) != n_votes:
        raise ValueError(f"`{what}` has {len(numbers):,} entries for {n_votes:,} votes")
    if not np.isfinite(numbers).all():
        raise ValueError(f"`{what}`: entry {int((~np.isfinite(numbers)).argmax()) + 1:,} is not a finite number")
    return numbers


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Results by pair of systems; with covariates, by vote.

    Attributes:
        n_systems: how many systems there are.
        first, second: the systems of each row, first < second.
        counts: (3, n_rows), the weight of votes that the first WON, LOST and TIED; both bad is a tie.
        covariates: (n_rows, n_covariates), the first's minus the second's.
        codes: for each vote the place of its count in `counts.ravel()`.
    """

    n_systems: int
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    counts: FloatArray
    covariates: FloatArray
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, votes: Votes, *, with_covariates: bool = False) -> Comparisons:
        """Count votes: one row per pair that met, or one per vote where covariates matter. O(n_votes)."""
        n = votes.n_systems
        is_swapped = votes.first > votes.second
        low = np.where(is_swapped, votes.second, votes.first).astype(np.intp)
        high = np.where(is_swapped, votes.first, votes.second).astype(np.intp)
        results = np.minimum(votes.outcomes, TIE).astype(np.intp)
        results = np.where(is_swapped & (results < TIE), 1 - results, results)
        if with_covariates:
            first, second, rows = low, high, np.arange(votes.n_votes)
            covariates = np.where(is_swapped[:, None], -votes.covariates, votes.covariates)
        else:
            pairs = low * n + high
            met = np.flatnonzero(np.bincount(pairs, minlength=n * n))
            number = np.zeros(n * n, dtype=np.intp)
            number[met] = np.arange(len(met))
            first, second, rows = met // n, met % n, number[pairs]
            covariates = np.zeros((len(met), 0))
        codes = results * len(first) + rows
        counts = np.bincount(codes, weights=votes.weights, minlength=3 * len(first)).astype(np.float64)
        return cls(n, first, second, counts.reshape(3, len(first)), covariates, codes)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.first)

    def with_counts(self, counts: FloatArray) -> Comparisons:
        """Return the same rows with other counts."""
        return Comparisons(self.n_systems, self.first, self.second, counts, self.covariates, self.codes)

    def with_prior(self, prior: float) -> Comparisons:
        """Return every pair with `prior` wins each way on top; rows by vote get a row without covariates per pair."""
        if not prior:
            return self
        n = self.n_systems
        first, second = np.triu_indices(n, 1)
        added = np.repeat([[prior], [prior], [0.0]], len(first), axis=1)
        return Comparisons(
            n,
            np.concatenate([self.first, first]),
            np.concatenate([self.second, second]),
            np.concatenate([self.counts, added], axis=1),
            np.concatenate([self.covariates, np.zeros((len(first), self.covariates.shape[1]))]),
            self.codes // self.n_rows * (self.n_rows + len(first)) + self.codes % self.n_rows,
        )

    def table(self, values: FloatArray) -> FloatArray:
        """Return `values` by row summed into a table of (n_systems, n_systems), at [first, second] alone."""
        n = self.n_systems
        sums = np.bincount(self.first * n + self.second, weights=values, minlength=n * n).astype(np.float64)
        return sums.reshape(n, n)
