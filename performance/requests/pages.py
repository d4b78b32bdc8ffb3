"""How long the board's page takes the server, how heavy it is, and how many queries it makes.

Builds a database of its own (SQLite, in a folder that is deleted) with a board of 100 systems x 9 tasks and one of
5,000 x 20, and asks for their pages in this process: processor time, the least and the median of several requests.

    python performance/requests/pages.py [--requests 9] [--systems 5000]
"""

import argparse
import gzip
import statistics
import tempfile
import time

from performance.requests._own_site import counted_request, publish_board, start_site

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
        start_site(folder)
        measure(options.requests, options.systems)


def measure(n_requests: int, n_systems: int) -> None:
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

    from leaderboard.benchmarks.create import TaskSpec, create_benchmark
    from leaderboard.models import User

    owner = User.objects.create_user(f"{key}@plurank.example")
    tasks = [TaskSpec(f"Task {t}", weight=Decimal(1)) for t in range(1, n_tasks + 1)]
    benchmark = create_benchmark(name=key, key=key, owner=owner, tasks=tasks, submission_policy="open")
    names = [f"System {i:04d} of the table" for i in range(n_systems)]
    publish_board(benchmark, owner, names, spread=5, kinds=("rankings", "slow_rankings", "significance"))
    return key


def report(what: str, path: str, n_requests: int) -> None:
    """Ask for a page again and again, and print what it took."""
    from django.test import Client

    client = Client(HTTP_HOST="127.0.0.1")
    status, n_queries, body = counted_request(client, path)
    if status != 200:
        raise SystemExit(f"{path}: {status}")
    seconds = []
    for _ in range(n_requests):
        started = time.process_time()
        client.get(path)
        seconds.append(time.process_time() - started)
    least, middle = 1000 * min(seconds), 1000 * statistics.median(seconds)
    weight = f"{len(body) / 1000:6.0f} {len(gzip.compress(body)) / 1000:6.1f}"
    print(f"{what:46} {n_queries:7} {least:5.0f} ms {middle:5.0f} ms {weight}", flush=True)


if __name__ == "__main__":
    main()
