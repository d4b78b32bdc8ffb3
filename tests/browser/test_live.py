"""What pages do at once: filters that follow, menus that close, heads that stay, keys that lead to a search."""

import pytest
from playwright.sync_api import expect

from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Benchmark, Job, Report, System
from tests.browser.by_hand import DEMONSTRATION, read_table
from tests.browser.conftest import is_all_published
from tests.browser.pages import names
from tests.leaderboard.rankings.confidence.test_dependence import overlapping_scores

pytestmark = [pytest.mark.browser, pytest.mark.services]


def test_a_board_is_filtered_while_somebody_types_and_the_address_says_it(reader):
    page = reader.open("/b/glue/")
    everybody = names(page)
    page.locator("#board-q").press_sequentially("bert")
    page.wait_for_url("**/b/glue/?q=bert")
    matching = [name for name in everybody if "bert" in name.lower()]
    expect(page.locator(".board tbody tr")).to_have_count(len(matching))
    assert names(page) == matching
    expect(page.locator(".table-bar").first).to_contain_text(f"{len(matching)} of {len(everybody)} systems")
    page.locator("#board-q").fill("")
    page.wait_for_url("**/b/glue/")
    expect(page.locator(".board tbody tr")).to_have_count(len(everybody))


def test_the_scores_are_sorted_by_a_task_with_its_best_in_bold(reader):
    page = reader.open("/b/glue/scores/")
    page.get_by_role("link", name="Sort by CoLA").click()
    page.wait_for_url("**/scores/?sort=task%3Acola")
    scores = [float(row[0]) for row in read_table("glue").values()]  # CoLA is the first task of the file
    rows = page.locator(".scores-table tbody tr")
    read = "rows => rows.map(row => [parseFloat(row.cells[1].innerText), Boolean(row.cells[1].querySelector('b'))])"
    assert rows.evaluate_all(read) == [[score, score == max(scores)] for score in sorted(scores, reverse=True)]
    page.get_by_role("link", name="CoLA", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("CoLA")


@pytest.mark.parametrize("way", ["escape", "click"])
def test_a_menu_closes_on_escape_and_on_a_click_elsewhere(reader, way):
    page = reader.open("/b/glue/")
    menu = page.locator("details.control", has_text="Compared with")
    menu.locator("summary").click()
    expect(menu).to_have_attribute("open", "")
    if way == "escape":
        page.keyboard.press("Escape")
        assert menu.locator("summary").evaluate("element => element === document.activeElement")
    else:
        page.get_by_role("heading", level=1).click()
    expect(menu).not_to_have_attribute("open", "")


def test_the_head_of_a_board_stays_at_the_top_of_the_window(reader):
    page = reader.open("/b/glue/")
    page.evaluate("scrollTo(0, document.querySelector('.board').getBoundingClientRect().top + 900)")
    expect(page.locator(".board thead.is-stuck")).to_have_count(1)
    head = page.locator(".board thead").evaluate("head => Math.round(head.getBoundingClientRect().top)")
    assert abs(head) <= 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_slash_leads_to_the_search_of_the_page_and_is_a_letter_in_a_field(reader):
    page = reader.open("/b/glue/")
    page.keyboard.press("/")
    expect(page.locator("#board-q")).to_be_focused()
    page.keyboard.type("a/b")
    assert page.locator("#board-q").input_value() == "a/b"


def test_control_k_searches_the_site_and_enter_opens_the_first(reader):
    page = reader.open("/rules/")
    page.keyboard.press("Control+k")
    expect(page.locator("#site-search")).to_be_visible()
    expect(page.locator("#site-q")).to_be_focused()
    page.keyboard.type("deberta / tur")
    first = page.locator("#site-search a").first
    expect(first).to_have_text("DeBERTa / TuringNLRv4")
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#site-search")).not_to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/b/glue/systems/**")


def test_without_javascript_the_search_is_a_page(visitors):
    page = visitors(java_script_enabled=False).open("/rules/")
    page.get_by_role("link", name="Search", exact=True).click()
    page.locator("main").get_by_label("Name of a benchmark").fill("cola")
    page.locator("main").get_by_role("button", name="Search").click()
    page.get_by_role("link", name="CoLA").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("CoLA")


COVERED = """
  chart => {
    const boxes = selector => [...chart.querySelectorAll(selector)].map(one => [one.textContent, one.getBBox()]);
    const dots = boxes("circle.dot").map(([, box]) => box);
    return boxes(".dot-name").map(([name, box]) => [name, box.x < 0 || box.x + box.width > chart.viewBox.baseVal.width
      || dots.some(dot => dot.x < box.x + box.width && box.x < dot.x + dot.width
        && dot.y < box.y + box.height - 2 && box.y + 2 < dot.y + dot.height)]);
  }
"""


def test_names_on_the_pareto_front_cover_no_dot_and_end_inside_the_chart(reader, factory, site):
    scores = {f"Rotation-and-Exemplar {10 * k} %": [float(k), float(k % 3), 5.0 - k] for k in range(6)}
    board = factory.benchmark(scores, metadata_fields=[{"key": "size", "name": "Size", "kind": "number"}])
    for k, name in enumerate(scores):
        System.objects.filter(benchmark=board, name=name).update(metadata={"size": 100 if k % 2 else 10})
    site.wait_until(is_all_published, 30, "the board is published")
    chart = reader.open(f"/b/{board.key}/pareto/").locator("svg.pareto")
    assert chart.evaluate(COVERED) == [[name, False] for name in chart.locator(".dot-name").all_text_contents()]
    assert chart.locator(".dot-name").count() == len(scores)


HIGHEST = 480  # pixels from the top of a window of 1440 x 900


def tops(visitor, keys):
    """Where the table of each board begins."""
    read = "table => table.getBoundingClientRect().top"
    return {key: visitor.open(f"/b/{key}/").locator(".board").evaluate(read) for key in keys}


def test_the_table_begins_in_the_upper_half_of_a_laptop_s_window(visitors):
    places = tops(visitors(viewport={"width": 1440, "height": 900}), ["glue", "helm-accuracy"])
    assert {key: top for key, top in places.items() if top >= HIGHEST} == {}


CUT = """
  () => [...document.querySelectorAll(".answer > .headline, .answer p.small")]
    .filter(text => text.scrollHeight > text.clientHeight + 1).map(text => text.textContent.trim())
"""


def test_so_it_does_with_rank_intervals_tests_and_overlapping_tasks_and_no_sentence_is_cut(visitors, factory, site):
    scores = {f"System {k:02}": row.tolist() for k, row in enumerate(overlapping_scores(20))}
    board = factory.benchmark(scores, name="Overlapping")
    reports = Report.objects.filter(revision__benchmark=board, kind__in=["bootstrap", "significance"])
    site.wait_until(lambda: reports.count() == 2, 60, "its studies are there")
    visitor = visitors(viewport={"width": 1440, "height": 900})
    assert tops(visitor, [board.key])[board.key] < HIGHEST
    page = visitor.open(f"/b/{board.key}/")
    sure = page.locator(".answer", has_text="How sure").inner_text()
    assert all(
        words in sure for words in ("Rank ", "(95 %)", "significant", "Less certain than this: the 9 tasks overlap")
    )
    assert page.evaluate(CUT) == []


@pytest.mark.slow
def test_so_it_does_on_every_demonstration_board(visitors, factory, site):
    owner = factory.user("demonstration")
    folders = sorted(path.parent for path in DEMONSTRATION.glob("*/scores.csv"))
    for folder in folders:
        if not Benchmark.objects.filter(key=folder.name).exists():
            import_folder(folder, owner=owner, submission_policy="open")
    Job.objects.filter(queue=Job.Queue.STUDIES, state=Job.State.WAITING).update(state=Job.State.SUPERSEDED)
    site.wait_until(is_all_published, 300, "the boards are published")
    places = tops(visitors(viewport={"width": 1440, "height": 900}), [folder.name for folder in folders])
    assert len(places) > 20
    assert {key: top for key, top in places.items() if top >= HIGHEST} == {}
