"""For load balancers, container engines and monitoring."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.services.health import problems, readiness
from leaderboard.services.metrics import metrics_text


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """`ok` while the web server reaches its database, else 503; what exactly is wrong stands in the log."""
    is_well = not problems("web")
    return HttpResponse("ok\n" if is_well else "unwell\n", status=200 if is_well else 503, content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether the whole site works: database and migrations, broker, sweep. 503 and which of them not, else 200."""
    found = readiness()
    return JsonResponse(found, status=200 if all(found.values()) else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The site's numbers for Prometheus, for whoever brings `PLURANK_METRICS_TOKEN`; to all others there is no page."""
    given, wanted = request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"
    if not settings.METRICS_TOKEN or not constant_time_compare(given, wanted):
        raise Http404
    return HttpResponse(metrics_text(), content_type="text/plain; version=0.0.4; charset=utf-8")
