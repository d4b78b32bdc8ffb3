"""What part of a board an experiment is about: its first systems only, or with tasks that count twice.

Zhang and Hardt 2024, section 5, keep the first 100 of thousands of systems on two boards; their appendix C warns that
copied tasks lower the share of tasks that suffices.
"""

from __future__ import annotations

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.parameters import INTEGER, RULE, TEXTS, Parameter
from ranking_engine.stability.study import Parameters
from ranking_engine.text.names import shorten

SCOPE: tuple[Parameter, ...] = (
    Parameter(
        "first",
        None,
        INTEGER,
        "Number of first systems",
        "Keep only this many first systems, tied ones included.",
        least=2,
        most=100_000,
    ),
    Parameter("first_by", "mean", RULE, "First under", "The rule that says which systems are first."),
    Parameter("copied_tasks", None, TEXTS, "Copied tasks", "These tasks count twice, as two equal tasks."),
)
SCOPE_NAMES = tuple(parameter.name for parameter in SCOPE)


def scoped(matrix: ScoreMatrix, parameters: Parameters) -> ScoreMatrix:
    """Return the part of `matrix` that `first`, `first_by` and `copied_tasks` name; all of it where they name none.

    Args:
        matrix: the scores.
        parameters: those of SCOPE, and `missing` where the study has it.

    Raises:
        ValueError: the rule ranks no one, is too slow for that, or there is no such task.
    """
    part = matrix
    if parameters.get("first") is not None:
        rule = get_rule(parameters.get("first_by") or "mean")
        if rule.is_slow or rule.is_ranked_alone or rule.elects_only:
            raise ValueError(f"`first_by` is {rule.key!r}; expected a rule that ranks fast, such as mean or borda")
        ranking = rank(part, rule.key, missing=parameters.get("missing", "drop_systems"))
        if ranking.status != "ranked":
            raise ValueError(f"`first_by`: {rule.name} ranks no system here: {ranking.reason}")
        is_first = (ranking.ranks != UNRANKED) & (ranking.ranks <= parameters["first"])
        part = part.subset(systems=np.flatnonzero(is_first))
    copied = dict.fromkeys(parameters.get("copied_tasks") or ())
    if not copied:
        return part
    # A copy of each, called like it with `(copy)`, after all tasks.
    place = {name: t for t, name in enumerate(part.task_names)}
    for name in copied:
        if name not in place:
            raise ValueError(f"`copied_tasks` names {shorten(name)!r}; there is no such task")
    columns = [*range(part.n_tasks), *(place[name] for name in copied)]
    names = [f"{part.task_names[t]}{' (copy)' if k >= part.n_tasks else ''}" for k, t in enumerate(columns)]
    return ScoreMatrix(
        part.values[:, columns],
        system_names=part.system_names,
        task_names=names,
        directions=part.directions[columns],
        weights=[part.weights[t] for t in columns],
        groups=[part.groups[t] for t in columns],
        group_weights=part.group_weights,
        gamma=part.gamma,
        minimum=part.minimum[columns],
        maximum=part.maximum[columns],
        chance=part.chance[columns],
        precision=part.precision[columns],
        clusters=[part.clusters[t] for t in columns],
    )
