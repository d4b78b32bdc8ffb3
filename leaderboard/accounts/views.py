"""What differs from allauth's own pages of an account."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailAddress, EmailConfirmationMixin
from allauth.account.views import ConfirmEmailView, EmailView
from allauth.mfa.base.views import IndexView
from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.access.submitted_names import name_for_submitter
from leaderboard.accounts import closing
from leaderboard.accounts.address_proof import has_proven_address
from leaderboard.accounts.display_names import rename_in_log
from leaderboard.accounts.forms import CloseForm, ProfileForm, TokenForm
from leaderboard.accounts.further_addresses import UNCONFIRMED_DAYS, send_link, signs_in_by
from leaderboard.accounts.orcid import is_confirmed_orcid
from leaderboard.accounts.organisations.members import solely_owned_organisations
from leaderboard.accounts.own_data import own_data
from leaderboard.accounts.second_factor import pending_picture
from leaderboard.accounts.sessions import end_other_sessions, end_session, sessions_of
from leaderboard.accounts.tokens import TokenError, create_token, expires_soon, is_expired, revoke_token, tokens_of
from leaderboard.common.requests import signed_in
from leaderboard.common.text import in_words, shortened, whole_number
from leaderboard.models import ApiToken, Submission, User
from leaderboard.on_demand.allowance import may_ask

SHOWN_WAITING = 20  # submissions on the page that closes an account


class _Emails(EmailView):
    """Addresses to sign in by: one that another account signs in by cannot become this one's, and nothing breaks."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ANN401
        """Do what the form says, whole or not at all.

        Before the primary address is confirmed the account may be someone else's doing: then nothing but its mail is
        sent again.
        """
        user = signed_in(request)
        only_sends = "action_send" in request.POST and request.POST.get("email", "").lower() == user.email.lower()
        if not only_sends and not has_proven_address(user):
            messages.error(
                request,
                gettext("Confirm %(email)s first: follow the link in the email we sent there.") % {"email": user.email},
            )
            return redirect("account_email")
        try:
            with transaction.atomic():
                return super().post(request, *args, **kwargs)
        except IntegrityError:
            messages.error(
                request, gettext("This email address cannot be your primary one; another account uses it to sign in.")
            )
            return redirect("account_email")

    def _action_send(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        if address := self._get_email_address(request):
            send_link(request, address)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401
        """Of the page: whether a second factor keeps the account from further addresses."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        has_second_factor = is_mfa_enabled(signed_in(self.request))
        return context | {"has_second_factor": has_second_factor, "unconfirmed_days": UNCONFIRMED_DAYS}


class _SecondFactor(IndexView):
    """Whether there is a second factor, and what keeps one from setting it up."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401
        """Of the page: the addresses of the account that are not confirmed, all of which must be."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        addresses = EmailAddress.objects.filter(user=signed_in(self.request), verified=False).order_by("email")
        return context | {"unconfirmed": in_words(list(addresses.values_list("email", flat=True)))}


class _ConfirmEmail(ConfirmEmailView):
    """The link of a mail that confirms an address. Who is signed in to another account than the one that asked for the
    mail stays so, and confirms nothing: anyone can have such a mail sent to anyone.
    """

    def logout_other_user(self, confirmation: EmailConfirmationMixin) -> None:
        """End no session, neither by the link nor by the form."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ANN401
        """Confirm the address, unless for another account, or where it is open for which."""
        self.object = self.get_object()
        context = self.get_context_data()
        if context["is_for_another"] or context["must_sign_in"]:
            return self.render_to_response(context, status=403)
        response: HttpResponse = super().post(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401
        """Of the page: whether someone is signed in for whom the mail was not asked for, or must sign in first.

        Where another account signs in by the address, its owner may have opened the link in the wrong mail.
        """
        visitor, mail, is_for_another, must_sign_in = self.request.user, self.object, False, False
        if mail:
            asker = mail.email_address.user_id
            is_for_another = visitor.is_authenticated and asker != visitor.pk
            others = signs_in_by(mail.email_address.email).exclude(pk=asker)
            must_sign_in = not visitor.is_authenticated and others.exists()
        about = {"is_for_another": is_for_another, "must_sign_in": must_sign_in}
        context: dict[str, Any] = super().get_context_data(**about, **kwargs)
        return context


second_factor = _SecondFactor.as_view()
confirm_email = _ConfirmEmail.as_view()
emails = _Emails.as_view()  # for those who signed in, with allauth's own limits, as the class above has them


@login_required
@reauthentication_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def close_account(request: HttpRequest) -> HttpResponse:
    """What closing does, and doing it; asked for by the person who signed in a moment ago."""
    user = signed_in(request)
    form = CloseForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            closing.close_account(user)
        except closing.ClosingError as error:
            form.add_error(None, str(error))
        else:
            logout(request)
            messages.success(request, gettext("Your account is closed."))
            return redirect("home")
    to_hand_over, ends = closing.owned_alone(user)
    waiting = closing.undecided_submissions_of(user)
    context = {
        "form": form,
        "alone": to_hand_over,
        "organisations": solely_owned_organisations(user),
        "ends": ends,
        "requests": [_own_line(request.submission) for request in closing.open_requests_of(user)],
        "waiting": [_own_line(submission) for submission in waiting[:SHOWN_WAITING]],
        "n_more": max(0, waiting.count() - SHOWN_WAITING),
    }
    return render(request, "account/close.html", context, status=400 if form.errors else 200)


def _own_line(submission: Submission) -> dict[str, Any]:
    """What the page says of a submission of the user."""
    name = shortened(name_for_submitter(submission, submission.benchmark))
    return {"name": name, "batch": submission.batch, "benchmark": submission.benchmark}


@login_required
@reauthentication_required
@never_cache
@require_safe
def own_data_zip(request: HttpRequest) -> HttpResponse:
    """Everything that the site keeps about the person who signed in a moment ago."""
    if not may_ask(request):
        text = gettext("Too many downloads in a minute. Try again later.")
        return HttpResponse(text, status=429, content_type="text/plain; charset=utf-8")
    response = HttpResponse(own_data(signed_in(request)), content_type="application/zip")
    response["Content-Disposition"] = 'attachment; filename="plurank-data.zip"'
    return response


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    """By what name others see a person, and what owners and moderators read beside it."""
    user = signed_in(request)
    form = ProfileForm(request.POST if request.method == "POST" else None, instance=User.objects.get(pk=user.pk))
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            form.instance.save(update_fields=["display_name", "organisation", "orcid"])
            if form.instance.shown_name != user.shown_name:
                rename_in_log(user.shown_name, form.instance.shown_name)
        messages.success(request, gettext("Saved."))
        return redirect("profile")
    context = {"form": form, "is_confirmed": is_confirmed_orcid(user)}
    return render(request, "account/profile.html", context, status=400 if form.errors else 200)


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
            messages.success(request, gettext("You are signed out everywhere else."))
        elif (session := whole_number(number, 15)) is not None and end_session(user, session):
            messages.success(request, gettext("That browser is signed out."))
        else:
            messages.info(request, gettext("That browser is no longer signed in."))
        return redirect("sessions")
    return render(request, "account/sessions.html", {"sessions": sessions_of(request, user)})


@login_required
@never_cache
@require_safe
def second_factor_picture(request: HttpRequest) -> HttpResponse:
    """What to scan while a second factor is set up: of the secret in the user's session, and never kept."""
    picture = pending_picture(request, signed_in(request))
    if picture is None:
        raise Http404(gettext("No second factor is being set up here."))
    return HttpResponse(picture, content_type="image/svg+xml")


@login_required
@reauthentication_required(allow_get=True)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The tokens, and a form for another one. The answer to it is the only place where a secret is ever shown."""
    user = signed_in(request)
    form = TokenForm(request.POST or None)
    made: ApiToken | None = None
    secret, status = "", 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                made, secret = create_token(user, **form.cleaned_data)
            except TokenError as error:
                form.add_error(None, str(error))
            else:
                form, status = TokenForm(), 201
    rows = [
        {
            "name": token.name,
            "scopes": token.scopes,
            "expiry": token.expiry,
            "is_expired": is_expired(token),
            "expires_soon": expires_soon(token),
            "created": token.created,
            "last_used_at": token.last_used_at,
        }
        for token in tokens_of(user)
    ]
    route = "api:benchmarks" if made and ApiToken.Scope.READ in made.scopes else "api:me"  # which every token opens
    address = request.build_absolute_uri(reverse(route))
    context = {
        "tokens": rows,
        "form": form,
        "made": made,
        "secret": secret,
        "curl": f'curl -H "Authorization: Token {secret}" {address}' if secret else "",
    }
    return render(request, "account/tokens.html", context, status=status)


@login_required
@require_POST
def revoke(request: HttpRequest) -> HttpResponse:
    """Revoke one of the user's tokens."""
    name = request.POST.get("name", "")
    if revoke_token(signed_in(request), name):
        messages.success(request, gettext("The token “%(name)s” was revoked and no longer works.") % {"name": name})
    else:
        messages.info(request, gettext("You have no token of this name."))
    return redirect("tokens")
