"""How many bytes the reports of earlier revisions take, before and after retention removed the old ones.

In an SQLite file of its own: a board of 1,000 x 100 on which one system after the other is submitted, some a day, long
ago; ranks are computed as a worker computes them, without studies.

    python performance/retention.py [--systems 1000] [--tasks 100] [--revisions 120] [--a-day 12]
"""

import argparse
import os
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np


def main() -> None:
    """Make the revisions, prune, and print what it takes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name, default in (("systems", 1000), ("tasks", 100), ("revisions", 120), ("a-day", 12)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "PLURANK_VAR": folder}
        os.environ.pop("DATABASE_URL", None)
        os.environ.pop("REDIS_URL", None)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        measure(chosen)


def measure(chosen: argparse.Namespace) -> None:
    """Fill the database, and print a line before and one after."""
    from django.conf import settings
    from django.db import connection, transaction

    from leaderboard.common.append_only import append_only_permit
    from leaderboard.models import Report, Revision, Score
    from leaderboard.rankings.old_ranks import count_old_ranks, remove_old_ranks
    from tests.factories import Factory

    random = np.random.default_rng(0)
    make = Factory()
    skills = random.normal(size=(chosen.systems, 1))
    table = np.round(50 + 10 * skills + 5 * random.normal(size=(chosen.systems, chosen.tasks)), 2)
    names = [f"System {number}" for number in range(chosen.systems)]
    benchmark = make.published(dict(zip(names, table.tolist(), strict=True)))
    for number in range(1, chosen.revisions):
        row = np.round(table[number % chosen.systems] + random.normal(size=chosen.tasks), 2)
        make.accepted(benchmark, {names[number % chosen.systems]: row.tolist()})
        make.publish(benchmark)
    began = datetime(2020, 5, 1, tzinfo=UTC)
    pause = timedelta(days=1) / chosen.a_day
    with transaction.atomic(), append_only_permit("the time goes by"):
        for number in range(1, chosen.revisions + 1):
            Revision.objects.filter(number=number).update(created_at=began + (number - 1) * pause)
    Report.objects.update(created_at=began)

    def say(what: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*), sum(length(arrays) + length(summary)) FROM leaderboard_report")
            n_reports, size = cursor.fetchone()
        n_boards = Report.objects.filter(kind="board").count()
        connection.close()
        file = Path(str(settings.DATABASES["default"]["NAME"]))
        print(
            f"{what}: {n_boards} revisions have {n_reports:,} reports of {size / 1e6:.1f} MB, "
            f"{size / max(1, n_boards) / 1e3:.0f} kB each; {Score.objects.count():,} scores; the file has "
            f"{file.stat().st_size / 1e6:.1f} MB"
        )

    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    say("before")
    n_old = count_old_ranks()
    passes, after, began_at = 0, 0, time.perf_counter()
    while True:
        after = remove_old_ranks(after)[1]
        passes += 1
        if not after:
            break
    seconds = time.perf_counter() - began_at
    print(f"{n_old:,} reports removed in {passes} passes, {seconds / passes:.2f} s each")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    say("after")


if __name__ == "__main__":
    main()
