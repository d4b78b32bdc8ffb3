"""The site's numbers for Prometheus: of this web server, and of the whole site as the database tells them.

What the database tells is counted at the moment of asking, so that it does not matter which server answers. What is
about "lately" covers the last hour: rows go after a while, and counters made of rows would run backwards. Counters for
`rate()` are those of `job_counts`, and the requests of each web server.
"""

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Avg, Case, Count, DurationField, ExpressionWrapper, F, Max, Min, Q, When
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from config.backends.query_limits import at_most
from leaderboard.models import Benchmark, Job, OutboxMessage, Publication
from leaderboard.notifications.queries import longest_waits
from leaderboard.operations import host_metrics
from leaderboard.operations.backup_age import backup_age
from leaderboard.queue import job_counts
from leaderboard.queue.heartbeats import SWEEP, living_workers
from leaderboard.queue.priorities import NOBODY_WAITS
from leaderboard.queue.retry import failed_boards
from leaderboard.queue.wake_ups import reaches_broker

LATELY = timedelta(hours=1)
PUBLICATIONS = 500  # the delay is that of so many at most
DATABASE_SECONDS = 4  # for all that is asked: Prometheus waits ten, and a connection that hangs takes five more
# So many ended without a result, over some minutes. Each puts the job off, so that one whose process is killed at every
# attempt is never due for long.
MANY_ATTEMPTS = 8
_ENDED = (Job.State.DONE, Job.State.FAILED, Job.State.SUPERSEDED)
Values = Iterable[tuple[Sequence[str], float]]

logger = logging.getLogger(__name__)


def metrics_text() -> bytes:
    """Everything that is measured, as the text of `/metrics/`."""
    registry = CollectorRegistry()
    registry.register(_Site())
    return generate_latest(registry)


class _Site(Collector):
    def collect(self) -> Iterator[Metric]:
        versions = (settings.PLURANK_VERSION, settings.ENGINE_VERSION)
        yield _gauge("build_info", "The running version.", ["version", "engine"], [(versions, 1)])
        yield from host_metrics.families()
        try:
            with at_most(DATABASE_SECONDS):
                of_database = list(_of_database())
        except (DatabaseError, InterfaceError) as error:
            logger.warning("the numbers lack those of the database: %s", error)
            of_database = []
        yield _gauge("database_up", "Whether the database answered just now.", [], [((), bool(of_database))])
        yield from of_database
        if of_database:  # both may take their time to fail, and Prometheus has no time for both
            description = "Whether the broker answered just now and can be written to."
            yield _gauge("broker_up", description, [], [((), reaches_broker())])


def _of_database() -> Iterator[Metric]:
    if connection.vendor == "postgresql":
        # Everyone may count these, and whose connections they are does not matter.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*), current_setting('max_connections')::int"
                " - current_setting('superuser_reserved_connections')::int"
                " FROM pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL"
            )
            used, most = cursor.fetchone()
        yield _gauge("database_connections", "Connections to this PostgreSQL, from all clients.", [], [((), used)])
        yield _gauge(
            "database_connections_max", "How many it accepts from clients that are not superusers.", [], [((), most)]
        )
    yield from _queues()
    yield from _lately()
    yield from job_counts.families()
    description = "Benchmarks whose newest board failed."
    yield _gauge("boards_failed", description, [], [((), failed_boards().count())])

    # From the moment a revision was accepted until its board was published.
    newest = Publication.objects.filter(is_pointer_moved=True).order_by("-pk")
    moments = newest.values_list("published_at", "revision__created_at")[:PUBLICATIONS]
    since = timezone.now() - LATELY
    delays = sorted((at - accepted).total_seconds() for at, accepted in moments if at > since)
    description = "Seconds from accepting scores to their published board, of boards of the last hour."
    values = [((str(q),), quantile(delays, q)) for q in (0.5, 0.95, 1)] if delays else []
    yield _gauge("publish_delay_seconds", description, ["quantile"], values)

    behind = Benchmark.objects.filter(last_revision_number__gt=F("published_number"))
    yield _gauge("benchmarks", "Benchmarks on the site.", [], [((), Benchmark.objects.count())])
    description = "Benchmarks whose newest revision is not published yet."
    yield _gauge("benchmarks_behind", description, [], [((), behind.count())])
    rows = OutboxMessage.objects.order_by().values("state").annotate(n=Count("pk"))
    n_by_state = {row["state"]: row["n"] for row in rows}
    description = "Emails and webhooks by state, as long as their rows are kept."
    n_mails = [((state,), n_by_state.get(state, 0)) for state in OutboxMessage.State.values]
    yield _gauge("outbox_messages", description, ["state"], n_mails)
    description = "How long the oldest email or webhook waits that no receiver refused; 0 where none does."
    waits = [((kind,), seconds) for kind, seconds in longest_waits().items()]
    yield _gauge("outbox_oldest_seconds", description, ["kind"], waits)

    # The sweep and the workers of each queue, on whichever machines they are.
    of_role = living_workers()
    n_living = [((role,), liveness.n_living) for role, liveness in of_role.items()]
    ages = [((role,), liveness.age) for role, liveness in of_role.items() if liveness.age is not None]
    yield _gauge("processes", "Sweeps, and workers by queue, seen within a minute.", ["role"], n_living)
    yield _gauge("process_age_seconds", "Seconds since any process of a role was last seen.", ["role"], ages)
    of_sweep = [((), age) for (role,), age in ages if role == SWEEP]
    yield _gauge("sweep_age_seconds", "Seconds since a sweep was last seen.", [], of_sweep)
    description = "Seconds since the last backup of this database, or since it was made where there was none."
    yield _gauge("backup_age_seconds", description, [], [((), backup_age())])


def _gauge(name: str, description: str, labels: Sequence[str], values: Values) -> Metric:
    family = GaugeMetricFamily(f"plurank_{name}", description, labels=labels)
    for of_labels, value in values:
        family.add_metric(of_labels, float(value))
    return family


def _queues() -> list[Metric]:
    now = timezone.now()
    is_waiting, is_running = Q(state=Job.State.WAITING), Q(state=Job.State.RUNNING)
    is_stuck = Q(attempts__gte=MANY_ATTEMPTS)
    begin = Case(When(is_stuck, then="created_at"), default="not_before")
    counted = (
        Job.objects.filter(is_waiting | is_running)
        .order_by()
        .values("queue")
        .annotate(
            n_waiting=Count("pk", filter=is_waiting),
            n_running=Count("pk", filter=is_running),
            since=Min(begin, filter=(is_waiting | (is_running & is_stuck)) & Q(priority__gte=NOBODY_WAITS)),
        )
    )
    rows = {row["queue"]: row for row in counted}
    depth: list[tuple[Sequence[str], float]] = []
    age: list[tuple[Sequence[str], float]] = []
    for queue in Job.Queue.values:
        row = rows.get(queue)
        n_waiting, n_running = (row["n_waiting"], row["n_running"]) if row else (0, 0)
        since = row["since"] if row else None
        depth += [((queue, "waiting"), n_waiting), ((queue, "running"), n_running)]
        age.append(((queue,), max(0.0, (now - since).total_seconds()) if since else 0.0))
    description = (
        "How long the oldest waiting job of a queue has been due, or has existed if many attempts at it ended "
        "without a result, except those after an upgrade; 0 where none is."
    )
    return [
        _gauge("queue_jobs", "Jobs by queue that wait or run.", ["queue", "state"], depth),
        _gauge("queue_oldest_seconds", description, ["queue"], age),
    ]


def _lately() -> list[Metric]:
    """What ended within the last hour, by kind: a study's chunks and merges under `study` and `merge`."""
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    ended = Job.objects.filter(finished_at__gt=timezone.now() - LATELY, state__in=_ENDED).order_by()
    n_ended: dict[tuple[str, str], int] = {}
    for row in ended.values("kind", "state").annotate(n=Count("pk")):
        key = row["kind"].partition(":")[0], row["state"]
        n_ended[key] = n_ended.get(key, 0) + row["n"]
    seconds: dict[str, list[tuple[int, float, float]]] = {}
    done = ended.filter(state=Job.State.DONE, started_at__isnull=False)
    for took_by in done.values("kind").annotate(n=Count("pk"), mean=Avg(took), longest=Max(took)):
        figures = (took_by["n"], took_by["mean"].total_seconds(), took_by["longest"].total_seconds())
        seconds.setdefault(took_by["kind"].partition(":")[0], []).append(figures)
    mean = [
        ((kind,), sum(n * m for n, m, _ in parts) / sum(n for n, _, _ in parts))
        for kind, parts in sorted(seconds.items())
    ]
    longest = [((kind,), max(most for _, _, most in parts)) for kind, parts in sorted(seconds.items())]
    of_done = "seconds that jobs took that were done within the last hour, by kind."
    counts = "Jobs that ended within the last hour, by kind and how."
    return [
        _gauge("jobs_lately", counts, ["kind", "state"], sorted(n_ended.items())),
        _gauge("job_seconds_mean", f"Mean {of_done}", ["kind"], mean),
        _gauge("job_seconds_max", f"Most {of_done}", ["kind"], longest),
    ]


def quantile(ascending: Sequence[float], q: float) -> float:
    """The smallest value that the share `q` of all, or more, does not exceed."""
    return ascending[math.ceil(q * len(ascending)) - 1]
