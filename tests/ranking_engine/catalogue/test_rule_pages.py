"""docs/rules: every example runs, every rule has its page, and no page says less than the catalogue."""

from __future__ import annotations

import doctest
import re

import pytest

import ranking_engine
from ranking_engine import MISSING_POLICIES, RULES, TIES
from ranking_engine.catalogue.omission import NATIVE, omission_sentence, policies_of
from ranking_engine.catalogue.rule import FAMILIES
from ranking_engine.rules import choice_sets
from tests.reference import REPOSITORY

FOLDER = REPOSITORY / "docs" / "rules"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md"))
BESIDE_RULES = {"README", "choice_sets", "comparison", "missing-scores"}
SECTIONS = [
    "Definition", "Options and ties", "Missing scores", "Cost", "When to use it", "The toy example, step by step",
    "Source",
]  # fmt: skip


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def joined(text: str) -> str:
    """The text on one line, for phrases that run over several."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("page", PAGES)
def test_every_example_gives_what_the_page_says(page):
    result = doctest.testfile(str(FOLDER / f"{page}.md"), module_relative=False, encoding="utf-8")
    assert result.failed == 0
    assert result.attempted >= 3


def test_every_rule_has_a_page_and_every_page_a_rule():
    assert set(PAGES) == {*RULES, *BESIDE_RULES}


@pytest.mark.parametrize("rule", RULES)
def test_the_site_and_the_page_give_the_same_advice(rule):
    section = text_of(rule).partition("## When to use it\n")[2].partition("\n## ")[0]
    assert RULES[rule].advice == joined(section).strip().replace("`", "")


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_a_page_tells_all_that_the_catalogue_knows(rule):
    page = text_of(rule.key)
    assert page.startswith(f"# {rule.name}\n\n`{rule.key}` · {rule.family} · ")
    assert re.findall("^## (.*)$", page, re.MULTILINE) == SECTIONS
    said = joined(page)
    assert ("needs every score" in said) == rule.needs_complete
    assert f"## Source {rule.source.rstrip('.')}." in said
    for name, values in rule.options.items():
        assert f"- `{name}`" in page
        assert f"`{values[0]}` (default)" in said
        assert all(f"`{value}`" in said for value in values)
    for name, number in rule.numbers.items():
        assert f"- `{name}` (a number from {number.least:g} to {number.most:g}, default {number.default:g}):" in said
    assert all(f"- `{name}`: has to be given" in said for name in rule.parameters)
    tells_ties = f"- `ties`, for ties within a task: `{rule.tie_convention}` by default" in page
    assert tells_ties == (rule.tie_convention is not None)
    assert rule.tie_convention is None or all(f"`{ties}`" in said for ties in TIES)
    assert rule.max_systems is None or f"Not computed for more than {rule.max_systems:,} systems." in said


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_a_page_tells_under_which_policy_leaving_out_a_score_can_pay(rule):
    said = joined(text_of(rule.key))
    for policy in policies_of(rule):
        sentence = omission_sentence(rule.key, "undefined" if policy == NATIVE else policy)
        assert (sentence if policy == NATIVE else f"- `{policy}`: {sentence}") in said


def test_the_index_says_what_each_family_does():
    for key, family in FAMILIES.items():
        assert f"| {key} | {family.meaning} | {family.reads} |" in text_of("README")


def test_the_pages_beside_the_rules_tell_every_policy_and_choice_set():
    for policy, sentence in MISSING_POLICIES.items():
        assert f"| `{policy}` | {sentence} |" in text_of("missing-scores")
    sets = {name for name in ranking_engine.__all__ if hasattr(choice_sets, name)} - {"Pairwise", "ScoreMatrix"}
    sets.add("essential_set")
    assert len(sets) == 7
    assert all(f"| `{name}` |" in text_of("choice_sets") for name in sets)
    assert all(f"`{variant}`" in text_of("choice_sets") for variant in choice_sets.UNCOVERED_VARIANTS)


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+\.md)\)", text_of(page)):
            assert (FOLDER / target).is_file(), f"{page}.md: {target}"
