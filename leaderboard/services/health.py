"""Whether a process of the site can do its work."""

from datetime import timedelta

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from leaderboard.enqueue import reaches_broker
from leaderboard.models import Job

STUCK_MINUTES = 10


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


def _stuck(queue: str) -> list[str]:
    """Jobs that are long due and that nobody runs: the queue's worker does not take any."""
    long_ago = timezone.now() - timedelta(minutes=STUCK_MINUTES)
    waiting = Job.objects.filter(queue=queue, state=Job.State.WAITING, not_before__lt=long_ago).count()
    is_busy = Job.objects.filter(queue=queue, state=Job.State.RUNNING).exists()
    if waiting and not is_busy:
        return [f"{waiting} jobs of queue {queue} are due for more than {STUCK_MINUTES} minutes and none runs"]
    return []
