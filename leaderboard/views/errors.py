"""What is answered where there is nothing."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import page_not_found

from leaderboard.selectors.history import WithdrawnRevisionError


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """There is no such page; or it was there, and its scores were taken down."""
    if isinstance(exception, WithdrawnRevisionError):
        return render(request, "410.html", {"reason": str(exception)}, status=410)
    return page_not_found(request, exception)
