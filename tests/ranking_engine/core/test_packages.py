from __future__ import annotations

from pathlib import Path

from ranking_engine import text
from ranking_engine.core.packages import modules_of


def test_every_file_of_a_package_is_imported_under_its_name():
    files = sorted(path.stem for path in Path(text.__file__).parent.glob("*.py") if path.stem != "__init__")
    modules = modules_of(text)
    assert {name: module.__name__ for name, module in modules.items()} == {n: f"ranking_engine.text.{n}" for n in files}
    assert list(modules) == files
