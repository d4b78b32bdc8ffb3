"""Readers, submitters and what-if users together: requests a second, latencies, how soon a submission is on the board.

Starts PostgreSQL, Redis, gunicorn with two processes, workers and the sweep of its own on this machine, fills the site
with benchmarks, and asks it over the loopback address alone. Every number of requests and of seconds is bounded. Then
it does the same with ten times as many systems, tasks or benchmarks, so that each one's growth shows.

    python performance/load.py [--seconds 20] [--readers 4] [--submitters 1] [--askers 1]
    python performance/load.py --steps systems tasks benchmarks
    python performance/load.py --rows 5000000 --systems 2000       what readers ask over so many rows of scores

With `--folder` the database of the last is kept there, and measured again without being filled.
"""

import argparse
import http.client
import json
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from config.processes.commands import processes
from config.processes.local_services import (
    MissingProgramError,
    find_program,
    make_cluster,
    postgres_answers,
    postgres_command,
    redis_answers,
    redis_command,
)
from config.processes.supervisor import Supervisor
from performance._load_rows import SUBMISSIONS, Processes, fill_history, measure_history
from tests.faults.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
MAX_SECONDS, MAX_CLIENTS, MAX_REQUESTS = 600, 64, 200_000  # a run ends by itself, whatever it is asked for
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Size:
    """How much is on the site."""

    systems: int = 100
    tasks: int = 10
    benchmarks: int = 3

    def ten_times(self, name: str) -> "Size":
        """The same with ten times as many of one thing."""
        return replace(self, **{name: 10 * getattr(self, name)})


@dataclass
class Tally:
    """What clients of one kind saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, status: int, seconds: float) -> None:
        """One answer."""
        with self.lock:
            self.seconds.append(seconds)
            self.statuses[status] = self.statuses.get(status, 0) + 1

    def line(self, elapsed: float) -> str:
        """Requests a second and the latencies that half, 95 and 99 of 100 stay below, in ms."""
        if not self.seconds:
            return "none"
        cuts = statistics.quantiles(self.seconds, n=100) if len(self.seconds) > 1 else self.seconds * 99
        bad = {status: n for status, n in sorted(self.statuses.items()) if not 200 <= status < 400}
        rates = f"{len(self.seconds) / elapsed:7.1f}/s  " + "  ".join(
            f"{1000 * cuts[q - 1]:7.0f}" for q in (50, 95, 99)
        )
        return rates + (f"  other answers: {bad}" if bad else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=int, default=20, help="of each measurement")
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--submitters", type=int, default=1)
    parser.add_argument("--askers", type=int, default=1, help="who move sliders on the what-if page")
    parser.add_argument("--steps", nargs="*", default=[], choices=["systems", "tasks", "benchmarks"])
    parser.add_argument("--systems", type=int, help="100; of --rows 532")
    parser.add_argument("--tasks", type=int, help="10; of --rows 50")
    parser.add_argument("--benchmarks", type=int, default=3)
    parser.add_argument("--rows", type=int, default=0, help="instead: so many rows in one history")
    parser.add_argument(
        "--folder", type=Path, help="of --rows: where the filled database is kept, to be measured again"
    )
    chosen = parser.parse_args()
    chosen.seconds = min(chosen.seconds, MAX_SECONDS)
    for name in ("readers", "submitters", "askers"):
        setattr(chosen, name, min(getattr(chosen, name), MAX_CLIENTS))
    try:
        for program in ("initdb", "redis-server"):
            find_program(program, program)
    except MissingProgramError as missing:
        print(f"not measured: {missing}")
        return
    with ExitStack() as stack:
        folder = chosen.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plurank-load-")))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)  # the user postgres must come through
        with running_site(folder) as port:
            if chosen.rows:
                size = Size(chosen.systems or 532, chosen.tasks or 50, benchmarks=1)
                measure_rows(port, folder / "var", chosen.rows, size)
                return
            size = Size(chosen.systems or 100, chosen.tasks or 10, chosen.benchmarks)
            for step in [size, *(size.ten_times(step) for step in chosen.steps)]:
                measure(port, step, chosen)


@contextmanager
def running_site(folder: Path) -> Iterator[int]:
    """The site on services of its own; yields its port once it answers."""
    ports = {name: free_port() for name in ("web", "postgresql", "redis")}
    url = make_cluster(folder / "postgresql", port=ports["postgresql"])
    (folder / "var").mkdir(exist_ok=True)
    os.environ |= {
        "DATABASE_URL": url,
        "REDIS_URL": f"redis://{HOST}:{ports['redis']}/0",
        "PLURANK_VAR": str(folder / "var"),
        "PLURANK_SECRET_KEY": secrets.token_urlsafe(50),
        "PLURANK_LOG_LEVEL": "WARNING",
        "PLURANK_STUDIES_RUN": "demand",
        "PLURANK_BENCHMARKS_PER_ACCOUNT": "100000",
        "PLURANK_CELLS_PER_DAY": "1000000000",
        "PLURANK_CELLS_PER_ACCOUNT": "1000000000",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        **{f"PLURANK_API_{name}_RATE": "1000000/s" for name in ("ADDRESS", "USER", "TOKEN", "WRITE", "ON_DEMAND")},
    }
    services = {
        "postgresql": postgres_command(folder / "postgresql", port=ports["postgresql"]),
        "redis": redis_command(folder, port=ports["redis"]),
    }
    with Supervisor(services, var=folder / "var", folder=ROOT) as supervisor:
        both = lambda: redis_answers(ports["redis"]) and postgres_answers(url)  # noqa: E731
        if not supervisor.watch(until=both, seconds=60):
            raise SystemExit("PostgreSQL or Redis did not start")
        for command in ("migrate", "collectstatic"):
            subprocess.run([sys.executable, "manage.py", command, "--noinput", "-v", "0"], cwd=ROOT, check=True)
        commands = processes(sys.executable, ports["web"], n_web=2)
        del commands["studies"]  # they have their own benchmarks, and would take one of two cores
        supervisor.add(commands)
        if not supervisor.watch(until=lambda: ask(ports["web"], "GET", "/healthz/")[0] == 200, seconds=120):
            raise SystemExit("the site did not start")
        tending = threading.Event()
        keeper = threading.Thread(target=lambda: supervisor.watch(until=tending.is_set), daemon=True)
        keeper.start()
        # Filling takes long, and commits: the limits are meant for the site's processes, which have begun.
        os.environ["PLURANK_QUERY_SECONDS"] = "0"
        import django

        import config.celery  # noqa: F401 -- acceptance wakes workers through it

        django.setup()
        try:
            yield ports["web"]
        finally:
            tending.set()
            keeper.join()


def ask(
    port: int, method: str, path: str, body: object = None, *, seconds: float = 30, **headers: str
) -> tuple[int, bytes]:
    """One request to this machine; status 0 where nobody answered."""
    connection = http.client.HTTPConnection(HOST, port, timeout=seconds)
    try:
        sent = json.dumps(body) if body is not None else None
        connection.request(method, path, sent, {"Content-Type": "application/json"} | headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


# --- What is on the site ---------------------------------------------------------------------------------------------


def fill(size: Size) -> tuple[list[str], str]:
    """Make benchmarks of this size with random scores; their keys, and a token that may submit."""
    from leaderboard.accounts.tokens import create_token
    from leaderboard.benchmarks.create import TaskSpec, create_benchmark
    from leaderboard.models import User
    from tests.factories import Factory

    draw, factory, run = random.Random(0), Factory(), uuid.uuid4().hex[:6]
    owner = User.objects.create_user(f"owner-{run}@plurank.example", display_name=f"Owner {run}")
    keys = []
    for n in range(size.benchmarks):
        tasks = [TaskSpec(f"Task {t}", weight=1) for t in range(1, size.tasks + 1)]
        benchmark = create_benchmark(name=f"Load {run} {n}", owner=owner, tasks=tasks, submission_policy="open")
        rows = {f"System {i}": [draw.gauss(0, 1) for _ in range(size.tasks)] for i in range(size.systems)}
        factory.accepted(benchmark, rows, by=owner)
        keys.append(benchmark.key)
    _, token = create_token(owner, name="load", scopes=["read", "submit"], days=30)
    return keys, token


def wait_for_boards(keys: list[str], seconds: float = 300) -> None:
    """Wait until every benchmark's newest revision is published."""
    from django.db.models import F

    from leaderboard.models import Benchmark

    end = time.monotonic() + seconds
    while Benchmark.objects.filter(key__in=keys, published_number__lt=F("last_revision_number")).exists():
        if time.monotonic() > end:
            raise SystemExit(f"the boards were not published within {seconds:g} s")
        time.sleep(0.1)


# --- Clients ---------------------------------------------------------------------------------------------------------


def reader(port: int, keys: list[str], draw: random.Random) -> tuple[int, float]:
    """A page that readers look at, mostly a board."""
    key = draw.choice(keys)
    page = draw.choices(
        ["", "head-to-head/", "agreement/", "history/", f"systems/system-{draw.randrange(100)}/", "rules/borda/"],
        [10, 1, 1, 1, 2, 2],
    )[0]
    path = draw.choices([f"/b/{key}/{page}", "/", f"/api/v1/benchmarks/{key}/rankings/borda/"], [8, 1, 2])[0]
    began = time.monotonic()
    return ask(port, "GET", path)[0], time.monotonic() - began


def asker(port: int, keys: list[str], draw: random.Random) -> tuple[int, float]:
    """Other weights of the tasks, of which some are asked for by many and some by nobody else."""
    weights = f"task-{draw.randrange(1, 6)}:{draw.choice([2, 3, 5, 8])}"
    began = time.monotonic()
    status, _ = ask(port, "GET", f"/api/v1/benchmarks/{draw.choice(keys)}/rankings/borda/?weights={weights}")
    return status, time.monotonic() - began


def submitter(port: int, keys: list[str], draw: random.Random, *, token: str, n_tasks: int) -> tuple[int, float]:
    """One new system, or new scores of one."""
    scores = {f"task-{t}": round(draw.gauss(0, 1), 4) for t in range(1, n_tasks + 1)}
    body = {"systems": [{"name": f"Newcomer {draw.randrange(20)}", "scores": scores}], "create_systems": True}
    began = time.monotonic()
    path = f"/api/v1/benchmarks/{draw.choice(keys)}/submissions/"
    status, _ = ask(port, "POST", path, body, Authorization=f"Token {token}")
    return status, time.monotonic() - began


def measure(port: int, size: Size, chosen: argparse.Namespace) -> None:
    """Let all clients ask for the chosen seconds, and print what they saw."""
    keys, token = fill(size)
    wait_for_boards(keys)
    for key in keys[:3]:
        ask(port, "GET", f"/b/{key}/")
    kinds: dict[str, tuple[int, float, Callable]] = {
        "readers": (chosen.readers, 0.0, reader),
        "what-if": (chosen.askers, 0.2, asker),
        "submitters": (
            chosen.submitters,
            1.0,
            lambda *args: submitter(*args, token=token, n_tasks=size.tasks),
        ),
    }
    tallies = {kind: Tally() for kind in kinds}
    began = time.monotonic()
    end = began + chosen.seconds
    threads = [
        threading.Thread(target=_client, args=(work, port, keys, random.Random(n), tallies[kind], pause, end))
        for kind, (number, pause, work) in kinds.items()
        for n in range(number)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.monotonic() - began
    wait_for_boards(keys)
    print(f"\n{size.systems} systems x {size.tasks} tasks, {size.benchmarks} benchmarks, {elapsed:.0f} s")
    print(f"{'':12}{'requests':>9}  {'50 %':>7}  {'95 %':>7}  {'99 %':>7}  ms")
    for kind, tally in tallies.items():
        print(f"{kind:12}{tally.line(elapsed)}")
    print(f"{'on the board':12}{publish_delays(keys)}", flush=True)


def _client(work: Callable, port: int, keys: list, draw: random.Random, tally: Tally, pause: float, end: float) -> None:
    for _ in range(MAX_REQUESTS):
        if time.monotonic() >= end:
            return
        tally.note(*work(port, keys, draw))
        time.sleep(pause)


def publish_delays(keys: list[str], newest: int = 0) -> str:
    """From accepting to the published board: of submissions whose own revision was published, and of all others.

    With `newest` only of so many of the newest of each benchmark.

    A burst is published by its last revision: an earlier one is on the board when any later one is.
    """
    from leaderboard.models import Publication, Revision

    delays = []
    for key in keys:
        published = list(
            Publication.objects.filter(benchmark__key=key, is_pointer_moved=True)
            .order_by("revision__number")
            .values_list("revision__number", "published_at")
        )
        accepted = Revision.objects.filter(benchmark__key=key, number__gt=1)
        moments = list(accepted.order_by("number").values_list("number", "created_at"))
        for number, created_at in moments[-newest:]:
            on_board = next((at for later, at in published if later >= number), None)
            if on_board is not None:
                delays.append((on_board - created_at).total_seconds())
    if len(delays) < 2:
        return "too few submissions"
    cuts = statistics.quantiles(delays, n=100)
    return f"{len(delays)} submissions, seconds: median {cuts[49]:.2f}, 95 % {cuts[94]:.2f}, longest {max(delays):.2f}"


# --- Many rows -------------------------------------------------------------------------------------------------------


def measure_rows(port: int, var: Path, n_rows: int, size: Size) -> None:
    """One benchmark whose systems were submitted again and again, until there are so many rows of scores.

    Of a folder that was kept, what is missing is filled up.
    """
    from leaderboard.accounts.tokens import create_token
    from leaderboard.models import Benchmark

    kept = Benchmark.objects.filter(name__startswith="Load ").first()
    if kept is None:
        keys, token = fill(size)
    else:
        keys = [kept.key]
        owner, name = kept.memberships.get(role="owner").user, f"load {uuid.uuid4()}"
        _, token = create_token(owner, name=name, scopes=["submit"], days=30)
    with Processes(_leaders(var)["rankings"]).stopped():  # no boards that the next batch replaces
        fill_history(keys[0], n_rows, size.systems, size.tasks)
    wait_for_boards(keys)  # a worker that stood still for minutes ends, and another is started
    draw = random.Random(time.time_ns())
    measure_history(
        port,
        keys[0],
        _leaders(var),
        ask=ask,
        submit=lambda: submitter(port, keys, draw, token=token, n_tasks=size.tasks)[0],
        wait=lambda: wait_for_boards(keys),
        delays=lambda: publish_delays(keys, newest=SUBMISSIONS),
    )


def _leaders(var: Path) -> dict[str, int]:
    """The process groups of the site by name."""
    return json.loads((var / "supervisor.json").read_text())["children"]


if __name__ == "__main__":
    main()
