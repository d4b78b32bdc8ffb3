"""The pages of a benchmark stand in one order: where one is, what it is, where else one can go."""

import re

import pytest
from django.urls import reverse

from tests.markup import compact

TABS = {
    "board": "Board", "scores": "Scores", "agreement": "Agreement", "head_to_head": "Head to head",
    "prospects": "Who can win",
    "what_if": "What if", "stability": "Stability", "experiments": "Experiments", "instances": "Instances",
    "timeline": "Over time", "history": "History",
}  # fmt: skip


def links(markup: str) -> dict[str, str]:
    """The links of a piece of markup: their texts, each with what `aria-current` says of it."""
    matches = re.findall(r'<a href="[^"]*"(?: aria-current="(\w+)")?>(.*?)</a>', markup)
    return {re.sub("<[^>]*>", "", text): current for current, text in matches}


def part(page: str, start: str, end: str) -> str:
    return page.partition(start)[2].partition(end)[0]


@pytest.mark.parametrize("name", [*TABS, "history_compare", "system"])
def test_a_page_of_a_benchmark_has_its_crumbs_its_title_and_its_tabs_in_this_order(make, client, name):
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]})
    page = compact(
        client.get(reverse(name, args=[benchmark.key, *(["a"] if name == "system" else [])])).content.decode()
    )
    places = [page.index(what) for what in ('class="crumbs"', "<h1>", 'class="tabs no-print"')]
    assert places == sorted(places)
    assert page.count('class="tabs no-print"') == 1
    tabs = links(part(page, 'class="tabs no-print"', "</nav>"))
    assert {text for text, current in tabs.items() if current} == ({TABS[name]} if name in TABS else set())
    assert list(tabs) == [tab for tab in TABS.values() if tab != "Instances" or name == "instances"]
    assert not re.search(r'class="button[^>]*>The board</a>', page)
    assert links(part(page, 'class="site-nav"', "</ul>"))["Benchmarks"] == "true"


def test_the_crumb_of_who_can_win_says_so(make, client):
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]})
    page = compact(client.get(reverse("prospects", args=[benchmark.key])))
    assert part(page, 'class="crumbs"', "</nav>").endswith('<li aria-current="page">Who can win</li></ol>')


@pytest.mark.parametrize(("name", "current"), [("home", "page"), ("rules", ""), ("try", ""), ("compare", "")])
def test_elsewhere_benchmarks_is_current_on_their_list_alone(client, db, name, current):
    page = compact(client.get(reverse(name)))
    assert links(part(page, 'class="site-nav"', "</ul>"))["Benchmarks"] == current
