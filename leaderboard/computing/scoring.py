"""Predictions scored against references that are hidden: what a sealed child is told to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.evaluation.metrics import METRICS, MissingLibraryError, UndefinedMetricError, evaluate
from ranking_engine.evaluation.reading import read_predictions, read_references
from ranking_engine.files.problems import InputError, Problem

DEVELOPMENT, TEST = "development", "test"


class ScoringError(RuntimeError):
    """What went wrong, without anything that could be of a reference: kinds of errors, and lines of our own code."""


@dataclass(frozen=True)
class SplitFigure:
    """A figure on some of the instances."""

    value: float
    standard_error: float | None
    n_instances: int


@dataclass(frozen=True)
class Scored:
    """What scoring found of the predictions for one task.

    Attributes:
        parts: the figures by split: `development`, or `test` and the splits that this consists of.
        instance_values: of each instance in the order of the references, None where the metric has none.
        splits: of each instance, None where the references state none.
        library, library_version: whose call computed it; empty for our own code.
        problems: why there is no figure; then everything else is empty.
    """

    parts: Mapping[str, SplitFigure] = field(default_factory=dict)
    instance_values: FloatArray | None = None
    splits: tuple[str, ...] | None = None
    library: str = ""
    library_version: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class ScoringCall:
    """What is to be scored: one file.

    Attributes:
        metric: a key of `METRICS`.
        options: of the metric.
        references, references_name: the plain file.
        predictions, predictions_name: as they came in.
        split: `development` for a trial; `test`, which is everything else.
    """

    metric: str
    options: Mapping[str, Any]
    references: bytes = field(repr=False)
    references_name: str
    predictions: bytes = field(repr=False)
    predictions_name: str
    split: str


def score_predictions(call: ScoringCall) -> Scored:
    """Score one file.

    Raises:
        ScoringError: in the place of every other error, whose text might quote a reference.
    """
    try:
        metric = METRICS[call.metric]
        hidden = read_references(call.references, call.references_name, metric, is_bounded=True)
        of_development = np.array([one == DEVELOPMENT for one in hidden.splits or ("",) * len(hidden)])
        chosen = hidden.at(np.flatnonzero(of_development if call.split == DEVELOPMENT else ~of_development))
        try:
            system = read_predictions(call.predictions, call.predictions_name, chosen, metric, is_bounded=True)
            outcome = evaluate(metric, chosen, system, call.options)
        except InputError as error:
            return Scored(problems=tuple(error.problems.listed))
        except UndefinedMetricError as error:
            return Scored(problems=(Problem(str(error), source=call.predictions_name),))
    except MissingLibraryError as error:
        raise ScoringError(str(error)) from None
    except MemoryError:  # the pool says what it means
        raise MemoryError from None
    except Exception as error:  # noqa: BLE001 -- only its kind is told
        where, trace = "", error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_globals.get("__name__", "").startswith(("ranking_engine", "leaderboard")):
                where = f"{trace.tb_frame.f_globals['__name__']}, line {trace.tb_lineno}"
            trace = trace.tb_next
        raise ScoringError(f"{type(error).__name__} in {where}") from None
    parts = {
        name: SplitFigure(part.value, part.standard_error, part.n_instances)
        for name, part in outcome.by_split.items()
        if part.value is not None
    }
    parts[call.split] = SplitFigure(outcome.value, outcome.standard_error, outcome.n_instances)
    return Scored(parts, outcome.instance_values, chosen.splits, outcome.library, outcome.library_version)
