"""Packages that are installed in addition to numpy, scipy and highspy."""

from __future__ import annotations

import importlib
from typing import Any


def extra(module: str, name: str) -> Any:  # noqa: ANN401 -- a module
    """Return a module that belongs to an extra of the distribution.

    Args:
        module: its name, such as "matplotlib.pyplot".
        name: of the extra.

    Raises:
        ImportError: it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ImportError(f"this needs {package}: install plurank with its extra `{name}`") from error
