"""The modules of a package, so that a catalogue finds its records by itself."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules_of(package: ModuleType) -> dict[str, ModuleType]:
    """Return the modules directly in a package, imported, by their names in alphabetical order; no packages in it."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__) if not module.ispkg)
    return {name: importlib.import_module(f"{package.__name__}.{name}") for name in names}
