"""What a metric is: its record, its options, and what it is given and returns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.text.characters import line_problem
from ranking_engine.text.names import shorten

FloatArray = NDArray[np.float64]
CodeArray = NDArray[np.int64]

MAX_LABEL = 200  # characters
LARGEST = 1e100  # number, with either sign: sums of squares stay finite
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.0+)?", re.ASCII)


def plain_label(text: str) -> str:
    """Return a label as JSON writes it if it is a whole number or a truth value: 1.0 is 1, True and TRUE are true.

    So pandas writes whole numbers where a column has a gap, and truth values. Every other text stays as it is, also 01,
    1.50 and 1e3.
    """
    if _WHOLE.fullmatch(text):
        return str(int(text.partition(".")[0]))
    return text.lower() if text.lower() in ("true", "false") else text


class Kind(StrEnum):
    """What the value of one instance is."""

    NOTHING = "nothing"
    LABEL = "label"
    NUMBER = "number"
    PROBABILITIES = "probabilities"  # a number from 0 to 1 for each label
    TEXT = "text"
    TEXTS = "texts"  # one or several, each as good as the others
    TAGS = "tags"  # a label for each token
    RELEVANCE = "relevance"  # documents with how relevant they are
    DOCUMENTS = "documents"  # in order, the best first


class ErrorMethod(StrEnum):
    """How the standard error of a figure is estimated; clusters of instances count as one in all of them."""

    MEAN = "mean"
    JACKKNIFE = "jackknife"
    BOOTSTRAP = "bootstrap"
    NONE = "none"


@dataclass(frozen=True)
class Library:
    """Whose call computes the figure.

    Attributes:
        distribution: as it is installed; empty for our own code.
        module: as it is imported.
    """

    distribution: str = ""
    module: str = ""


@dataclass(frozen=True)
class Option:
    """What can be chosen about a metric.

    Attributes:
        key: its name.
        description: what it does, in plain English.
        kind: "label", "integer", "number", "choice" or "yes_no".
        default: where nothing is chosen; None where something has to be, or where None itself means something.
        is_needed: whether something has to be chosen.
        lowest, highest: the bounds of a number.
        choices: of a "choice".
    """

    key: str
    description: str
    kind: str
    default: Any = None
    is_needed: bool = False
    lowest: float = -math.inf
    highest: float = math.inf
    choices: tuple[str, ...] = ()

    def read(self, value: object) -> Any:  # noqa: ANN401 -- of the option's kind
        """Return a value of this option, of its kind.

        Args:
            value: the value itself, or a text from a form or a command.

        Raises:
            ValueError: it is none; the message says what is expected.
        """
        if value is None or value == "":
            if self.is_needed:
                raise ValueError(f"{self.key} is needed: {self.description}")
            return self.default
        quoted = repr(shorten(str(value)))
        if self.kind == "label":
            text = str(value).strip()
            if not 0 < len(text) <= MAX_LABEL or (line_problem(text)):
                raise ValueError(f"{quoted} is no label; expected one line of at most {MAX_LABEL} characters")
            return plain_label(text)
        if self.kind == "choice":
            if value not in self.choices:
                raise ValueError(f"{quoted} is not a choice; expected one of {', '.join(self.choices)}")
            return value
        if self.kind == "yes_no":
            answers = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
            answer = answers.get(str(value).casefold())
            if answer is None:
                raise ValueError(f"{quoted} is no answer; expected yes or no")
            return answer
        return self.read_number(value, quoted)

    def read_number(self, value: object, quoted: str) -> float | int:
        """Return a number within the bounds; `quoted` is what messages call the value.

        Raises:
            ValueError: it is none.
        """
        try:
            text = str(value)
            number = float(text) if len(text) <= 40 else math.nan
        except ValueError:
            number = math.nan
        is_whole = self.kind != "integer" or number.is_integer()
        if isinstance(value, bool) or not math.isfinite(number) or not is_whole:
            raise ValueError(f"{quoted} is no {'whole ' if self.kind == 'integer' else ''}number")
        if not self.lowest <= number <= self.highest:
            raise ValueError(f"{number:g} is outside {self.lowest:g} to {self.highest:g}")
        return int(number) if self.kind == "integer" else number


@dataclass(frozen=True)
class Cases:
    """The instances that are scored, in one order.

    Labels are numbered in sorted order of their names. Numbers and codes are arrays; probabilities a matrix with a
    column for each label; everything else is a sequence of the values as they were read.

    Attributes:
        references: the hidden values.
        predictions: those of the system.
        options: of the metric, all of them.
        weights: of the instances, or None if all are 1.
        labels: the names of the codes.
        n_true_labels: how many of them references have, also those of other instances where these are a part.
    """

    references: Any
    predictions: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    weights: FloatArray | None = None
    labels: tuple[str, ...] = ()
    n_true_labels: int = 0

    def __len__(self) -> int:
        return len(self.predictions)

    def at(self, places: CodeArray) -> Cases:
        """Return the instances at some places, which may occur several times."""

        def taken(values: Any) -> Any:  # noqa: ANN401 -- an array or a sequence
            return values[places] if isinstance(values, np.ndarray) else [values[place] for place in places]

        weights = None if self.weights is None else self.weights[places]
        return replace(self, references=taken(self.references), predictions=taken(self.predictions), weights=weights)


@dataclass(frozen=True)
class AdditiveFigure:
    """A figure that is a function of sums over instances, so that leaving instances out is a subtraction.

    Attributes:
        terms: of each instance, shape (n, k), dense or sparse; without weights.
        figures: of sums, shape (m, k), the figures, shape (m,), NaN where there is none.
        sizes: of each instance what it counts by in the figure, such as its number of words; None if all count alike.
    """

    terms: Any
    figures: Callable[[FloatArray], FloatArray]
    sizes: FloatArray | None = None

    def whole(self, weights: FloatArray | None) -> float:
        """Return the figure of all instances, with their weights if they have any."""
        total = self.terms.sum(axis=0) if weights is None else weights @ self.terms
        return float(self.figures(np.asarray(total, dtype=np.float64).reshape(1, -1))[0])


@dataclass(frozen=True)
class Metric:
    """The record of a metric.

    Attributes:
        key: its name in files and programs.
        name: its name for people.
        description: what it measures, in plain English.
        library: whose call computes it.
        lower_is_better: whether less is better.
        lowest, highest: the ends of its scale; infinite where it has none.
        reference_kind, prediction_kind: what the value of an instance is.
        citation: the paper that defines it, with its DOI or URL.
        figure: the library's own call, of all instances at once; NaN where it is undefined. None where the library
            gives the values of instances or the sums, and the figure is their mean or that of the sums.
        instance_values: of each instance, if their (weighted) mean is the figure.
        sums: the figure as a function of sums, for the jackknife.
        classes: of each instance the number of its class, where a class counts as much as another one however rare it
            is; -1 for instances that count with no class. Without enough clusters there is no standard error.
        reweighted: a function that computes the figure for weights of the instances, for the bootstrap: faster than
            drawing the instances.
        options: what can be chosen.
        has_error: whether the figure has a standard error; none where chance mostly moves it one way.
        takes_weights: whether instances can have weights.
        lowest_prediction, highest_prediction: the bounds of predicted numbers.
        when_undefined: why there may be no figure, as a sentence.
        pairs, max_pairs: what the work grows with where it is not the size of the files: how many pairs of words or
            characters are compared, and the most that are.
    """

    key: str
    name: str
    description: str
    library: Library
    lower_is_better: bool
    lowest: float
    highest: float
    reference_kind: Kind
    prediction_kind: Kind
    citation: str
    figure: Callable[[Cases], float] | None = None
    instance_values: Callable[[Cases], FloatArray] | None = None
    sums: Callable[[Cases], AdditiveFigure] | None = None
    classes: Callable[[Cases], CodeArray] | None = None
    reweighted: Callable[[Cases], Callable[[FloatArray], float]] | None = None
    options: tuple[Option, ...] = ()
    has_error: bool = True
    takes_weights: bool = True
    lowest_prediction: float = -LARGEST
    highest_prediction: float = LARGEST
    when_undefined: str = ""
    pairs: Callable[[Cases], float] | None = None
    max_pairs: float = math.inf

    @property
    def decomposes(self) -> bool:
        """Whether the figure is the mean of values of instances."""
        return self.instance_values is not None

    @property
    def error_method(self) -> ErrorMethod:
        """How its standard error is estimated."""
        if not self.has_error:
            return ErrorMethod.NONE
        if self.decomposes:
            return ErrorMethod.MEAN
        return ErrorMethod.BOOTSTRAP if self.sums is None else ErrorMethod.JACKKNIFE

    def read_options(self, options: Mapping[str, object] | None) -> dict[str, Any]:
        """Return every option of this metric: those that are given, checked, and the defaults of the others.

        Raises:
            InputError: with all options that there are not, that are needed, or whose value is wrong.
        """
        given, problems, values = dict(options or {}), Problems(), {}
        for option in self.options:
            try:
                values[option.key] = option.read(given.pop(option.key, None))
            except ValueError as error:
                problems.add(option.key, str(error), place_name=option.key)
        for key in sorted(map(str, given)):
            known = ", ".join(option.key for option in self.options) or "none"
            problems.add(key, f"{self.name} has no such option; it has {known}", place_name=shorten(key))
        if problems:
            raise InputError(problems)
        return values


@dataclass(frozen=True)
class PartFigure:
    """The figure of some of the instances; `value` is None where there is none."""

    value: float | None
    standard_error: float | None
    n_instances: int


@dataclass(frozen=True)
class MetricResult:
    """What a metric says of predictions.

    Attributes:
        metric: its key.
        value: the figure.
        standard_error: of it, above 0; None below ten instances or clusters, or where they count as fewer because their
            weights or sizes differ much, where all of them are alike, and where the figure depends on a class that is
            in too few of them.
        error_method: how that was estimated.
        n_instances: that were scored.
        n_clusters: that were drawn or left out as one; as many as instances where none are stated.
        instance_values: of each instance in the order of the references, if the metric has them, else None.
        by_split, by_category: the same figure of parts of the instances, by their name.
        library, library_version: whose call computed it; empty for our own code.
        options: all of them.
    """

    metric: str
    value: float
    standard_error: float | None
    error_method: ErrorMethod
    n_instances: int
    n_clusters: int
    instance_values: FloatArray | None
    by_split: Mapping[str, PartFigure]
    by_category: Mapping[str, PartFigure]
    library: str
    library_version: str
    options: Mapping[str, Any]


class MissingLibraryError(ImportError):
    """A metric's library is not installed; the message says how to install it."""


class UndefinedMetricError(ValueError):
    """There is no figure for these predictions; the message says why."""


def all_but_commonest(cases: Cases) -> CodeArray:
    """Return 0 for each instance whose reference is not the commonest, and -1 for others."""
    _, codes, counts = np.unique(cases.references, return_inverse=True, return_counts=True)
    return np.where(codes == counts.argmax(), -1, 0)


def undefined(metric: Metric, problem: str = "") -> UndefinedMetricError:
    """Return the error of predictions for which there is no figure."""
    return UndefinedMetricError(f"{metric.name} is undefined here: {problem or metric.when_undefined}")


def option_problem(message: str, key: str) -> InputError:
    """Return the error of one option."""
    return InputError([Problem(message, key, place_name=key)])


def codes_of(*columns: Sequence[str]) -> tuple[tuple[str, ...], list[CodeArray]]:
    """Return the labels of some columns in sorted order, and each column as their numbers."""
    labels = tuple(sorted(set().union(*map(set, columns))))
    number = {label: k for k, label in enumerate(labels)}
    return labels, [np.array([number[label] for label in column], dtype=np.int64) for column in columns]
