"""How long the board's page takes the server, how heavy it is, and how many queries it makes.

Builds a database of its own (SQLite, in a folder that is deleted) with a board of 100 systems x 9 tasks and one of
5,000 x 20, and asks for their pages in this process: processor time, the least and the median of several requests.

    python performance/pages.py [--requests 9] [--systems 5000]
"""

import argparse
import gzip
import os
import random
import statistics
import tempfile
import time
from typing import Any

FOURTEEN = (
    "mean", "geometric_mean", "median", "plurality", "borda", "dowdall", "veto", "threshold", "baldwin", "nanson",
    "condorcet", "copeland", "minimax", "win_rate",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--requests", type=int, default=9, metavar="N")
    parser.add_argument("--systems", type=int, default=5000, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": f"sqlite:///{folder}/plurank.sqlite3", "REDIS_URL": ""}
        os.environ |= {"PLURANK_LOG_LEVEL": "ERROR", "PLURANK_DEBUG": "true", "PLURANK_STUDIES_RUN": "demand"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        measure(options.requests, options.systems)


def measure(n_requests: int, n_systems: int) -> None:
    import django

    import config.celery  # noqa: F401 -- acceptance wakes workers through it

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.DEBUG = False  # static files come from the checkout, all else is as in earnest

    call_command("migrate", verbosity=0)
    query = "&".join(f"rule={rule}" for rule in FOURTEEN)
    small = published("small", 100, 9)
    print(f"{'page':46} {'queries':>7} {'least':>8} {'median':>8} {'kB':>6} {'gzip':>6}")
    report("100 systems x 14 rules", f"/b/{small}/?{query}", n_requests)
    report("100 systems, every rule", f"/b/{small}/", n_requests)
    large = published("large", n_systems, 20)
    size = f"{n_systems:,} systems"
    report(f"{size} x 14 rules", f"/b/{large}/?{query}", n_requests)
    report(f"{size}, every rule", f"/b/{large}/", n_requests)
    report(f"{size}, page 30", f"/b/{large}/?page=30", n_requests)
    report(f"{size}, sorted by Copeland, descending", f"/b/{large}/?sort=-copeland", n_requests)
    report(f"{size}, by name", f"/b/{large}/?sort=name", n_requests)
    report(f"{size}, filtered by text", f"/b/{large}/?q=system+12", n_requests)
    report(f"{size}, complete ones of the top 500", f"/b/{large}/?complete_only=1&top=500", n_requests)


def published(key: str, n_systems: int, n_tasks: int) -> str:
    """Store a benchmark of random scores, publish its board, and give its key."""
    from decimal import Decimal

    from jobs.runner import run_job
    from leaderboard.benchmarks.create import TaskSpec, create_benchmark
    from leaderboard.models import Job, User
    from leaderboard.models.submissions import Source
    from leaderboard.submissions.lifecycle import accept_batch, store_batch

    dice = random.Random(0)
    owner = User.objects.create_user(f"{key}@plurank.example")
    tasks = [TaskSpec(f"Task {t}", weight=Decimal(1)) for t in range(1, n_tasks + 1)]
    benchmark = create_benchmark(name=key, key=key, owner=owner, tasks=tasks, submission_policy="open")
    keys = [task.key for task in benchmark.tasks.all()]
    rows: list[dict[str, Any]] = []
    for i in range(n_systems):
        skill = dice.gauss(50, 10)
        scores = {task: {"value": round(abs(dice.gauss(skill, 5)), 2)} for task in keys}
        system = {"name": f"System {i:04d} of the table", "organisation": "", "url": "", "description": ""}
        rows.append({"system": system, "scores": scores, "line": None})
    accept_batch(store_batch(benchmark, owner, rows, source=Source.API), actor=owner)
    for kind in ("rankings", "slow_rankings", "significance"):
        for job in Job.objects.filter(benchmark=benchmark, kind=kind, state="waiting"):
            run_job(job.pk, worker="bench")
    return key


def report(what: str, path: str, n_requests: int) -> None:
    """Ask for a page again and again, and print what it took."""
    from django.db import connection
    from django.test import Client

    client = Client(HTTP_HOST="127.0.0.1")
    client.get(path)
    queries: list[str] = []

    def counted(execute: Any, sql: str, *rest: Any) -> Any:
        queries.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(counted):
        response = client.get(path)
    if response.status_code != 200:
        raise SystemExit(f"{path}: {response.status_code}")
    seconds = []
    for _ in range(n_requests):
        started = time.process_time()
        client.get(path)
        seconds.append(time.process_time() - started)
    body = response.content
    least, middle = 1000 * min(seconds), 1000 * statistics.median(seconds)
    weight = f"{len(body) / 1000:6.0f} {len(gzip.compress(body)) / 1000:6.1f}"
    print(f"{what:46} {len(queries):7} {least:5.0f} ms {middle:5.0f} ms {weight}", flush=True)


if __name__ == "__main__":
    main()
