"""What a large board filtered by what is known of its systems costs: wall-clock and processor time of a page.

Makes a board with random scores and metadata in a database of its own (SQLite, in a folder that is deleted) and asks
for its page in this process: the least and the median of several requests.

    PYTHONPATH=. python performance/requests/filtered.py [--systems 1000] [--tasks 10] [--requests 15]
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from typing import Any

FIELDS = [
    {"key": "parameters", "name": "Parameters", "kind": "number", "is_column": True},
    {"key": "open-weights", "name": "Open weights", "kind": "yes_no", "is_column": True},
    {"key": "released", "name": "Released", "kind": "date", "is_column": True},
]
ADDRESSES = (
    "",
    "?meta.open-weights=yes",
    "?meta.open-weights=yes&most.parameters=10B&least.released=2023",
    "?meta.open-weights=yes&most.parameters=10B&sort=meta.parameters",
    "?meta.open-weights=yes&most.parameters=10B&ranks=filtered",
    "?meta.open-weights=yes&most.parameters=10B&group=released&mark=parameters",
    "?group=parameters",
    "pareto/?x=parameters",
    "time/?by=meta.released",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    for name, default in (("systems", 1000), ("tasks", 10), ("requests", 15)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": f"sqlite:///{folder}/plurank.sqlite3", "REDIS_URL": ""}
        os.environ |= {"PLURANK_LOG_LEVEL": "ERROR", "PLURANK_DEBUG": "true", "PLURANK_STUDIES_RUN": "demand"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        import config.celery  # noqa: F401 -- acceptance wakes workers through it

        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        settings.DEBUG = False
        call_command("migrate", verbosity=0)
        measure(described(options), options.requests)


def described(options: argparse.Namespace) -> Any:
    """A published board of random scores whose systems are described."""
    from leaderboard.models import System
    from tests.factories import Factory

    dice, make = random.Random(1), Factory()
    scores = {f"System {i}": [round(dice.random(), 4) for _ in range(options.tasks)] for i in range(options.systems)}
    benchmark = make.published(scores, metadata_fields=FIELDS)
    systems = list(System.objects.filter(benchmark=benchmark))
    for system in systems:
        system.metadata = {
            "parameters": round(10 ** dice.uniform(8, 12)),
            "open-weights": dice.random() < 0.5,
            "released": f"{dice.randint(2019, 2025)}-{dice.randint(1, 12):02}",
        }
    System.objects.bulk_update(systems, ["metadata"], batch_size=200)
    return benchmark


def measure(benchmark: Any, n_requests: int) -> None:
    """Print what each page takes."""
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    for address in ADDRESSES:
        path, spent, worked = f"/b/{benchmark.key}/{address}", [], []
        for _ in range(n_requests + 1):  # the first fills what is kept between requests
            start, start_of_work = time.perf_counter(), time.process_time()
            status = client.get(path).status_code
            spent.append(1000 * (time.perf_counter() - start))
            worked.append(1000 * (time.process_time() - start_of_work))
        least, median, work = min(spent[1:]), statistics.median(spent[1:]), statistics.median(worked[1:])
        print(
            f"{status} {least:6.0f} ms least, {median:6.0f} ms median, {work:6.0f} ms of processor  {address or 'all'}"
        )


if __name__ == "__main__":
    main()
