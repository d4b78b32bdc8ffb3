"""Badges as pictures. They answer whoever asks as somebody who is not signed in."""

from collections.abc import Callable
from dataclasses import asdict

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard.charts.badge import draw_badge
from leaderboard.models import Benchmark
from leaderboard.services.badges import NOT_FOUND, Badge, benchmark_badge, system_badge
from leaderboard.services.board_filters import UnknownChoiceError
from leaderboard.services.public_board import open_benchmark
from leaderboard.views.shared import rendered, shared_answer

SVG = "image/svg+xml; charset=utf-8"


@require_safe
def badge(request: HttpRequest, key: str) -> HttpResponse:
    """Who wins a benchmark: under the rule that the address names, or over all rules."""
    rule = request.GET.get("rule", "")[:80]

    def find() -> tuple[Benchmark, Badge]:
        benchmark, audience = open_benchmark(key)
        return benchmark, benchmark_badge(benchmark, audience, rule)

    return _answer(request, find)


@require_safe
def system_badge_svg(request: HttpRequest, key: str, system_key: str) -> HttpResponse:
    """Where a system stands: under the rule that the address names, or over all rules."""
    rule = request.GET.get("rule", "")[:80]

    def find() -> tuple[Benchmark, Badge]:
        benchmark, audience = open_benchmark(key)
        return benchmark, system_badge(benchmark, audience, system_key, rule)

    return _answer(request, find)


def _answer(request: HttpRequest, find: Callable[[], tuple[Benchmark, Badge]]) -> HttpResponse:
    """The badge; where there is none, one that says so: who shows a picture sees no page."""
    try:
        benchmark, found = find()
    except Http404:
        return _unkept(NOT_FOUND, 404)
    except UnknownChoiceError as error:
        return _unkept(Badge("Plurank", "unknown rule", str(error), "quiet"), 400)
    return shared_answer(request, _drawn(found), SVG, benchmark=benchmark)


def _unkept(found: Badge, status: int) -> HttpResponse:
    response = HttpResponse(_drawn(found), content_type=SVG, status=status)
    response["Cache-Control"] = "no-store"
    return response


def _drawn(found: Badge) -> str:
    return rendered("leaderboard/badge.svg", {"badge": draw_badge(**asdict(found))})
