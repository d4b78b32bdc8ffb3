"""Ranks and scores as the engine says them, and as an answer of the API says them."""

import numpy as np

from ranking_engine import ScoreMatrix, rank

GAPS = {"A": [1.0, 2.5, None], "B": [3.0, 1.5, 2.0], "C": [2.0, 0.5, 1.0], "D": [0.5, None, 3.0]}


def ranking_of(scores, rule, *, gamma=None, **options):
    """The keys of the systems and their ranking, straight from the engine."""
    names = sorted(scores)
    values = [[np.nan if value is None else value for value in scores[name]] for name in names]
    matrix = ScoreMatrix(values, system_names=names, gamma=gamma)
    return [name.lower() for name in names], rank(matrix, rule, **options)


def figures(scores, rule, **options):
    """(rank, score) by system, straight from the engine."""
    keys, ranking = ranking_of(scores, rule, **options)
    return {
        key: (int(r) if r >= 1 else None, None if np.isnan(s) else float(s))
        for key, r, s in zip(keys, ranking.ranks, ranking.scores, strict=True)
    }


def winners(scores, rule):
    """The keys of those that the rule elects, straight from the engine."""
    keys, ranking = ranking_of(scores, rule)
    return [keys[i] for i in ranking.winners]


def response_figures(response):
    """(rank, score) by system, as an answer of the API has them."""
    return {row["system"]: (row["rank"], row["score"]) for row in response.json()["results"]}
