"""The site's numbers in Prometheus' text format: queues, jobs, failures, how long boards take, mails, the sweep.

All of it is counted in the database at the moment of asking, so that it does not matter which process answers. What is
about "lately" covers the last hour: rows go after a while, and counters made of rows would run backwards.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Max, Min, Q
from django.utils import timezone

from leaderboard.models import Benchmark, Job, OutboxMessage, Publication
from leaderboard.services.health import sweep_age
from leaderboard.services.retry import failed_boards

LATELY = timedelta(hours=1)
PUBLICATIONS = 500  # the delay is that of so many at most
_ENDED = (Job.State.DONE, Job.State.FAILED, Job.State.SUPERSEDED)


@dataclass
class Metric:
    """One name with its values, each under its labels."""

    name: str
    told: str
    values: list[tuple[dict[str, str], float]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """As Prometheus reads it."""
        yield f"# HELP plurank_{self.name} {self.told}"
        yield f"# TYPE plurank_{self.name} gauge"
        for labels, value in self.values:
            told = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
            yield f"plurank_{self.name}{{{told}}} {value:g}" if told else f"plurank_{self.name} {value:g}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def metrics_text() -> str:
    """Everything that is measured, as the text of `/metrics`."""
    jobs = [*_queues(), *_lately(), _failed(), _failed_boards()]
    found = [_build(), *jobs, _publish_delay(), *_boards(), _mails(), *_sweep()]
    return "".join(f"{line}\n" for metric in found for line in metric.lines())


def _build() -> Metric:
    labels = {"version": settings.PLURANK_VERSION, "engine": settings.ENGINE_VERSION}
    return Metric("build_info", "The running version.", [(labels, 1)])


def _queues() -> list[Metric]:
    now = timezone.now()
    is_waiting, is_running = Q(state=Job.State.WAITING), Q(state=Job.State.RUNNING)
    counted = (
        Job.objects.filter(is_waiting | is_running)
        .order_by()
        .values("queue")
        .annotate(
            n_waiting=Count("pk", filter=is_waiting),
            n_running=Count("pk", filter=is_running),
            since=Min("not_before", filter=is_waiting),
        )
    )
    rows = {row["queue"]: row for row in counted}
    depth = Metric("queue_jobs", "Jobs by queue that wait or run.")
    age = Metric("queue_oldest_seconds", "How long the oldest waiting job of a queue has been due; 0 where none is.")
    for queue in Job.Queue.values:
        row = rows.get(queue)
        n_waiting, n_running = (row["n_waiting"], row["n_running"]) if row else (0, 0)
        since = row["since"] if row else None
        depth.values += [({"queue": queue, "state": "waiting"}, n_waiting)]
        depth.values += [({"queue": queue, "state": "running"}, n_running)]
        age.values.append(({"queue": queue}, max(0.0, (now - since).total_seconds()) if since else 0.0))
    return [depth, age]


def _lately() -> list[Metric]:
    """What ended within the last hour, by kind: a study's chunks and merges under `study` and `merge`."""
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    ended = Job.objects.filter(finished_at__gt=timezone.now() - LATELY, state__in=_ENDED).order_by()
    counts = Metric("jobs_lately", "Jobs that ended within the last hour, by kind and how.")
    mean = Metric("job_seconds_mean", "Mean seconds that jobs took that were done within the last hour, by kind.")
    longest = Metric("job_seconds_max", "Most seconds that a job took that was done within the last hour, by kind.")
    n_ended: dict[tuple[str, str], int] = {}
    for row in ended.values("kind", "state").annotate(n=Count("pk")):
        key = row["kind"].partition(":")[0], row["state"]
        n_ended[key] = n_ended.get(key, 0) + row["n"]
    counts.values = [({"kind": kind, "state": state}, n) for (kind, state), n in sorted(n_ended.items())]
    seconds: dict[str, list[tuple[int, float, float]]] = {}
    done = ended.filter(state=Job.State.DONE, started_at__isnull=False)
    for took_by in done.values("kind").annotate(n=Count("pk"), mean=Avg(took), longest=Max(took)):
        told = (took_by["n"], took_by["mean"].total_seconds(), took_by["longest"].total_seconds())
        seconds.setdefault(took_by["kind"].partition(":")[0], []).append(told)
    for kind, parts in sorted(seconds.items()):
        mean.values.append(({"kind": kind}, sum(n * m for n, m, _ in parts) / sum(n for n, _, _ in parts)))
        longest.values.append(({"kind": kind}, max(most for _, _, most in parts)))
    return [counts, mean, longest]


def _failed() -> Metric:
    rows = Job.objects.filter(state=Job.State.FAILED).order_by().values("queue").annotate(n=Count("pk"))
    found = {row["queue"]: row["n"] for row in rows}
    told = "Jobs that were given up, as long as their rows are kept."
    return Metric("jobs_failed", told, [({"queue": queue}, found.get(queue, 0)) for queue in Job.Queue.values])


def _failed_boards() -> Metric:
    told = "Benchmarks whose newest board was given up."
    return Metric("boards_failed", told, [({}, failed_boards().count())])


def _publish_delay() -> Metric:
    """From the moment a revision was accepted until its board was published."""
    newest = Publication.objects.order_by("-pk").values_list("published_at", "revision__created_at")[:PUBLICATIONS]
    since = timezone.now() - LATELY
    delays = sorted((at - accepted).total_seconds() for at, accepted in newest if at > since)
    told = "Seconds from accepting scores to their published board, of boards of the last hour."
    if not delays:
        return Metric("publish_delay_seconds", told)
    values = [({"quantile": str(q)}, quantile(delays, q)) for q in (0.5, 0.95, 1)]
    return Metric("publish_delay_seconds", told, values)


def quantile(ascending: Sequence[float], q: float) -> float:
    """The smallest value that the share `q` of all, or more, does not exceed."""
    return ascending[math.ceil(q * len(ascending)) - 1]


def _boards() -> list[Metric]:
    behind = Benchmark.objects.filter(last_revision_number__gt=F("published_number"))
    return [
        Metric("benchmarks", "Benchmarks on the site.", [({}, Benchmark.objects.count())]),
        Metric("benchmarks_behind", "Benchmarks whose newest revision is not published yet.", [({}, behind.count())]),
    ]


def _mails() -> Metric:
    rows = OutboxMessage.objects.order_by().values("state").annotate(n=Count("pk"))
    found = {row["state"]: row["n"] for row in rows}
    told = "Mails and webhooks by state, as long as their rows are kept."
    return Metric("outbox_messages", told, [({"state": s}, found.get(s, 0)) for s in OutboxMessage.State.values])


def _sweep() -> list[Metric]:
    age = sweep_age()
    values: list[tuple[dict[str, str], float]] = [] if age is None else [({}, age)]
    return [Metric("sweep_age_seconds", "Seconds since a sweep was last heard of.", values)]
