"""Pages for whoever comes without an account: a table of one's own, the choice of a rule, benchmarks compared."""

import csv
import io

import pytest

from tests.browser import by_hand
from tests.browser.conftest import is_all_published
from tests.browser.pages import ranks_shown, table_texts

pytestmark = [pytest.mark.browser, pytest.mark.services]


def test_a_pasted_table_is_ranked_as_by_hand_and_downloaded_again(reader):
    table = by_hand.read_table("glue")
    page = reader.open("/try/")
    text = (by_hand.DEMONSTRATION / "glue" / "scores.csv").read_text("utf-8")
    page.get_by_label("A table").fill(text)
    page.get_by_role("button", name="Rank").click()
    page.get_by_role("heading", name="Ranks under every rule").wait_for()
    page_ranks = ranks_shown(page)
    for rule, ranks in by_hand.all_ranks(table).items():
        assert page_ranks[rule] == ranks
    winner = by_hand.condorcet_winner(table)
    assert (winner or "no Condorcet winner") in page.locator(".headline").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8"))))
    assert {row["system"]: int(row["borda_rank"]) for row in rows} == by_hand.all_ranks(table)["Borda"]


def test_the_answers_lead_to_a_rule_without_javascript(visitors):
    page = visitors(java_script_enabled=False).open("/rules/choose/")
    page.get_by_label("No: only who is ahead on a task can be believed.").check()
    page.get_by_label("The system that beats every other head to head.").check()
    page.get_by_role("button", name="Which rule?").click()
    assert page.url.endswith("/rules/choose/?scores=orders&winner=condorcet")
    assert page.locator("#answer").inner_text() == "We suggest Schulze"
    rows = table_texts(page.get_by_role("region", name="Every rule against your answers").locator("table"))
    assert rows[0] == ["Schulze", "yes", "yes", "yes", "10"]


def test_benchmarks_compared_show_every_system_where_it_stands(site, factory, reader):
    glue = by_hand.read_table("glue")
    shared = {name.upper(): [float(k % 5), float(k % 3)] for k, name in enumerate(list(glue)[:12])}
    factory.benchmark(shared, name="Kin", key="kin", default_rule="copeland")
    site.wait_until(is_all_published, 20, "the board is published")
    ranks = [by_hand.ranks(by_hand.copeland(table)) for table in (glue, shared)]
    page = reader.open("/compare/?rule=copeland&b=glue&b=kin")
    rows = {row[0].partition(" also ")[0]: row[2:] for row in table_texts(page.locator("table.compared"))}
    assert rows.keys() == set(list(glue)[:12])
    for name, cells in rows.items():
        places = [int(text.strip("=").split("/")[0]) for text in cells]
        assert places == [ranks[0][name], ranks[1][name.upper()]]


def test_the_properties_of_a_rule_are_each_below_their_head(reader):
    page = reader.open("/rules/")
    across = "cells => cells.map(cell => Math.round(cell.getBoundingClientRect().left))"
    heads = page.locator(".rule-table thead th").evaluate_all(across)
    cells = page.locator(".rule-table tbody tr", has_text="The weighted average of the scores.").locator("th, td")
    assert cells.evaluate_all(across) == heads
