"""What may happen to PostgreSQL; see `on_processes` for what a fault is."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import psycopg
from django.db import connection

from tests.faults.services import ServedMachine


def restart_postgresql(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """The database crashes in the middle of everything, or is stopped, and recovers from its log."""
    with machine.locks["database"]:
        machine.kill("postgresql", draw.choice([signal.SIGQUIT, signal.SIGINT]))
        time.sleep(draw.choice([0.0, 1.0, 10.0]))
        machine.start_postgresql()
    return True


def kill_backend(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """SIGKILL one of PostgreSQL's processes: it ends all others, and recovers by itself."""
    with machine.locks["database"]:
        _, *others = machine.backends()
        with suppress(ProcessLookupError):
            os.kill(draw.choice(others), signal.SIGKILL)
        time.sleep(0.5)
        machine.revive_postgresql()
    return True


def drop_connections(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Every connection to the database ends at once."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(pg_terminate_backend(pid)) {others}")
        return bool(cursor.fetchone()[0])


def stall_postgresql(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """All of PostgreSQL stops for a while: connections stay open, and nothing is answered."""
    with stalled(machine):
        time.sleep(draw.uniform(1, 15))
    return True


@contextmanager
def stalled(machine: ServedMachine) -> Iterator[None]:
    """PostgreSQL with all its processes stops where it is."""
    with machine.locks["database"]:
        processes = machine.backends()
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)


def fill_disk(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """The disk of PostgreSQL is full for a while; it may crash over that, and then starts when there is room."""
    return fill_disk_for(machine, draw.uniform(3, 12))


def fill_disk_for(machine: ServedMachine, seconds: float) -> bool:
    """Leave PostgreSQL no byte for so long. Only where its folder is a disk of its own."""
    if machine.cluster not in machine.mounts:
        return False
    with machine.locks["database"]:
        machine.fill(machine.cluster)
        try:
            time.sleep(seconds)
        finally:
            machine.make_room(machine.cluster)
            machine.revive_postgresql()
    return True


def make_read_only(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Every transaction is read-only for a while, as on a primary that is being failed over."""
    return make_read_only_for(machine, draw.uniform(2, 12))


def make_read_only_for(machine: ServedMachine, seconds: float) -> bool:
    """Let every transaction of the site be read-only for so long."""
    with machine.locks["database"]:
        _alter_system(machine, "SET default_transaction_read_only = on")
        time.sleep(seconds)
        _alter_system(machine, "RESET default_transaction_read_only")
    return True


def _alter_system(machine: ServedMachine, what: str) -> None:
    options = "-c default_transaction_read_only=off"
    with psycopg.connect(machine.database_url, autocommit=True, options=options) as own:
        own.execute(f"ALTER SYSTEM {what}")
        own.execute("SELECT pg_reload_conf()")


def take_connections(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Somebody takes every connection that is left, and those that come free, for a while."""
    end, n_taken = time.monotonic() + draw.uniform(3, 12), 0
    with machine.locks["database"], ExitStack() as stack:
        while time.monotonic() < end:
            try:
                stack.enter_context(psycopg.connect(machine.database_url, connect_timeout=5))
                n_taken += 1
            except psycopg.OperationalError:
                time.sleep(0.1)
    return n_taken > 0


def lock_row(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Somebody keeps the benchmark's row locked for a while, at times longer than the site waits for a lock."""
    lock_row_for(machine, key, draw.uniform(2, 15))
    return True


def lock_row_for(machine: ServedMachine, key: str, seconds: float) -> None:
    """Keep the benchmark's row locked for so long."""
    with suppress(psycopg.Error), psycopg.connect(machine.database_url) as own:
        own.execute("SELECT 1 FROM leaderboard_benchmark WHERE key = %s FOR UPDATE", [key])
        time.sleep(seconds)


def make_deadlocks(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Somebody locks the benchmark and its jobs in the order that publishing does not, again and again."""
    return make_deadlocks_for(machine, key, draw.uniform(3, 10)) > 0


def make_deadlocks_for(machine: ServedMachine, key: str, seconds: float) -> int:
    """Cross publishing for so long; the number of deadlocks that PostgreSQL found meanwhile."""
    benchmark = "SELECT id FROM leaderboard_benchmark WHERE key = %s FOR UPDATE"
    jobs = "SELECT id FROM leaderboard_job WHERE benchmark_id = (SELECT id FROM leaderboard_benchmark WHERE key = %s) "
    before, end = _n_deadlocks(machine), time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(psycopg.Error), psycopg.connect(machine.database_url) as own:
            own.execute(benchmark, [key])
            time.sleep(0.7)  # a worker that publishes has its job, and waits for the benchmark
            own.execute(jobs + "FOR UPDATE", [key])
        time.sleep(0.1)
    time.sleep(1.0)  # PostgreSQL counts once a second
    return _n_deadlocks(machine) - before


def _n_deadlocks(machine: ServedMachine) -> int:
    with suppress(psycopg.Error), psycopg.connect(machine.database_url, autocommit=True) as own:
        return own.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()[0]
    return 0


def hang_connections(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Every connection of the site carries nothing any more, and stays open; new ones work, as after a failover."""
    with machine.locks["database"]:
        hung = machine.relay.hang()
        time.sleep(draw.uniform(2, 25))
        machine.relay.end(hung)
    return bool(hung)


def restart_pgbouncer(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """PgBouncer is killed, with every connection through it, and started again."""
    with machine.locks["database"]:
        machine.kill("pgbouncer")
        time.sleep(draw.choice([0.0, 1.0, 5.0]))
        machine.start_pgbouncer()
    return True
