"""From hidden references to a score on the board: an owner uploads labels, a submitter sends predictions."""

from collections.abc import Mapping
from math import sqrt

import pytest
from playwright.sync_api import Page

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import PredictionSubmission
from tests.browser.conftest import is_all_published
from tests.browser.pages import names, table_texts
from tests.factories import owner_of

pytestmark = [pytest.mark.browser, pytest.mark.services]

# More than ten: of fewer no standard error is stated.
ANIMALS = ["cat", "dog", "dog", "cat", "cat", "dog", "cat", "cat", "dog", "cat", "dog", "cat"]
LABELS = {f"photo-{k}": label for k, label in enumerate(ANIMALS, 1)}
PREDICTED = LABELS | {"photo-2": "cat", "photo-7": "dog", "photo-9": "cat"}
HITS = [PREDICTED[name] == label for name, label in LABELS.items()]
ACCURACY = sum(HITS) / len(HITS)


@pytest.fixture
def scoring(site):
    """The site with a worker that scores predictions."""
    site.start("scoring")
    yield site
    site.kill("scoring")


def rows_of(column: str, values: Mapping[str, str]) -> bytes:
    return (f"id,{column}\n" + "".join(f"{name},{value}\n" for name, value in values.items())).encode()


def choose(page: Page, label: str, name: str, data: bytes) -> None:
    page.get_by_label(label, exact=True).set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})


def test_hidden_labels_wrong_then_right_predictions_and_the_score_on_the_board(visitors, make_committed, scoring):
    benchmark = make_committed.benchmark({"Always cat": [0.625]}, tasks=[TaskSpec("Animals")], name="Hidden animals")
    scoring.wait_until(is_all_published, 20, "the board is published")
    page = visitors(owner_of(benchmark)).open(f"/b/{benchmark.key}/manage/references/")
    page.get_by_role("link", name="Animals", exact=True).click()
    page.get_by_label("Metric").select_option("Accuracy")
    page.get_by_role("button", name="Choose this metric").click()
    choose(page, "References", "labels.csv", rows_of("reference", LABELS))
    page.get_by_role("button", name="Upload and encrypt").click()
    page.get_by_text("Version 1 is stored encrypted: 12 instances.").wait_for()

    page = visitors(make_committed.user("Photo laboratory")).open(f"/b/{benchmark.key}/")
    page.get_by_role("link", name="Submit predictions").click()
    page.get_by_label("Name of the system").fill("Deep Sight")
    wrong = rows_of("prediction", PREDICTED).replace(b"photo-3", b"photo-1").replace(b"photo-5,", b"photo-99,")
    choose(page, "Animals", "wrong.csv", wrong)
    page.get_by_role("button", name="Submit predictions").click()
    page.get_by_role("heading", name="Nothing was stored").wait_for()
    assert page.get_by_role("alert").locator("li").all_inner_texts() == [
        "Animals (wrong.csv): no prediction for 'photo-3'",
        "Animals (wrong.csv): no prediction for 'photo-5'",
        "Animals (wrong.csv): line 4, column 'id': 'photo-1' is already on line 2",
        "Animals (wrong.csv): line 6, column 'id': no instance is called 'photo-99'",
        "Animals",  # a link to the field
    ]
    assert page.get_by_label("Name of the system").input_value() == "Deep Sight"
    assert not PredictionSubmission.objects.filter(benchmark=benchmark).exists()

    choose(page, "Animals", "right.csv", rows_of("prediction", PREDICTED))
    scoring.pause("scoring")  # else the scores are there before the page asks for them
    try:
        page.get_by_role("button", name="Submit predictions").click()
        page.get_by_role("heading", name="Predictions of Deep Sight").wait_for()
        assert page.locator(".stages .state").all_text_contents() == ["done", "waiting", "waiting"]
        assert page.get_by_role("button", name="Cancel").is_visible()
        loaded = []
        page.on("load", lambda _: loaded.append(page.url))
    finally:
        scoring.resume("scoring")
    page.get_by_role("heading", name="Results").wait_for()
    assert loaded == []
    error = sqrt(ACCURACY * (1 - ACCURACY) / (len(HITS) - 1))
    assert page.get_by_role("button", name="Cancel").count() == 0
    assert [row[:5] for row in table_texts(page.get_by_role("region", name="Results").locator("table"))] == [
        ["Animals", "Accuracy", f"{ACCURACY:.4f}", f"{error:.4f}", "12"]
    ]
    page.get_by_role("link", name="The submission with these scores").click()
    page.get_by_role("heading", name="Current state of Deep Sight").wait_for()
    page.get_by_role("link", name="To the board").click()
    page.locator(".board").wait_for()
    assert names(page) == ["Deep Sight", "Always cat"]
    page.goto(f"{scoring.url}/b/{benchmark.key}/scores/")
    assert table_texts(page.locator("table")) == [
        ["1Deep Sight", f"{ACCURACY:.3f} , best ± {error:.3f} (n = 12)"],
        ["2Always cat", "0.625"],
    ]
