"""Reserved places: a rule's ranking with so many of some systems among the first, and what that changes.

Rofin et al. 2023, section 7, name rankings that account for sensitive attributes, after Celis et al. 2018. The order
within the bounds that reverses the fewest pairs of the rule's ranking is exact: see `core/reserved_places.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.reserved_places import PlaceBounds, counts_of_ranking, nearest_within
from ranking_engine.core.score_matrix import BoolArray, ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import kendall
from ranking_engine.stability.parameters import FLAG, INTEGER, RULE, TEXTS, Parameter
from ranking_engine.stability.plan import one_by_one_seconds
from ranking_engine.stability.studies.whole import side_by_side
from ranking_engine.stability.studies.worst_case import n_reversed
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult, plain
from ranking_engine.text.names import shorten

NUMBER_OF_STUDY = 14

MOST_SYSTEMS = 500  # that can be named
_MOST_SECONDS = 60.0


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `before` and `after`, the ranks of the `systems` that are ranked, and whether each is `in_group`."""
    del seed, chunk
    ranking = _ranking(matrix, parameters)
    systems, in_group = _group(matrix, parameters, ranking)
    before = ranking.average_ranks[systems]
    after = nearest_within(before, in_group, _bounds(parameters, in_group))
    if progress is not None:
        progress(1, 1)
    return {"systems": systems, "in_group": in_group, "before": before, "after": after.astype(np.float64)}


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return how many of the group are among the first before and after, and what moves.

    Before, these are at least `before_least`, with ties broken against the group, and at most `before_most`, with ties
    broken in its favour; `is_within` says whether all bounds are kept however ties are broken. A system enters or
    leaves if it was outside or inside however ties are broken.
    """
    arrays = partials[0]
    before, after, in_group = arrays["before"], arrays["after"], arrays["in_group"]
    n, places = len(before), places_of(parameters, len(before))
    names = [matrix.system_names[i] for i in arrays["systems"].tolist()]
    reversed_pairs = int(n_reversed(before, after[None])[0])
    # Inside or outside however ties are broken: the last or the first place that a system shares.
    was_in = np.searchsorted(np.sort(before), before, side="right") <= places
    was_out = np.searchsorted(np.sort(before), before, side="left") + 1 > places
    least, most = counts_of_ranking(before, in_group)
    bounds = _bounds(parameters, in_group)
    up = [names[i] for i in np.argsort(after).tolist() if was_out[i] and after[i] <= places]
    down = [names[i] for i in np.argsort(after).tolist() if was_in[i] and after[i] > places]
    summary = {
        "rule": get_rule(parameters["rule"]).key,
        "places": places,
        "least": parameters["least"],
        "most": parameters["most"],
        "all_along": parameters["all_along"],
        "n_systems": n,
        "n_group": int(in_group.sum()),
        "before_least": int(least[places - 1]),
        "before_most": int(most[places - 1]),
        "is_within": bool((least >= bounds.least).all() and (most <= bounds.most).all()),
        "first_after": int((in_group & (after <= places)).sum()),
        "reversed_pairs": reversed_pairs,
        "discordant_share": plain(reversed_pairs / (n * (n - 1) // 2)),
        "distance": plain(float(kendall(before, after[None])[1][0])),
        "max_rank_change": plain(float(np.abs(after - before).max()) / (n - 1)),
        "moved_up": up[:MOST_SYSTEMS],
        "moved_down": down[:MOST_SYSTEMS],
        **side_by_side(names, before, after),
    }
    return StudyResult(summary, dict(arrays))


def places_of(parameters: Parameters, n_systems: int) -> int:
    """Return how many first places the bounds are about: those stated, or a fifth, at least 1."""
    return min(n_systems, parameters["places"] or max(1, n_systems // known.FIFTH))


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the rule should take."""
    return 0.05 + one_by_one_seconds(get_rule(parameters["rule"]).key, matrix)


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why no place can be reserved: the rule does not rank, or no order is within the bounds."""
    rule = get_rule(parameters["rule"])
    if not parameters["systems"]:
        return "no systems are named"
    if estimate(matrix, parameters) > _MOST_SECONDS:
        return f"{rule.name} takes too long on {matrix.n_systems:,} systems"
    ranking = _ranking(matrix, parameters)
    if ranking.status == "undefined":
        return ranking.reason
    if ranking.status != "ranked":
        return f"{rule.name} names a winner and does not rank"
    if ranking.n_ranked < 2:
        return "fewer than two systems are ranked"
    try:
        _, in_group = _group(matrix, parameters, ranking)
        _bounds(parameters, in_group)
    except ValueError as error:
        return str(error)
    return ""


def _ranking(matrix: ScoreMatrix, parameters: Parameters) -> Ranking:
    return rank(matrix, parameters["rule"], missing=parameters["missing"])


def _group(matrix: ScoreMatrix, parameters: Parameters, ranking: Ranking) -> tuple[np.ndarray, BoolArray]:
    """Return the indices of the systems that are ranked, and which of them are named."""
    named = set(parameters["systems"])
    for name in parameters["systems"]:
        if name not in matrix.system_names:
            raise ValueError(f"`systems` names {shorten(name)!r}; there is no such system")
    systems = np.flatnonzero(ranking.ranks != UNRANKED)
    return systems, np.array([matrix.system_names[i] in named for i in systems.tolist()], dtype=bool)


def _bounds(parameters: Parameters, in_group: BoolArray) -> PlaceBounds:
    n = len(in_group)
    places = places_of(parameters, n)
    most = places if parameters["most"] is None else min(places, parameters["most"])
    return PlaceBounds.of(int(in_group.sum()), n, places, parameters["least"], most, all_along=parameters["all_along"])


STUDY = Study(
    number=NUMBER_OF_STUDY,
    key="reserved_places",
    name="Reserved places",
    question="What changes if some systems must have so many of the first places?",
    source="Celis et al. 2018; Rofin et al. 2023, section 7",
    declared=(
        Parameter(
            "systems",
            None,
            TEXTS,
            "Systems",
            "The systems that places are reserved for; on the site by their keys.",
            most_items=MOST_SYSTEMS,
        ),
        Parameter("rule", "borda", RULE, "Rule", "The rule whose ranking is changed as little as possible."),
        Parameter(
            "places",
            None,
            INTEGER,
            "First places",
            "How many first places the bounds are about; a fifth by default.",
            least=1,
            most=100_000,
        ),
        Parameter("least", 1, INTEGER, "At least", "The named systems get at least so many of them.", most=100_000),
        Parameter("most", None, INTEGER, "At most", "The named systems get at most so many of them.", most=100_000),
        Parameter(
            "all_along",
            False,
            FLAG,
            "All along",
            "Also, in proportion, among the first 1, 2, 3 and so on of these places.",
        ),
        known.missing(),
    ),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    runs_with_boards=False,
)
