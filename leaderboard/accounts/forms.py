"""Forms of signing in: what allauth's ask, with this site's limits."""

from typing import Any, ClassVar

from allauth.account.adapter import get_adapter
from allauth.account.forms import (
    AddEmailForm,
    ChangePasswordForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
    SignupForm,
)
from allauth.account.internal.flows.signup import prevent_enumeration
from allauth.account.internal.stagekit import unstash_login
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.socialaccount.forms import SignupForm as OtherSiteSignupForm
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.forms import BooleanField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from leaderboard.accounts.address_proof import is_own_address, note_proof_by_reset
from leaderboard.accounts.display_names import display_name_problem
from leaderboard.accounts.further_addresses import is_taken, links_replaced, send_link
from leaderboard.accounts.known_devices import counted_account
from leaderboard.accounts.orcid import is_orcid
from leaderboard.accounts.pending_sign_in import OUTDATED, is_outdated
from leaderboard.accounts.second_factor import use_code
from leaderboard.accounts.tokens import LIFETIMES, revoke_all_tokens
from leaderboard.common.form_fields import LineFormField
from leaderboard.common.limits import TooManyAttemptsError, attempt, client_address, take_attempt
from leaderboard.common.locks import user_lock
from leaderboard.models import ApiToken, User


class _OfOneAddress(forms.Form):
    """A form of sign-up: an address that others merely added to their accounts is free."""

    def validate_unique_email(self, value: str) -> str:
        """The address; allauth would count each account that has it in its list."""
        if is_taken(value):
            return str(super().validate_unique_email(value))  # type: ignore[misc]
        return str(get_adapter().validate_unique_email(value))

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Make the account, or answer as where there was one already: a form that is sent twice comes twice at once."""
        try:
            result: tuple[User | None, HttpResponse | None] = super().try_save(request)  # type: ignore[misc]
        except IntegrityError:
            email = self.cleaned_data["email"]
            if not is_taken(email):
                raise
            if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":
                return None, prevent_enumeration(request, email=email)
            messages.error(request, get_adapter().validation_error("email_taken").message)
            return None, redirect("account_login")
        return result

    def save(self, request: HttpRequest) -> User:
        """Make the account.

        Raises:
            IntegrityError: someone else has the address since a moment ago.
        """
        login, email = getattr(self, "sociallogin", None), self.cleaned_data["email"]
        checked = [address.email for address in login.email_addresses if address.verified] if login else []
        with links_replaced([email, *checked]):
            if is_taken(email):
                raise IntegrityError
            user: User = super().save(request)  # type: ignore[misc]
        return user


class NewAccountForm(_OfOneAddress, SignupForm):
    """A new account with a password."""

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """As of every sign-up, in the time that making an account takes, whether or not its owner is mailed again."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])  # nearly all of that time
        return super().try_save(request)


class OtherSiteForm(_OfOneAddress, OtherSiteSignupForm):
    """A new account for who comes from another site."""


class AddAddressForm(AddEmailForm):
    """A further address."""

    def save(self, request: HttpRequest) -> EmailAddress:
        """Keep it, and mail the link that confirms it."""
        address: EmailAddress = EmailAddress.objects.add_email(request, self.user, self.cleaned_data["email"])
        send_link(request, address)
        return address


class ResetForm(ResetPasswordForm):
    """Asks for a link to a new password: some an hour for one address of mail, and from one computer."""

    def clean_email(self) -> str:
        """Count the request, whether or not there is such an account."""
        email = str(super().clean_email())
        by_address: list[User] = self.users  # type: ignore[has-type]  # allauth is untyped
        self.users = [user for user in by_address if is_own_address(user, email)]
        try:
            take_attempt("reset", account=email, address=client_address(context.request))
        except TooManyAttemptsError as error:
            raise ValidationError(str(error), code="rate_limited") from error
        return email


NEW_PASSWORD = {"password1": gettext_lazy("New password"), "password2": gettext_lazy("New password, again")}


def _label_fields(form: forms.Form, labels: dict[str, Any]) -> None:
    """Give fields of allauth other labels, which then are in no field as a placeholder, too."""
    for name, label in labels.items():
        form.fields[name].label = label
        form.fields[name].widget.attrs.pop("placeholder", None)


class NewPasswordForm(ResetPasswordKeyForm):
    """A new password by the link of a mail."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """As allauth's, with labels as this site writes them."""
        super().__init__(*args, **kwargs)
        _label_fields(self, NEW_PASSWORD)

    def save(self) -> None:
        """Keep it. Anyone who signed up with an address that is not theirs, or stole a session, is left no way in."""
        super().save()
        note_proof_by_reset(self.user)
        revoke_all_tokens(self.user)


class ChangeForm(ChangePasswordForm):
    """A new password, by who knows the old one."""

    revokes_tokens = BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Revoke my API tokens"),
        help_text=gettext_lazy(
            "Leave this selected if someone else may know the old password. Programs then need new tokens."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """As allauth's, with labels as this site writes them."""
        super().__init__(*args, **kwargs)
        _label_fields(self, {"oldpassword": gettext_lazy("Current password")} | NEW_PASSWORD)

    def clean_oldpassword(self) -> str:
        """Count a wrong one with those of signing in."""
        request = context.request
        account = counted_account(request, self.user.email.lower())
        try:
            with attempt("login", account=account, address=client_address(request)):
                return str(super().clean_oldpassword())
        except TooManyAttemptsError as error:
            raise ValidationError(str(error), code="rate_limited") from error

    def save(self) -> None:
        """Keep it; sessions elsewhere end, and the tokens where that is ticked."""
        super().save()
        if self.cleaned_data["revokes_tokens"]:
            revoke_all_tokens(self.user)


class _CountedCode:
    """A form with a code, of which few may be wrong."""

    def clean_code(self) -> str:
        """Count the code, unless it is right."""
        user = str(self.user.pk)  # type: ignore[attr-defined]
        try:
            with attempt("code", account=user, address=client_address(context.request)), user_lock(self.user):  # type: ignore[attr-defined]
                return self.checked_code()
        except TooManyAttemptsError as error:
            raise ValidationError(str(error), code="rate_limited") from error

    def checked_code(self) -> str:
        """The code, which fits the account."""
        return str(super().clean_code())  # type: ignore[misc]


class _UsedOnce(_CountedCode):
    """A form with a code that no other form, of whatever process, takes again."""

    def checked_code(self) -> str:
        """The code, marked as used in the database: the cache, where allauth marks it, may be each process's own."""
        code = super().checked_code()
        authenticator: Authenticator = self.authenticator  # type: ignore[attr-defined]
        if authenticator.type == Authenticator.Type.TOTP and not use_code(authenticator, code):
            raise ValidationError(gettext("This code was already used; wait for the next one."), code="incorrect_code")
        return code


class CodeForm(_UsedOnce, AuthenticateForm):
    """The second step of signing in."""

    def clean_code(self) -> str:
        """Use up no code for a sign-in that cannot go on."""
        login = unstash_login(context.request, peek=True)
        if login is None or is_outdated(login):
            raise ValidationError(str(OUTDATED), code="outdated")
        return super().clean_code()


class CodeAgainForm(_UsedOnce, ReauthenticateForm):
    """Confirms by a code that it is still the same person."""


class ActivateForm(_CountedCode, ActivateTOTPForm):
    """The first code of a new authenticator app."""


class TokenForm(forms.Form):
    """What a new API token is called and may do, and how long."""

    name = LineFormField(
        max_length=80,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("What you use it for, or where it is stored."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        choices=[
            (ApiToken.Scope.READ, gettext_lazy("read everything you can see")),
            (ApiToken.Scope.SUBMIT, gettext_lazy("submit scores")),
            (
                ApiToken.Scope.MANAGE,
                gettext_lazy("host: decide on submissions, change your benchmarks, create benchmarks"),
            ),
            (ApiToken.Scope.EVALUATE, gettext_lazy("fetch predictions of your benchmarks, and report their scores")),
        ],
        initial=[ApiToken.Scope.READ],
        label=gettext_lazy("Scopes"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one.")},
    )
    days = forms.TypedChoiceField(
        choices=[(days, format_lazy(gettext_lazy("{days} days"), days=days)) for days in LIFETIMES],
        initial=LIFETIMES[1],
        coerce=int,
        label=gettext_lazy("Expires after"),
    )


class ProfileForm(forms.ModelForm):
    """By what name others see a person, and what they say of themselves to those who decide on their submissions."""

    display_name = LineFormField(
        max_length=80,
        required=False,
        label=gettext_lazy("Display name"),
        help_text=gettext_lazy("A new name is shown beside what you submitted and decided before, too."),
        widget=forms.TextInput(attrs={"autocomplete": "nickname"}),
    )

    class Meta:
        model = User
        fields = ("display_name", "organisation", "orcid")
        labels: ClassVar[dict[str, str]] = {"orcid": "ORCID iD"}
        help_texts: ClassVar[dict[str, Any]] = {"orcid": gettext_lazy("For example 0000-0002-1825-0097.")}

    def clean_display_name(self) -> str:
        """A name that a new account could have, or the one that the person has."""
        name = str(self.cleaned_data["display_name"])
        if name != self.initial["display_name"] and (problem := display_name_problem(name, self.instance)):
            raise ValidationError(problem)
        return name

    def clean_orcid(self) -> str:
        """An iD whose check digit fits."""
        orcid = str(self.cleaned_data["orcid"])
        if orcid and not is_orcid(orcid):
            raise ValidationError(
                gettext("This is not an ORCID iD: it has 16 digits, and the last one checks the others.")
            )
        return orcid


class CloseForm(forms.Form):
    """That an account is to be closed."""

    is_sure = forms.BooleanField(
        label=gettext_lazy("I understand that this cannot be undone."),
        error_messages={"required": gettext_lazy("Select this to continue.")},
    )
