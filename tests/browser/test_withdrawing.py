"""Scores that leave the board by their submitter's wish, and the page that lists what a person has here."""

import re

import pytest
from playwright.sync_api import expect

from leaderboard.models import Benchmark
from tests.browser.conftest import is_all_published
from tests.browser.pages import table_texts
from tests.factories import TOY

pytestmark = [pytest.mark.browser, pytest.mark.services]
SCORES = ["5", "3.5", "5", "0.5", "2.5"]


@pytest.fixture
def board(make_committed, site) -> Benchmark:
    """A board whose owner is known, published."""
    benchmark = make_committed.benchmark(submission_policy="open")
    site.wait_until(is_all_published, 30, "the board is published")
    return benchmark


def test_a_submitter_withdraws_and_every_page_says_so_first(visitors, make_committed, site, board):
    submitter = make_committed.user("Grace")
    make_committed.submitted(board, "Newcomer", SCORES, by=submitter)
    site.wait_until(is_all_published, 30, "the board is published")
    page = visitors(submitter).open("/account/")
    (row,) = table_texts(page.get_by_role("region", name="Submissions").locator("table"))
    assert (row[:3], row[4]) == (["Newcomer", board.name, "accepted"], "Correct or withdraw")
    page.get_by_role("link", name="Correct or withdraw").click()
    page.locator("#withdraw summary").click()
    page.get_by_label("Why", exact=True).fill("The wrong checkpoint was measured.")
    page.get_by_role("button", name="Withdraw", exact=True).click()
    expect(page.get_by_text("Newcomer was withdrawn.")).to_be_visible()
    expect(page.locator(".page-head .badge")).to_have_text("Withdrawn")
    expect(page.locator(".stages li").last).to_contain_text("The wrong checkpoint was measured.")
    site.wait_until(is_all_published, 30, "the board without it is published")
    page.goto(f"{page.url.split('/submissions/')[0]}/b/{board.key}/")
    assert sorted(page.locator(".board tbody th a").all_inner_texts()) == sorted(TOY)
    page.get_by_role("link", name="Account of Grace").click()
    (row,) = table_texts(page.get_by_role("region", name="Submissions").locator("table"))
    assert (row[2], row[4]) == ("withdrawn", "")


def test_where_owners_decide_a_submitter_asks_and_reads_their_answer(visitors, make_committed, site, board):
    Benchmark.objects.filter(pk=board.pk).update(submitters_withdraw=False)
    submitter, owner = make_committed.user("Ada"), board.memberships.get(role="owner").user
    batch = make_committed.submitted(board, "Newcomer", SCORES, by=submitter)
    site.wait_until(is_all_published, 30, "the board is published")
    page = visitors(submitter).open(f"/submissions/{batch.uuid}/")
    page.get_by_text("Ask the moderators to withdraw these scores").click()
    page.get_by_label("Why", exact=True).fill("Trained on the test set.")
    page.get_by_role("button", name="Request the withdrawal", exact=True).click()
    expect(page.locator(".notice.is-warning")).to_contain_text("Withdrawal requested for Newcomer")
    expect(page.locator("#withdraw")).to_have_count(0)

    desk = visitors(owner).open("/account/")
    benchmarks = desk.get_by_role("region", name="Benchmarks").locator("tr", has_text=board.name)
    assert benchmarks.locator("td").nth(3).inner_text() == "1"
    benchmarks.get_by_role("link", name="1", exact=True).last.click()
    desk.locator("#requests").wait_for()
    desk.get_by_role("link", name=re.compile("Newcomer")).first.click()
    desk.get_by_label("Your reason; the submitter sees it").fill("It was not.")
    desk.get_by_role("button", name="Decline").click()
    expect(desk.locator(".notice.is-warning")).to_have_count(0)

    page.reload()
    expect(page.get_by_text("It was not.")).to_be_visible()
    expect(page.get_by_text("Ask the moderators to withdraw these scores")).to_be_visible()


def test_three_ticked_rows_of_a_board_are_compared_side_by_side(reader):
    page = reader.open("/b/glue/")
    for key in ("ernie", "t5", "vega-v1"):
        page.locator(f"input[name=pin][value={key}]").check()
    page.get_by_role("button", name="Compare selected").click()
    heading = page.get_by_role("heading", level=2).first
    expect(heading).to_have_text("Vega v1, ERNIE and T5 side by side")  # in the order of the board
    rows = table_texts(page.get_by_role("region", name="Scores side by side").locator("table"))
    assert rows[0] == ["CoLA", "73.8", "75.5", "71.6"]
    chart = page.locator("svg.profile")
    assert chart.locator("text.who").all_text_contents() == ["Vega v1", "ERNIE", "T5"]
    first = chart.locator("g.task").first
    assert first.locator("text").all_text_contents() == ["CoLA", "14.3", "75.5"]  # the worst and the best score of all
    expect(chart.get_by_text("median of all systems", exact=True)).to_be_visible()
