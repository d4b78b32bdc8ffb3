"""The catalogue of studies: every record of a module of `studies`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ranking_engine.core.packages import modules_of
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability import studies
from ranking_engine.stability.parameters import Parameter
from ranking_engine.stability.scope import SCOPE, SCOPE_NAMES, scoped
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult
from ranking_engine.text.names import shorten

__all__ = [
    "EXPERIMENTS",
    "STUDIES",
    "Arrays",
    "Parameter",
    "Parameters",
    "Progress",
    "Study",
    "StudyResult",
    "checked_parameters",
    "declared_parameters",
    "estimate_study",
    "get_study",
    "run_study",
    "split_parameters",
]


def _records() -> list[Study]:
    """Return the studies of all modules of `studies`, by their numbers."""
    modules = modules_of(studies).values()
    records = [value for module in modules for value in vars(module).values() if isinstance(value, Study)]
    return sorted(records, key=lambda study: study.number)


# What can be run with parameters of one's own, and of it what boards run by themselves.
EXPERIMENTS: Mapping[str, Study] = MappingProxyType({study.key: study for study in _records()})
STUDIES: Mapping[str, Study] = MappingProxyType(
    {key: study for key, study in EXPERIMENTS.items() if study.runs_with_boards}
)


def get_study(key: str) -> Study:
    """Return the study called `key`, or raise a ValueError that lists the studies there are."""
    study = STUDIES.get(key) or EXPERIMENTS.get(key)
    if study is None:
        raise ValueError(f"`study` is {shorten(key)!r}; expected one of {', '.join(EXPERIMENTS)}")
    return study


def declared_parameters(key: str) -> tuple[Parameter, ...]:
    """Return the parameters of the study called `key`, and those that choose the part of a board."""
    return (*get_study(key).declared, *SCOPE)


def checked_parameters(key: str, given: Parameters) -> dict[str, Any]:
    """Return all parameters of a study: those given, within their bounds, and the defaults of the others.

    Of the scope only what is stated is returned: an experiment on a whole board has the study's parameters alone.

    Raises:
        ValueError: the study has no such parameter, or the parameter no such value.
    """
    study = get_study(key)
    scope = {parameter.name: parameter for parameter in SCOPE}
    for name in given:
        if name not in scope:
            study.parameter(name)
    own = {
        parameter.name: parameter.checked(given[parameter.name]) if parameter.name in given else parameter.default
        for parameter in study.declared
    }
    checked = {name: parameter.checked(given[name]) for name, parameter in scope.items() if given.get(name) is not None}
    if checked.get("first") is None:
        checked.pop("first_by", None)
    return own | {name: value for name, value in checked.items() if value != []}


def split_parameters(parameters: Parameters) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a study's own parameters, and those that say which part of a board it is about."""
    own = {name: value for name, value in parameters.items() if name not in SCOPE_NAMES}
    return own, {name: value for name, value in parameters.items() if name in SCOPE_NAMES}


def run_study(
    key: str,
    matrix: ScoreMatrix,
    parameters: Parameters | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> StudyResult:
    """Run all chunks of a study one after the other, and merge them.

    Args:
        key: a key of STUDIES.
        matrix: the scores.
        parameters: those that differ from the study's defaults, and those of SCOPE.
        seed: 0 or more; the same seed gives the same bits.
        progress: called as progress(done, total) after each step; it may raise to cancel.

    Raises:
        ValueError: an unknown study or parameter, a parameter out of its range, or a matrix about which the study
            says nothing; see Study.why_not.
    """
    study = get_study(key)
    own, scope = split_parameters(parameters or {})
    complete = study.with_defaults(own)
    matrix = scoped(matrix, {**complete, **scope})
    if reason := study.why_not(matrix, complete):
        raise ValueError(f"the study {key} says nothing here: {reason}")
    n_chunks = study.n_chunks(matrix, complete)
    partials = [
        study.run_chunk(matrix, complete, seed, chunk, _within(progress, chunk, n_chunks)) for chunk in range(n_chunks)
    ]
    return study.merge(matrix, complete, seed, partials)


def estimate_study(key: str, matrix: ScoreMatrix, parameters: Parameters | None = None) -> tuple[str, float]:
    """Return why a study says nothing about `matrix`, empty where it does, and the seconds that it should take.

    Raises:
        ValueError: as `run_study`, except scores about which the study says nothing.
    """
    study = get_study(key)
    own, scope = split_parameters(parameters or {})
    complete = study.with_defaults(own)
    matrix = scoped(matrix, {**complete, **scope})
    reason = study.why_not(matrix, complete)
    return reason, 0.0 if reason else study.estimate(matrix, complete)


def _within(progress: Progress | None, chunk: int, n_chunks: int) -> Progress | None:
    """Return the callback for one of several chunks: thousandths of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(round(1000 * (chunk + done / total) / n_chunks), 1000)
