"""A site of a program's own: settings, a database, a board of random scores, and requests in this process."""

import os
import random
from collections.abc import Sequence
from typing import Any


def start_site(folder: str, url: str = "") -> None:
    """Configure Django with a folder, and a database of which all tables are there.

    Args:
        folder: of the site; of SQLite, the database is in it.
        url: of the database; SQLite where empty.
    """
    database = url or f"sqlite:///{folder}/plurank.sqlite3"
    os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": database, "REDIS_URL": "", "PLURANK_STUDIES_RUN": "demand"}
    os.environ |= {"PLURANK_LOG_LEVEL": "ERROR", "PLURANK_DEBUG": "true"}
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    import config.celery  # noqa: F401 -- acceptance wakes workers through it

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.DEBUG = False  # static files come from the checkout, all else is as in earnest
    call_command("migrate", verbosity=0)


def publish_board(benchmark: Any, owner: Any, names: Sequence[str], *, spread: float, kinds: Sequence[str]) -> None:
    """Store a system of each name with random scores on all tasks, and compute what is published.

    Args:
        benchmark: with its tasks.
        owner: who accepts the scores.
        names: of the systems.
        spread: of the scores of one system.
        kinds: of the jobs that are run, in order.
    """
    from jobs.runner import run_job
    from leaderboard.models import Job
    from leaderboard.models.submissions import Source
    from leaderboard.submissions.lifecycle import accept_batch, store_batch

    dice = random.Random(0)
    keys = [task.key for task in benchmark.tasks.all()]
    rows: list[dict[str, Any]] = []
    for name in names:
        skill = dice.gauss(50, 10)
        scores = {key: {"value": round(abs(dice.gauss(skill, spread)), 2)} for key in keys}
        system = {"name": name, "organisation": "", "url": "", "description": ""}
        rows.append({"system": system, "scores": scores, "line": None})
    accept_batch(store_batch(benchmark, owner, rows, source=Source.API), actor=owner)
    for kind in kinds:
        for job in Job.objects.filter(benchmark=benchmark, kind=kind, state="waiting"):
            run_job(job.pk, worker="bench")


def counted_request(client: Any, path: str) -> tuple[int, int, bytes]:
    """Return the status and the number of queries of a request, and its body.

    The page has been requested once before, so that what a process does once is not counted.
    """
    from django.db import connection

    client.get(path).getvalue()
    queries: list[str] = []

    def counted(execute: Any, sql: str, *rest: Any) -> Any:
        queries.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(counted):
        response = client.get(path)
        body: bytes = response.getvalue()  # of a file that is written while it is sent, too
    return response.status_code, len(queries), body
