"""How long a submission waits for its board while an upgrade has every board computed again.

Makes boards that an older engine version published, starts the site's real processes, a sweep and a worker of the older
version among them, and accepts a submission every few seconds, each to another board. By default that is SQLite and a
folder; DATABASE_URL and REDIS_URL choose PostgreSQL and Redis (a Redis database that no site uses).

    PYTHONPATH=. python performance/upgrade.py [--boards 2002] [--submissions 24] [--every 5]
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from performance.publish_delay import database

A_TRANSACTION = 100  # boards that are made at once
MAX_SECONDS = 600  # that are waited for the last board after the last submission


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--boards", type=int, default=2002, metavar="N", help="boards in all (default 2002)")
    parser.add_argument("--submissions", type=int, default=24, metavar="N")
    parser.add_argument("--every", type=float, default=5.0, metavar="SECONDS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder, database(Path(folder)) as url:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": url, "PLURANK_LOG_LEVEL": "WARNING"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        measure(Path(folder), url, options)


def measure(folder: Path, url: str, options: argparse.Namespace) -> None:
    import django

    import config.celery  # noqa: F401 -- acceptance wakes workers through it

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from leaderboard.models import Benchmark
    from tests.factories import Factory
    from tests.jobs.engine_versions import OLDER, boards_of_older_version, of_version
    from tests.running_site import RunningSite

    call_command("migrate", verbosity=0)
    make = Factory()
    with_submissions = [boards_of_older_version(make, 1) for _ in range(options.submissions)]
    for left in range(options.boards - options.submissions, 0, -A_TRANSACTION):
        boards_of_older_version(make, min(left, A_TRANSACTION))
    empty_broker()
    site = RunningSite(folder, url, lease_seconds=30)
    try:
        with of_version(site, OLDER):
            site.start("sweep2", "rankings2")
        site.start("rankings", "studies", "sweep")
        started, longest_queue, oldest_beat, revisions = time.monotonic(), 0, 0.0, []
        while time.monotonic() - started < options.every * options.submissions + MAX_SECONDS:
            if len(revisions) < options.submissions:
                board = with_submissions[len(revisions)]
                revisions.append(make.accepted(board, {"Newcomer": [5.0] * 5}))
            next_at = started + options.every * len(revisions)
            while time.monotonic() < next_at:
                longest_queue, oldest_beat = max(longest_queue, n_messages()), max(oldest_beat, sweep_age())
                time.sleep(0.5)
            if len(revisions) == options.submissions and not set(revisions) - set(published(revisions)):
                break
            time.sleep(0.5)
        delays = published(revisions)
        left = Benchmark.objects.filter(published_engine_version=OLDER).count()
        print(f"{options.boards} boards, {left} of them left to recompute after {time.monotonic() - started:.0f} s")
        waited = sorted(delays.values())
        print(
            f"{len(waited)} of {options.submissions} submissions have their boards: median"
            f" {statistics.median(waited):.1f} s, max {waited[-1]:.1f} s after the acceptance"
        )
        print(f"most messages in the broker: {longest_queue}; longest silence of the sweep: {oldest_beat:.0f} s")
    finally:
        site.stop_all()
        connections.close_all()


def published(revisions: list) -> dict:
    """Seconds from each revision's acceptance to its first board, for those that have one."""
    from leaderboard.models import Publication

    rows = Publication.objects.filter(revision__in=revisions).order_by("-pk").select_related("revision")
    return {row.revision: (row.published_at - row.revision.created_at).total_seconds() for row in rows}


def n_messages() -> int:
    """Wake-ups that lie in the broker, in whatever queue."""
    from django.conf import settings

    if not settings.REDIS_URL:
        return len(list(Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["folder"]).glob("*.msg")))
    import redis

    with redis.Redis.from_url(settings.REDIS_URL) as client:
        names = [name for name in client.scan_iter() if name.startswith((b"rankings", b"studies"))]
        return sum(client.llen(name) for name in names)


def sweep_age() -> float:
    from leaderboard.operations.health import sweep_age as seconds

    return seconds() or 0.0


def empty_broker() -> None:
    from tests.conftest import empty_broker as forget_messages

    forget_messages()


if __name__ == "__main__":
    main()
