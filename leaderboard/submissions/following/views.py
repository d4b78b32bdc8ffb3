"""The owner's page of the addresses that a benchmark follows."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from leaderboard.access.audience import administered_benchmark
from leaderboard.common.form_fields import take_errors
from leaderboard.common.requests import signed_in
from leaderboard.submissions.following.addresses import (
    FollowingError,
    change_followed,
    delete_followed,
    fetch_soon,
    follow_address,
)
from leaderboard.submissions.following.forms import FollowForm
from leaderboard.submissions.following.queries import all_followed, followed_of

STEPS = {
    "fetch": gettext_lazy("It is being fetched; reload the page to see the result."),
    "on": gettext_lazy("The benchmark follows this URL again."),
    "off": gettext_lazy("The URL is switched off."),
    "direct": gettext_lazy("From now on new scores join the board at once."),
    "draft": gettext_lazy("From now on new scores become a draft."),
    "delete": gettext_lazy("The URL was deleted. Scores that came from it stay."),
}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage_following(request: HttpRequest, key: str) -> HttpResponse:
    """The addresses with what was fetched from them, and a form for another."""
    benchmark = administered_benchmark(request.user, key)
    form = FollowForm(request.POST if request.method == "POST" and "address" in request.POST else None)
    if request.method == "POST" and request.POST.get("action") in STEPS:
        action = request.POST["action"]
        followed = followed_of(benchmark, request.POST.get("followed", ""))
        try:
            if action == "fetch":
                fetch_soon(followed, author=signed_in(request))
            elif action == "delete":
                delete_followed(followed, author=signed_in(request))
            elif action in ("direct", "draft"):
                change_followed(followed, author=signed_in(request), is_direct=action == "direct")
            else:
                change_followed(followed, author=signed_in(request), is_active=action == "on")
        except FollowingError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, str(STEPS[action]))
        return redirect("manage_following", key)
    if form.is_bound and form.is_valid():
        try:
            follow_address(benchmark, author=signed_in(request), **form.cleaned_data)
        except ValidationError as error:
            take_errors(form, error)
        except FollowingError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, gettext("The benchmark follows this URL; reload the page to see the first fetch.")
            )
            return redirect("manage_following", key)
    context = {"benchmark": benchmark, "here": "following", "followed": all_followed(benchmark), "form": form}
    status = 400 if request.method == "POST" else 200
    return render(request, "submissions/manage_following.html", context, status=status)
