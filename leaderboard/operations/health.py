"""Whether a process of the site can do its work."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from leaderboard.models import Job
from leaderboard.queue.heartbeats import ROLES, SWEEP, living_workers, silence
from leaderboard.queue.priorities import NOBODY_WAITS
from leaderboard.queue.wake_ups import reaches_broker

STUCK_MINUTES = 10
_OF_ROLE = "with PLURANK_PGBOUNCER=true it is that of the role (`ALTER ROLE ... SET {}`)"
LIMITS = {
    "due to statement timeout": "PLURANK_QUERY_SECONDS; " + _OF_ROLE.format("statement_timeout"),
    "due to lock timeout": "PLURANK_LOCK_SECONDS; " + _OF_ROLE.format("lock_timeout"),
    "due to idle-in-transaction timeout": "30 s; " + _OF_ROLE.format("idle_in_transaction_session_timeout"),
}


def problems(role: str, *, is_here: bool = False, pid: int | None = None) -> list[str]:
    """What keeps the processes of this role from their work, one sentence each; empty when they are well.

    Args:
        role: `web`, `sweep`, or the name of a queue whose workers are meant.
        is_here: whether a process of the role must live on this host.
        pid: whether this very process of this host must live.
    """
    failing = []
    if problem := database_problem():
        return [problem]
    if role in ROLES:
        if silent := silence(role, is_here=is_here, pid=pid):
            failing.append(silent)
        if not reaches_broker():
            failing.append("the broker does not answer, or takes no message")
    if role in Job.Queue.values:
        # Jobs that are long due and that no one runs: the queue's worker does not take any. What only follows an
        # upgrade may be due for long, and between two of its jobs there is a moment when none runs.
        long_ago = timezone.now() - timedelta(minutes=STUCK_MINUTES)
        due = Job.objects.filter(queue=role, state=Job.State.WAITING, not_before__lt=long_ago)
        n_waiting = due.filter(priority__gte=NOBODY_WAITS).count()
        if n_waiting and not Job.objects.filter(queue=role, state=Job.State.RUNNING).exists():
            failing.append(
                f"{n_waiting} jobs of queue {role} are due for more than {STUCK_MINUTES} minutes and none runs"
            )
    return failing


def own_problem(role: str, *, is_here: bool = False, pid: int | None = None) -> str:
    """What is wrong with the processes of this role themselves, which starting them again may mend; empty when nothing.

    Not that what they depend on is away: they wait for it. Without the database no one knows of their heartbeats.

    Args:
        role: `sweep`, or the name of a queue whose workers are meant.
        is_here: whether a process of the role must live on this host.
        pid: whether this very process of this host must live.
    """
    return "" if database_problem() else silence(role, is_here=is_here, pid=pid)


def database_problem() -> str:
    """Why nothing can be read from the database as this release has it; empty where all can."""
    try:
        connection.ensure_connection()
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return "the database lacks migrations: run `python manage.py migrate`"
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is the answer
        return reached_limit(error) or f"the database does not answer: {error}"
    return ""


def reached_limit(error: Exception) -> str:
    """Which limit an operator has to raise where an error of the database is about one; else empty.

    Args:
        error: as Django raises it.
    """
    if "unsupported startup parameter" in str(error):
        return (
            "DATABASE_URL names PgBouncer. This command needs the URL of PostgreSQL itself; the site needs "
            f"PLURANK_PGBOUNCER=true (docs/operate.md, “PgBouncer”): {error}"
        )
    limit = next((name for name in LIMITS if name in str(error)), None)
    if limit is None:
        return ""
    return f"PostgreSQL ended a statement of this process: {error}. Its limit is {LIMITS[limit]}"


@dataclass(frozen=True)
class Readiness:
    """What a site needs to publish what it accepts, and whether it is there; of each queue, how many workers live."""

    database: bool
    broker: bool
    sweep: bool
    workers: dict[str, int]

    @property
    def is_ready(self) -> bool:
        """Studies and scoring may wait; boards may not."""
        return self.database and self.broker and self.sweep and self.workers[Job.Queue.RANKINGS] > 0


def readiness() -> Readiness:
    """What a web server needs before it should get requests, and whether each of it is there.

    Accepting scores needs the database alone. Publishing them needs the sweep and a worker for boards, and the broker
    to be quick about it.
    """
    has_database, has_broker = not problems("web"), reaches_broker()
    living = living_workers() if has_database else {}
    n_living = {role: living[role].n_living if living else 0 for role in ROLES}
    workers = {queue: n_living[queue] for queue in Job.Queue.values}
    return Readiness(has_database, has_broker, n_living[SWEEP] > 0, workers)
