"""The papers page: every row of the stored results where it was asked for, and nothing that was not."""

import json
import re
from html import unescape

import pytest

from leaderboard.papers.results import RESULTS, papers_page
from tests.markup import compact


@pytest.fixture(scope="module")
def stored():
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def rows_of(stored, *, paper="", verdict=""):
    return [
        row
        for of in stored["papers"]
        if paper in ("", of["key"])
        for section in of["sections"]
        for row in section["rows"]
        if verdict in ("", row["verdict"])
    ]


def shown_rows(page):
    """The rows of all comparisons on a page, as texts."""
    tables = re.findall(r'<table class="comparisons">(.*?)</table>', page, re.S)
    rows = [row for table in tables for row in re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", table, re.S)]
    return [[unescape(re.sub("<[^>]*>", "", cell)) for cell in re.split(r"</t[hd]>", row)[:5]] for row in rows]


def as_shown(rows):
    return [
        [row["what"], row["printed"] or "–", row["code"] or "–", row["ours"] or "–", row["verdict"]] for row in rows
    ]


@pytest.mark.django_db
def test_the_essay_stands_alone_with_its_totals_until_something_is_asked_for(client, stored, django_assert_num_queries):
    with django_assert_num_queries(0):
        page = compact(client.get("/papers/"))
    text = unescape(page)
    assert shown_rows(page) == []
    titles = {section["key"]: section["title"] for of in stored["papers"] for section in of["sections"]}
    for claim in stored["essay"]:
        assert claim["text"] in text
        for key in claim["sections"]:
            assert f'#{key}">{titles[key]}</a>' in text
    n = {verdict: len(rows_of(stored, verdict=verdict)) for verdict in ("agrees", "differs", "ours alone")}
    assert f"{n['agrees']} comparisons agree and {n['differs']} differ" in text
    numbers = stored["printed_numbers"]
    places = [place for of in stored["papers"] for place in of["places"]]
    assert f"They print {numbers['printed']:,} numbers" in text
    assert f"{numbers['different']} differ, {numbers['unexplained']} of these without a known cause" in text
    assert numbers["printed"] == sum(place["numbers"] for place in places)
    assert numbers["printed"] == numbers["equal"] + numbers["different"] + numbers["not_compared"]


def test_a_paper_shows_all_of_its_rows_tables_and_figures(client, stored):
    page = compact(client.get("/papers/?paper=pavao"))
    of = next(of for of in stored["papers"] if of["key"] == "pavao")
    assert shown_rows(page) == as_shown(rows_of(stored, paper="pavao"))
    assert page.count("<details") == sum(len(section["grids"]) for section in of["sections"])
    figures = [plot for section in of["sections"] for plot in section["plots"]]
    assert len(figures) > 0
    for plot in figures:
        drawn = page.partition(f'aria-labelledby="{plot["key"]}-title')[2].partition("</svg>")[0]
        assert drawn.count('class="line series-') == len(plot["curves"])


@pytest.mark.parametrize("verdict", ["agrees", "differs", "ours alone"])
def test_a_verdict_shows_its_rows_of_all_papers_and_no_others(client, stored, verdict):
    page = compact(client.get("/papers/", {"verdict": verdict}))
    assert shown_rows(page) == as_shown(rows_of(stored, verdict=verdict))
    assert "<details" not in page


def test_every_row_that_differs_says_why(stored):
    assert [row["what"] for row in rows_of(stored, verdict="differs") if not row["reason"]] == []


def test_words_that_mean_nothing_ask_for_all():
    assert papers_page(paper="nobody", verdict="maybe") == papers_page()


def test_the_file_behind_the_page_can_be_had(client, stored):
    response = client.get("/papers/results.json")
    assert response["Content-Type"] == "application/json"
    assert response.json() == stored
