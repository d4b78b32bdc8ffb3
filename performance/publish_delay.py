"""How long until readers see an accepted score: from the acceptance's commit to the new board being published.

Starts the site's real processes on a database of its own, with the GLUE demonstration in it, and accepts submissions
one after the other: some through the services, some through the confirming POST of the web page. By default that is
SQLite and a folder; DATABASE_URL and REDIS_URL choose PostgreSQL and Redis (a Redis database that no site uses).

    python performance/publish_delay.py [--submissions 20]
    python performance/publish_delay.py --without-broker --submissions 6      Redis is away: nobody takes a wake-up
"""

import argparse
import http.client
import os
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.5  # between two submissions
NOBODY = "redis://127.0.0.1:9/0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--submissions", type=int, default=20, metavar="N")
    parser.add_argument("--without-broker", action="store_true", help="REDIS_URL names a port where nobody listens")
    chosen = parser.parse_args()
    n_submissions = chosen.submissions
    if chosen.without_broker:
        os.environ["REDIS_URL"] = NOBODY
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder, database(Path(folder)) as url:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": url, "PLURANK_LOG_LEVEL": "WARNING"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        measure(Path(folder), url, n_submissions)


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """The address of a new, empty database; deleted afterwards."""
    given = os.environ.get("DATABASE_URL", "")
    if not given.startswith("postgres"):
        yield f"sqlite:///{folder / 'plurank.sqlite3'}"
        return
    import psycopg

    name = f"plurank_bench_{uuid.uuid4().hex}"
    with psycopg.connect(given, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield f"{given.rsplit('/', 1)[0]}/{name}"
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def measure(folder: Path, url: str, n_submissions: int) -> None:
    import django

    import config.celery  # noqa: F401 -- acceptance wakes workers through it

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections

    from leaderboard.benchmarks.demonstration import FOLDER
    from leaderboard.benchmarks.folders import import_folder
    from leaderboard.models import Benchmark, User
    from tests.running_site import RunningSite

    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("bench@plurank.example", display_name="Bench")
    benchmark = import_folder(FOLDER / "glue", owner=owner, submission_policy=Benchmark.SubmissionPolicy.OPEN)
    site = RunningSite(folder, url, lease_seconds=30)
    try:
        site.start("web", "rankings", "studies", "sweep")
        site.wait_for_web()
        site.wait_until(lambda: published(benchmark) == 1, 60, "the first board is published")
        kind = "PostgreSQL" if not settings.IS_SQLITE else "SQLite"
        broker = "Redis" if settings.REDIS_URL else "a folder"
        if settings.REDIS_URL == NOBODY:
            broker = f"no broker; workers look for themselves after {settings.UNWOKEN_SECONDS} s"
        print(f"GLUE ({benchmark.systems.count()} systems, {benchmark.tasks.count()} tasks) on {kind} and {broker}")
        time.sleep(PAUSE)
        seconds = [accept_and_wait(benchmark, owner, n) for n in range(n_submissions)]
        tell("from the acceptance's commit to the new board", seconds)
        pages = [confirm_and_read(site.port, benchmark, owner, n) for n in range(n_submissions)]
        tell("from the confirming POST to the board's page", pages)
    except AssertionError as error:
        sys.exit(str(error))
    finally:
        site.stop_all()
        connections.close_all()


def tell(what: str, seconds: list[float]) -> None:
    middle, worst = statistics.median(seconds), max(seconds)
    print(f"{what}: median {middle:.2f} s, max {worst:.2f} s, {len(seconds)} submissions")


def published(benchmark) -> int:
    return type(benchmark).objects.values_list("published_number", flat=True).get(pk=benchmark.pk)


def scores(benchmark, n: int) -> dict[str, float]:
    draw = random.Random(n)
    return {task.key: round(draw.uniform(50, 95), 1) for task in benchmark.tasks.all()}


def accept_and_wait(benchmark, owner, n: int) -> float:
    """Seconds from the commit of an acceptance until a reader of the database sees its board."""
    from django.db import transaction

    from leaderboard.submissions.lifecycle import accept_batch
    from tests.factories import Factory

    batch = Factory().pending(benchmark, {f"Submitted {n}": list(scores(benchmark, n).values())}, by=owner)
    committed: list[float] = []
    with transaction.atomic():
        transaction.on_commit(lambda: committed.append(time.monotonic()))  # the first: before wake-ups are sent
        number = accept_batch(batch, actor=owner).number
    while published(benchmark) < number:
        time.sleep(0.005)
    seconds = time.monotonic() - committed[0]
    time.sleep(PAUSE)
    return seconds


def confirm_and_read(port: int, benchmark, owner, n: int) -> float:
    """Seconds from sending the POST that confirms a draft until the board's page says the new revision."""
    from django.test import Client
    from django.utils.crypto import get_random_string

    from leaderboard.access.audience import audience_of
    from leaderboard.models import Draft
    from leaderboard.submissions.drafts import make_draft
    from leaderboard.submissions.rows import SubmittedRow

    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    token = get_random_string(32)
    cookies = f"sessionid={client.cookies['sessionid'].value}; csrftoken={token}"
    benchmark.refresh_from_db()
    row = SubmittedRow(system_name=f"Typed {n}", scores={key: str(v) for key, v in scores(benchmark, n).items()})
    draft: Draft = make_draft(audience_of(owner, benchmark), [row], source="form")
    last = benchmark.last_revision_number
    body = f"csrfmiddlewaretoken={token}&action=confirm&create_system=1&previewed_number={last}"
    headers = {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"}
    started = time.monotonic()
    status, answer = ask(port, "POST", f"/drafts/{draft.uuid}/", body, headers)
    if status != 302:
        raise AssertionError(f"confirming answered {status}: {answer[:2000]}")
    while f"Revision {last + 1}" not in ask(port, "GET", f"/b/{benchmark.key}/", None, {"Cookie": cookies})[1]:
        time.sleep(0.02)
    seconds = time.monotonic() - started
    time.sleep(PAUSE)
    return seconds


def ask(port: int, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


if __name__ == "__main__":
    main()
