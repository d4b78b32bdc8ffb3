"""Everything that votes say, as plain values: for the command line, notebooks, programs and pages alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from ranking_engine.core.decimals import finite_or_none
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.votes.categories import CategoryScores, category_scores
from ranking_engine.votes.data import BOTH_BAD, TIE, Votes
from ranking_engine.votes.elo import elo
from ranking_engine.votes.flips import FirstPlaceFlip, fewest_votes
from ranking_engine.votes.models import MODELS, vote_model
from ranking_engine.votes.ratings import MIDDLE, POINTS, Ratings, rate

Report = dict[str, Any]


def vote_report(
    votes: Votes,
    model: str = "half_wins",
    *,
    cluster: str = "vote",
    level: float = 0.95,
    n_resamples: int = 0,
    seed: int = 0,
    prior: float = 0.0,
    with_flips: bool = True,
    with_categories: bool = True,
    elo_orders: int | None = None,
    elo_k: float = 30.0,
) -> Report:
    """Return ratings with intervals, ties, what cannot be compared, the fewest votes that decide the first place, ....

    Args:
        votes: what to report on.
        model, cluster, level, n_resamples, seed, prior: as for `rate`.
        with_flips: with `first_place`.
        with_categories: with `categories`, ratings by category.
        elo_orders: with `elo` ratings, and their extremes over so many random orders; None for none.
        elo_k: as `k` of `elo`.

    Raises:
        ValueError: an argument is not as described there.
    """
    ratings = rate(
        votes, model, cluster=cluster, level=level, n_resamples=n_resamples, seed=seed, prior=prior
    )  # fmt: skip
    chosen, is_counted = vote_model(model), votes.weights > 0
    report: Report = {
        "model": model,
        "model_name": chosen.name,
        "points_text": chosen.points_text,
        "n_votes": int(is_counted.sum()),
        "n_ties": int((votes.outcomes[is_counted] == TIE).sum()),
        "n_both_bad": int((votes.outcomes[is_counted] == BOTH_BAD).sum()),
        "n_systems": votes.n_systems,
        "cluster": cluster,
        "n_clusters": ratings.n_clusters,
        "level": level,
        "intervals": ratings.intervals.method,
        "n_resamples": n_resamples,
        "n_undefined_resamples": ratings.intervals.n_undefined,
        "prior": prior,
        "tie_parameter": None if ratings.tie is None else {"name": chosen.tie_name, "value": ratings.tie},
        "problems": list(ratings.problems),
        "n_groups": ratings.connectedness.n_components,
        "n_pairs_without_order": ratings.connectedness.n_unordered,
        "systems": system_rows(ratings),
        "coefficients": [
            {
                "covariate": part.name,
                "coefficient": part.value,
                "points": POINTS * part.value,
                "error": finite_or_none(part.error),
                "points_error": finite_or_none(POINTS * part.error),
                "unit": part.unit,
            }
            for part in ratings.coefficients
        ],
    }
    if with_flips:
        report["first_place"] = flip_report(fewest_votes(votes, model, prior=prior), votes.system_names)
    if elo_orders is not None:
        ratings_by_elo = elo(votes, k=elo_k, n_orders=elo_orders, seed=seed)
        report["elo"] = {
            "k": elo_k,
            "n_orders": elo_orders,
            "order": "by time" if ratings_by_elo.is_by_time else "as given",
            "systems": [
                {"system": name, "rating": rating, "least": least, "greatest": greatest}
                for name, rating, least, greatest in sorted(
                    zip(
                        votes.system_names,
                        ratings_by_elo.ratings.tolist(),
                        ratings_by_elo.least.tolist(),
                        ratings_by_elo.greatest.tolist(),
                        strict=True,
                    ),
                    key=lambda row: (-row[1], row[0]),
                )
            ],
        }
    if with_categories:
        try:
            scores = category_scores(votes, model, cluster=cluster, prior=prior)
        except ValueError as error:
            report["categories"] = {"categories": [], "problems": [str(error)]}
        else:
            report["categories"] = category_report(scores)
    return report


def category_report(scores: CategoryScores) -> Report:
    """Return ratings by category as plain values."""
    names = scores.matrix.task_names
    return {
        "categories": [
            {
                "category": name,
                "n_votes": n_votes,
                "problem": scores.problems.get(name, ""),
                "points": {
                    system: finite_or_none(value)
                    for system, value in zip(
                        scores.matrix.system_names, scores.matrix.values[:, t].tolist(), strict=True
                    )
                },
            }
            for t, (name, n_votes) in enumerate(zip(names, scores.n_votes, strict=True))
        ],
        "problems": [f"{name}: {problem}" for name, problem in scores.problems.items() if name not in names],
    }


def system_rows(ratings: Ratings) -> list[Report]:
    """Return a row per system, by group and rank."""
    intervals = ratings.intervals
    return [
        {
            "system": ratings.system_names[i],
            "group": int(ratings.connectedness.labels[i]) + 1,
            "rank": _rank_or_none(ratings.ranks[i]),
            "points": finite_or_none(ratings.points[i]),
            "lower": finite_or_none(MIDDLE + POINTS * intervals.lower[i]),
            "upper": finite_or_none(MIDDLE + POINTS * intervals.upper[i]),
            "rank_lower": _rank_or_none(intervals.rank_lower[i]),
            "rank_upper": _rank_or_none(intervals.rank_upper[i]),
            "n_votes": int(ratings.n_votes[i]),
            "strength": finite_or_none(ratings.strengths[i]),
            "error": finite_or_none(intervals.errors[i]) if len(intervals.errors) else None,
        }
        for i in ratings.order.tolist()
    ]


def flip_report(flip: FirstPlaceFlip, names: tuple[str, ...]) -> Report:
    """Return the fewest votes that decide the first place as plain values."""
    return {
        "leader": None if flip.leader is None else names[flip.leader],
        "rival": None if flip.rival is None else names[flip.rival],
        "n_votes": flip.n_votes,
        "share": finite_or_none(flip.share),
        "is_exact": flip.is_exact,
        "least": flip.least,
        "removed": [
            {
                "winner": names[part.winner],
                "loser": names[part.loser],
                "is_tie": part.is_tie,
                "n_votes": part.n_votes,
            }
            for part in flip.removed
        ],
        "problem": flip.problem,
    }


def flip_sentence(first_place: Report) -> str:
    """Say how few votes decide the first place."""
    if first_place["problem"]:
        return f"How few votes decide the first place is not known: {first_place['problem']}."
    leader, rival, n_votes = (first_place[key] for key in ("leader", "rival", "n_votes"))
    if n_votes == 0:
        return f"{leader} and {rival} share the first place."
    least = f", but not fewer than {first_place['least']:,}" if first_place["least"] > 1 else ""
    kind = f"Fewer may be enough{least}: this number is confirmed by a new fit"
    if first_place["is_exact"]:
        kind = "Fewer votes are not enough"
    votes = "1 vote" if n_votes == 1 else f"{n_votes:,} votes"
    share = f"{100 * first_place['share']:.2g} %"
    return f"Without {votes} ({share} of all), {rival} ties with {leader} or overtakes it. {kind}."


def _rank_or_none(rank: int | np.integer[Any]) -> int | None:
    """Return a rank, None for UNRANKED."""
    return None if rank == UNRANKED else int(rank)


MODEL_KEYS = tuple(MODELS)
