"""How soon everything is fresh: after one submission to a board, and after `make demo` on an empty folder.

Starts the site's real processes, as `make demo` does, on a database of its own. DATABASE_URL and REDIS_URL choose
PostgreSQL and Redis. The machine should do nothing else.

Both print a table for docs/performance.md.

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
    columns: dict[str, dict[str, float]] = {}
    for board in boards:
        began = datetime.now().astimezone()
        Factory().accepted(board, {"New": list(scores(board, 1).values())}, by=owner)
        _wait_for(site, board)
        jobs = Job.objects.filter(benchmark=board, created_at__gt=began)
        ends: dict[str, float] = {}
        for kind, finished_at in jobs.exclude(finished_at=None).values_list("kind", "finished_at"):
            name = (kind.partition(":")[2] or kind).replace("_", " ")
            ends[name] = max((finished_at - began).total_seconds(), ends.get(name, 0.0))
        columns[f"{board.name}, {board.systems.count()} x {board.tasks.count()}"] = ends
    print(f"Seconds from the acceptance until each is there; {_machine(names)}\n")
    print("| | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    latest = {name: max(ends.get(name, 0.0) for ends in columns.values()) for ends in columns.values() for name in ends}
    for name in sorted(latest, key=lambda name: latest[name]):
        print(
            f"| {name} | " + " | ".join(f"{ends[name]:.1f}" if name in ends else "" for ends in columns.values()) + " |"
        )
    print("| **everything** | " + " | ".join(f"**{max(ends.values()):.1f}**" for ends in columns.values()) + " |")


def demonstration(site: RunningSite, names: list[str]) -> None:
    """All demonstration boards from an empty database to their last study."""
    from leaderboard.benchmarks.demonstration import load_demonstration
    from leaderboard.models import Benchmark, Job

    began, started = time.monotonic(), datetime.now().astimezone()
    load_demonstration(owner_email="owner@plurank.example", owner_password="a password", progress=lambda line: None)
    loaded = time.monotonic() - began
    print(f"{loaded:7.1f} s  boards loaded", flush=True)
    site.start(*names)
    waiting = list(Benchmark.objects.order_by("key"))
    while waiting:
        time.sleep(1)
        open_jobs = Job.objects.filter(state__in=["waiting", "running"])
        for board in [board for board in waiting if not open_jobs.filter(benchmark=board).exists()]:
            print(f"{time.monotonic() - began:7.1f} s  {board.name}", flush=True)
            waiting.remove(board)
    print(f"\nSeconds from the beginning until each is there; loading took {loaded:.1f} s; {_machine(names)}\n")
    print("| board | ranks | intervals | properties | every study |\n|---|---:|---:|---:|---:|")
    last = [0.0] * 4
    for board in sorted(Benchmark.objects.all(), key=lambda board: _ends(board, started)[-1]):
        ends = _ends(board, started)
        last = [max(pair) for pair in zip(last, ends, strict=True)]
        size = f"{board.systems.count()} x {board.tasks.count()}"
        print(f"| {board.name}, {size} | " + " | ".join(f"{end:.0f}" for end in ends) + " |")
    print("| **all boards** | " + " | ".join(f"**{end:.0f}**" for end in last) + " |")
    failed = Job.objects.filter(state="failed").count()
    print(f"\n{Job.objects.count():,} jobs, {failed} failed")


def _ends(board: Benchmark, started: datetime) -> list[float]:
    """When a board's ranks, intervals and properties were there, and everything; in seconds since `started`."""
    from leaderboard.models import Job

    ends = [0.0] * 4
    ended = Job.objects.filter(benchmark=board).exclude(finished_at=None)
    for kind, finished_at in ended.values_list("kind", "finished_at"):
        seconds = (finished_at - started).total_seconds()
        for place, kinds in enumerate((("rankings", "slow_rankings"), ("bootstrap",), ("axioms",), (kind,))):
            if kind in kinds:
                ends[place] = max(ends[place], seconds)
    return ends


def _machine(names: list[str]) -> str:
    """How busy the machine was, and how many workers computed."""
    workers = sum(name.startswith("studies") for name in names)
    return f"{workers} workers for studies on {os.cpu_count()} processors, load {os.getloadavg()[1]:.1f} over 5 minutes"


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
