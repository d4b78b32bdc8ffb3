"""Maximal lotteries: shares of the systems that no other shares beat on average (Kreweras 1965, Fishburn 1984).

Margins are the payoffs of a game: two players each name a system, and the one whose system is preferred wins the
margin. A maximal lottery is a best way to play: against every single system its expected margin is 0 or above.

1. Few systems matter. Those that a lottery among the strongest does not beat join them until it beats all others.
2. A linear program in floats says who is in some maximal lottery: with p >= 0 and the margins s = p @ M >= 0 there are
   solutions with p_i > 0 or s_i > 0 for every i, never both (Tucker 1956). Demanding p + s >= 1 separates the two.
3. The lottery itself is solved in integers, and that it is one is checked in integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.exact_algebra import ExactProgram, kernel, solve_equations
from ranking_engine.core.linear_programs import RowProgram, SolverError
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.rules.lotteries_of_few import lottery_of_few
from ranking_engine.rules.majority import pair_details

MAX_CANDIDATES = 300  # systems of one linear program; beyond, the lottery stays open
MAX_EXACT = 40  # systems whose program is solved in integers where floats do not separate them
MAX_MEMBERS = 60  # of an essential set that is solved in integers
FEW_FACES = 8  # so few are gone through at once
MAX_FACES = 3_000  # of all maximal lotteries that are gone through for the one nearest to equal shares

_KEPT_SYSTEMS = 40  # of a group whose rounds are kept
_MOST_KEPT = 4_096  # groups
_STRONGEST = 12  # candidates to begin with
_ADDED = 24  # candidates that join at once
_NEAR_ZERO = 1e-9
_EXACT_INTEGER = 2**62  # sums below it fit into 64 bits

Shares = tuple[Fraction, ...]


class UnsolvedError(Exception):
    """A lottery was not solved within the bounds of the search; the text says why."""


@dataclass(frozen=True, eq=False)
class Lottery:
    """The maximal lottery of some systems, and who is in any.

    Attributes:
        members: the essential set, by index: the systems with a share in some maximal lottery.
        shares: of the members, in the lottery shown; with several maximal lotteries that with the least sum of squares.
        is_unique: there is no other maximal lottery.
        proof: the shares of a maximal lottery in which every member has one and that wins on average against
            everyone else: no one else has a share in any maximal lottery.
        least_lead: what the proof wins on average against the other who comes nearest, as weight; None without others.
    """

    members: tuple[int, ...]
    shares: Shares
    is_unique: bool
    proof: Shares
    least_lead: Fraction | None


class Round(NamedTuple):
    """Who has a share in the lottery of a round, by index, and which; with several lotteries as in `Lottery`."""

    members: NDArray[np.intp]
    shares: Shares


_KEPT: dict[tuple[str, bytes], list[Round]] = {}  # by the margins of a group


def maximal_lotteries(profile: Profile) -> Outcome:
    """Rank by maximal lotteries, again and again: those with a share first, then those with one among the others, ...

    The score is the number of systems in later rounds + (1 + share) / 2. Winners are the essential set: all with a
    share in some maximal lottery. `details`: `lottery`, the share of each system of the first round as a fraction;
    `unique`, whether there is no other maximal lottery; `essential_set`; `least_lead`, what the proof wins against
    the nearest system outside it, as a share of the weight of all tasks (None where no one is outside); `n_rounds`.

    Source: Fishburn 1984; the rounds are those of Lanctot et al. 2023 (VasE), iterative maximal lotteries.
    O(n) linear programs of the few systems that matter; undefined where one of them has more than MAX_CANDIDATES.
    """
    margins, names = profile.pairwise.margins, profile.matrix.system_names
    systems = np.arange(profile.n_systems)
    try:
        first = maximal_lottery(margins, systems)
        later = np.delete(systems, first.members)
        rounds = [Round(np.array(first.members), first.shares), *rounds_of(margins[np.ix_(later, later)], later)]
    except UnsolvedError as error:
        return Outcome(None, "undefined", str(error), pair_details(profile.pairwise))
    total = sum(int(weight) for weight in profile.pairwise.weights.tolist())
    details = {
        **pair_details(profile.pairwise),
        "lottery": {names[i]: str(share) for i, share in zip(first.members, first.shares, strict=True)},
        "unique": first.is_unique,
        "essential_set": sorted(names[i] for i in first.members),
        "least_lead": None if first.least_lead is None else float(first.least_lead / total),
        "n_rounds": len(rounds),
    }
    return Outcome(_scores(rounds, profile.n_systems), details=details, winners=first.members)


def lotteries_of_many(profile: Profile, _seconds: float) -> Outcome:
    """Return the same ranks and winners for one of the many tables of a study, without what the details say.

    The systems fall into groups, each of which beats everyone in later ones; a group's rounds come before those of the
    next. The rounds of groups that many tables have are kept.
    """
    try:
        rounds = rounds_of(profile.pairwise.margins, np.arange(profile.n_systems))
    except UnsolvedError as error:
        return Outcome(None, "undefined", str(error))
    return Outcome(_scores(rounds, profile.n_systems), winners=tuple(sorted(rounds[0].members.tolist())))


def rounds_of(game: NDArray[Any], systems: NDArray[np.intp]) -> list[Round]:
    """Return the lotteries of some systems: of all, of those without a share in it, and so on.

    Args:
        game: their margins, integers.
        systems: by which indices the rounds name them.

    Raises:
        UnsolvedError: see `maximal_lottery`.
    """
    rounds: list[Round] = []
    pending = [np.arange(len(game))]
    while pending:
        left = pending.pop()
        inside, n = game[np.ix_(left, left)], len(left)
        points = 2 * (inside > 0).sum(axis=1) + (inside == 0).sum(axis=1) - 1
        order = np.argsort(-points, kind="stable")
        sizes = np.arange(1, n + 1)
        # The first k beat all others if they have all points there are against them.
        ends = sizes[np.cumsum(points[order]) == sizes * (sizes - 1) + 2 * sizes * (n - sizes)]
        if len(ends) > 1:
            pending += [np.sort(left[group]) for group in reversed(np.split(order, ends[:-1]))]
            continue
        key = (inside.dtype.str, inside.tobytes())
        is_kept = inside.dtype != object and n <= _KEPT_SYSTEMS
        parts = _KEPT.get(key) if is_kept else None
        if parts is None and n:
            few = lottery_of_few(inside)
            if few is None:
                lottery = maximal_lottery(inside, np.arange(n))
                few = lottery.members, lottery.shares
            parts = [Round(np.array(few[0]), few[1])]
            later = np.delete(np.arange(n), few[0])
            if is_kept:
                parts += rounds_of(inside[np.ix_(later, later)], later)
                if len(_KEPT) >= _MOST_KEPT:
                    _KEPT.clear()
                _KEPT[key] = parts
            elif later.size:
                pending.append(left[later])
        rounds += [Round(systems[left[part.members]], part.shares) for part in parts or []]
    return rounds


def _scores(rounds: list[Round], n: int) -> FloatArray:
    scores, left = np.empty(n), n
    for members, shares in rounds:
        left -= len(members)
        scores[members] = [left + (1 + float(share)) / 2 for share in shares]
    return scores


def essential_set(source: ScoreMatrix | Pairwise) -> tuple[int, ...] | None:
    """Return the systems with a share in some maximal lottery (Dutta and Laslier 1999); None where it is not found."""
    pairwise = source if isinstance(source, Pairwise) else Pairwise.of(source)
    systems = np.flatnonzero(pairwise.scored)
    if not systems.size:
        return ()
    try:
        return maximal_lottery(pairwise.margins, systems).members
    except UnsolvedError:
        return None


def maximal_lottery(margins: NDArray[Any], systems: NDArray[np.intp]) -> Lottery:
    """Return the maximal lottery among some of the systems.

    Args:
        margins: `margins[i, j]` is an integer, minus `margins[j, i]`.
        systems: indices, at least one.

    Raises:
        UnsolvedError: too many systems matter, or floats do not separate them.
    """
    inside = margins[np.ix_(systems, systems)] if len(systems) < len(margins) else margins
    wins = (inside > 0).sum(axis=1) - (inside < 0).sum(axis=1)
    strongest = np.argsort(-wins, kind="stable")
    if wins[strongest[0]] == len(systems) - 1:  # beats every other: the only maximal lottery
        lead = Fraction(int(np.delete(inside[strongest[0]], strongest[0]).min())) if len(systems) > 1 else None
        return Lottery((int(systems[strongest[0]]),), (Fraction(1),), True, (Fraction(1),), lead)
    try:
        members, shares = _members_in_floats(inside, strongest)
        return _exact(inside, members, shares, systems)
    except UnsolvedError:
        if len(systems) > MAX_EXACT:
            raise
    n = len(systems)
    program = ExactProgram([1] * n)
    for j, column in enumerate(inside.T.tolist()):
        program.add_row([int(margin) + (i == j) for i, margin in enumerate(column)], 1)
        program.add_row([int(margin) for margin in column], 0)
    solution = program.solve()
    if solution is None:
        raise _unsolved()
    members = np.flatnonzero([share > 0 for share in solution])
    return _exact(inside, members, [solution[i] for i in members.tolist()], systems)


def _members_in_floats(game: NDArray[Any], strongest: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[Fraction]]:
    """Return the essential set as floats see it, and what is in proportion to shares that every member has."""
    candidates = strongest[:_STRONGEST]
    scale = float(np.abs(game).max()) or 1.0
    while True:
        shares, leads = separated(np.array(game[np.ix_(candidates, candidates)] / scale, dtype=np.float64))
        is_member = shares > leads
        members = np.sort(candidates[is_member])
        own = shares[is_member][np.argsort(candidates[is_member])]
        others = np.setdiff1d(np.arange(len(game)), candidates)
        ahead = own @ np.array(game[np.ix_(members, others)] / scale, dtype=np.float64)
        unbeaten = others[np.argsort(ahead, kind="stable")][: int((ahead <= _NEAR_ZERO).sum())]
        if not unbeaten.size:
            break
        candidates = np.concatenate([candidates, unbeaten[:_ADDED]])
        if len(candidates) > MAX_CANDIDATES:
            raise UnsolvedError(f"more than {MAX_CANDIDATES} systems matter for the maximal lottery")
    if len(members) > MAX_MEMBERS:
        raise UnsolvedError(f"{len(members)} systems share the maximal lottery; at most {MAX_MEMBERS} are solved")
    return members, [Fraction(share) for share in own.tolist()]


def separated(game: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p and s = p @ game, both 0 or above, one of them 1 or above for every system and the other one 0."""
    n = len(game)
    for is_exacting in (True, False):
        program = RowProgram(np.ones(n), np.zeros(n), np.full(n, np.inf), is_exacting=is_exacting)
        program.add_rows(game.T + np.eye(n), 1.0, np.inf)
        program.add_rows(game.T, 0.0, np.inf)
        try:
            shares = program.solve().x
        except SolverError:
            continue
        if shares is not None:
            return shares, shares @ game
    raise _unsolved()


def _unsolved() -> UnsolvedError:
    return UnsolvedError("floats do not tell who shares the maximal lottery: some margins are too close to draws")


def _exact(
    game: NDArray[Any], members: NDArray[np.intp], approximate: Sequence[Fraction], systems: NDArray[np.intp]
) -> Lottery:
    """Return the lottery of a game whose essential set is thought to be `members`, proven in integers."""
    against = game[members]
    others = np.delete(against, members, axis=1)
    basis = kernel(against[:, members].T.tolist(), len(members))
    if not basis:
        raise _unsolved()
    proof = _normalised(_projected(basis, approximate))
    if proof is None or min(proof) <= 0:
        raise _unsolved()
    least_lead = _least_lead(proof, others)
    if least_lead is not None and least_lead <= 0:
        raise _unsolved()
    shares = proof if len(basis) == 1 else _most_even(basis, others.T.tolist())
    indices = tuple(int(i) for i in systems[members])
    return Lottery(indices, shares, len(basis) == 1, proof, least_lead)


def _most_even(basis: list[list[int]], others: list[list[int]]) -> Shares:
    """Return the maximal lottery with the least sum of squares, where all of them are in the span of `basis`.

    It is the point nearest to 0 of some face of their polytope. Where that of the inside is no lottery, all faces are
    gone through if they are few; otherwise floats say which one it is (Lawson and Hanson 1974, chapter 23), fractions
    check that no other lottery is nearer, and where they do not, all faces are gone through if there is time for that.

    Args:
        basis: integers, one entry a member.
        others: for each system outside the essential set the margins of the members over it.
    """
    n = len(basis[0])
    limits = [[int(i == k) for i in range(n)] for k in range(n)] + others  # no share and no lead may be below 0
    bounded = np.array(limits).T

    def nearest(tight: Sequence[int]) -> Shares | None:
        rows = [[sum(a * b for a, b in zip(limits[k], vector, strict=True)) for vector in basis] for k in tight]
        parts = (
            kernel(rows, len(basis)) if rows else [[int(i == k) for i in range(len(basis))] for k in range(len(basis))]
        )
        face = [[sum(c * v[i] for c, v in zip(part, basis, strict=True)) for i in range(n)] for part in parts]
        shares = _normalised(_projected(face, [Fraction(1)] * n)) if face else None
        least = None if shares is None else _least_lead(shares, bounded)
        return shares if least is not None and least >= 0 else None

    if (shares := nearest(())) is not None:
        return shares
    sizes = range(1, len(basis))
    n_faces = sum(math.comb(len(limits), size) for size in sizes)
    if n_faces > min(FEW_FACES, MAX_FACES):
        from scipy.optimize import nnls  # noqa: PLC0415 -- slow import

        span, _ = np.linalg.qr(np.array([[entry / max(map(abs, row)) for entry in row] for row in basis]).T)
        scaled = [[entry / (max(map(abs, limit)) or 1) for entry in limit] for limit in limits]
        rows = np.array([*scaled, [1.0] * n]) @ span
        target = np.append(np.zeros(rows.shape[1]), 1.0)
        duals, _ = nnls(np.vstack([rows.T, np.append(np.zeros(len(limits)), 1.0)]), target)
        tight = [k for k in range(len(limits)) if duals[k] > _NEAR_ZERO]
        shares = nearest(tight)
        if shares is not None and n_faces > MAX_FACES:
            return shares
        if shares is not None:
            # It is the nearest of all if it is a multiple of equal shares plus limits that it just keeps, none of them
            # taken less than zero times, as all others in the span see it.
            normals = [*(limits[k] for k in tight), [1] * n]
            seen = [([sum(map(mul, normal, row)) for normal in normals], _lead(shares, row)) for row in basis]
            factors = solve_equations(seen, [*duals[tight].tolist(), 1.0])
            if factors is not None and min(factors[:-1], default=Fraction(0)) >= 0:
                return shares
    if n_faces > MAX_FACES:
        raise UnsolvedError("there are several maximal lotteries, and the one nearest to equal shares is not found")
    faces = (nearest(tight) for size in sizes for tight in itertools.combinations(range(len(limits)), size))
    return min((shares for shares in faces if shares is not None), key=lambda shares: sum(x * x for x in shares))


def _projected(basis: list[list[int]], vector: Sequence[Fraction]) -> list[Fraction] | None:
    """Return the vector in the span of `basis` that is nearest to `vector`."""
    products = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in basis] for one in basis]
    rights = [_lead(vector, one) for one in basis]
    factors = solve_equations(list(zip(products, rights, strict=True)), [1.0] * len(basis))
    if factors is None:
        return None
    return [sum((f * row[i] for f, row in zip(factors, basis, strict=True)), Fraction(0)) for i in range(len(vector))]


def _normalised(vector: Sequence[Fraction] | None) -> Shares | None:
    total = sum(vector, Fraction(0)) if vector is not None else Fraction(0)
    return None if vector is None or total <= 0 else tuple(entry / total for entry in vector)


def _least_lead(shares: Shares, against: NDArray[Any]) -> Fraction | None:
    """Return the least of shares @ against, whose rows are those of the shares; None without a column."""
    if not against.size:
        return None
    denominator = math.lcm(*(share.denominator for share in shares))
    whole = [share.numerator * (denominator // share.denominator) for share in shares]
    is_small = against.dtype != object and sum(map(abs, whole)) * int(np.abs(against).max()) < _EXACT_INTEGER
    leads = np.array(whole) @ against if is_small else np.array(whole, dtype=object) @ against.astype(object)
    return Fraction(int(leads.min()), denominator)


def _lead(shares: Sequence[Fraction], column: Sequence[int]) -> Fraction:
    """Return shares @ column."""
    denominator = math.lcm(*(share.denominator for share in shares))
    whole = [share.numerator * (denominator // share.denominator) for share in shares]
    return Fraction(sum(a * b for a, b in zip(whole, column, strict=True)), denominator)
