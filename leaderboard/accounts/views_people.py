"""People of a benchmark, and what was changed by whom."""

import secrets

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.access.audience import administered_benchmark, audience_of
from leaderboard.access.audit_page import AuditQuery, audit_csv, audit_page
from leaderboard.accounts.organisations.roles import role_text
from leaderboard.accounts.people import (
    NOTHING_NEW,
    PeopleError,
    accept_invitation,
    benchmark_joined_by,
    change_role,
    find_invitation,
    gives_nothing_new,
    invite,
    is_only_owner,
    lift_ban,
    members_of,
    open_invitations,
    revoke_invitation,
)
from leaderboard.accounts.sign_up import opened_invitation, remember_invitation
from leaderboard.common.limits import (
    TooManyAttemptsError,
    too_many_attempts,
)
from leaderboard.common.paging import page_links
from leaderboard.common.requests import DeadLinkError, signed_in
from leaderboard.common.text import whole_number
from leaderboard.models import Benchmark, Membership, User

PAGE_PEOPLE = 50
LESSER = (Membership.Role.MODERATOR, Membership.Role.MEMBER)  # than an owner


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage_people(request: HttpRequest, key: str) -> HttpResponse:
    """Roles, invitations and bans. A fresh invitation's link is shown once."""
    benchmark = administered_benchmark(request.user, key)
    link = ""
    if request.method == "POST":
        actor, role, action = signed_in(request), request.POST.get("role", ""), request.POST.get("action", "")
        try:
            if action in ("invite", "hand_over"):
                name, hands_over = request.POST.get("name", ""), action == "hand_over"
                role = Membership.Role.OWNER if hands_over else role
                once = request.POST.get("once", "")
                invitation = invite(benchmark, author=actor, role=role, name=name, hands_over=hands_over, once=once)
                link = request.build_absolute_uri(reverse("join", args=[invitation]))
            elif action == "revoke":
                number = whole_number(request.POST.get("invitation", "")) or 0
                revoke_invitation(benchmark, number, author=actor)
                messages.success(request, gettext("The invitation is revoked; its link no longer works."))
            else:
                member = User.objects.filter(pk=whole_number(request.POST.get("user", "")) or 0).first()
                if member is None:
                    messages.error(request, gettext("There is no such person."))
                    return redirect("manage_people", key)
                role = "" if action == "remove" else role
                gives_up = action != "lift" and member == actor and role in {"", *LESSER}
                if gives_up and "is_sure" not in request.POST and not is_only_owner(benchmark, actor):
                    context = {"name": benchmark.name, "benchmark": benchmark, "role": role, "url": request.path}
                    return render(request, "accounts/give_up.html", context)
                if action == "lift":
                    is_changed = lift_ban(benchmark, member, author=actor)
                else:
                    is_changed = change_role(benchmark, member, author=actor, role=role)
                if gives_up and is_changed:
                    return _lead_on(request, benchmark)
                if is_changed:
                    done = gettext("%(person)s can submit again.") if action == "lift" else gettext("Changed.")
                    messages.success(request, done % {"person": member.shown_name})
                else:
                    messages.info(request, gettext("Nothing changed: it was so already."))
        except PeopleError as error:
            messages.error(request, str(error))
        if not link:
            return redirect("manage_people", key)
    members = Paginator(members_of(benchmark), PAGE_PEOPLE).get_page(request.GET.get("page"))
    bans = Paginator(benchmark.bans.select_related("user").order_by("-pk"), PAGE_PEOPLE)
    banned = bans.get_page(request.GET.get("bans"))
    context = {
        "benchmark": benchmark,
        "here": "people",
        "members": members,
        "member_pages": page_links(members, anchor="members", bans=request.GET.get("bans", "")),
        "bans": banned,
        "ban_pages": page_links(banned, parameter="bans", anchor="bans", page=request.GET.get("page", "")),
        "invitations": open_invitations(benchmark),
        "roles": Membership.Role.choices,
        "once": secrets.token_urlsafe(12),
        "link": link,
    }
    return render(request, "accounts/manage_people.html", context)


def _lead_on(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Lead people who gave up their role to a page that they still see, and say what they are now."""
    user = signed_in(request)
    role = Membership.objects.filter(benchmark=benchmark, user=user).values_list("role", flat=True).first() or ""
    messages.success(request, role_text(role, benchmark.name))
    if role == Membership.Role.OWNER:  # through its organisation
        return redirect("manage_people", benchmark.key)
    return redirect("board", benchmark.key) if audience_of(user, benchmark).may_read else redirect("dashboard")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """An invitation, for anyone who has its link; to take it, they sign in. Links that lead to none are counted."""
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(request.path)
    if isinstance(request.user, User) and (joined := benchmark_joined_by(secret, request.user)):
        return redirect("board", joined.key)
    try:
        invitation = opened_invitation(request, secret, find_invitation)
    except TooManyAttemptsError as error:
        return too_many_attempts(request, error)
    if isinstance(request.user, User) and gives_nothing_new(invitation, request.user):
        messages.info(request, gettext(NOTHING_NEW) % {"name": invitation.benchmark.name})
        return redirect("board", invitation.benchmark.key)
    if request.method == "POST":
        try:
            accepted = accept_invitation(invitation, signed_in(request))
        except PeopleError as error:
            raise DeadLinkError(str(error)) from error
        messages.success(request, role_text(accepted.role, invitation.benchmark.name))
        return redirect("board", invitation.benchmark.key)
    if not request.user.is_authenticated:
        remember_invitation(request, secret)
    return render(request, "accounts/join.html", {"invitation": invitation, "name": invitation.benchmark.name})


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
        **audit_page(benchmark, query, request.GET.get("before", "")),
    }
    return render(request, "access/manage_audit.html", context)


@login_required
@require_safe
def manage_audit_csv(request: HttpRequest, key: str) -> StreamingHttpResponse:
    """The same as a table, sent while it is read."""
    benchmark = administered_benchmark(request.user, key)
    parts = audit_csv(benchmark, AuditQuery.read(request.GET))
    response = StreamingHttpResponse(parts, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{benchmark.key}-audit.csv"'
    return response
