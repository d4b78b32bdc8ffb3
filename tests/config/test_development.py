"""docs/development.md says where things are, in which order packages are imported, and what a change touches."""

import re
import tomllib

import pytest
from django.conf import settings

from tests.shape import MAX_MODULES

TEXT = (settings.ROOT / "docs" / "development.md").read_text(encoding="utf-8")
MAX_FILES = {"A rule": 4, "An importer of result files": 5, "A study": 5, "A metric": 3}  # beside the changelog


def recipes() -> dict[str, list[str]]:
    """The files that each recipe lists."""
    sections = re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]
    return {section.partition("\n")[0]: re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE) for section in sections}


def test_there_are_six_recipes_and_every_file_of_them_is_there():
    assert list(recipes()) == [
        "A rule", "An importer of result files", "A study", "A metric", "A page", "A field of the API",
    ]  # fmt: skip
    files = [file for listed in recipes().values() for file in listed]
    assert len(files) >= 15
    assert [file for file in files if not (settings.ROOT / file).is_file()] == []


def test_a_rule_an_importer_a_study_and_a_metric_touch_few_files():
    assert {name: len(recipes()[name]) for name in MAX_FILES} == MAX_FILES


@pytest.mark.parametrize("name", MAX_FILES)
def test_the_folders_of_a_recipe_have_room_for_one_more(name):
    folders = {(settings.ROOT / file).parent for file in recipes()[name] if file.endswith(".py")}
    assert [folder for folder in folders if len(list(folder.glob("*.py"))) - 1 >= MAX_MODULES] == []


def test_the_order_of_imports_is_the_one_that_is_checked():
    project = tomllib.loads((settings.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["name"]: contract for contract in project["tool"]["importlinter"]["contracts"]}
    layers = contracts["Packages import the packages below them"]["layers"]
    (chain,) = re.findall(r"^`urls` →.*?(?=\n\n)", TEXT, re.MULTILINE | re.DOTALL)
    assert re.findall(r"`(\w+)`", chain) == [layer.partition(" ")[0] for layer in layers]


def test_the_tree_names_every_folder_of_the_code():
    (tree,) = re.findall(r"^```\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"\b(\w+)/", tree))
    quiet = {"migrations", "management", "templatetags", "computing", "on_demand", "papers", "demonstration"}
    for package in ("ranking_engine", "leaderboard"):
        folders = {path.parent.name for path in (settings.ROOT / package).glob("*/__init__.py")}
        assert folders - quiet - named == set()
    assert {name for name in named if not list(settings.ROOT.glob(f"{name}/")) + list(settings.ROOT.glob(f"*/{name}/"))
            + list(settings.ROOT.glob(f"tests/*/{name}/"))} == set()  # fmt: skip
