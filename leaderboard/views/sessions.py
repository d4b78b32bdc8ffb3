"""Where one is signed in, and the picture of a new second factor."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.services.second_factor import pending_picture
from leaderboard.services.sessions import end_other_sessions, end_session, sessions_of
from leaderboard.views.people import signed_in


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sessions(request: HttpRequest) -> HttpResponse:
    """The browsers that are signed in; one of them is signed out, or all others."""
    user = signed_in(request)
    if request.method == "POST":
        number = request.POST.get("session", "")
        if not number:
            end_other_sessions(request, user)
            messages.success(request, "You are signed out everywhere else.")
        elif number.isascii() and number.isdigit() and len(number) < 16 and end_session(user, int(number)):
            messages.success(request, "That browser is signed out.")
        else:
            messages.info(request, "That browser is not signed in any more.")
        return redirect("sessions")
    return render(request, "account/sessions.html", {"sessions": sessions_of(request, user)})


@login_required
@never_cache
@require_safe
def second_factor_picture(request: HttpRequest) -> HttpResponse:
    """What to scan while a second factor is set up: of the secret in one's own session, and never kept."""
    picture = pending_picture(request, signed_in(request))
    if picture is None:
        raise Http404("No second factor is being set up here.")
    return HttpResponse(picture, content_type="image/svg+xml")
