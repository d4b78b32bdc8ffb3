"""The table of what the papers describe says where it is here, and everything that it names is there."""

from __future__ import annotations

import argparse
import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from django.urls import Resolver404, resolve

from leaderboard.common.markdown import render_document
from ranking_engine import RULES, ScoreMatrix
from ranking_engine.axioms import PROPERTIES
from ranking_engine.command_line import argument_parser
from ranking_engine.stability.catalogue import EXPERIMENTS
from ranking_engine.stability.sensitivity.worst_case_bound import most_reversed_by_systems, most_reversed_by_weights
from reproduction.__main__ import PAGE
from reproduction.catalogue import sections
from reproduction.items import PAPERS, STATES, WORKS, Item, items, state_counts
from reproduction.render import items_text
from tests.reference import REPOSITORY
from tests.reproduction.test_citations import PLACES

ITEMS = items()
EXAMPLES = {"key": "glue", "system_key": "ernie", "rule_key": "borda", "rule": "borda", "study": "diversity"}
PROGRAM = "python -m ranking_engine "
# Where the anchors of pages are written, by the name of the page's route.
TEMPLATES = {
    "rules": ("boards/rules.html", "boards/_arrow.html"),
    "instances": ("studies/instances.html",),
    "landscape": ("studies/landscape.html",),
    "agreement": ("comparisons/agreement.html", "comparisons/_rule_figures.html", "comparisons/_rule_map.html"),
}
KEYS = {
    "section": {section.key for section in sections()},
    "study": set(EXPERIMENTS),
    "rule": set(RULES),
    "property": set(PROPERTIES),
}


def named(*kinds: str) -> list[tuple[str, str]]:
    """Return the kind and the name of all that the items name of these kinds, each once."""
    return sorted({(kind, name) for item in ITEMS for kind, name in item.where if kind in kinds})


def route_of(path: str) -> str:
    """Return the name of the route that answers this path; empty where none does."""
    try:
        route = str(resolve(path.format(**EXAMPLES)).url_name)
    except Resolver404:
        return ""
    return "" if route == "nothing" else route  # which answers whatever else is under /api/


@cache
def options_of_commands() -> dict[str, set[str]]:
    """Return the options of every command of the engine's command line."""
    actions = argument_parser()._actions
    commands = next(action.choices for action in actions if isinstance(action, argparse._SubParsersAction))
    return {name: {option for action in command._actions for option in action.option_strings}
            for name, command in commands.items()}  # fmt: skip


def anchor_is_on(path: str, anchor: str) -> bool:
    """Whether a page's templates have an element of this name."""
    texts = [(REPOSITORY / "templates" / name).read_text(encoding="utf-8") for name in TEMPLATES[route_of(path)]]
    return any(f'id="{anchor}"' in text for text in texts)


def document_has(name: str) -> bool:
    """Whether a document is there and has the heading that is named after `#`."""
    path, _, anchor = name.partition("#")
    if not (REPOSITORY / path).is_file():
        return False
    _, headings = render_document((REPOSITORY / path).read_text(encoding="utf-8"), str)
    return not anchor or anchor in {heading.anchor for heading in headings}


def faults_of(item: Item) -> list[str]:
    """Return what is wrong with the form of an item."""
    places = {"", *PLACES.get(item.paper, {})}
    rules = {
        "its place is none of places.toml": item.place not in places,
        "its state is none": item.state not in STATES,
        "it does not say what it lacks": item.state != WORKS and not item.lacks,
        "it works and lacks something": item.state == WORKS and bool(item.lacks),
        "it works and is nowhere": item.state == WORKS and not item.where,
        "it is too long": len(item.what) >= 100,
    }
    return [f"{item.number}: {fault}" for fault, is_at_fault in rules.items() if is_at_fault]


def test_the_items_are_numbered_from_1_to_183_in_order_and_paper_by_paper():
    assert [item.number for item in ITEMS] == list(range(1, 184))
    assert list(dict.fromkeys(item.paper for item in ITEMS)) == list(PAPERS)
    changes = sum(one.paper != other.paper for one, other in pairwise(ITEMS))
    assert changes == len(PAPERS) - 1


def test_every_item_has_a_known_place_and_state_and_says_what_it_lacks():
    assert [fault for item in ITEMS for fault in faults_of(item)] == []


def test_an_item_of_an_unknown_place_that_says_neither_where_nor_what_it_lacks_is_refused():
    assert faults_of(Item(7, "rofin", "section 99", "x" * 100, "partly", ())) == [
        "7: its place is none of places.toml", "7: it does not say what it lacks", "7: it is too long",
    ]  # fmt: skip
    assert faults_of(Item(8, "design", "", "a thing", WORKS, (), "all of it")) == [
        "8: it works and lacks something", "8: it works and is nowhere",
    ]  # fmt: skip


def test_every_way_to_name_something_is_looked_up_here():
    assert {kind for item in ITEMS for kind, _ in item.where} == {"page", "api", "command", "doc", *KEYS}


@pytest.mark.parametrize(("kind", "path"), named("page", "api"))
def test_a_page_and_a_route_of_the_api_are_answered(kind, path):
    address, _, anchor = path.partition("#")
    assert route_of(address)
    assert address.startswith("/api/v1/") or kind == "page"
    assert not anchor or anchor_is_on(address, anchor)


def test_benchmarks_and_rules_in_paths_are_there():
    paths = [path for _, path in named("page")]
    benchmarks = {match[1] for path in paths if (match := re.match(r"/b/([\w-]+)/", path))}
    rules = {match[1] for path in paths if (match := re.match(r"/rules/(\w+)/", path))} - {"choose"}
    demonstration = {folder.name for folder in (REPOSITORY / "leaderboard" / "demonstration").iterdir()}
    assert (len(benchmarks), benchmarks - demonstration) == (6, set())
    assert (len(rules), rules - set(RULES)) == (7, set())


@pytest.mark.parametrize("command", [name for _, name in named("command")])
def test_a_command_and_its_options_are_there(command):
    assert command.startswith(PROGRAM)
    name, *options = command.removeprefix(PROGRAM).split()
    assert set(options) <= options_of_commands()[name]


@pytest.mark.parametrize("document", [name for _, name in named("doc")])
def test_a_document_and_its_heading_are_there(document):
    assert document_has(document)


@pytest.mark.parametrize("kind", KEYS)
def test_sections_studies_rules_and_properties_are_in_their_catalogues(kind):
    assert {name for _, name in named(kind)} - KEYS[kind] == set()


def test_what_is_nowhere_is_not_taken_for_there():
    assert (route_of("/b/{key}/agreements/"), route_of("/api/v1/benchmarks/{key}/graph/")) == ("", "")
    assert not anchor_is_on("/rules/", "figures")
    assert not document_has("docs/rules/nobody.md")
    assert not document_has("docs/rules/borda.md#nothing")
    assert "--vectors" not in options_of_commands()["rank"]


def test_every_link_of_the_table_leads_from_the_page_to_a_file_and_its_heading():
    links = set(re.findall(r"\]\(([^)]+)\)", items_text()))
    paths = {(PAGE.parent / link.partition("#")[0]).resolve() for link in links}
    assert (REPOSITORY / "README.md").resolve() in paths
    assert {path for path in paths if not path.is_file()} == set()


def test_the_item_on_other_rules_names_those_of_which_no_worst_case_is_bounded():
    item = next(item for item in ITEMS if item.number == 88)
    board = ScoreMatrix(np.array([[3.0, 2, 1], [2, 3, 2], [1, 1, 3]]), system_names=list("abc"), task_names=list("xyz"))
    pair, third, rules = np.array([0, 1]), np.array([2]), [key for key, rule in RULES.items() if not rule.parameters]
    by_systems = {key: most_reversed_by_systems(board, key, np.array([1.0, 2.0]), pair, third).pairs for key in rules}
    by_weights = {key: most_reversed_by_weights(board, key, np.array([1.0, 2.0, 3.0]), 0.1).pairs for key in rules}
    bounded = {key for key in rules if by_systems[key] is not None}
    assert item.state == "partly"
    assert bounded >= {"borda", "average_rank", "copeland", "win_rate", "plurality", "dowdall"}
    assert {key for key in rules if by_systems[key] is None and by_weights[key] is not None} == {
        "veto", "relative_difference", "compatible_borda",
    }  # fmt: skip
    assert {key for key in bounded if by_weights[key] is None} >= {"copeland", "median"}
    for name in ("Minimax", "Schulze", "ranked pairs", "Kemeny", "Bradley-Terry", "threshold", "veto", "Copeland"):
        assert name in item.lacks.partition("There is no bound")[2]


def test_the_page_has_the_table_and_counts_the_states():
    n = state_counts(ITEMS)
    text = items_text()
    assert f"{n['works']} work, {n['partly']} work partly and {n['missing']} are missing" in text
    assert sum(n.values()) == len(ITEMS) == len(re.findall(r"^\| \d+ \|", text, re.MULTILINE))
    assert text.strip() in PAGE.read_text(encoding="utf-8")
