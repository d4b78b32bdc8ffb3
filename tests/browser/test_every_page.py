"""Every page, light and dark, wide and narrow: no complaint, nothing that sticks out, nothing inaccessible."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Page

from leaderboard.access.audience import audience_of
from leaderboard.accounts.people import ban, invite
from leaderboard.benchmarks.drafts import make_benchmark_draft
from leaderboard.models import Batch, BenchmarkDraft, Draft, Job, Report, System, User
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.browser.conftest import drop_studies, is_all_published, sign_in
from tests.browser.pages import Visitor, board_rows, new_visitor

pytestmark = [pytest.mark.browser, pytest.mark.services]

WORKING = ("rankings", "studies", "sweep")
FIELDS = [
    {"key": "parameters", "name": "Parameters", "kind": "number"},
    {"key": "licence", "name": "Licence", "kind": "text"},
]
LONG = "A system whose name goes on and on " + "x" * 120


@dataclass
class Scene:
    """What stands on the site."""

    submitter: User
    draft: Draft
    pending: Batch
    published: Batch
    waiting: Batch
    new: BenchmarkDraft


@pytest.fixture(scope="module")
def scene(site, factory) -> Scene:
    """Benchmarks in every state that a page can show."""
    owner, submitter = factory.user("owner"), factory.user("submitter")
    small = factory.benchmark(
        {"Whole": [1.0, 2.0, 3.0], LONG: [3.0, None, -2.5], "Nothing": [None, None, None]},
        name="Small",
        key="small",
        owner=owner,
        description="A **small** benchmark.\n\nWith a second paragraph.",
        citation="Nobody, nowhere",
        source_url="https://plurank.example/scores",
        default_rule="copeland",
        metadata_fields=FIELDS,
    )
    System.objects.filter(benchmark=small).update(metadata={"parameters": 7 * 10**9, "licence": "MIT"})
    System.objects.filter(benchmark=small, name="Whole").update(metadata={"parameters": 350 * 10**6})
    factory.benchmark({}, name="Empty", key="empty", owner=owner)
    moderated = factory.benchmark(name="Moderated", key="moderated", submission_policy="moderated", owner=owner)
    factory.benchmark(name="Closed", key="closed", submission_policy="closed", owner=owner)
    published = factory.submitted(small, "Newcomer", ["3", "3", "3"], by=submitter)
    pending = factory.submitted(moderated, "Newcomer", ["3", "3", "3", "", ""], by=submitter)
    instanced = factory.benchmark({}, name="Instanced", key="instanced", n_tasks=1, owner=owner)
    cells = "".join(f"{name},Task 1,{u},{u % 2 + u % k}\n" for k, name in ((2, LONG), (3, "B")) for u in range(8))
    table = f"system,task,instance,score\n{cells}".encode()
    submit_upload(instanced, owner, Upload(table=table, is_of_instances=True, creates_systems=True))
    row = SubmittedRow(system_name="Whol", scores={"task-1": "4", "task-2": "4", "task-3": ""})
    draft = make_draft(audience_of(submitter, small), [row], source="form", note="As measured.")
    site.wait_until(is_all_published, 20, "the boards are published")
    prospects = Report.objects.filter(kind="prospects", revision__benchmark=small, revision__number=2)
    site.wait_until(prospects.exists, 60, "the prospects are there")
    instances = Report.objects.filter(kind="instances", revision__benchmark=instanced)
    site.wait_until(instances.exists, 60, "the ranks by instances are there")
    site.pause_all(*WORKING)  # they would finish what is to stay unfinished here
    try:
        computing = factory.benchmark(name="Computing", key="stuck-computing", owner=owner)
        failed = factory.benchmark(name="Failed", key="stuck-failed", owner=owner)
        # Workers leave jobs of a later version of the engine to workers of that version.
        Job.objects.filter(benchmark=computing).update(engine_version="999.0.0")
        Job.objects.filter(benchmark=failed).update(state="failed", attempts=3, error="MemoryError: 3 GiB\nTraceback")
    finally:
        for process in WORKING:
            site.resume(process)
    waiting = _owned(factory, submitter)
    site.wait_until(is_all_published, 20, "the last board is published, so that two looks at its pages are the same")
    drop_studies()
    new = make_benchmark_draft(submitter, name="Newborn", table=b"system,Task 1,Task 2\nA,1,2\nB,2,\n")
    return Scene(submitter, draft, pending, published, waiting, new)


def _owned(factory, owner: User) -> Batch:
    """A benchmark of the submitter's own, with something in its queue; which one waits."""
    benchmark = factory.benchmark(
        name="Owned", key="owned", owner=owner, submission_policy="moderated", metadata_fields=FIELDS
    )
    ban(benchmark, factory.user("Banned"), author=owner, reason="Copies of others.")
    invite(benchmark, author=owner, role="member")
    return factory.pending(benchmark, {"Copy of A": [4.0, 4.0, 1.0, 1.0, 1.0], "Other": [1.0] * 5}, by=factory.user())


# Each page's address and heading.
PAGES: dict[str, tuple[Callable[[Scene], str], str]] = {
    "new benchmark": (lambda scene: f"/new/{scene.new.uuid}/", "Review Newborn"),
    "settings": (lambda scene: "/b/owned/manage/", "Manage Owned"),
    "tasks": (lambda scene: "/b/owned/manage/tasks/", "Manage Owned"),
    "people": (lambda scene: "/b/owned/manage/people/", "Manage Owned"),
    "followed URLs": (lambda scene: "/b/owned/manage/following/", "Manage Owned"),
    "webhooks": (lambda scene: "/b/owned/manage/webhooks/", "Manage Owned"),
    "audit trail": (lambda scene: "/b/owned/manage/audit/", "Manage Owned"),
    "studies of an owner": (lambda scene: "/b/owned/manage/studies/", "Manage Owned"),
    "queue": (lambda scene: "/b/owned/manage/queue/", "Manage Owned"),
    "decision": (lambda scene: f"/b/owned/manage/queue/{scene.waiting.uuid}/", "Manage Owned"),
    "history": (lambda scene: "/b/small/history/", "History of Small"),
    "revisions compared": (
        lambda scene: "/b/small/history/compare/",
        "What changed on Small from revision 1 to 2",
    ),
    "home": (lambda scene: "/", "One set of scores, many rankings"),
    "board": (lambda scene: "/b/glue/?q=bert-large", "GLUE"),
    "board with scores": (lambda scene: "/b/helm-accuracy/?scores=1&q=open", "HELM accuracy"),
    "narrowed board": (lambda scene: "/b/glue/?q=bert-large&pin=t5&family=majority&top=80", "GLUE"),
    "small board": (lambda scene: "/b/small/?scores=1", "Small"),
    "board that no system matches": (lambda scene: "/b/small/?q=zzz", "Small"),
    "board without systems": (lambda scene: "/b/empty/", "Empty"),
    "board being computed": (lambda scene: "/b/stuck-computing/", "Computing"),
    "failed board": (lambda scene: "/b/stuck-failed/", "Failed"),
    "submit": (lambda scene: "/b/glue/submit/", "Submit scores to GLUE"),
    "upload": (lambda scene: "/b/glue/upload/", "Upload scores to GLUE"),
    "new": (lambda scene: "/new/", "New benchmark"),
    "not allowed to submit": (lambda scene: "/b/closed/submit/", "You cannot submit to Closed"),
    "draft": (lambda scene: f"/drafts/{scene.draft.uuid}/", "What would change: Whol"),
    "pending batch": (lambda scene: f"/submissions/{scene.pending.uuid}/", "Submission of Newcomer"),
    "published batch": (lambda scene: f"/submissions/{scene.published.uuid}/", "Submission of Newcomer"),
    "system": (lambda scene: "/b/helm-accuracy/systems/llama-2-70b/", "Llama 2 (70B)"),
    "scores": (lambda scene: "/b/small/scores/", "Scores of Small"),
    "scores in groups": (lambda scene: "/b/helm-accuracy/scores/", "Scores of HELM accuracy"),
    "task": (lambda scene: "/b/small/tasks/task-1/", "Task 1"),
    "Pareto front": (lambda scene: "/b/small/pareto/", "Pareto front of Small"),
    "submitters": (lambda scene: "/b/small/submitters/", "Submitters of Small"),
    "metadata of an owner": (lambda scene: "/b/owned/manage/metadata/", "Manage Owned"),
    "search of the site": (lambda scene: "/search/?q=small", "Search"),
    "landscape": (lambda scene: "/landscape/", "The landscape of benchmarks"),
    "what if, many tasks": (
        lambda scene: "/b/helm-accuracy/what-if/",
        "What if the tasks of HELM accuracy were weighted differently?",
    ),
    "own page": (lambda scene: "/account/", "submitter"),
    "head to head": (lambda scene: "/b/helm-accuracy/head-to-head/", "HELM accuracy head to head"),
    "three systems": (lambda scene: "/b/glue/head-to-head/?pin=ernie&pin=t5&pin=vega-v1", "GLUE head to head"),
    "two systems": (lambda scene: "/b/small/head-to-head/?a=whole&b=newcomer", "Small head to head"),
    "agreement": (lambda scene: "/b/glue/agreement/?pin=ernie&pin=vega-v1", "Where the rules agree on GLUE"),
    "prospects": (lambda scene: "/b/small/prospects/", "Who can win Small"),
    "instances": (lambda scene: "/b/instanced/instances/", "Instanced by single instances"),
    "no instances": (lambda scene: "/b/small/instances/", "Small by single instances"),
    "prospects under conditions": (
        lambda scene: "/b/small/prospects/?of1=task:task-1&least1=60&goal=minimise&goal_of=task:task-2",
        "Who can win Small",
    ),
    "conditions that cannot be read": (lambda scene: "/b/small/prospects/?conditions=much", "Who can win Small"),
    "experiments": (lambda scene: "/b/small/experiments/?study=missing_scores", "Experiments on Small"),
    "what if": (
        lambda scene: "/b/small/what-if/?weights=task-1:3",
        "What if the tasks of Small were weighted differently?",
    ),
    "prospects being computed": (lambda scene: "/b/glue/prospects/", "Who can win GLUE"),
    "what it would take": (
        lambda scene: "/b/small/systems/whole/?above=newcomer",
        "Whole",
    ),
    "stability": (lambda scene: "/b/small/stability/", "How stable is Small?"),
    "over time": (lambda scene: "/b/small/time/", "Small over time"),
    "rules": (lambda scene: "/rules/?has=monotonicity", "The rules"),
    "one rule": (lambda scene: "/rules/baldwin/?convention=average", "Baldwin"),
    "chosen rule": (lambda scene: "/rules/choose/?winner=condorcet&evidence=tasks", "Which rule?"),
    "tried table": (lambda scene: "/try/?example=1", "Rank a table of your own"),
    "benchmarks compared": (lambda scene: "/compare/?b=owned&b=closed&b=small", "Compare benchmarks"),
    "documentation": (lambda scene: "/docs/", "Documentation"),
    "one document": (lambda scene: "/docs/screenshots/", "Screenshots"),
    "papers": (lambda scene: "/papers/", "The papers, recomputed"),
    "a paper": (lambda scene: "/papers/?paper=pavao", "The papers, recomputed"),
    "rows that differ": (lambda scene: "/papers/?verdict=differs", "The papers, recomputed"),
    "status": (lambda scene: "/status/", "Status"),
    "bad address": (lambda scene: "/b/glue/?sort=nonsense", "This request could not be read"),
    "not found": (lambda scene: "/b/nothing-here/", "Page not found"),
    "account": (lambda scene: "/account/email/", "Email addresses"),
    "notices": (lambda scene: "/account/notices/", "Notices"),
    "choices of notices": (lambda scene: "/account/notices/choices/", "Notification settings"),
    "profile": (lambda scene: "/account/profile/", "Profile"),
    "sessions": (lambda scene: "/account/sessions/", "Sessions"),
    "tokens": (lambda scene: "/account/tokens/", "API tokens"),
    "second factor": (lambda scene: "/account/second-factor/", "Second factor"),
}
ENTRANCE = {
    "sign in": ("/account/login/", "Sign in"),
    "sign up": ("/account/signup/", "Sign up"),
    "password reset": ("/account/password/reset/", "Reset the password"),
}


# Of WCAG 2.2, and off unless it is asked for.
RUN_AXE = "axe.run({resultTypes: ['violations'], rules: {'target-size': {enabled: true}}})"
DESK_AND_PHONE = ((1280, "light"), (390, "dark"))
THE_OTHER_WAY = ((1280, "dark"), (390, "light"))


def look_at(page: Page, heading: str, looks: tuple[tuple[int, str], ...] = DESK_AND_PHONE) -> None:
    """Hold a page against what every page must be, wide and narrow, in light and dark."""
    assert page.locator("h1").all_inner_texts() == [heading]
    page.evaluate(AXE_SCRIPT)
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no colour halfway to another
        report = AxeResults(page.evaluate(RUN_AXE))
        assert report.response["violations"] == [], f"{width} {scheme}\n{report.generate_report()}"


@pytest.fixture(scope="module")
def readers(chromium, site, scene) -> Iterator[list[Visitor]]:
    """Who has submitted to some of the benchmarks, with scripts and without, each in one tab for all pages."""
    visitors = [new_visitor(chromium, site.url, java_script_enabled=is_scripted) for is_scripted in (True, False)]
    for visitor in visitors:
        sign_in(visitor, scene.submitter)
        visitor.open("/")
    yield visitors
    for visitor in visitors:
        visitor.context.close()


@pytest.fixture
def tabs(readers) -> Iterator[list[Page]]:
    """The two tabs. The test fails on whatever their browsers complain of."""
    yield [visitor.context.pages[0] for visitor in readers]
    complaints = [complaint for visitor in readers for complaint in visitor.complaints]
    for visitor in readers:
        visitor.complaints.clear()
    assert complaints == []


OF_ONE_READER = re.compile(r"Computed in [\d.]+ s|Rank under these weights\n")  # a script ranks without a button
TELL_THE_TIME = ("status", "stability")  # for how long work has waited


@pytest.mark.parametrize("name", PAGES)
def test_page_is_sound_on_a_light_desk_and_a_dark_phone_and_says_the_same_without_javascript(tabs, site, scene, name):
    address, heading = PAGES[name]
    for tab in tabs:
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.goto(site.url + address(scene))
    page, same = tabs
    if name not in TELL_THE_TIME:
        texts = [OF_ONE_READER.sub("", tab.locator("main").inner_text()) for tab in tabs]
        assert texts[0] == texts[1]
        assert board_rows(same) == board_rows(page)
    look_at(page, heading)


@pytest.mark.slow  # some minutes; what is light on a desk and dark on a phone seldom fails the other way round
@pytest.mark.parametrize("name", PAGES)
def test_page_is_sound_on_a_dark_desk_and_a_light_phone(tabs, site, scene, name):
    address, heading = PAGES[name]
    page = tabs[0]
    page.goto(site.url + address(scene))
    look_at(page, heading, THE_OTHER_WAY)


@pytest.mark.parametrize("name", ENTRANCE)
def test_entrance_is_sound_in_light_and_dark_on_desk_and_phone(reader, name):
    address, heading = ENTRANCE[name]
    look_at(reader.open(address), heading, DESK_AND_PHONE + THE_OTHER_WAY)


def test_the_keyboard_reaches_the_content_and_the_table_and_shows_where_it_is(reader):
    page = reader.open("/b/glue/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(".skip-link").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        if page.evaluate("document.activeElement.getAttribute('role')") == "region":
            break
    assert page.evaluate("document.activeElement.getAttribute('aria-labelledby')") == "board-caption"
    page.keyboard.press("End")
    page.wait_for_timeout(500)  # it scrolls smoothly
    assert page.evaluate("document.activeElement.scrollTop + window.scrollY") > 0  # the window scrolls wide boards
