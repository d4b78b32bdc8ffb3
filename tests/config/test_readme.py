"""The README and the table of settings say what is so."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()


def test_every_variable_of_the_settings_is_in_the_table_and_no_other():
    modules = [file.read_text() for file in (ROOT / "config" / "settings").glob("*.py")]
    in_settings = re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', "\n".join(modules))
    in_table = re.findall(r"^\| `([A-Z_]+)` \|", SETTINGS, flags=re.MULTILINE)
    assert sorted(in_table) == sorted(in_settings)


def test_every_make_target_that_it_names_is_there():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = set(re.findall(r"(?:^|`|=\d+ )make ([a-z-]+)", README, flags=re.MULTILINE))
    assert {"demo", "test", "check"} <= named <= set(targets)
