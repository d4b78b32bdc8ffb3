"""The picture of a board. It answers whoever asks as somebody who is not signed in."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard.services.cards import board_card
from leaderboard.services.public_board import open_benchmark
from leaderboard.views.shared import shared_answer


@require_safe
def card(request: HttpRequest, key: str) -> HttpResponse:
    """The benchmark's name, who wins, and how many rules say so, as a PNG of 1200 x 630."""
    benchmark, audience = open_benchmark(key)
    found = board_card(benchmark, audience)
    return shared_answer(request, found.png, "image/png", benchmark=benchmark, state=found.state)
