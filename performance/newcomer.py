"""How soon a newcomer has its rank intervals while many other boards are busy: turns, measured.

Starts the site's real processes, one worker for boards and one for studies, on a database of its own, makes many
boards, submits to each of them again and again, and then to one more. What is counted is what the worker for studies
did between the newcomer's acceptance and its intervals. DATABASE_URL and REDIS_URL choose PostgreSQL and Redis.

    python performance/newcomer.py [--boards 30] [--newcomers 5]
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from performance.publish_delay import database

N_SYSTEMS, N_TASKS = 20, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--boards", type=int, default=30, metavar="N")
    parser.add_argument("--newcomers", type=int, default=5, metavar="N", help="one after the other")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder, database(Path(folder)) as url:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": url, "PLURANK_LOG_LEVEL": "WARNING"}
        os.environ |= {"PLURANK_BENCHMARKS_PER_ACCOUNT": "1000"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        measure(Path(folder), url, chosen.boards, chosen.newcomers)


def measure(folder: Path, url: str, n_boards: int, n_newcomers: int) -> None:
    import django

    import config.celery  # noqa: F401 -- acceptance wakes workers through it

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from leaderboard.models import Job, User
    from tests.factories import Factory
    from tests.running_site import RunningSite

    call_command("migrate", verbosity=0)
    owner, factory, draw = User.objects.create_user("bench@plurank.example"), Factory(), random.Random(0)

    def row() -> list[float]:
        return [draw.gauss(0, 1) for _ in range(N_TASKS)]

    def board(name: str):
        return factory.benchmark({f"System {i}": row() for i in range(N_SYSTEMS)}, name=name, owner=owner)

    busy = [board(f"Busy {n}") for n in range(n_boards)]
    newcomers = [board(f"Newcomer {n}") for n in range(n_newcomers)]
    Job.objects.update(state="done")
    site = RunningSite(folder, url, lease_seconds=30)
    is_over = threading.Event()

    def keep_busy() -> None:
        try:
            while not is_over.is_set():
                for benchmark in busy:
                    own = Job.objects.filter(benchmark=benchmark, kind="bootstrap")
                    if not is_over.is_set() and not own.filter(state__in=["waiting", "running"]).exists():
                        factory.accepted(benchmark, {"Again": row()}, by=owner)
                is_over.wait(0.2)
        finally:
            connections.close_all()

    client = threading.Thread(target=keep_busy)
    try:
        site.start("rankings", "studies", "sweep")
        client.start()
        done = Job.objects.filter(queue="studies", state="done")
        first = done.filter(kind="bootstrap", sequence=2)
        site.wait_until(lambda: first.count() >= n_boards, 300, "every board had its turn")
        seconds, jobs = zip(*(newcomer(benchmark, factory, owner, row()) for benchmark in newcomers), strict=True)
        n_waiting = Job.objects.filter(queue="studies", state="waiting").count()
        print(f"{n_boards} busy boards, {n_waiting} jobs of studies waiting. From acceptance to intervals:")
        print(f"{n_newcomers} newcomers, median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s")
        print(f"others' jobs begun and ended meanwhile: median {statistics.median(jobs):g}, at most {max(jobs)}")
    except AssertionError as error:
        sys.exit(str(error))
    finally:
        is_over.set()
        if client.ident:
            client.join()
        site.stop_all()
        connections.close_all()


def newcomer(benchmark, factory, owner, row: list[float]) -> tuple[float, int]:
    """Seconds from an acceptance to its intervals, and how many jobs of others were begun and ended meanwhile."""
    from django.utils import timezone

    from leaderboard.models import Job

    began, at = time.monotonic(), timezone.now()
    factory.accepted(benchmark, {"New": row}, by=owner)
    own = Job.objects.filter(benchmark=benchmark, kind="bootstrap", sequence=2, state="done")
    while not own.exists():
        time.sleep(0.05)
    seconds = time.monotonic() - began
    ended = Job.objects.filter(queue="studies", state="done", finished_at__gt=at, started_at__gt=at)
    return seconds, ended.exclude(benchmark=benchmark).count()


if __name__ == "__main__":
    main()
