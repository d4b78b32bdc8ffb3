"""Single experiments: one fault for long, with assertions of its own while it lasts, and the verdict afterwards.

Four schedules submit meanwhile; the fault strikes in the first, and the machine has nothing else to suffer.
"""

import os
import random
import signal
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from leaderboard.models import Job
from tests.faults.faults import Fault
from tests.faults.machine import LEASE_SECONDS, Host, Machine
from tests.faults.on_postgresql import (
    drop_connections,
    fill_disk_for,
    lock_row_for,
    make_deadlocks_for,
    make_read_only_for,
    restart_pgbouncer,
    restart_postgresql,
    stalled,
)
from tests.faults.on_processes import kill_process_of, run_older_host, stop_like_unit
from tests.faults.on_redis import fill_redis_for, stall_redis_for
from tests.faults.on_sqlite import fill_folder_for, keep_write_lock_for, replace_messages_by_file_for
from tests.faults.schedules import prepare, steady
from tests.faults.services import ServedMachine
from tests.faults.waves import Table, run_wave

N_SCHEDULES, SECONDS = 4, 30.0


# --- While a fault lasts ---------------------------------------------------------------------------------------------


@contextmanager
def health_watched(machine: Machine, within: float) -> Iterator[None]:
    """Ask every host's `/healthz/` once a second meanwhile: each must answer 200 within so many seconds."""
    failures: list[str] = []
    is_over = threading.Event()

    def watch(host: Host) -> None:
        while not is_over.wait(1.0):
            began = time.monotonic()
            try:
                with urllib.request.urlopen(f"{host.url}/healthz/", timeout=within) as response:
                    response.read()
            except OSError as error:
                failures.append(f"{host.name}: {error} after {time.monotonic() - began:.1f} s")

    watchers = [threading.Thread(target=watch, args=(host,), daemon=True) for host in machine.hosts]
    for watcher in watchers:
        watcher.start()
    try:
        yield
    finally:
        is_over.set()
        for watcher in watchers:
            watcher.join(within + 5)
    assert not failures, f"/healthz/ did not answer: {failures}"


def wait_for_sweeps(machine: Machine, number: int, seconds: float, what: str) -> None:
    """Wait until so many further sweeps came to their end."""
    before = machine.n_sweeps()
    machine.wait_until(lambda: machine.n_sweeps() >= before + number, seconds, what)


def running_board(machine: Machine, key: str, seconds: float = 60.0) -> Job:
    """A board of this benchmark that a process of the machine is computing."""
    boards = Job.objects.filter(kind="rankings", state="running", benchmark__key=key)
    return machine.wait_until(boards.first, seconds, f"a board of {key} is being computed")


def any_running_board(seconds: float) -> Job | None:
    """A board that a process computes now; None where none came for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if job := Job.objects.filter(kind="rankings", state="running").first():
            return job
        time.sleep(0.02)
    return None


# --- The experiments -------------------------------------------------------------------------------------------------


def postgresql_without_room(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """PostgreSQL's disk is full for almost two minutes."""
    return fill_disk_for(machine, 110)


def postgresql_read_only(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """PostgreSQL takes no change for a minute; who only reads is answered."""
    with health_watched(machine, within=10):
        return make_read_only_for(machine, 60)


def too_few_connections(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """PostgreSQL takes 12 connections, for four times as many clients' threads; then everybody goes home."""
    time.sleep(30)
    return machine.max_connections == 12


def locked_row(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Somebody keeps a benchmark's row locked for a minute: readers and the others are answered."""
    with health_watched(machine, within=10):
        lock_row_for(machine, key, 60)
    return True


def deadlocks(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Somebody locks what publishing locks, the other way round, for half a minute."""
    return make_deadlocks_for(machine, key, 30) > 0


def hung_connections(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Every connection hangs for good, new ones work: web and sweep come back by themselves."""
    with machine.locks["database"]:
        hung = machine.relay.hang()
        wait_for_sweeps(machine, 5, 60, "the sweep is back although its connections hang")
        machine.wait_until(machine.answers, 60, "the web servers answer although their connections hang")
        time.sleep(90)  # a worker gives a statement up after a minute
        machine.relay.end(hung)
    return bool(hung)


def stopped_postgresql(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """All of PostgreSQL stops for longer than a lease."""
    with stalled(machine):
        time.sleep(LEASE_SECONDS + 10)
    return True


def stopped_redis(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Redis stops for twenty seconds, with its connections open."""
    with health_watched(machine, within=10):
        return stall_redis_for(machine, 20)


def full_redis(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Redis is at its limit of memory for a minute."""
    with health_watched(machine, within=10):
        return fill_redis_for(machine, 60)


def behind_pgbouncer(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Behind PgBouncer in transaction mode: PgBouncer is killed, PostgreSQL crashes, connections drop."""
    for _ in range(3):
        restart_pgbouncer(machine, draw, key)
        time.sleep(3)
        restart_postgresql(machine, draw, key)
        time.sleep(3)
        steady(lambda: drop_connections(machine, draw, key))
        time.sleep(3)
    return True


def two_versions(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Three times a host of an older engine version joins, is used by clients, and ends without a word."""
    for _ in range(3):
        run_older_host(machine, draw, key)
    return True


def one_job_killed_three_times(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """The process that computes one benchmark's board is killed three times, each time until its lease runs out."""
    n_killed = 0
    while n_killed < 3:
        job = running_board(machine, key, seconds=150)
        n_killed += kill_process_of(machine, job.worker)
        time.sleep(0.02)
    return True


def wedged_sweep(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """The sweep stops for ninety seconds; then what PostgreSQL does for it does, and it goes on with another."""
    (process,) = machine.children("sweep")
    with health_watched(machine, within=10):
        machine.signal_group(process, signal.SIGSTOP)
        time.sleep(90)
        machine.signal_group(process, signal.SIGCONT)
        wait_for_sweeps(machine, 3, 60, "the sweep goes on")
        stopped = _stop_backends_of_sweep(machine)
        wait_for_sweeps(machine, 3, 60, "the sweep goes on without the backends that it had")
    for backend in stopped:
        with suppress(ProcessLookupError):
            os.kill(backend, signal.SIGCONT)
    return bool(stopped)


def _stop_backends_of_sweep(machine: ServedMachine) -> list[int]:
    """SIGSTOP the backends that asked last what only the sweep asks: those that are idle in it now."""
    query = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%%leaderboard_heartbeat%%' AND pid <> pg_backend_pid()"
    backends: list[int] = []
    with psycopg.connect(machine.database_url, autocommit=True) as own:
        while not backends:
            backends = [pid for (pid,) in own.execute(query)]
            time.sleep(0.05)
    stopped = []
    for backend in backends:
        with suppress(ProcessLookupError):  # the sweep has just let go of it
            os.kill(backend, signal.SIGSTOP)
            stopped.append(backend)
    return stopped


def worker_stopped_as_systemd_stops_it(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Up to three times a worker is stopped in the middle of a board, of whichever benchmark, and gives it back.

    Stopping takes long on a busy machine: clients may have sent all they have, and no board is left to stop a worker
    in. And a worker that does not come to giving its job back in its time is killed. So it is enough that one could.
    """
    n_stopped = n_given_back = 0
    while n_stopped < 3 and (job := any_running_board(seconds=45)):
        with suppress(ProcessLookupError):
            group = os.getpgid(int(job.worker.rpartition(":")[2]))
            if group not in machine.children("rankings") or not stop_like_unit(machine, "rankings", group):
                continue
            after = Job.objects.get(pk=job.pk)
            if after.state in ("done", "superseded"):  # it was through before
                continue
            n_stopped += 1
            n_given_back += not (after.state == "running" and after.claim_token == job.claim_token)
    print(f"{n_given_back} of {n_stopped} stopped workers gave their board back.", flush=True)
    return n_given_back > 0


def sqlite_without_room(machine: Machine, draw: random.Random, key: str) -> bool:
    """The disk of database and messages is full for a minute."""
    return fill_folder_for(machine, 60)


def sqlite_without_messages(machine: Machine, draw: random.Random, key: str) -> bool:
    """For a minute there is a file where the folder of messages was."""
    with health_watched(machine, within=10):
        return replace_messages_by_file_for(machine, 60)


def sqlite_locked(machine: Machine, draw: random.Random, key: str) -> bool:
    """Somebody else writes for longer than the site waits for its turn."""
    return keep_write_lock_for(machine, 30)


def run_experiment(name: str, machine: Machine) -> Table:
    """Run an experiment, a function of this module; the table of what it came to.

    Raises:
        AssertionError: a promise is broken.
    """
    fault: Fault = globals()[name]
    table = Table()
    wave = [steady(lambda: prepare(1, machine.stack, [fault], seconds=SECONDS, word="Slow"))]
    wave += [
        steady(lambda one=seed: prepare(one, machine.stack, [], seconds=SECONDS)) for seed in range(2, N_SCHEDULES + 1)
    ]
    run_wave(wave, machine, table)
    assert table.struck[name] == 1, f"{name} met nothing that it could strike"
    return table
