"""One site for all of these tests: its processes take seconds to start. A test makes its own benchmarks in it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models import F
from django.test import Client
from playwright.sync_api import Browser, sync_playwright

from leaderboard.benchmarks.folders import import_folder
from leaderboard.evaluation.encryption import new_key
from leaderboard.models import Benchmark, Job, User
from tests.browser.by_hand import DEMONSTRATION
from tests.browser.pages import Visitor, new_visitor
from tests.databases import own_database
from tests.factories import Factory
from tests.running_site import RunningSite

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The machine's own Chromium; without one these tests are skipped, and fail where PLURANK_CI says they must run."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
    if not Path(path).exists():
        message = "Chromium is not installed; the pages were not tried in a browser"
        if os.environ.get("PLURANK_CI") == "1":
            pytest.fail(message)
        pytest.skip(message)
    with pytest.MonkeyPatch.context() as patch:
        # Playwright's loop runs in this thread, where Django would then refuse to ask its database.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
            yield browser
            browser.close()


@pytest.fixture(scope="package")
def site(chromium, factory, django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[RunningSite]:
    """The whole site as it runs in earnest, with static files collected, and the demonstration's GLUE and HELM."""
    folder = tmp_path_factory.mktemp("site")
    with django_db_blocker.unblock(), own_database() as url:
        running = RunningSite(folder, url, lease_seconds=30, PLURANK_DEBUG="false", PLURANK_REFERENCES_KEYS=new_key())
        collect = [sys.executable, "manage.py", "collectstatic", "--noinput"]
        subprocess.run(collect, cwd=settings.ROOT, env=running.environment, check=True, capture_output=True)
        owner = factory.user("owner")
        for key in ("glue", "helm-accuracy"):
            import_folder(DEMONSTRATION / key, owner=owner, submission_policy="open")
        drop_studies()  # a small benchmark's show as much
        try:
            running.start("web", "rankings", "studies", "sweep")
            running.wait_for_web()
            running.wait_until(is_all_published, 30, "the boards are published")
            yield running
        finally:
            running.stop_all()


def drop_studies() -> None:
    """No study that waits is begun: they would keep a processor busy for minutes."""
    Job.objects.filter(queue=Job.Queue.STUDIES, state=Job.State.WAITING).update(state=Job.State.SUPERSEDED)


@pytest.fixture(scope="module", autouse=True)
def _leave_no_studies(site) -> Iterator[None]:
    """To the tests of the next file."""
    yield
    drop_studies()


def is_all_published() -> bool:
    """Whether no board that may still come is missing."""
    waiting = Benchmark.objects.filter(last_revision_number__gt=F("published_number"))
    return not waiting.exclude(key__startswith="stuck").exists()


@pytest.fixture(scope="package")
def factory() -> Factory:
    """One for all tests, so that no two users have the same address."""
    return Factory()


@pytest.fixture
def make_committed(site, factory) -> Factory:
    """Makes benchmarks in the database of the running site."""
    return factory


@pytest.fixture
def visitors(chromium, site) -> Iterator[Callable[..., Visitor]]:
    """Makes visitors, each with an empty browser. The test fails on whatever their browsers complain of."""
    made: list[Visitor] = []

    def make(user: User | None = None, **options: object) -> Visitor:
        visitor = new_visitor(chromium, site.url, **options)
        if user is not None:
            sign_in(visitor, user)
        made.append(visitor)
        return visitor

    yield make
    for visitor in made:
        visitor.context.close()
    assert [complaint for visitor in made for complaint in visitor.complaints] == []


def sign_in(visitor: Visitor, user: User) -> None:
    """Let a visitor be a user, without the form."""
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    visitor.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": visitor.url}])


@pytest.fixture(scope="package")
def anybody(chromium, site) -> Iterator[Visitor]:
    """A browser that keeps what it has fetched, for all readers together: an empty one costs a second each time."""
    visitor = new_visitor(chromium, site.url)
    yield visitor
    visitor.context.close()


@pytest.fixture
def reader(anybody) -> Iterator[Visitor]:
    """Somebody who has no account. The test fails on whatever their browser complains of."""
    yield from watched(anybody)


def watched(visitor: Visitor) -> Iterator[Visitor]:
    """A visitor for one test, with the tabs closed and nothing complained of afterwards."""
    yield visitor
    for page in visitor.context.pages:
        page.close()
    complaints, visitor.complaints = visitor.complaints, []
    assert complaints == []
