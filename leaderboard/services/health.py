"""Whether a process of the site can do its work."""

from datetime import timedelta

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Q
from django.utils import timezone

from leaderboard.enqueue import reaches_broker
from leaderboard.models import Heartbeat, Job

STUCK_MINUTES = 10
SWEEP = "sweep"
BEAT_SECONDS = 5  # a heartbeat is written no more often
LATE_SECONDS = 60  # a sweep that was not heard of for so long has stopped


def problems(role: str) -> list[str]:
    """What keeps a process of this role from its work, one sentence each; empty when it is well.

    Args:
        role: `web`, `sweep`, or the name of a queue whose worker it is.
    """
    found = []
    try:
        connection.ensure_connection()
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            found.append("the database lacks migrations: run `python manage.py migrate`")
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is the answer
        return [f"the database does not answer: {error}"]
    if role != "web" and not reaches_broker():
        found.append("the broker does not answer")
    if role in Job.Queue.values:
        found += _stuck(role)
    return found


def readiness() -> dict[str, bool]:
    """What a web server needs before it should get requests, and whether each of it is there.

    Accepting scores needs the database alone. Publishing them needs the sweep, and the broker to be quick about it.
    """
    found = problems("web")
    if found:
        return {"database": False, "broker": reaches_broker(), "sweep": False}
    age = sweep_age()
    return {"database": True, "broker": reaches_broker(), "sweep": age is not None and age < LATE_SECONDS}


def note_heartbeat(role: str) -> None:
    """Keep that a process of this role is at work, once every few seconds."""
    now = timezone.now()
    row = Heartbeat.objects.filter(role=role)
    # What lies ahead was written under a clock that was wrong.
    is_old = Q(seen_at__lt=now - timedelta(seconds=BEAT_SECONDS)) | Q(seen_at__gt=now)
    if not row.filter(is_old).update(seen_at=now):
        Heartbeat.objects.get_or_create(role=role, defaults={"seen_at": now})


def sweep_age() -> float | None:
    """Seconds since a sweep was last heard of; None where none ever was."""
    seen_at = Heartbeat.objects.filter(role=SWEEP).values_list("seen_at", flat=True).first()
    return None if seen_at is None else max(0.0, (timezone.now() - seen_at).total_seconds())


def _stuck(queue: str) -> list[str]:
    """Jobs that are long due and that nobody runs: the queue's worker does not take any."""
    long_ago = timezone.now() - timedelta(minutes=STUCK_MINUTES)
    waiting = Job.objects.filter(queue=queue, state=Job.State.WAITING, not_before__lt=long_ago).count()
    is_busy = Job.objects.filter(queue=queue, state=Job.State.RUNNING).exists()
    if waiting and not is_busy:
        return [f"{waiting} jobs of queue {queue} are due for more than {STUCK_MINUTES} minutes and none runs"]
    return []
