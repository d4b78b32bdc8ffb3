"""Modules that comments and docstrings name exist: a package that moves takes its name along."""

import re
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("leaderboard", "ranking_engine", "plurank", "jobs", "config")
NAMED = re.compile(r"`([a-z_]+(?:\.[a-z_]+)*\.[A-Za-z_]+)`")
FILES = {"json", "lock", "log", "preflib", "py", "toml", "yaml", "zip"}
# Names with a dot that are no modules: fields of answers, parameters, attributes.
OTHERS = {"borda.spearman", "completed.matrix", "job.started_at", "meta.released", "np.load"}


def source_files() -> list[Path]:
    return sorted(chain.from_iterable((ROOT / package).rglob("*.py") for package in PACKAGES))


def test_comments_and_docstrings_name_modules_that_exist():
    modules = set()
    for path in source_files():  # each by its dotted name, and by each end of it
        parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
        modules |= {".".join(parts[k:]) for k in range(len(parts))}
    unknown = []
    for path in source_files():
        for named in set(NAMED.findall(path.read_text(encoding="utf-8"))) - OTHERS:
            first, second, *_ = parts = named.split(".")
            is_ours = any(".".join(parts[: len(parts) - n]) in modules for n in (0, 1, 2))
            is_library = not is_ours and find_spec(first) and hasattr(import_module(first), second)
            if not (is_ours or is_library or parts[-1] in FILES or parts[-1] == "KEY"):
                unknown.append(f"{path.relative_to(ROOT)}: {named}")
    assert unknown == []
