"""The list of benchmarks."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.services.listing import listed


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Every benchmark that this reader may know of, with its winner and whom most rules elect."""
    query, tag = request.GET.get("q", "").strip()[:200], request.GET.get("tag", "").strip()[:80]
    benchmarks, tags = listed(request.user, query=query, tag=tag)
    links = [(name, _url(query, "" if name == tag else name), name == tag) for name in tags]
    return render(
        request,
        "leaderboard/home.html",
        {"benchmarks": benchmarks, "query": query, "tag": tag, "tag_is_known": tag in tags, "tags": links},
    )


def _url(query: str, tag: str) -> str:
    parameters = {name: value for name, value in (("q", query), ("tag", tag)) if value}
    return reverse("home") + (f"?{urlencode(parameters)}" if parameters else "")
