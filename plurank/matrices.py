"""The engine's matrix of scores in memory, with what people say of their tasks, and what is odd about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from numbers import Real
from typing import Any

import numpy as np

from plurank.names import NameIndex
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.files.directions import doubtful_tasks
from ranking_engine.text.names import shorten


def described_matrix(
    base: ScoreMatrix,
    of_tasks: Mapping[str, Any],
    *,
    lower_is_better: Iterable[str] | Mapping[str, bool],
    group_weights: Any,  # noqa: ANN401 -- as the engine has them
    gamma: object,
) -> ScoreMatrix:
    """Return a matrix with what is stated of its tasks.

    Args:
        base: the scores, with what holds where nothing is stated.
        of_tasks: by argument of `Board`, its value for each task; None where it is not stated.
        lower_is_better, group_weights, gamma: as `Board` has them.

    Raises:
        ValueError: an argument cannot be what is given; the message names it.
    """
    places = NameIndex(base.task_names, "task")
    changes: dict[str, Any] = {}
    if lower := stated_directions(lower_is_better):
        changes["directions"] = base.directions.copy()
        for name, is_lower in lower.items():
            changes["directions"][places.of(name, "lower_is_better")] = -1 if is_lower else 1
    for argument, values in of_tasks.items():
        if values is not None:
            own = [None if isinstance(v, float) and math.isnan(v) else v for v in getattr(base, argument)]
            changes[argument] = places.spread(values, argument, own)
    if of_tasks["groups"] is not None or group_weights is not None:
        changes["group_weights"] = group_weights
    if gamma is not None:
        if not isinstance(gamma, Real) or isinstance(gamma, bool) or not math.isfinite(gamma):
            raise ValueError(f"`gamma` is {shorten(repr(gamma))}; expected a finite number, such as 95")
        changes["gamma"] = float(gamma)
    if not changes:
        return base
    matrix = ScoreMatrix(**({field.name: getattr(base, field.name) for field in fields(base)} | changes))
    for name, minimum, maximum in zip(matrix.task_names, matrix.minimum, matrix.maximum, strict=True):
        if minimum > maximum:
            raise ValueError(f"`minimum` of {shorten(name)!r} is {minimum:g}, above its `maximum` {maximum:g}")
    return matrix


def stated_directions(lower_is_better: object) -> dict[str, bool]:
    """Return for each task whose direction is stated whether less is better there.

    Args:
        lower_is_better: a name, names, or truths by name.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(lower_is_better, Mapping):
        for name, is_lower in lower_is_better.items():
            if not isinstance(is_lower, (bool, np.bool_)):
                raise ValueError(f"`lower_is_better` of {name!r} is {is_lower!r}; expected True or False")  # noqa: TRY004 -- one kind of error for arguments
        return dict(lower_is_better)
    if isinstance(lower_is_better, str):
        return {lower_is_better: True}
    if not isinstance(lower_is_better, Iterable):
        raise ValueError(f"`lower_is_better` is {lower_is_better!r}; expected names of tasks, or truths by name")  # noqa: TRY004 -- as above
    return dict.fromkeys(lower_is_better, True)


def direction_doubts(matrix: ScoreMatrix, directed: Iterable[str]) -> list[str]:
    """Return a remark on each task that counts as higher is better although its name says otherwise.

    Args:
        matrix: with the directions.
        directed: names of the tasks whose direction is stated.
    """
    return [
        f"{shorten(name)} counts as higher is better, though its name says {word!r}; if less is better, state "
        f"lower_is_better=[{name!r}], else lower_is_better={{{name!r}: False}}"
        for name, word in doubtful_tasks(matrix.task_names, matrix.directions.tolist(), directed)
    ]
