"""Databases for tests.

`db` (pytest-django) rolls back and suits most tests. `committed_db` is for what must commit: it is a copy of the
migrated test database, because the triggers that keep history refuse to let a shared one be emptied.
"""

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack
from copy import copy

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.cache import cache
from django.db import transaction
from django.template import Context, Template
from django.test import client as test_client
from django.test.utils import ContextList
from hypothesis import settings as hypothesis_settings

from leaderboard.rankings import published
from tests.databases import empty_broker, migrated_database, own_database
from tests.factories import Factory
from tests.leaderboard.templatetags.undefined import refuse_undefined_variables
from tests.running_site import RunningSite

# Where many wait for the answer the same examples are tried each time; everywhere else they are drawn anew.
hypothesis_settings.register_profile("every checkout", derandomize=True, deadline=None)
if os.environ.get("PLURANK_CI"):
    hypothesis_settings.load_profile("every checkout")

# The site's own cost takes a third of a second. A running site takes such a hash, too, and makes a better one of it.
Argon2PasswordHasher.time_cost, Argon2PasswordHasher.memory_cost, Argon2PasswordHasher.parallelism = 1, 8, 1


def keep_page(
    page: dict[str, list], signal: object, sender: Template, template: Template, context: Context, **_: object
):
    """What the test client keeps of a page: the name of each template, but the context of the page's own alone.

    Django copies the context of every part that a page includes.
    """
    page.setdefault("templates", []).append(template)
    if "context" not in page:
        page["context"] = ContextList([copy(context)])


test_client.store_rendered_templates = keep_page


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """How `make test` divides the tests among its processes."""
    from tests.workers import FileByFile

    return FileByFile(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many processes these are."""
    from tests.workers import n_processes

    return n_processes()


@pytest.fixture(scope="session", autouse=True)
def _variables_are_defined() -> None:
    refuse_undefined_variables()


def pytest_collection_finish() -> None:
    """What is imported and collected lives to the end: search for garbage in the rest alone, and seldom."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment, django_db_blocker) -> Iterator[None]:
    """The migrated test database, made for whoever asks: pytest-django's own looks for its marks only."""
    with ExitStack() as stack:
        with django_db_blocker.unblock():
            stack.enter_context(migrated_database())
        yield
        with django_db_blocker.unblock():
            stack.close()


def pytest_unconfigure() -> None:
    """What a thread still logs has nowhere to go: the file that pytest captured it in is closed next."""
    logging.raiseExceptions = False


@pytest.fixture
def quick_passwords(settings):
    """Passwords whose hash costs nothing, as the true one is slow on purpose, and no count of earlier attempts."""
    cache.clear()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _studies_are_planned_at_once(settings):
    """With every revision: the tests of that pause set it themselves."""
    settings.STUDIES_QUIET_SECONDS = 0


@pytest.fixture(autouse=True)
def _answers_have_their_time(settings):
    """However busy the machine is: the tests of what takes too long set it themselves."""
    settings.ON_DEMAND_SECONDS = 60


@pytest.fixture
def make(db) -> Factory:
    """Makes users, benchmarks and submissions through the services, inside a test that rolls back."""
    empty_broker()
    cache.clear()  # answers on demand, and how often they were asked for: keys are used again after a rollback
    published._boards.clear()
    return Factory()


@pytest.fixture(scope="module")
def make_once(django_db_setup, django_db_blocker) -> Iterator[Factory]:
    """As `make`, for what many tests of a file begin with: it is made once, and rolled back after the last of them.

    A test that asks for `make`, or for `db`, takes back whatever it does with that in the database. Objects it leaves
    as they are, or works on a copy.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        empty_broker()
        cache.clear()  # as above
        published._boards.clear()
        yield Factory(first_number=10_001)  # as no test has so many
        transaction.set_rollback(True)


@pytest.fixture
def committed_db(django_db_setup, django_db_blocker) -> Iterator[str]:
    """A database of this test's own, freshly migrated, in which commits are real. Yields its DATABASE_URL."""
    with django_db_blocker.unblock(), own_database() as url:
        yield url


@pytest.fixture
def site(committed_db, tmp_path) -> Iterator[RunningSite]:
    """The site's processes on this test's own database; the test starts those it needs."""
    running = RunningSite(tmp_path, committed_db, is_forked=True)
    try:
        yield running
    finally:
        running.stop_all()


@pytest.fixture
def make_committed(committed_db) -> Factory:
    """As `make`, in a database in which commits are real."""
    return Factory()
