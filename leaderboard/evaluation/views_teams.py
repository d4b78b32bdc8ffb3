"""The page of teams of a benchmark: your own with its members and invitations, and the link by which you join."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from leaderboard.access.audience import audience_of, readable_benchmark
from leaderboard.common.limits import (
    TooManyAttemptsError,
    client_address,
    require_attempt_left,
    take_attempt,
    too_many_attempts,
)
from leaderboard.common.requests import signed_in
from leaderboard.common.text import whole_number
from leaderboard.evaluation.phases import phase_now
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.quotas import predictions_left
from leaderboard.evaluation.teams import (
    accept_team_invitation,
    find_team_invitation,
    found_team,
    has_submitted,
    invite_by_link,
    invite_by_name,
    leave_team,
    members_of,
    open_team_invitations,
    revoke_team_invitation,
    team_invitations_of,
    team_of,
)
from leaderboard.models import Benchmark, User
from leaderboard.submissions.quotas import left_in_words


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def team(request: HttpRequest, key: str) -> HttpResponse:
    """The team of who is signed in, or a form to make one. Members see each other, and no one else's team."""
    benchmark, _ = readable_benchmark(request.user, key, restricted=True)
    user, link = signed_in(request), ""
    if request.method == "POST":
        try:
            link = _team_step(request, benchmark, user)
        except EvaluationError as error:
            messages.error(request, str(error))
        if not link:
            return redirect("team", key)
    own = team_of(user, benchmark)
    phase = phase_now(benchmark)
    context = {
        "benchmark": benchmark,
        "team": own,
        "members": members_of(own) if own else [],
        "may_leave": own is not None and not has_submitted(own),
        "open_invitations": open_team_invitations(own) if own else [],
        "invitations": team_invitations_of(user, benchmark),
        "link": link,
        "phase": phase,
        "left": left_in_words(predictions_left(phase, user, own)) if phase else "",
    }
    return render(request, "evaluation/team.html", context)


def _team_step(request: HttpRequest, benchmark: Benchmark, user: User) -> str:
    """Do what a button says; returns the link of a new invitation, or an empty text.

    Raises:
        EvaluationError: it cannot be done.
    """
    action = request.POST.get("action", "")
    own = team_of(user, benchmark)
    if action == "found":
        found_team(benchmark, user, request.POST.get("name", ""))
        messages.success(request, gettext("The team is there. Invite its members now."))
    elif action == "accept":
        number = whole_number(request.POST.get("invitation", "")) or 0
        invitation = team_invitations_of(user, benchmark).filter(pk=number).first()
        if invitation is None:
            raise EvaluationError(gettext("This invitation was already used or revoked."))
        accept_team_invitation(invitation, user)
        messages.success(request, gettext("You are in the team %(team)s.") % {"team": invitation.team.name})
    elif own is None:
        raise EvaluationError(gettext("You are in no team of this benchmark."))
    elif action == "link":
        return request.build_absolute_uri(reverse("join_team", args=[invite_by_link(own, user)]))
    elif action == "invite":
        invite_by_name(own, user, request.POST.get("name", ""))
        messages.success(
            request, gettext("If exactly one person has this name, they get a notice with the invitation.")
        )
    elif action == "revoke":
        revoke_team_invitation(own, whole_number(request.POST.get("invitation", "")) or 0)
        messages.success(request, gettext("The invitation is revoked; it no longer works."))
    elif action == "leave":
        leave_team(own, user)
        messages.success(request, gettext("You left the team %(own)s.") % {"own": own.name})
    return ""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_team(request: HttpRequest, secret: str) -> HttpResponse:
    """An invitation to a team, for anyone who has its link. It gives no right to read the benchmark."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.path)
    user = signed_in(request)
    whose = {"address": client_address(request), "account": str(user.pk)}
    try:
        require_attempt_left("join", **whose)
        invitation = find_team_invitation(secret)
        if invitation is None or not audience_of(user, invitation.team.benchmark).may_read:
            take_attempt("join", **whose)
            raise Http404(gettext("This invitation was already used or has expired, or you cannot read its benchmark."))
    except TooManyAttemptsError as error:
        return too_many_attempts(request, error)
    if request.method == "POST":
        try:
            accept_team_invitation(invitation, user)
        except EvaluationError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, gettext("You are in the team %(team)s.") % {"team": invitation.team.name})
        return redirect("team", invitation.team.benchmark.key)
    return render(request, "evaluation/join_team.html", {"invitation": invitation})
