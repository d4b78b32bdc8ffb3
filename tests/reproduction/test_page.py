"""docs/papers.md holds what the engine says today, section by section, and gives a reason for every difference."""

from __future__ import annotations

import json

import pytest

from reproduction import figures, measures, store
from reproduction.__main__ import PAGE, SITE
from reproduction.boards import IN_REPOSITORY
from reproduction.catalogue import PAPERS, head, sections
from reproduction.essay import CLAIMS, PARTS
from reproduction.render import section_json, section_text
from reproduction.tables import AGREES, DIFFERS, OURS_ALONE
from tests.reference import reference_folder

SECTIONS = [
    pytest.param(section, id=section.key, marks=[pytest.mark.slow] if section.is_slow else []) for section in sections()
]


@pytest.fixture(scope="module", autouse=True)
def nothing_kept(tmp_path_factory):
    """Keep what sections share among these tests alone, so that nothing is read back from an earlier run."""
    kept, store.FOLDER = store.FOLDER, tmp_path_factory.mktemp("papers")
    for function in (measures.of_cardinal, measures.of_paper_set, measures.of_ordinal, measures.at_least_weight):
        function.cache_clear()
    yield
    store.FOLDER = kept


@pytest.fixture(scope="module")
def stored():
    return json.loads(SITE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_the_page_is_what_the_engine_computes(section, stored):
    if not set(section.boards) <= set(IN_REPOSITORY):
        reference_folder()
    result = section.compute(lambda done, total: None)
    assert result.rows or result.grids
    assert section_text(section, result) in PAGE.read_text(encoding="utf-8")
    of_site = {of["key"]: of for paper in stored["papers"] for of in paper["sections"]}
    assert of_site[section.key] == json.loads(json.dumps(section_json(section, result)))
    assert [row.what for row in result.rows if row.verdict == DIFFERS and not row.reason] == []
    for figure in (*result.plots, *result.planes):
        assert (figures.FOLDER / f"{figure.key}.svg").read_text(encoding="utf-8") == figures.svg_of(figure)


def test_the_page_has_every_paper_and_every_section_once_and_in_order():
    page = PAGE.read_text(encoding="utf-8")
    headings = [line for line in page.splitlines() if line.startswith("##")]
    expected = ["## In short", *(f"### {part}" for part in PARTS), "## The printed numbers"]
    for paper in PAPERS:
        expected += [f"## {paper.title}", *(f"### {section.title}" for section in paper.sections)]
        expected += ["### Left out"] if paper.left_out else []
    expected += ["## What the papers describe, and where it is here"]
    assert headings == expected
    assert page.startswith(head())
    assert "Not run" not in page


def test_keys_of_sections_differ():
    keys = [section.key for section in sections()]
    assert len(set(keys)) == len(keys)


def test_every_claim_stands_on_sections_that_there_are_and_is_on_the_page(stored):
    keys = {section.key for section in sections()}
    assert [claim["title"] for claim in stored["essay"]] == [title for _, title, _, _ in CLAIMS]
    page = PAGE.read_text(encoding="utf-8")
    for claim in stored["essay"]:
        assert set(claim["sections"]) <= keys
        assert f"- **{claim['title']}** {claim['text']}" in page


def test_the_totals_are_those_of_the_rows(stored):
    verdicts = [row["verdict"] for paper in stored["papers"] for of in paper["sections"] for row in of["rows"]]
    assert stored["totals"] == {verdict: verdicts.count(verdict) for verdict in (AGREES, DIFFERS, OURS_ALONE)}


def test_the_page_says_for_how_many_rows_and_numbers_no_cause_is_known(stored):
    rows = [row for paper in stored["papers"] for of in paper["sections"] for row in of["rows"]]
    unexplained = [row for row in rows if "not established" in row["reason"]]
    assert {row["verdict"] for row in unexplained} == {DIFFERS}
    assert all(row["reason"] for row in rows if row["verdict"] == DIFFERS)
    n_rows, n_numbers = len(unexplained), sum(row["n_printed"] - row["n_equal"] for row in unexplained)
    numbers = stored["printed_numbers"]
    assert (numbers["unexplained_rows"], numbers["unexplained"]) == (n_rows, n_numbers)
    page = PAGE.read_text(encoding="utf-8")
    n_explained = stored["totals"][DIFFERS] - n_rows
    assert f"Of those that differ, {n_explained} have a reason; for {n_rows} no cause is known" in page
    assert f"{numbers['different'] - n_numbers} with a reason and {n_numbers} without a known cause" in page


def test_no_figure_is_left_that_no_section_draws(stored):
    drawn = [
        figure["key"] for paper in stored["papers"] for of in paper["sections"] for figure in of["plots"] + of["planes"]
    ]
    assert len(set(drawn)) == len(drawn)
    assert {path.stem for path in figures.FOLDER.iterdir()} == set(drawn)
