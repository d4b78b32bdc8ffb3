"""What a process counts of its own while it works: requests, how long they took, what the cache knew.

Under gunicorn all processes of one server count into one folder of files, so that any of them answers for all
(`config/processes/web_server.py`). Anywhere else the counts are in the memory of the process.
"""

from django.conf import settings
from django.http import HttpRequest
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client's own: set, it counts into files there
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
OUTCOMES = HIT, MISS = "hit", "miss"
NO_ROUTE, STATIC, OTHER = "none", "static", "other"

disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
REQUESTS = Counter(
    "plurank_http_requests",
    "Requests that were answered, by the name of their route, method and status.",
    ["route", "method", "status"],
    registry=REGISTRY,
)
REQUEST_SECONDS = Histogram(
    "plurank_http_request_duration_seconds",
    "Seconds until an answer began, by the name of the route.",
    ["route"],
    buckets=SECONDS,
    registry=REGISTRY,
)
CACHE_READS = Counter(
    "plurank_cache_reads",
    "Values that were looked for in the cache, by what came of it.",
    ["outcome"],
    registry=REGISTRY,
)
for _outcome in OUTCOMES:  # told from the start: a counter that begins at 1 shows no increase
    CACHE_READS.labels(_outcome)


def count_request(request: HttpRequest, status: int, seconds: float) -> None:
    """Count a request that was answered.

    Whatever a client sends, there is only so much to count: routes have names, and what has none counts as `none`.

    Args:
        request: as it is after its view.
        status: of the answer.
        seconds: from its first middleware until the answer began.
    """
    route = route_of(request)
    method = request.method if request.method in METHODS else OTHER
    REQUESTS.labels(route, method, str(status)).inc()
    REQUEST_SECONDS.labels(route).observe(seconds)


def route_of(request: HttpRequest) -> str:
    """The name of the pattern that a request's address matched; `static` for files, `none` for anything else."""
    if request.resolver_match:
        return request.resolver_match.view_name
    return STATIC if request.path.startswith(settings.STATIC_URL) else NO_ROUTE


def count_cache_read(*, is_hit: bool, n: int = 1) -> None:
    """Count values that were looked for in the cache."""
    CACHE_READS.labels(HIT if is_hit else MISS).inc(n)
