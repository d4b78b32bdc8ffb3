"""The libraries of metrics: imported when a metric is computed, and never before."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from typing import Any

from ranking_engine.evaluation.metric import Library, Metric, MissingLibraryError

EXTRA = "scoring"


def is_available(metric: Metric) -> bool:
    """Whether the metric's library is installed; it is not imported."""
    return not metric.library.module or importlib.util.find_spec(metric.library.module.partition(".")[0]) is not None


def library_version(metric: Metric) -> str:
    """Return the version of the metric's library.

    Returns:
        Empty where our own code computes it, or where the library is not installed.
    """
    if not metric.library.distribution:
        return ""
    try:
        return importlib.metadata.version(metric.library.distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def load(library: Library) -> Any:  # noqa: ANN401 -- a module
    """Return the library's module.

    Raises:
        MissingLibraryError: it is not installed.
    """
    try:
        return importlib.import_module(library.module)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            f"this metric needs {library.distribution}: install plurank with its extra `{EXTRA}`"
        ) from error
