"""The README and the table of settings say what is so."""

import re
from pathlib import Path

from leaderboard.computing.rankings import site_rules
from ranking_engine import RULES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()


def test_every_variable_of_the_settings_is_in_the_table_and_no_other():
    modules = [file.read_text() for file in (ROOT / "config" / "settings").glob("*.py")]
    in_settings = re.findall(r'env(?:_addresses)?\.\w+\(\s*"([A-Z_]+)"', "\n".join(modules))
    in_table = re.findall(r"^\| `([A-Z_]+)` \|", SETTINGS, flags=re.MULTILINE)
    assert sorted(in_table) == sorted(in_settings)


def test_boards_are_as_many_as_it_says_and_rules_about_as_many():
    texts = [README, *((ROOT / path).read_text() for path in ("plurank/README.md", "docs/first-hour/operator.md"))]
    counted = [re.findall(r"(some )?(\d+)\s+(rules|public leaderboards|real benchmarks)", text) for text in texts]
    n_boards = str(len(list((ROOT / "leaderboard" / "demonstration").glob("*/scores.csv"))))
    assert counted == [
        [("some ", "30", "rules"), ("", n_boards, "public leaderboards"), ("some ", "30", "rules")],
        [("some ", "30", "rules")],
        [("", n_boards, "real benchmarks")],
    ]
    assert 28 <= len(site_rules()) <= len(RULES) <= 34


def test_its_command_installs_what_its_example_in_a_notebook_imports():
    ((example, command),) = re.findall(r"```python\n(.*?)```\s+In a checkout, `pip install ([^`]*)`", README, re.DOTALL)
    (imports,) = re.findall(r"^import (.*)$", example, flags=re.MULTILINE)
    assert command.split() == ["'.[frames,plots]'", *(name for name in imports.split(", ") if name != "plurank")]


def test_every_make_target_that_it_names_is_there():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = set(re.findall(r"(?:^|`|=\d+ )make ([a-z-]+)", README, flags=re.MULTILINE))
    assert {"demo", "test", "check"} <= named <= set(targets)
