"""Closing one's account."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from leaderboard.forms.erasure import CloseForm
from leaderboard.services import closing
from leaderboard.views.people import signed_in


@login_required
@reauthentication_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def close_account(request: HttpRequest) -> HttpResponse:
    """What closing does, and doing it; asked for by whoever signed in a moment ago."""
    user = signed_in(request)
    form = CloseForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            closing.close_account(user)
        except closing.ClosingError as error:
            form.add_error(None, str(error))
        else:
            logout(request)
            messages.success(request, "Your account is closed.")
            return redirect("home")
    context = {"form": form, "alone": closing.solely_owned(user)}
    return render(request, "account/close.html", context, status=400 if form.errors else 200)
