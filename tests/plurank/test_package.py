"""The package as Python sees it: what importing it loads, and that its examples are so."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import plurank
from tests.plurank import reference

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["plurank", *(module.name for module in pkgutil.walk_packages(plurank.__path__, "plurank."))]
MODULES.remove("plurank.__main__")
SLOW_OR_OURS = ("scipy", "django", "pandas", "matplotlib", "narwhals", "urllib3", "ranking_engine.stability.catalogue")


def test_importing_it_loads_nothing_slow_and_nothing_of_the_site():
    program = "import sys, plurank; print(*sys.modules, sep='\\n')"
    answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(answer.stdout.split())
    assert [name for name in SLOW_OR_OURS if name in loaded] == []


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_its_docstrings_are_so(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_the_manual_is_so():
    assert doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False).failed == 0


def test_the_reference_is_what_the_docstrings_say():
    assert reference.TARGET.read_text() == reference.written(), "python -m tests.plurank.reference writes it anew"


def test_every_name_that_it_offers_is_there():
    assert [name for name in plurank.__all__ if not hasattr(plurank, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'Bord'"):
        plurank.Bord  # noqa: B018 -- the look-up is the test
