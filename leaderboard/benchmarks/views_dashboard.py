"""The page of a signed-in user."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.benchmarks.dashboard import dashboard as dashboard_of
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in


@login_required
@never_cache
@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:
    """What the user began, sent and looks after, and what they were told."""
    page = dashboard_of(signed_in(request), request.GET.get("page"))
    context = {"page": page, "pages": page_links(page.batch_page, anchor="submissions")}
    return render(request, "account/dashboard.html", context)
