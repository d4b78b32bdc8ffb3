"""What may happen to the site's own processes.

A fault takes the machine, the schedule's dice and its benchmark's key, and has undone what it did when it returns: what
the site makes of it is the site's. It returns whether it struck.
"""

import configparser
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress

from leaderboard.models import Job
from leaderboard.queue.wake_ups import send_wake_up
from tests.faults.machine import LEASE_SECONDS, ROOT, Machine

OLDER_VERSION = "0.0.1"
UNITS = {"web": "plurank-web", "rankings": "plurank-rankings@", "sweep": "plurank-sweep"}


def kill_worker(machine: Machine, draw: random.Random, key: str) -> bool:
    """SIGKILL a worker with its children."""
    return signal_child(machine, draw, "rankings", signal.SIGKILL)


def kill_running_process(machine: Machine, draw: random.Random, key: str) -> bool:
    """SIGKILL a process in the middle of a job, as the kernel does when memory runs out."""
    for _ in range(100):
        for worker in Job.objects.filter(state="running").values_list("worker", flat=True):
            if kill_process_of(machine, worker):
                return True
        time.sleep(0.02)
    return False


def kill_process_of(machine: Machine, worker: str) -> bool:
    """SIGKILL the process that a job's `worker` names, if it still lives and is one of the machine's."""
    process = int(worker.rpartition(":")[2])
    with suppress(ProcessLookupError):
        if os.getpgid(process) in machine.children("rankings"):
            os.kill(process, signal.SIGKILL)
            return True
    return False


def kill_web(machine: Machine, draw: random.Random, key: str) -> bool:
    """SIGKILL a web server, with whatever it was answering."""
    return signal_child(machine, draw, "web", signal.SIGKILL)


def kill_sweep(machine: Machine, draw: random.Random, key: str) -> bool:
    """SIGKILL the sweep."""
    return signal_child(machine, draw, "sweep", signal.SIGKILL)


def kill_supervisor(machine: Machine, draw: random.Random, key: str) -> bool:
    """SIGKILL a host's supervisor: its guard kills everything there, and somebody starts it again."""
    with machine.locks["site"]:
        host = draw.choice(machine.hosts)
        machine.kill(host.name)
        time.sleep(draw.uniform(0.2, 1.0))
        machine.start_host(host)
    return True


def stall_worker(machine: Machine, draw: random.Random, key: str) -> bool:
    """A worker stops for longer than its lease, and then goes on as if nothing had been."""
    return _stall(machine, draw, "rankings", LEASE_SECONDS + draw.uniform(1, 5))


def stall_sweep(machine: Machine, draw: random.Random, key: str) -> bool:
    """The sweep stops for a while, alive and silent."""
    return _stall(machine, draw, "sweep", draw.uniform(5, 20))


def _stall(machine: Machine, draw: random.Random, prefix: str, seconds: float) -> bool:
    children = machine.children(prefix)
    if not children:
        return False
    process = draw.choice(children)
    has_struck = machine.signal_group(process, signal.SIGSTOP)
    time.sleep(seconds)
    machine.signal_group(process, signal.SIGCONT)
    return has_struck


def stop_as_systemd(machine: Machine, draw: random.Random, key: str) -> bool:
    """Stop a process as its unit in deploy/systemd says: one signal, and SIGKILL to all of it when its time is over."""
    role = draw.choice(["web", "rankings", "rankings", "sweep"])
    children = machine.children(role)
    return bool(children) and stop_like_unit(machine, role, draw.choice(children))


def stop_like_unit(machine: Machine, role: str, process: int) -> bool:
    """Send what systemd sends: the unit's `KillSignal` to the main process, after `TimeoutStopSec` SIGKILL to all."""
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.read(ROOT / "deploy" / "systemd" / f"{UNITS[role]}.service")
    service = unit["Service"]
    assert service["KillMode"] == "mixed"
    with suppress(ProcessLookupError):
        os.kill(process, signal.Signals[service.get("KillSignal", "SIGTERM")])
        end = time.monotonic() + service.getint("TimeoutStopSec")
        while process in machine.children(role) and time.monotonic() < end:
            time.sleep(0.1)
        if process in machine.children(role):
            machine.signal_group(process, signal.SIGKILL)
        return True
    return False


def deliver_often(machine: Machine, draw: random.Random, key: str) -> bool:
    """Every wake-up of the benchmark's boards comes five times over, those of jobs long done among them."""
    jobs = list(Job.objects.filter(benchmark__key=key, kind="rankings"))
    return sum(send_wake_up(job.pk, job.queue, limit_seconds=10) for job in jobs for _ in range(5)) > 0


def give_one_job_to_two(machine: Machine, draw: random.Random, key: str) -> bool:
    """The lease of a running job ends while its worker computes: a second worker has it, too."""
    for _ in range(100):
        if Job.objects.filter(state="running", kind="rankings").update(lease_until="2020-01-01T00:00Z"):
            return True
        time.sleep(0.02)
    return False


def jump_clock(machine: Machine, draw: random.Random, key: str) -> bool:
    """For some moments a sweep runs under a clock that is an hour ahead or behind, or a day ahead."""
    skew = draw.choice([-3600, 3600, 86400])
    command = [sys.executable, "-m", "tests.faults.skewed", str(skew), "sweep", "--once"]
    environment = machine.environment_of(machine.hosts[0])
    with (machine.folder / "skewed.log").open("ab") as log:
        subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log, check=False, timeout=120)
    return True


def run_older_host(machine: Machine, draw: random.Random, key: str) -> bool:
    """For a while a host of an older engine version works beside the others, as in an upgrade, and clients use it."""
    with machine.locks["site"]:
        host = machine.make_host(f"older-{draw.randrange(10**9)}", "web", "rankings", "sweep", version=OLDER_VERSION)
        machine.start_host(host)
        end = time.monotonic() + 30
        while not machine.host_answers(host) and time.monotonic() < end:
            time.sleep(0.2)
        machine.hosts.append(host)
        time.sleep(draw.uniform(5, 12))
        machine.hosts.remove(host)
        machine.kill(host.name)
    return True


def signal_child(machine: Machine, draw: random.Random, prefix: str, number: int) -> bool:
    """Send a signal to one of the processes whose role begins so, with all that it started."""
    children = machine.children(prefix)
    return bool(children) and machine.signal_group(draw.choice(children), number)
