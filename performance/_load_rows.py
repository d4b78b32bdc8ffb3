"""One benchmark over a long history: what each question costs, and how much memory the processes take meanwhile.

`python performance/load.py --rows 5000000 --systems 532` runs it. Memory is what the kernel says each process had
at its most since the last measurement (`VmHWM`).
"""

import multiprocessing
import os
import re
import signal
import statistics
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 300  # for one answer
AT_ONCE = 8  # the same download, by so many clients
SUBMISSIONS = 5


TICK = 1 / os.sysconf("SC_CLK_TCK")


class Processes:
    """A process of the site with those that it started: its group, and its own children wherever they are."""

    def __init__(self, leader: int) -> None:
        self.leader = leader

    def _members(self) -> Iterator[tuple[Path, list[str]]]:
        """Each with the words of its `stat` after the name."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if self.leader in {int(words[1]), int(words[2]), int(process.name)}:  # parent, group
                yield process, words

    def seconds(self) -> float:
        """The processor time of all of them until now, with that of children that ended."""
        return sum(sum(map(int, words[11:15])) for _, words in self._members()) * TICK

    def forget_peaks(self) -> None:
        """From now on peaks are counted anew."""
        for process, _ in self._members():
            (process / "clear_refs").write_text("5")

    def peaks(self) -> str:
        """The most that each of them had since, in MB, the largest first."""
        megabytes = sorted((_peak(process) for process, _ in self._members()), reverse=True)
        return " + ".join(f"{peak:,}" for peak in megabytes if peak >= 50) + " MB"

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let them stand still meanwhile."""
        os.killpg(self.leader, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.leader, signal.SIGCONT)


class Clock:
    """How long something took, by the clock and of the processors."""

    def __init__(self, *groups: Processes) -> None:
        self.groups = groups
        self.wall: list[float] = []
        self.processor: list[float] = []

    def time(self, work: Callable[[], Any]) -> Any:
        """Do the work once."""
        busy, began = sum(group.seconds() for group in self.groups), time.monotonic()
        result = work()
        self.wall.append(time.monotonic() - began)
        self.processor.append(sum(group.seconds() for group in self.groups) - busy)
        return result

    def __str__(self) -> str:
        wall, processor = (f"{statistics.median(values):.2f}" for values in (self.wall, self.processor))
        return f"{wall} s by the clock, {processor} s of processors"


def _peak(process: Path) -> int:
    try:
        status = (process / "status").read_text()
    except OSError:
        return 0
    high_water = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(high_water[1]) // 1000 if high_water else 0


def read_matrix(key: str) -> tuple[float, int, int, tuple[int, ...]]:
    """In a process of its own: the processor time that the newest matrix takes, MB before and after, its shape."""
    import django

    django.setup()
    from leaderboard.models import Revision
    from leaderboard.rankings.score_matrix import revision_matrix

    revision = Revision.objects.filter(benchmark__key=key).select_related("configuration").latest("number")
    before = _peak(Path("/proc/self"))
    began = time.process_time()
    table = revision_matrix(revision)
    took = time.process_time() - began
    return took, before, _peak(Path("/proc/self")), table.written.shape if table else ()


SCORES = """
    INSERT INTO leaderboard_score (submission_id, task_id, value, missing_reason)
    SELECT id, %s, round((2 * random() - 1)::numeric, 6), '' FROM leaderboard_submission WHERE batch_id = %s
"""


def fill_history(key: str, n_rows: int, n_systems: int, n_tasks: int) -> None:
    """Submit all systems of a benchmark again and again, until there are so many rows of scores.

    The database makes up the scores itself: sending them takes most of the time.
    """
    from django.db import connection, transaction

    from leaderboard.models import Benchmark, Score
    from leaderboard.models.submissions import Source
    from leaderboard.submissions.lifecycle import accept_batch, store_batch

    benchmark = Benchmark.objects.get(key=key)
    owner = benchmark.memberships.get(role="owner").user
    about = {"organisation": "", "url": "", "description": ""}
    rows = [{"system": {"name": f"System {i}", **about}, "scores": {}, "line": None} for i in range(n_systems)]
    tasks = list(benchmark.tasks.values_list("pk", flat=True))
    began = time.monotonic()
    for _ in range((n_rows - Score.objects.count()) // (n_systems * n_tasks)):
        with transaction.atomic():
            batch = store_batch(benchmark, owner, rows, source=Source.API)
            with connection.cursor() as cursor:
                for task in tasks:  # one by one: statements have a limit
                    cursor.execute(SCORES, [task, batch.pk])
            accept_batch(batch, actor=owner)
    print(f"{Score.objects.count():,} rows of scores after {time.monotonic() - began:.0f} s", flush=True)


def questions(key: str) -> dict[str, str]:
    """What readers ask of one benchmark, by its name."""
    page, api = f"/b/{key}", f"/api/v1/benchmarks/{key}"
    weights = urllib.parse.quote("task-1:3")
    return {
        "board": f"{page}/",
        "board.csv": f"{page}/board.csv",
        "history": f"{page}/history/",
        "history/compare": f"{page}/history/compare/",
        "system": f"{page}/systems/system-7/",
        "head to head": f"{page}/head-to-head/",
        "two systems": f"{page}/head-to-head/?a=system-7&b=system-8",
        "what-if": f"{page}/what-if/?weights={weights}",
        "what-if, one rule": f"{api}/rankings/borda/?weights={weights}",
        "scores, a page": f"{api}/scores/",
        "scores.csv": f"{api}/scores/?format=csv",
        "scores.csv, long": f"{api}/scores/?format=csv&long=true",
        "scores.json": f"{page}/exports/scores.json",
        "folder": f"{api}/folder/",
    }


def measure_history(
    port: int,
    key: str,
    leaders: dict[str, int],
    *,
    ask: Callable[..., tuple[int, bytes]],
    submit: Callable[[], int],
    wait: Callable[[], None],
    delays: Callable[[], str],
) -> None:
    """Print what each question costs.

    Args:
        port: of the site.
        key: of the benchmark.
        leaders: the process groups of the site by name.
        ask: sends one request.
        submit: sends one system's scores; the answer's status.
        wait: until the newest revision is published.
        delays: from acceptance to board, in words.
    """
    web, worker, database = (Processes(leaders[name]) for name in ("web", "rankings", "postgresql"))
    wait()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        clock = Clock(database)
        took, before, peak, shape = clock.time(lambda: pool.submit(read_matrix, key).result())
    print(
        f"the matrix {shape} from its rows: {took:.2f} s of its process, {clock}; from {before:,} to {peak:,} MB",
        flush=True,
    )
    worker.forget_peaks()
    submission, board = Clock(web, database), Clock(worker, database)
    for _ in range(SUBMISSIONS):
        status = submission.time(submit)
        board.time(wait)
    print(f"submission: {status}, {submission}; on the board: {delays()}")
    print(f"a job and its reports: {_in_short(job_seconds(key))} by the clock; {board}; worker {worker.peaks()}")
    for name, path in questions(key).items():
        web.forget_peaks()
        first, later = Clock(web, database), Clock(web, database)
        for clock in (first, later, later):
            status, body = clock.time(lambda path=path: ask(port, "GET", path, seconds=PATIENCE_SECONDS))
        print(f"{name}: {status}, {len(body) / 1000:,.0f} kB, {first}; then {later}; web {web.peaks()}", flush=True)
    for name in ("scores.csv", "scores.csv, long"):
        web.forget_peaks()
        clock, path = Clock(web, database), questions(key)[name]
        took_each = clock.time(lambda path=path: at_once(lambda: ask(port, "GET", path, seconds=PATIENCE_SECONDS)[0]))
        print(f"{AT_ONCE} x {name} at once: {_in_short(took_each)}; all {clock}; web {web.peaks()}", flush=True)


def at_once(work: Callable[[], int]) -> list[float]:
    """The seconds of each of eight clients that ask at once."""
    took: list[float] = []

    def client() -> None:
        began = time.monotonic()
        status = work()
        took.append(time.monotonic() - began)
        if status != 200:
            print(f"answered {status}")

    threads = [threading.Thread(target=client) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def job_seconds(key: str) -> list[float]:
    """How long the newest rankings of a benchmark took."""
    from leaderboard.models import Job

    done = Job.objects.filter(benchmark__key=key, queue="rankings", state="done", kind="rankings").order_by("-pk")
    times = done.values_list("started_at", "finished_at")[:SUBMISSIONS]
    return [(finished - started).total_seconds() for started, finished in times]


def _in_short(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    return f"median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s"
