"""What the pages of lists cost where the lists are long: queries, processor time, bytes.

Fills a database of its own (SQLite, in a folder that is deleted; or an empty one of PostgreSQL) with copies of one
published board, with jobs, a trail and a queue, and asks for the pages in this process: the least of several requests.
One of PostgreSQL that was filled before is measured as it is.

    python performance/requests/lists.py [--benchmarks 2002] [--jobs 600000] [--entries 100000] [--waiting 1000]
                                         [--requests 5] [--database postgres://user@127.0.0.1/its_own]
"""

import argparse
import copy
import random
import tempfile
import time
import uuid
from typing import Any

from performance.requests._own_site import counted_request, publish_board, start_site


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    for name, default in (("benchmarks", 2002), ("jobs", 600_000), ("entries", 100_000), ("waiting", 1000)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    parser.add_argument("--requests", type=int, default=5, metavar="N")
    parser.add_argument("--database", default="", metavar="URL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder:
        start_site(folder, options.database)
        from leaderboard.models import User
        from leaderboard.rankings.listed_boards import store_missing_listed_boards

        owner = User.objects.filter(email="owner@plurank.example").first() or fill(options)
        while store_missing_listed_boards():
            pass
        measure(owner, options.requests)


def fill(options: argparse.Namespace) -> Any:
    """Store everything; gives the owner of the first benchmark, `first`."""
    from leaderboard.models import AuditEntry, Job, User

    owner = User.objects.create_user("owner@plurank.example")
    first = published(owner)
    copies_of(first, options.benchmarks - 1)
    job = Job.objects.filter(kind="rankings").latest("pk")
    job.kind, job.state = "old", Job.State.DONE
    insert_many(job, options.jobs, subject_id="10000000 + i", sequence="i")
    entry = AuditEntry(benchmark=first, actor=owner, subject="setting", of="daily_cap", field="value", after="x")
    entry.save()
    insert_many(entry, options.entries, before="CAST(i AS text)")
    waiting_for(first, options.waiting)
    return owner


def insert_many(like: Any, n: int, **expressions: str) -> None:
    """Store `n` rows like one that is stored, many in one statement; `expressions` say columns that differ by `i`."""
    from django.db import connection

    about = like._meta  # noqa: SLF001 -- what Django says of a model
    table, columns = about.db_table, [f.column for f in about.concrete_fields if not f.primary_key]
    changed = {name: str(getattr(like, name)) for name in ("kind", "state") if name in columns}
    values = [expressions.get(column, "%s" if column in changed else f'"{column}"') for column in columns]
    names = ", ".join(f'"{column}"' for column in columns)
    for start in range(0, n, 20_000):
        with connection.cursor() as cursor:
            cursor.execute(
                "WITH RECURSIVE numbers(i) AS (SELECT %s UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < %s) "
                f"INSERT INTO {table} ({names}) SELECT {', '.join(values)} FROM {table}, numbers WHERE id = %s",
                [start, min(start + 20_000, n), *(changed[c] for c in columns if c in changed), like.pk],
            )


def waiting_for(benchmark: Any, n: int) -> None:
    """Store `n` submissions that nobody decided on."""
    from leaderboard.models import Batch, Score, Submission, System, User
    from leaderboard.models.submissions import Source
    from leaderboard.submissions.lifecycle import store_batch

    submitter = User.objects.create_user("submitter@plurank.example")
    dice = random.Random(1)
    scores = {task.key: {"value": round(dice.uniform(0, 100), 2)} for task in benchmark.tasks.all()}
    system = {"name": "Newcomer", "organisation": "", "url": "", "description": ""}
    batch = store_batch(benchmark, submitter, [{"system": system, "scores": scores, "line": None}], source=Source.API)
    submission = batch.submissions.get()
    stored = list(submission.scores.all())
    batches = Batch.objects.bulk_create(copied(batch, uuid=uuid.uuid4(), idempotency_key=str(i)) for i in range(1, n))
    systems = System.objects.bulk_create(
        copied(submission.system, key=f"{submission.system.key}-{i}", name=f"Newcomer {i}", name_folded=f"newcomer {i}")
        for i in range(1, n)
    )
    submissions = Submission.objects.bulk_create(
        copied(submission, uuid=uuid.uuid4(), batch=one, system=row, statement={"name": row.name})
        for one, row in zip(batches, systems, strict=True)
    )
    Score.objects.bulk_create(copied(score, submission=row) for row in submissions for score in stored)


def copied(row: Any, **fields: Any) -> Any:
    """The same row with other fields, not stored yet."""
    made = copy.copy(row)
    made.pk = None
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def published(owner: Any) -> Any:
    """A benchmark of 50 systems x 10 tasks whose board is there under every rule."""
    from decimal import Decimal

    from leaderboard.benchmarks.create import TaskSpec, create_benchmark
    from leaderboard.models import Benchmark

    tasks = [TaskSpec(f"Task {t}", weight=Decimal(1)) for t in range(1, 11)]
    benchmark = create_benchmark(name="Benchmark 0", key="first", owner=owner, tasks=tasks,
                                 submission_policy="moderated", tags=["toy"],
                                 description="A board of random scores, as all others here.")  # fmt: skip
    names = [f"System {i}" for i in range(50)]
    publish_board(benchmark, owner, names, spread=9, kinds=("rankings", "slow_rankings"))
    return Benchmark.objects.get(pk=benchmark.pk)


def copies_of(first: Any, n_copies: int) -> None:
    """Store benchmarks with the same board as the first."""
    from leaderboard.models import Benchmark, Publication, Report, Revision

    revision = Revision.objects.get(benchmark=first)
    publication = Publication.objects.get(benchmark=first)
    reports = list(Report.objects.filter(revision=revision))
    benchmarks = Benchmark.objects.bulk_create(
        copied(first, key=f"copy-{n}", name=f"Benchmark {n}", publication=None, published_number=0,
               tags=["toy", f"tag {n % 40}"])
        for n in range(1, n_copies + 1)
    )  # fmt: skip
    revisions = Revision.objects.bulk_create(copied(revision, benchmark=row) for row in benchmarks)
    publications = Publication.objects.bulk_create(
        copied(publication, benchmark=one, revision=row) for one, row in zip(benchmarks, revisions, strict=True)
    )
    for benchmark, made in zip(benchmarks, publications, strict=True):
        benchmark.publication, benchmark.published_number = made, 1
    Benchmark.objects.bulk_update(benchmarks, ["publication", "published_number"], batch_size=200)
    for report in reports:
        Report.objects.bulk_create(copied(report, revision=row) for row in revisions)


def measure(owner: Any, n_requests: int) -> None:
    """Print a line a page."""
    from leaderboard.accounts.tokens import create_token

    _, secret = create_token(owner, name=str(uuid.uuid4()), scopes=["read", "manage"], days=30)
    print(f"{'page':44} {'queries':>7} {'CPU':>9} {'clock':>9} {'kB':>7}")
    for path in ("", "?page=2", "?q=benchmark+19", "?tag=toy", "feed.atom", "landscape/", "compare/", "status/"):
        report(f"/{path}", None, "", n_requests)
    for path in ("benchmarks/", "benchmarks/?page_size=1000", "benchmarks/first/", "benchmarks/first/rankings/"):
        report(f"/api/v1/{path}", None, "", n_requests)
    for path in ("queue/", "audit/", "audit/?page=900", "audit.csv"):
        report(f"/b/first/manage/{path}", owner, "", n_requests)
    for path in ("queue/", "queue/?page_size=1000", "audit/", "audit/?format=csv"):
        report(f"/api/v1/benchmarks/first/{path}", None, secret, n_requests)


def report(path: str, user: Any, secret: str, n_requests: int) -> None:
    """Ask for a page again and again, and print what it took."""
    from django.core.cache import cache
    from django.test import Client

    headers = {"HTTP_AUTHORIZATION": f"Token {secret}"} if secret else {}
    client = Client(HTTP_HOST="127.0.0.1", **headers)
    if user is not None:
        client.force_login(user)

    status, n_queries, body = counted_request(client, path)
    if status != 200:
        print(f"{path:44} {status}")
        return
    processor, clock = [], []
    for _ in range(n_requests):
        cache.clear()  # the limits of requests a minute
        started, began = time.process_time(), time.perf_counter()
        client.get(path).getvalue()
        processor.append(time.process_time() - started)
        clock.append(time.perf_counter() - began)
    times = f"{1000 * min(processor):6.0f} ms {1000 * min(clock):6.0f} ms"
    print(f"{path:44} {n_queries:7} {times} {len(body) / 1000:7.0f}", flush=True)


if __name__ == "__main__":
    main()
