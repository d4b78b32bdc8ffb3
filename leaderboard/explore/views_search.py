"""The search over the whole site."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.explore.search import Results, search
from leaderboard.on_demand.allowance import may_ask


@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """What is called as the address says; the dialog that Ctrl-K opens shows its results, too."""
    text = request.GET.get("q", "")
    if text and not may_ask(request, "search"):
        results = Results(
            "", [], gettext("You have searched very often in the last minute. Try again in a few seconds.")
        )
        return render(request, "explore/search.html", {"results": results}, status=429)
    return render(request, "explore/search.html", {"results": search(request.user, text)})
