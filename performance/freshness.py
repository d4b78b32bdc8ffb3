"""How soon everything is fresh: after one submission to a board, and after `make demo` on an empty folder.

Starts the site's real processes, as `make demo` does, on a database of its own. DATABASE_URL and REDIS_URL choose
PostgreSQL and Redis. The machine should do nothing else.

    python performance/freshness.py                      one submission to SuperGLUE and one to GLUE
    python performance/freshness.py --boards mmlu        one to other demonstration boards
    python performance/freshness.py --demo               all demonstration boards from nothing, some minutes
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from performance.publish_delay import database, scores

if TYPE_CHECKING:
    from leaderboard.models import Benchmark, User
    from tests.running_site import RunningSite

PATIENCE = 3_600  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--boards", nargs="+", default=["superglue", "glue"], metavar="KEY")
    parser.add_argument("--demo", action="store_true", help="every demonstration board from nothing")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder, database(Path(folder)) as url:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": url, "PLURANK_LOG_LEVEL": "WARNING"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        import config.celery  # noqa: F401 -- acceptance wakes workers through it

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        from config.processes.commands import study_workers
        from leaderboard.models import User
        from tests.running_site import RunningSite

        call_command("migrate", verbosity=0)
        owner = User.objects.create_user("bench@plurank.example")
        site = RunningSite(Path(folder), url, lease_seconds=30, PLURANK_STUDIES_RUN="every")
        del site.environment["PLURANK_STUDIES_QUIET_SECONDS"]
        names = ["rankings", "studies", *(f"studies{n}" for n in range(2, study_workers() + 1)), "sweep"]
        try:
            if chosen.demo:
                demonstration(site, names)
            else:
                submissions(site, names, chosen.boards, owner)
        except AssertionError as error:
            sys.exit(str(error))
        finally:
            site.stop_all()
            connections.close_all()


def submissions(site: RunningSite, names: list[str], keys: list[str], owner: User) -> None:
    """One submission to each board, after everything of its first revision was computed."""
    from leaderboard.benchmarks.demonstration import FOLDER
    from leaderboard.benchmarks.folders import import_folder
    from leaderboard.models import Benchmark, Job
    from tests.factories import Factory

    policy = Benchmark.SubmissionPolicy.OPEN
    boards = [import_folder(FOLDER / key, owner=owner, submission_policy=policy) for key in keys]
    Job.objects.update(state="done")  # what counts is the work after a submission
    site.start(*names)
    site.wait_until(lambda: _n_alive(names) == len(names), 60, "every process was heard of")
    for board in boards:
        began = datetime.now().astimezone()
        Factory().accepted(board, {"New": list(scores(board, 1).values())}, by=owner)
        _wait_for(site, board)
        jobs = Job.objects.filter(benchmark=board, created_at__gt=began)
        print(f"{board.name}: {board.systems.count()} systems, {board.tasks.count()} tasks. Seconds until ...")
        ends: dict[str, datetime] = {}
        for kind, finished_at in jobs.values_list("kind", "finished_at"):
            name = kind.partition(":")[2] or kind
            ends[name] = max(finished_at, ends.get(name, finished_at))
        for name, end in sorted(ends.items(), key=lambda item: item[1]):
            print(f"  {(end - began).total_seconds():7.1f}  {name}")


def demonstration(site: RunningSite, names: list[str]) -> None:
    """All demonstration boards from an empty database to their last study."""
    from leaderboard.benchmarks.demonstration import load_demonstration
    from leaderboard.models import Benchmark, Job

    began = time.monotonic()
    load_demonstration(owner_email="owner@plurank.example", owner_password="a password", progress=lambda line: None)
    print(f"{time.monotonic() - began:7.1f} s  boards loaded")
    site.start(*names)
    waiting = list(Benchmark.objects.order_by("key"))
    while waiting:
        time.sleep(1)
        open_jobs = Job.objects.filter(state__in=["waiting", "running"])
        for board in [board for board in waiting if not open_jobs.filter(benchmark=board).exists()]:
            print(f"{time.monotonic() - began:7.1f} s  {board.name}", flush=True)
            waiting.remove(board)


def _n_alive(names: list[str]) -> int:
    from leaderboard.queue.heartbeats import living_processes

    return len(living_processes())


def _wait_for(site: RunningSite, board: Benchmark) -> None:
    from leaderboard.models import Job

    done = Job.objects.filter(benchmark=board, kind__startswith="study:")
    site.wait_until(
        lambda: done.exists() and not Job.objects.filter(benchmark=board, state__in=["waiting", "running"]).exists(),
        PATIENCE,
        f"everything of {board.name} is computed",
    )


if __name__ == "__main__":
    main()
