"""What has to fit: tables on paper, the way round in narrow windows, figures in squares, names at the ends of lines."""

import itertools

import pytest

from leaderboard.models import Benchmark, System
from tests.browser.conftest import is_all_published
from tests.browser.pages import rule_names

pytestmark = [pytest.mark.browser, pytest.mark.services]

A4_ACROSS = {"width": 1047, "height": 718}  # pixels of A4 landscape within margins of 10 mm
# Of each cell of a table's last row of heads: its text, and from where to where on the page that is.
HEADS = """heads => heads.map(head => {
  const range = document.createRange();
  range.selectNodeContents(head);
  const box = range.getBoundingClientRect();
  return [head.textContent.trim(), box.left, box.right];
})"""
# Of each square of a heat map with a figure: the figure, and whether all of it is on what the square paints.
FIGURES = """squares => squares.filter(square => square.querySelector('text')).map(square => {
  const [figure, paint] = ['text', 'rect'].map(name => square.querySelector(name).getBoundingClientRect());
  const fits = figure.left >= paint.left && figure.right <= paint.right && figure.top >= paint.top;
  return [square.querySelector('text').textContent, fits && getComputedStyle(square).clipPath === 'none'];
})"""
# Of each row of a table: whether its cells end where it ends.
WITHIN = """rows => rows.map(row => {
  const end = row.getBoundingClientRect().bottom;
  return [...row.children].every(cell => cell.getBoundingClientRect().bottom <= end);
})"""
IN_SIGHT = """names => names.map(name => {
  const region = name.closest('.chart-region, ul').getBoundingClientRect(), box = name.getBoundingClientRect();
  return [name.textContent.trim(), box.left >= region.left - 1 && box.right <= region.right + 1];
})"""


@pytest.fixture(scope="module")
def apart(site, factory) -> Benchmark:
    """A board of three revisions whose last system loses to most others on every task."""
    scores = {f"System {i}": [9.0 - i, 9.0 - i, 5.0 + i] for i in range(4)}
    board = factory.benchmark({**scores, "Last": [0.0, 0.0, 0.0]}, key="apart")
    for name in ("System 4", "System 5"):
        site.wait_until(is_all_published, 30, "the board is published")
        factory.accepted(board, {name: [8.5, 1.0, 6.0]})
    site.wait_until(is_all_published, 30, "the board is published")
    return board


@pytest.fixture(scope="module")
def described(site, factory) -> Benchmark:
    """A board of 99 systems in other orders on each task, with two columns of metadata whose words do not break."""
    fields = [
        {"key": "parameters", "name": "Parameters", "kind": "number", "is_column": True},
        {"key": "publisher", "name": "Publisher", "kind": "text", "is_column": True},
    ]
    scores = {f"cognitivecomputations/yayi2-{i}": [i * step % 97 + 1.0 for step in (31, 37, 41)] for i in range(99)}
    board = factory.benchmark(scores, key="described", metadata_fields=fields)
    metadata = {"parameters": 34_000_000_000, "publisher": "cognitivecomputations"}
    System.objects.filter(benchmark=board).update(metadata=metadata)
    site.wait_until(is_all_published, 30, "the board is published")
    return board


@pytest.mark.usefixtures("described")
@pytest.mark.parametrize("query", ["", "?scores=1"])
@pytest.mark.parametrize("key", ["glue", "helm-accuracy", "described"])
def test_all_columns_of_a_board_are_on_the_paper_with_their_names_apart(reader, key, query):
    page = reader.open(f"/b/{key}/{query}")
    rules = rule_names(page)
    page.set_viewport_size(A4_ACROSS)
    page.emulate_media(media="print")
    heads = page.locator(".board thead tr:last-child > *").evaluate_all(HEADS)
    assert [name for name, left, right in heads if left < 0 or right > A4_ACROSS["width"]] == []
    assert len(rules) > 25
    assert len(heads) >= len(rules) + 3
    cells = page.locator(".board tbody tr > *").evaluate_all("cells => cells.map(c => c.getBoundingClientRect().right)")
    assert max(cells) <= A4_ACROSS["width"] + 0.5
    beside = itertools.pairwise(heads)
    assert [(one, other) for (one, _, right), (other, left, _) in beside if left < right + 1] == []
    page.emulate_media(media="screen")


@pytest.mark.parametrize("width", [600, 768, 800, 1000, 1150])
def test_the_way_round_is_in_sight_or_an_edge_says_that_there_is_more(visitors, factory, width):
    page = visitors(factory.user("Somebody"), viewport={"width": width, "height": 800}).open("/")
    links = page.locator(".site-nav ul:first-child a")
    names = [name for name, is_in_sight in links.evaluate_all(IN_SIGHT) if is_in_sight]
    assert (width, names) == (width, [text.strip() for text in links.all_text_contents()])


def test_where_the_way_round_is_pushed_sideways_its_edges_have_a_shadow(visitors, factory):
    page = visitors(factory.user("Somebody"), viewport={"width": 375, "height": 800}).open("/")
    way = page.locator(".site-nav ul:first-child")
    assert way.evaluate("way => way.scrollWidth > way.clientWidth")
    assert way.evaluate("way => getComputedStyle(way).backgroundAttachment") == "local, local, scroll, scroll"


def test_cells_under_each_other_on_a_phone_are_all_within_their_row_and_no_row_is_cut(visitors, apart):
    page = visitors(viewport={"width": 375, "height": 800}).open(f"/b/{apart.key}/history/")
    rows = page.locator("table.is-stacked tbody tr")
    assert rows.count() == 3
    assert rows.evaluate_all(WITHIN) == [True, True, True]
    region = page.locator(".table-region:has(.is-stacked)")
    assert region.evaluate("region => region.scrollHeight <= region.clientHeight")


@pytest.mark.parametrize("scheme", [{}, {"color_scheme": "dark"}, {"forced_colors": "active"}])
def test_every_figure_of_the_heat_map_is_whole(visitors, apart, scheme):
    page = visitors(**scheme).open(f"/b/{apart.key}/head-to-head/")
    figures = page.locator(".heat-row .h").evaluate_all(FIGURES)
    assert {"−100", "+100"} <= {figure for figure, _ in figures}
    assert [figure for figure, is_whole in figures if not is_whole] == []


@pytest.mark.parametrize("width", [375, 600, 768, 1280])
def test_lines_over_time_have_their_names_in_sight(visitors, apart, width):
    page = visitors(viewport={"width": width, "height": 800}).open(f"/b/{apart.key}/time/?by=revision")
    names = page.locator(".bump .name").evaluate_all(IN_SIGHT)
    assert len(names) == 7
    assert (width, [name for name, is_in_sight in names if not is_in_sight]) == (width, [])
    region = page.locator(".chart-region:has(.bump)")
    assert region.evaluate("region => getComputedStyle(region).backgroundAttachment") == "local, local, scroll, scroll"
