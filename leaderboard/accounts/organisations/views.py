"""Pages of organisations: the list of a person, the public page, the owner's page, joining and leaving."""

import secrets

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.accounts.organisations.forms import DescriptionForm, FoundingForm
from leaderboard.accounts.organisations.founding import (
    OrganisationError,
    delete_organisation,
    describe_organisation,
    found_organisation,
    move_in,
    take_out,
)
from leaderboard.accounts.organisations.members import (
    NOTHING_NEW,
    change_member,
    find_organisation_invitation,
    gives_nothing_new,
    invite_to_organisation,
    join_organisation,
    open_invitations_of,
    organisation_joined_by,
    revoke_organisation_invitation,
    solely_owned_organisations,
)
from leaderboard.accounts.organisations.queries import (
    change_lines,
    managed_organisation,
    members_of_organisation,
    organisation_page,
    organisations_of,
    own_benchmarks,
    owners_once_out,
)
from leaderboard.accounts.organisations.roles import role_text
from leaderboard.accounts.sign_up import opened_invitation, remember_invitation
from leaderboard.common.form_fields import take_errors
from leaderboard.common.limits import (
    TooManyAttemptsError,
    too_many_attempts,
)
from leaderboard.common.requests import DeadLinkError, signed_in
from leaderboard.common.text import whole_number
from leaderboard.models import Organisation, OrganisationMember, User

DONE = {
    "describe": gettext_noop("Saved."),
    "revoke": gettext_noop("The invitation is revoked; its link no longer works."),
    "delete": gettext_noop("The organisation was deleted."),
    "move_in": gettext_noop("The benchmark now belongs to the organisation."),
    "take_out": gettext_noop("You now own the benchmark yourself; roles through the organisation ended."),
}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def organisations(request: HttpRequest) -> HttpResponse:
    """One's organisations, and a form to found another."""
    user = signed_in(request)
    form = FoundingForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            organisation = found_organisation(user, **form.cleaned_data)
        except ValidationError as error:
            take_errors(form, error)
        except OrganisationError as error:
            form.add_error(None, str(error))
        else:
            return redirect("manage_organisation", organisation.key)
    context = {"memberships": organisations_of(user), "form": form}
    return render(request, "organisations/organisations.html", context, status=400 if form.is_bound else 200)


@never_cache
@require_safe
def organisation(request: HttpRequest, organisation_key: str) -> HttpResponse:
    """What an organisation says of itself, and its benchmarks; to its members, who they are."""
    page = organisation_page(request.user, organisation_key)
    return render(request, "organisations/organisation.html", {"page": page})


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage_organisation(request: HttpRequest, organisation_key: str) -> HttpResponse:
    """Description, people, invitations, benchmarks and changes. A fresh invitation's link is shown once."""
    managed = managed_organisation(request.user, organisation_key)
    user, action, link = signed_in(request), request.POST.get("action", ""), ""
    form = DescriptionForm(
        request.POST if action == "describe" else None,
        initial={"name": managed.name, "description": managed.description, "url": managed.url},
    )
    if request.method == "POST" and not (form.is_bound and not form.is_valid()):
        try:
            if action == "invite":
                role, once = request.POST.get("role", ""), request.POST.get("once", "")
                secret = invite_to_organisation(managed, author=user, role=role, once=once)
                link = request.build_absolute_uri(reverse("join_organisation", args=[secret]))
            elif action in ("change", "remove"):
                return change_person(request, managed, action)
            elif action in DONE:
                _take_step(request, managed, action, form)
                messages.success(request, gettext(DONE[action]))
                if action == "delete":
                    return redirect("organisations")
        except ValidationError as error:
            take_errors(form, error)
        except OrganisationError as error:
            messages.error(request, str(error))
        if not link and not form.errors:
            return redirect("manage_organisation", organisation_key)
    context = {
        "organisation": managed,
        "form": form,
        "members": members_of_organisation(managed),
        "roles": OrganisationMember.Role.choices,
        "once": secrets.token_urlsafe(12),
        "invitations": open_invitations_of(managed),
        "benchmarks": owners_once_out(managed, user),
        "own_benchmarks": own_benchmarks(user),
        "changes": change_lines(managed, user),
        "link": link,
    }
    return render(request, "organisations/manage_organisation.html", context, status=400 if form.errors else 200)


def _take_step(request: HttpRequest, managed: Organisation, action: str, form: DescriptionForm) -> None:
    """Do what a button of the owner's page says.

    Raises:
        OrganisationError: it cannot be done now.
        ValidationError: the description is not as it must be.
    """
    user = signed_in(request)
    if action == "describe":
        describe_organisation(managed, author=user, **form.cleaned_data)
    elif action == "revoke":
        revoke_organisation_invitation(managed, whole_number(request.POST.get("invitation", "")) or 0, author=user)
    elif action == "move_in":
        move_in(get_object_or_404(own_benchmarks(user), key=request.POST.get("benchmark", "")), managed, author=user)
    elif action == "delete":
        if request.POST.get("key", "").strip() != managed.key:
            problem = gettext("Nothing was deleted: type the key of the organisation, %(key)s.")
            raise OrganisationError(problem % {"key": managed.key})
        delete_organisation(managed, author=user)
    else:
        take_out(get_object_or_404(managed.benchmarks, key=request.POST.get("benchmark", "")), author=user)


def change_person(request: HttpRequest, managed: Organisation, action: str) -> HttpResponse:
    """Give a member another role, or none. Owners who give up their own are asked first, and led to the public page.

    Raises:
        OrganisationError: it cannot be done now.
    """
    user, member = signed_in(request), get_object_or_404(User, pk=whole_number(request.POST.get("user", "")) or 0)
    role = request.POST.get("role", "") if action == "change" else ""
    if action == "change" and not role:
        raise OrganisationError(gettext("Choose a role."))
    if member == user and not role:
        return leave_organisation(request, managed.key)
    gives_up = member == user and role == OrganisationMember.Role.MEMBER
    if gives_up and _asks_first(request, managed):
        url = reverse("manage_organisation", args=[managed.key])
        context = {"name": managed.name, "organisation": managed, "role": role, "url": url}
        return render(request, "organisations/give_up.html", context)
    change_member(managed, member, author=user, role=role)
    if gives_up:
        messages.success(request, role_text(role, managed.name))
        return redirect("organisation", managed.key)
    done = gettext("Changed.")
    if not role:
        done = gettext("The member was removed, and has no role on its benchmarks through the organisation.")
    messages.success(request, done)
    return redirect("manage_organisation", managed.key)


def _asks_first(request: HttpRequest, organisation: Organisation) -> bool:
    """Whether to ask someone if they are sure to give up their role; who cannot is told so at once."""
    alone = solely_owned_organisations(signed_in(request))
    return "is_sure" not in request.POST and not alone.filter(pk=organisation.pk).exists()


@login_required
@require_POST
def leave_organisation(request: HttpRequest, organisation_key: str) -> HttpResponse:
    """Leave an organisation, and the roles that it gives; asked first."""
    page, user = organisation_page(request.user, organisation_key), signed_in(request)
    if not page.role:
        raise Http404(gettext("You are no member of this organisation."))
    if _asks_first(request, page.organisation):
        url, name = reverse("leave_organisation", args=[organisation_key]), page.organisation.name
        context = {"name": name, "organisation": page.organisation, "role": "", "url": url}
        return render(request, "organisations/give_up.html", context)
    try:
        change_member(page.organisation, user, author=user, role="")
    except OrganisationError as error:
        messages.error(request, str(error))
        return redirect("organisation", organisation_key)
    messages.success(request, gettext("You left %(organisation)s.") % {"organisation": page.organisation.name})
    return redirect("organisations")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_organisation_page(request: HttpRequest, secret: str) -> HttpResponse:
    """An invitation, for anyone who has its link; to take it, they sign in. Links that lead to none are counted."""
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(request.path)
    if isinstance(request.user, User) and (joined := organisation_joined_by(secret, request.user)):
        return redirect("organisation", joined.key)
    try:
        invitation = opened_invitation(request, secret, find_organisation_invitation)
    except TooManyAttemptsError as error:
        return too_many_attempts(request, error)
    if isinstance(request.user, User) and gives_nothing_new(invitation, request.user):
        messages.info(request, gettext(NOTHING_NEW) % {"name": invitation.organisation.name})
        return redirect("organisation", invitation.organisation.key)
    if request.method == "POST":
        try:
            join_organisation(invitation, signed_in(request))
        except OrganisationError as error:
            raise DeadLinkError(str(error)) from error
        messages.success(
            request, gettext("You joined %(organisation)s.") % {"organisation": invitation.organisation.name}
        )
        return redirect("organisation", invitation.organisation.key)
    if not request.user.is_authenticated:
        remember_invitation(request, secret)
    return render(request, "organisations/join.html", {"invitation": invitation, "name": invitation.organisation.name})
