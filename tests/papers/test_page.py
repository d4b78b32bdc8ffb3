"""docs/papers.md holds what the engine says today, section by section, and gives a reason for every difference."""

from __future__ import annotations

import pytest

from benchmarks.papers.__main__ import PAGE
from benchmarks.papers.boards import IN_REPOSITORY
from benchmarks.papers.catalogue import PAPERS, head, sections
from benchmarks.papers.render import section_text
from benchmarks.papers.tables import DIFFERS
from tests.reference import reference_folder

SECTIONS = [
    pytest.param(section, id=section.key, marks=[pytest.mark.slow] if section.is_slow else [])
    for section in sections()
]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_the_page_is_what_the_engine_computes(section):
    if not set(section.boards) <= set(IN_REPOSITORY):
        reference_folder()
    result = section.compute(lambda done, total: None)
    assert result.rows or result.grids
    assert section_text(section, result) in PAGE.read_text(encoding="utf-8")
    assert [row.what for row in result.rows if row.verdict == DIFFERS and not row.reason] == []


def test_the_page_has_every_paper_and_every_section_once_and_in_order():
    page = PAGE.read_text(encoding="utf-8")
    headings = [line for line in page.splitlines() if line.startswith("##")]
    expected = []
    for paper in PAPERS:
        expected += [f"## {paper.title}", *(f"### {section.title}" for section in paper.sections)]
        expected += ["### Left out"] if paper.left_out else []
    assert headings == expected
    assert page.startswith(head())
    assert "Not run" not in page


def test_keys_of_sections_differ():
    keys = [section.key for section in sections()]
    assert len(set(keys)) == len(keys)
