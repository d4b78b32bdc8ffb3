"""What may happen to a running site. Each fault takes the machine, the schedule's dice and its benchmark's key, and has
undone what it did when it returns: what the site makes of it is the site's."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import redis
from django.db import connection

from leaderboard.enqueue import send_wake_up
from leaderboard.models import Job
from tests.faults.machine import LEASE_SECONDS, ROOT, Machine

Fault = Callable[[Machine, random.Random, str], None]


def kill_worker(machine: Machine, draw: random.Random, key: str) -> None:
    """SIGKILL a worker with its children."""
    _kill_child_of_supervisor(machine, draw, "rankings")


def kill_running_process(machine: Machine, draw: random.Random, key: str) -> None:
    """SIGKILL a process in the middle of a job, as the kernel does when memory runs out."""
    for _ in range(40):
        worker = Job.objects.filter(state="running").values_list("worker", flat=True).first()
        if worker:
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(worker.rpartition(":")[2]), signal.SIGKILL)
            return
        time.sleep(0.02)


def kill_web(machine: Machine, draw: random.Random, key: str) -> None:
    """SIGKILL the web server, with whatever it was answering."""
    _kill_child_of_supervisor(machine, draw, "web")


def kill_sweep(machine: Machine, draw: random.Random, key: str) -> None:
    """SIGKILL the sweep."""
    _kill_child_of_supervisor(machine, draw, "sweep")


def kill_supervisor(machine: Machine, draw: random.Random, key: str) -> None:
    """SIGKILL the supervisor: its guard kills everything, and somebody starts it again."""
    with machine.locks["site"]:
        machine.kill("site")
        time.sleep(draw.uniform(0.2, 1.0))
        machine.start_site()


def flush_redis(machine: Machine, draw: random.Random, key: str) -> None:
    """Redis forgets everything."""
    with suppress(redis.RedisError), redis.Redis.from_url(machine.environment["REDIS_URL"]) as client:
        client.flushall()


def restart_redis(machine: Machine, draw: random.Random, key: str) -> None:
    """Redis is killed, away for a while, mostly seconds, and comes back empty."""
    with machine.locks["redis"]:
        machine.kill("redis")
        time.sleep(min(60.0, draw.expovariate(1.0)))
        machine.start_redis()


def lose_redis_for_a_minute(machine: Machine, draw: random.Random, key: str) -> None:
    """Redis is out of reach for longer than any message lives."""
    with machine.locks["redis"]:
        machine.kill("redis")
        time.sleep(65)
        machine.start_redis()


def stall_redis(machine: Machine, draw: random.Random, key: str) -> None:
    """Redis stands still: connections stay open, and nobody answers."""
    with machine.locks["redis"]:
        machine.signal("redis", signal.SIGSTOP)
        time.sleep(draw.uniform(0.5, 3.0))
        machine.signal("redis", signal.SIGCONT)


def restart_postgresql(machine: Machine, draw: random.Random, key: str) -> None:
    """The database crashes in the middle of everything, and recovers from its log."""
    with machine.locks["postgresql"]:
        machine.kill("postgresql", draw.choice([signal.SIGQUIT, signal.SIGINT]))
        time.sleep(draw.uniform(0.0, 1.0))
        machine.start_postgresql()


def drop_connections(machine: Machine, draw: random.Random, key: str) -> None:
    """Every connection to the database ends at once."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(pg_terminate_backend(pid)) {others}")


def stall_worker(machine: Machine, draw: random.Random, key: str) -> None:
    """A worker stands still for longer than its lease, and then goes on as if nothing had been."""
    workers = [process for name, process in machine.children().items() if name.startswith("rankings")]
    if workers:
        process = draw.choice(workers)
        machine.signal_group(process, signal.SIGSTOP)
        time.sleep(LEASE_SECONDS + draw.uniform(0.5, 1.5))
        machine.signal_group(process, signal.SIGCONT)


def deliver_often(machine: Machine, draw: random.Random, key: str) -> None:
    """Every wake-up of the benchmark's boards comes five times over, those of jobs long done among them."""
    for job in Job.objects.filter(benchmark__key=key, kind="rankings"):
        for _ in range(5):
            send_wake_up(job.pk, job.queue, limit_seconds=10)


def give_one_job_to_two(machine: Machine, draw: random.Random, key: str) -> None:
    """The lease of a running job ends while its worker computes: a second worker has it, too."""
    for _ in range(40):
        if Job.objects.filter(state="running", kind="rankings").update(lease_until="2020-01-01T00:00Z"):
            return
        time.sleep(0.02)


def jump_clock(machine: Machine, draw: random.Random, key: str) -> None:
    """For some moments a sweep runs under a clock that is an hour ahead or behind."""
    skew = draw.choice([-3600, 3600, 86400])
    command = [sys.executable, "-m", "tests.faults.skewed", str(skew), "sweep", "--once"]
    with (machine.folder / "skewed.log").open("ab") as log:
        subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, check=False, timeout=120)


# How often each is drawn. Starting a process costs seconds of two processors, so those that start many are rarer.
FAULTS: dict[Fault, int] = {
    kill_worker: 3,
    kill_running_process: 5,
    kill_web: 2,
    kill_sweep: 2,
    kill_supervisor: 1,
    flush_redis: 3,
    restart_redis: 3,
    stall_redis: 2,
    restart_postgresql: 3,
    drop_connections: 3,
    stall_worker: 3,
    deliver_often: 3,
    give_one_job_to_two: 3,
    jump_clock: 1,
}


BY_NAME: dict[str, Fault] = {fault.__name__: fault for fault in [*FAULTS, lose_redis_for_a_minute]}


def draw_faults(draw: random.Random, number: int) -> list[Fault]:
    """So many different ones."""
    left, found = dict(FAULTS), []
    for _ in range(number):
        fault = draw.choices(list(left), list(left.values()))[0]
        del left[fault]
        found.append(fault)
    return found


def _kill_child_of_supervisor(machine: Machine, draw: random.Random, prefix: str) -> None:
    children = [process for name, process in sorted(machine.children().items()) if name.startswith(prefix)]
    if children:
        machine.signal_group(draw.choice(children), signal.SIGKILL)
