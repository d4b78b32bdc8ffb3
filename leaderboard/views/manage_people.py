"""People of a benchmark, and what was changed by whom."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.models import Benchmark, Membership, User
from leaderboard.selectors.audience import administered_benchmark
from leaderboard.services.attempts import TooManyAttemptsError, client_address, require_attempt_left, take_attempt
from leaderboard.services.audit_page import AuditQuery, audit_page, audit_rows
from leaderboard.services.people import (
    PeopleError,
    accept_invitation,
    change_role,
    find_invitation,
    invite,
    lift_ban,
    open_invitations,
)
from leaderboard.views.downloads import csv_response
from leaderboard.views.limits import too_many_attempts
from leaderboard.views.people import signed_in


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage_people(request: HttpRequest, key: str) -> HttpResponse:
    """Roles, invitations and bans. A fresh invitation's link is shown once."""
    benchmark = administered_benchmark(request.user, key)
    link = ""
    if request.method == "POST":
        try:
            link = _change(request, benchmark)
        except PeopleError as error:
            messages.error(request, str(error))
        if not link:
            return redirect("manage_people", key)
    order = ["owner", "moderator", "member"]
    members = benchmark.memberships.select_related("user").order_by("user__display_name", "user")
    context = {
        "benchmark": benchmark,
        "here": "people",
        "members": sorted(members, key=lambda member: order.index(member.role)),
        "bans": benchmark.bans.select_related("user", "author").order_by("-pk"),
        "invitations": open_invitations(benchmark).select_related("author"),
        "roles": Membership.Role.choices,
        "link": link,
    }
    return render(request, "leaderboard/manage_people.html", context)


def _change(request: HttpRequest, benchmark: Benchmark) -> str:
    """Do what the form asks; the link of an invitation where it asks for one."""
    actor, role, action = signed_in(request), request.POST.get("role", ""), request.POST.get("action", "")
    if action == "invite":
        return request.build_absolute_uri(reverse("join", args=[invite(benchmark, author=actor, role=role)]))
    number = request.POST.get("user", "")
    user = User.objects.filter(pk=int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0)
    if (found := user.first()) is None:
        raise PeopleError("Nobody with a role here is meant.")
    if action == "lift":
        lift_ban(benchmark, found, author=actor)
    else:
        change_role(benchmark, found, author=actor, role="" if action == "remove" else role)
    messages.success(request, "Changed.")
    return ""


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """An invitation, for whoever has its link. Links that lead to none are counted."""
    whose = {"account": str(signed_in(request).pk), "address": client_address(request)}
    try:
        require_attempt_left("join", **whose)
        invitation = find_invitation(secret)
        if invitation is None:
            take_attempt("join", **whose)
            raise Http404("This invitation was used already, or its time is over.")
    except TooManyAttemptsError as error:
        return too_many_attempts(request, error)
    if request.method == "POST":
        try:
            accept_invitation(invitation, signed_in(request))
        except PeopleError as error:
            raise Http404(str(error)) from error
        messages.success(request, f"You are a {invitation.get_role_display().lower()} of {invitation.benchmark.name}.")
        return redirect("board", invitation.benchmark.key)
    return render(request, "leaderboard/join.html", {"invitation": invitation})


@login_required
@require_safe
def manage_audit(request: HttpRequest, key: str) -> HttpResponse:
    """Who changed what from what to what, when and why."""
    benchmark = administered_benchmark(request.user, key)
    query = AuditQuery.read(request.GET)
    context = {
        "benchmark": benchmark,
        "here": "audit",
        "csv_url": reverse("manage_audit_csv", args=[key]) + query.address(),
        **audit_page(benchmark, query, request.GET.get("page")),
    }
    return render(request, "leaderboard/manage_audit.html", context)


@login_required
@require_safe
def manage_audit_csv(request: HttpRequest, key: str) -> HttpResponse:
    """The same as a table."""
    benchmark = administered_benchmark(request.user, key)
    lines: list[list[object]] = [["at", "who", "subject", "of", "field", "before", "after", "revision", "reason"]]
    for line in audit_rows(benchmark, AuditQuery.read(request.GET)):
        texts = [line.who, line.subject, line.of, line.field, line.before, line.after]
        lines.append([line.at.isoformat().replace("+00:00", "Z"), *texts, line.revision, line.reason])
    return csv_response(f"{benchmark.key}-audit", lines)
