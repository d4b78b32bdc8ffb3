"""What hosts and catalogues of data sets get of a board: announcements, metadata, citations, times of the reader."""

import json
import re

import pytest
from playwright.sync_api import expect

from leaderboard.benchmarks.announcements import announce
from leaderboard.benchmarks.releases import freeze_revision
from tests.browser.conftest import is_all_published
from tests.factories import owner_of

pytestmark = [pytest.mark.browser, pytest.mark.services]


def test_a_board_announces_and_is_cited_and_its_metadata_need_no_exception_of_the_policy(
    visitors, make_committed, site
):
    benchmark = make_committed.benchmark(licence="CC-BY-4.0", doi="10.5281/zenodo.1234567")
    announce(benchmark, "Round two is open: https://a.example/two", author=owner_of(benchmark))
    site.wait_until(is_all_published, 30, "the board is published")
    freeze_revision(benchmark, author=owner_of(benchmark), number=1, name="One")
    page = visitors().open(f"/b/{benchmark.key}/")  # it fails on what the policy refuses
    expect(page.get_by_role("link", name="https://a.example/two")).to_be_visible()
    assert json.loads(page.locator("script[type='application/ld+json']").text_content())["@type"] == "Dataset"
    page.get_by_text("Cite this board").click()
    expect(page.get_by_role("region", name="BibTeX of this board")).to_contain_text(f"@misc{{{benchmark.key}-r1,")
    page.goto(f"{page.url}releases/one/")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all of it (zip)").click()
    assert download.value.suggested_filename == f"{benchmark.key}-one.zip"


def test_times_with_an_hour_also_show_the_readers_clock(visitors, make_committed, site):
    user = make_committed.user("Ida")
    benchmark = make_committed.benchmark(submission_policy="moderated")
    make_committed.submitted(benchmark, "Newcomer", ["1", "2", "3", "4", "5"], by=user)
    path = "/account/"
    time = visitors(user, timezone_id="America/New_York").open(path).locator("time").filter(has_text=":").first
    expect(time).to_contain_text("(")
    assert re.search(r"\bE[SD]T\b", time.get_attribute("title"))  # by the season
    at_home = visitors(user, timezone_id="UTC").open(path).locator("time").filter(has_text=":").first
    expect(at_home).not_to_contain_text("(")
