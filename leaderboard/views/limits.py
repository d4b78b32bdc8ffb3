"""What is answered to who tries too often."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.services.attempts import TooManyAttemptsError


def too_many_attempts(request: HttpRequest, error: TooManyAttemptsError) -> HttpResponse:
    """The page that says when to try again, and the same for programs."""
    response = render(request, "429.html", {"message": str(error)}, status=429)
    response["Retry-After"] = str(error.seconds)
    return response
