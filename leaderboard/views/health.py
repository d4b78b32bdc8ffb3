"""For load balancers and container engines."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.services.health import problems


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """`ok` while the web server reaches its database, else 503; what exactly is wrong stands in the log."""
    is_well = not problems("web")
    return HttpResponse("ok\n" if is_well else "unwell\n", status=200 if is_well else 503, content_type="text/plain")
