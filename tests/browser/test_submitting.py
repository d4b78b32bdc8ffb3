"""From an account to a place on the board, by the form, as a submitter does it."""

import re

import pytest
from playwright.sync_api import Page

from leaderboard.models import Batch
from tests.browser.by_hand import RULES, condorcet_winner, ranks
from tests.browser.conftest import is_all_published
from tests.browser.pages import Visitor, names, ranks_shown, table_texts
from tests.factories import TOY

pytestmark = [pytest.mark.browser, pytest.mark.services]

PASSWORD = "many orders of merit"
NEWCOMER = [5.0, 3.5, 5.0, 0.5, 2.5]


def sign_up(visitor: Visitor, email: str) -> None:
    page = visitor.open("/")
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Email").fill(email)
    name = email.partition("@")[0]
    page.get_by_label("Display name").fill(name)
    page.locator("#id_password1").fill(PASSWORD)
    page.locator("#id_password2").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("link", name=f"Account of {name}").wait_for()
    page.close()


def fill_in(visitor: Visitor, key: str, name: str, scores: list[float]) -> Page:
    """The preview of what was typed."""
    page = visitor.open(f"/b/{key}/")
    page.get_by_role("link", name="Submit scores").click()
    page.get_by_label("Name of the system").fill(name)
    for t, score in enumerate(scores, start=1):
        page.get_by_label(f"Task {t}", exact=True).fill(str(score))
    page.get_by_role("button", name="Preview the effect").click()
    page.get_by_role("heading", name=f"What would change: {name}").wait_for()
    return page


def effects_shown(page: Page) -> list[list[str]]:
    """The preview's table, as far as there are independent figures."""
    return [row for row in table_texts(page.locator(".effects table")) if row[0] in {*RULES, "Condorcet"}]


def effects_by_hand(table: dict, name: str, scores: list[float]) -> list[list[str]]:
    """[rule, rank of the newcomer, winner, systems that it passes, others that move], as the preview says it."""
    after = {**table, name: scores}
    rows = []
    for rule, scores_of in RULES.items():
        old, new = ranks(scores_of(table)), ranks(scores_of(after))
        was, becomes = (in_words([n for n in ranking if ranking[n] == 1]) for ranking in (old, new))
        passed = sorted((n for n in old if new[n] > new[name]), key=lambda n: (new[n], n))
        moved = sorted((n for n in old if new[n] != old[n]), key=lambda n: (old[n], n))
        rows.append(
            [
                rule,
                str(new[name]),
                f"{was}, as before" if was == becomes else f"{was} → {becomes}",
                shortened(passed) or "no system",
                ", ".join(f"{n} {old[n]}→{new[n]}" for n in moved[:5]) or "none",
            ]
        )
    was, becomes = condorcet_winner(table), condorcet_winner(after)
    assert becomes == name  # else the table says why it is unranked
    rows.insert(3, ["Condorcet", "1", f"{was} → {name}" if was else name, "no system", f"{was} 1→–" if was else "none"])
    return rows


def shortened(system_names: list[str]) -> str:
    return ", ".join(system_names[:4]) + (f" and {len(system_names) - 4} more" if len(system_names) > 4 else "")


def in_words(system_names: list[str]) -> str:
    return " and ".join([", ".join(system_names[:-1]), system_names[-1]] if len(system_names) > 1 else system_names)


@pytest.mark.parametrize("has_javascript", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_newcomer_signs_up_previews_confirms_and_sees_the_board_change(
    visitors, make_committed, site, has_javascript
):
    benchmark = make_committed.benchmark()
    site.wait_until(is_all_published, 20, "the board is published")
    ada = visitors(java_script_enabled=has_javascript)
    sign_up(ada, f"Ada{has_javascript}@plurank.example")
    page = fill_in(ada, benchmark.key, "Newcomer", NEWCOMER)
    assert page.get_by_text("Newcomer is new on this board.").count() == 1
    assert effects_shown(page) == effects_by_hand(TOY, "Newcomer", NEWCOMER)
    assert table_texts(page.get_by_role("region", name="Scores as we read them").locator("table")) == [
        [f"Task {t}", "–", str(score).removesuffix(".0"), ""] for t, score in enumerate(NEWCOMER, start=1)
    ]

    page.get_by_label("Yes, Newcomer is a new system: create it.").check()
    site.pause("rankings")  # else the board is there before the page asks for it
    try:
        page.get_by_role("button", name="Confirm and submit").click()
        page.get_by_role("heading", name="Submission of Newcomer").wait_for()
        assert states(page) == ["done", "done", "waiting", "waiting"]
        paths = watch(page)
        page.wait_for_event("request")
    finally:
        site.resume("rankings")
    page.get_by_role("heading", name="Current state of Newcomer").wait_for()
    assert states(page) == ["done", "done", "done", "done"]
    # htmx asks for a part of the page and never loads it again; without JavaScript the page loads itself again.
    assert {"the part": has_javascript, "the page": not has_javascript} == {
        "the part": any(path.endswith("/progress/") for path in paths),
        "the page": any(re.fullmatch(r"/submissions/[0-9a-f-]+/", path) for path in paths),
    }
    if has_javascript:
        assert page.locator("#batch-announcement").inner_text() == "published"

    page.get_by_role("link", name="To the board").click()
    after = {**TOY, "Newcomer": NEWCOMER}
    expected = {rule: ranks(scores_of(after)) for rule, scores_of in RULES.items()}
    page_ranks = {rule: ranks for rule, ranks in ranks_shown(page).items() if rule in {*RULES, "Condorcet"}}
    assert page_ranks == {**expected, "Condorcet": {"Newcomer": 1}}
    assert names(page)[0] == "Newcomer"
    assert page.locator(".board tr.is-own th").inner_text() == "1Newcomer yours"


def states(page: Page) -> list[str]:
    return page.locator(".stages .state").all_text_contents()


def watch(page: Page) -> list[str]:
    """The paths that the page asks for from now on."""
    paths: list[str] = []
    page.on("request", lambda request: paths.append("/" + request.url.split("/", 3)[3]))
    return paths


def test_a_bad_score_is_named_at_its_field_and_nothing_typed_is_lost(visitors, make_committed, site):
    benchmark = make_committed.benchmark()
    site.wait_until(is_all_published, 20, "the board is published")
    page = visitors(make_committed.user("submitter")).open(f"/b/{benchmark.key}/submit/")
    page.get_by_label("Name of the system").fill("Newcomer")
    page.get_by_label("Organisation").fill("Some laboratory")
    page.get_by_label("Task 1", exact=True).fill("71,3")
    page.get_by_label("Task 2", exact=True).fill("4")
    page.get_by_role("button", name="Preview the effect").click()
    wrong = page.get_by_label("Task 1", exact=True)
    wrong.and_(page.locator("[aria-invalid=true]")).wait_for()
    assert [wrong.input_value(), page.get_by_label("Task 2", exact=True).input_value()] == ["71,3", "4"]
    assert page.get_by_label("Organisation").input_value() == "Some laboratory"
    assert page.locator(".errorlist").all_inner_texts() == [
        "'71,3' is not a number; write 71.3, or leave the field empty if there is no score"
    ]
    error_id = page.locator(".errorlist").get_attribute("id")
    assert error_id in wrong.get_attribute("aria-describedby").split()
    alert = page.get_by_role("alert")
    assert " ".join(alert.inner_text().split()) == "Please fix the highlighted fields. Task 1"
    assert alert.evaluate("element => element === document.activeElement")
    alert.get_by_role("link", name="Task 1").click()
    assert wrong.evaluate("element => element.id === location.hash.slice(1)")
    assert not Batch.objects.filter(benchmark=benchmark).exclude(source="api").exists()


def test_a_preview_that_another_submission_has_overtaken_is_shown_again(visitors, make_committed, site):
    benchmark = make_committed.benchmark()
    site.wait_until(is_all_published, 20, "the board is published")
    page = fill_in(visitors(make_committed.user("submitter")), benchmark.key, "Newcomer", NEWCOMER)
    make_committed.accepted(benchmark, {"Overtaker": [6.0, 0.0, 6.0, 0.0, 0.0]})
    page.get_by_label("Yes, Newcomer is a new system").check()
    page.get_by_role("button", name="Confirm and submit").click()
    page.get_by_text("The board has changed since you last looked.").wait_for()
    now = {**TOY, "Overtaker": [6.0, 0.0, 6.0, 0.0, 0.0]}
    assert effects_shown(page) == effects_by_hand(now, "Newcomer", NEWCOMER)
    assert not Batch.objects.filter(benchmark=benchmark, source="form").exists()
    page.get_by_label("Yes, Newcomer is a new system").check()
    page.get_by_role("button", name="Confirm and submit").click()
    page.get_by_role("heading", name="Submission of Newcomer").wait_for()
    assert Batch.objects.filter(benchmark=benchmark, source="form").count() == 1
