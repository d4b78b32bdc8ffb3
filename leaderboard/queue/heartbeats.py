"""Which processes of the background live: each writes every few seconds that it is at work.

The rows are in the database, as the jobs are: they outlive a broker that is away, and any process can read them.
"""

import os
import socket
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q
from django.utils import timezone

from leaderboard.models import Heartbeat, Job
from ranking_engine import __version__ as engine_version

SWEEP = "sweep"
ROLES = (SWEEP, *Job.Queue.values)
BEAT_SECONDS = 10.0  # a process writes no more often
LATE_SECONDS = 60  # one that was not heard of for so long is not at work
SKEW = timedelta(seconds=60)  # by which the clocks of the machines may differ
KEPT = timedelta(days=1)
MAX_SILENT = 200  # rows of ended processes: one that is started every few seconds would leave thousands a day


@dataclass
class Process:
    """This process in one of its roles; a worker of two queues has two."""

    role: str
    name: str
    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    started_at: datetime = field(default_factory=timezone.now)
    _next: float = 0.0

    def beat(self) -> None:
        """Write that this process is at work, once every few seconds however often it is called.

        Raises:
            django.db.Error: the database is away; the next call tries again.
        """
        now = time.monotonic()
        if now < self._next:
            return
        row = Heartbeat(
            role=self.role,
            host=self.host[:255],
            pid=self.pid,
            name=self.name[:100],
            engine_version=engine_version,
            started_at=self.started_at,
            seen_at=timezone.now(),
        )
        # The same process id on the same host was an earlier process: in a container it is the same at every start.
        changed = ["name", "engine_version", "started_at", "seen_at"]
        Heartbeat.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=["role", "host", "pid"], update_fields=changed
        )
        self._next = now + BEAT_SECONDS


@dataclass(frozen=True)
class Liveness:
    """How many processes of a role are at work, and the seconds since any was heard of; None where none ever was."""

    n_living: int
    age: float | None


def living_workers() -> dict[str, Liveness]:
    """Of the sweep and of each queue's workers how many live, by role. One query.

    Returns:
        `sweep`, `rankings` and `studies` always.
    """
    now = timezone.now()
    rows = (
        Heartbeat.objects.filter(seen_at__lt=now + SKEW)
        .order_by()
        .values("role")
        .annotate(last=Max("seen_at"), n=Count("pk", filter=_is_living(now)))
    )
    of_role = {row["role"]: Liveness(row["n"], max(0.0, (now - row["last"]).total_seconds())) for row in rows}
    return {role: of_role.get(role, Liveness(0, None)) for role in ROLES}


def living_processes() -> list[Heartbeat]:
    """The processes that are at work, by role, host and process id."""
    return list(Heartbeat.objects.filter(_is_living(timezone.now())))


def silence(role: str, *, is_here: bool = False, pid: int | None = None) -> str:
    """Why no process of a role counts as living, in a sentence; empty where one lives.

    Args:
        role: `sweep`, or a queue whose workers are meant.
        is_here: look at processes of this host alone.
        pid: look at this process of this host alone.
    """
    now, host = timezone.now(), socket.gethostname()
    rows, who = Heartbeat.objects.filter(role=role), "no sweep" if role == SWEEP else f"no worker of queue {role}"
    if is_here or pid is not None:
        rows, who = rows.filter(host=host[:255]), f"{who} on host {host}"
    if pid is not None:
        rows, who = rows.filter(pid=pid), f"{who} with process id {pid}"
    if rows.filter(_is_living(now)).exists():
        return ""
    last = rows.filter(seen_at__lt=now + SKEW).order_by("-seen_at").first()
    if last is None:
        return f"{who} was seen within the last day: none was started, or none can reach the database"
    if last.host != host[:255]:
        cause = f"it ended, is stuck, or cannot reach the database: see its log on {last.host}"
    else:
        cause = "it still exists, so it is stuck, was stopped, or cannot reach the database: see its log"
        try:
            os.kill(last.pid, 0)
        except ProcessLookupError:
            cause = "it ended and was not restarted"
        except PermissionError:  # someone else's, so it is there
            pass
    seconds = round((now - last.seen_at).total_seconds())
    return (
        f"{who} was heard of for {LATE_SECONDS} s: the last was {last}, {seconds} s ago, at"
        f" {last.seen_at:%Y-%m-%d %H:%M:%S} UTC; {cause}"
    )


def delete_old_heartbeats() -> int:
    """Forget processes that ended a day ago, and earlier ones where very many ended; how many."""
    now = timezone.now()
    # What lies far ahead was written under a clock that was wrong; who lives writes again.
    old = Q(seen_at__lt=now - KEPT) | Q(seen_at__gt=now + SKEW)
    n_deleted = Heartbeat.objects.filter(old).delete()[0]
    silent = Heartbeat.objects.exclude(_is_living(now)).order_by("-seen_at")
    surplus = list(silent.values_list("pk", flat=True)[MAX_SILENT:])
    return n_deleted + Heartbeat.objects.filter(pk__in=surplus).delete()[0]


def _is_living(now: datetime) -> Q:
    return Q(seen_at__gt=now - timedelta(seconds=LATE_SECONDS), seen_at__lt=now + SKEW)
