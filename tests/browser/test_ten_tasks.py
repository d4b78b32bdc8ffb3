"""What newcomers want, walked in a browser: the clicks and fields are those of `docs/ten-tasks.md`."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Benchmark, Report
from leaderboard.queue.kinds import PROSPECTS
from tests.browser.conftest import is_all_published
from tests.browser.pages import names
from tests.factories import TOY

pytestmark = [pytest.mark.browser, pytest.mark.services]
TABLE = Path(settings.ROOT) / "docs" / "ten-tasks.md"
# The estimate of seconds that the document describes.
A_CLICK, A_FIELD, A_PAGE, STEP = 4, 8, 10, 5
PASSWORD = "many orders of merit"


class Walk:
    """A page, with every click, every field and every page counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.fields = 0
        self.pages = 1
        page.on("load", self._load)

    def _load(self, _: Page) -> None:
        self.pages += 1

    @property
    def seconds(self) -> int:
        """How long a person needs, estimated."""
        return STEP * round((A_CLICK * self.clicks + A_FIELD * self.fields + A_PAGE * self.pages) / STEP)

    def click(self, role: str, name: str | re.Pattern[str], **options: object) -> None:
        """Click the first link, button or box of this name."""
        self.clicks += 1
        self.page.get_by_role(role, name=name, **options).first.click()

    def fill(self, label: str, text: str) -> None:
        """Type into a field."""
        self.fields += 1
        self.page.get_by_label(re.compile(rf"^\s*{re.escape(label)}\s*(\(optional\))?\s*$")).fill(text)

    def ends(self, task: str) -> None:
        """Compare the counts with the row of the document."""
        self.page.wait_for_load_state()
        self.page.remove_listener("load", self._load)
        rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in TABLE.read_text().splitlines()]
        (row,) = [row for row in rows if row[0].startswith(f"{task}. ")]
        assert [self.clicks, self.fields, self.seconds] == [int(row[3]), int(row[4]), int(row[6])], task


@pytest.fixture
def walk(visitors):
    """Begin a walk: at a path, as somebody or as a reader without an account."""
    return lambda path, user=None, **options: Walk(visitors(user, **options).open(path))


@pytest.fixture
def board(make_committed, site) -> Benchmark:
    """A board of five tasks whose owner is known, published."""
    benchmark = make_committed.benchmark(submission_policy="open")
    site.wait_until(is_all_published, 30, "the board is published")
    return benchmark


# The clicks are the same on a desk and on a phone, with the site's scripts and without.
LOOKS = pytest.mark.parametrize(
    "look",
    [{}, {"viewport": {"width": 390, "height": 844}}, {"java_script_enabled": False}],
    ids=["desk", "phone", "no scripts"],
)


@LOOKS
def test_a_who_is_best_and_how_sure(walk, look):
    way = walk("/", **look)
    way.click("link", "GLUE", exact=True)
    expect(way.page.get_by_text("Who comes first?")).to_be_in_viewport()
    expect(way.page.get_by_role("heading", name="How sure is").first).to_be_in_viewport()
    way.ends("a")


def test_b_can_the_second_win(walk, site, board):
    site.wait_until(Report.objects.filter(kind=PROSPECTS, revision__benchmark=board).exists, 60, "who can win is known")
    way = walk(f"/b/{board.key}/")
    second = names(way.page)[1]
    way.click("link", "Who can win")
    way.click("link", f"What it would take for {second} to win")
    expect(
        way.page.get_by_text(re.compile("From the benchmark’s own weights, the smallest change")).first
    ).to_be_visible()
    way.ends("b")


def test_c_more_weight_for_several_tasks(walk, site, make_committed):
    tasks = [TaskSpec(f"Subject {t}", key=f"s{t}", cluster="logic" if t < 7 else "") for t in range(57)]
    scores = {name: [float((k * t + 3 * k) % 11) for t in range(57)] for k, name in enumerate("ABCDEF")}
    benchmark = make_committed.benchmark(scores, tasks=tasks)
    site.wait_until(is_all_published, 60, "the board is published")
    way = walk(f"/b/{benchmark.key}/", permissions=["clipboard-read", "clipboard-write"])
    way.click("link", "What if")
    way.page.locator("input[type=range]").first.wait_for()
    way.fill("Search tasks", "logic")
    way.click("button", "Multiply")
    way.page.wait_for_url("**weights=s0:3,s1:3,*")
    way.click("button", "Copy link")
    expect(way.page.get_by_role("button", name="Copied")).to_be_visible()
    assert way.page.evaluate("navigator.clipboard.readText()") == way.page.url
    way.ends("c")


@LOOKS
def test_d_two_systems_head_to_head(walk, look):
    way = walk("/b/glue/", **look)
    for key in ("ernie", "t5"):
        way.page.locator(f"input[name=pin][value={key}]").check()
        way.clicks += 1
    way.click("button", "Compare selected")
    way.page.wait_for_url("**a=ernie&b=t5*")
    way.ends("d")


def test_e_sign_up_submit_and_mend_a_table(walk, board):
    way = walk(f"/b/{board.key}/")
    way.click("link", "Submit scores")
    way.click("link", "sign up", exact=True)
    way.fill("Email", "grace@plurank.example")
    way.fill("Display name", "Grace")
    way.page.locator("#id_password1").fill(PASSWORD)
    way.page.locator("#id_password2").fill(PASSWORD)
    way.fields += 2
    way.click("button", "Create account")
    way.page.wait_for_url(f"**/b/{board.key}/submit/")
    way.ends("e1")

    way = Walk(way.page)
    way.fill("Name of the system", "Newcomer")
    way.fill("Task 1", "5")
    way.fill("Task 2", "3.5")
    way.click("button", "Preview the effect")
    way.click("checkbox", "Yes, Newcomer is a new system")
    way.click("button", "Confirm and submit")
    way.page.get_by_role("heading", name="Submission of Newcomer").wait_for()
    way.ends("e2")

    way.page.goto(way.page.url.split("/submissions/")[0] + f"/b/{board.key}/submit/")
    way = Walk(way.page)
    first = next(iter(TOY))
    table = f"system,Task 1,Tusk 2,Task 3\nNewcomer,abc,1,1\n{first},1,1,1\nOther,1,1,1e999\n"
    way.click("link", "upload a table")
    way.fill("or the table itself", table)
    way.click("button", "Preview the effect")
    errors = way.page.get_by_role("alert").get_by_role("listitem").all_inner_texts()
    assert [error.partition(",")[0].partition(":")[0] for error in errors] == ["line 1", "line 2", "line 3", "line 4"]
    field = way.page.get_by_label("or the table itself", exact=True)
    assert field.input_value().splitlines() == table.splitlines()
    way.fill("or the table itself", "system,Task 1,Task 2,Task 3\nNewcomer,4,1,1\nOther,1,1,1\n")
    way.click("button", "Preview the effect")
    way.click("checkbox", "Yes", exact=False)
    way.click("button", "Confirm and submit")
    way.page.wait_for_url("**/submissions/**")
    way.ends("e3")

    way.page.goto(way.page.url.split("/submissions/")[0])
    way = Walk(way.page)
    way.click("link", "Account of Grace")
    way.page.get_by_role("link", name="Correct or withdraw").first.click()
    way.page.locator("#withdraw summary").click()
    way.page.locator("#own-reason").fill("The wrong checkpoint was measured.")
    way.page.get_by_role("button", name="Withdraw", exact=True).click()
    way.clicks, way.fields = way.clicks + 3, way.fields + 1
    way.page.get_by_text(re.compile("was withdrawn|withdrawn,", re.I)).first.wait_for()
    way.ends("e4")


def test_f_host_a_benchmark(walk, site, make_committed):
    owner = make_committed.user("Host")
    way = walk("/", owner)
    way.click("link", "New benchmark")
    way.fill("Name of the benchmark", "Hosted bench")
    way.page.locator("textarea[name=text]").fill("system,Speed,Skill\nA,1,2\nB,2,1\n")
    way.fields += 1
    way.click("button", "Preview")
    way.click("button", "Create the benchmark")
    way.page.wait_for_url("**/b/hosted-bench/")
    way.ends("f1")

    board = way.page.url
    way = Walk(way.page)
    way.click("link", "Manage", exact=True)
    way.click("link", "People")
    way.page.locator("#invite-name").fill("Ada")
    way.fields += 1
    way.click("button", "Create a link")
    assert "/join/" in way.page.locator("code.secret").first.inner_text()
    way.ends("f2")

    way.page.goto(board)
    way = Walk(way.page)
    way.click("link", "Manage", exact=True)
    way.page.locator("input[name=deadline]").fill("2031-11-30T12:00")
    way.fields += 1
    way.click("button", "Save the settings")
    way.page.get_by_text(re.compile("saved|changed", re.I)).first.wait_for()
    way.ends("f3")
    way.page.goto(board)
    expect(way.page.get_by_text("Submissions are open until 30 Nov 2031")).to_be_in_viewport()

    hosted = Benchmark.objects.get(key="hosted-bench")
    site.wait_until(is_all_published, 30, "the board is published")
    make_committed.pending(hosted, {"C": [3.0, 3.0]}, by=make_committed.user("Sender"))
    way.page.goto(board)
    way = Walk(way.page)
    way.click("link", "Manage 1 waiting")
    way.page.get_by_role("checkbox").first.wait_for()
    way.click("link", "C", exact=True)
    way.page.get_by_role("button", name="Accept", exact=True).wait_for()
    way.ends("f4")


def test_g_files_and_a_token(walk, make_committed):
    way = walk("/b/glue/")
    way.click("link", "Download", exact=True)
    with way.page.expect_download() as download:
        way.click("link", "CSV")
    assert download.value.suggested_filename.endswith(".csv")
    way.ends("g1")

    way = walk("/", make_committed.user("Programmer"), permissions=["clipboard-read", "clipboard-write"])
    way.click("link", "Account of Programmer")
    way.click("link", "API tokens")
    way.fill("Name", "nightly")
    way.click("button", "Create token")
    way.click("button", "Copy the command")
    command = way.page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r'curl -H "Authorization: Token plurank_\S+" http://\S+/api/v1/benchmarks/', command)
    way.ends("g2")


def test_h_a_table_of_ones_own(walk):
    way = walk("/")
    way.click("link", "Try a table")
    way.fill("A table", "system,T1,T2\nA,1,2\nB,2,3\n")
    way.click("button", "Rank", exact=True)
    way.page.get_by_role("heading", name="Ranks under every rule").wait_for()
    way.ends("h")


@LOOKS
def test_i_which_rule(walk, look):
    way = walk("/", **look)
    way.click("link", "Rules", exact=True)
    way.click("link", "Choose a rule")
    way.click("radio", "No: only", exact=False)
    way.click("button", "Which rule?")
    expect(way.page.locator("#answer")).to_have_text(re.compile("We suggest"))
    way.ends("i")


def test_j_stability_in_a_sentence(walk):
    way = walk("/b/glue/")
    way.click("link", "Stability", exact=True)
    expect(way.page.locator("#studies-overview table")).to_be_in_viewport()
    way.ends("j")
