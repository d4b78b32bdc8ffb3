"""How accounts come into being, how people sign in to them, and what mails they get about them."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import unstash_login
from allauth.account.models import EmailAddress
from allauth.core import context
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sites.requests import RequestSite
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy

from leaderboard.accounts import sign_up
from leaderboard.accounts.address_proof import clear_before_proof, has_proven_address, is_own_address
from leaderboard.accounts.further_addresses import is_taken, lock_waiting
from leaderboard.accounts.known_devices import counted_account, remember_device
from leaderboard.accounts.pending_sign_in import FirstStage, LastStage, is_outdated
from leaderboard.common.limits import (
    TooManyAttemptsError,
    client_address,
    forget_attempts,
    give_back_attempt,
    take_attempt,
)
from leaderboard.common.moments import moment_in_words
from leaderboard.common.site_address import site_address
from leaderboard.models import User
from leaderboard.notifications.outbox import put_mail

USED_BEFORE = gettext_lazy(
    "Someone was signed in to this account before its email address was confirmed. In case that was not you, all "
    "sessions were ended and the password was reset. Choose a new one with “Forgot your password?”."
)
NO_WAY_IN = gettext_lazy(
    "To sign in, set a password with “Forgot your password?”. Then you can link your account at the other site again: "
    "the link was opened in another browser than the one in which you signed up, or long after."
)

UNKNOWN_ACCOUNT = "account/email/unknown_account"
PASSWORD_CHANGED, BY_LINK = "account/messages/password_changed.txt", "account_reset_password_from_key"


class AccountAdapter(DefaultAccountAdapter):
    """Keeps the display name that the sign-up form asked for, counts wrong passwords, mails by the outbox."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether this visitor may sign up."""
        return sign_up.is_open(request)

    def clean_email(self, email: str) -> str:
        """Refuse an address of a domain from which the site takes no accounts."""
        sign_up.require_domain(email)
        return str(super().clean_email(email))

    def save_user(self, request: HttpRequest, user: User, form: object, commit: bool = True) -> User:
        """Store the new user with their email in lower case."""
        user = super().save_user(request, user, form, commit=False)
        user.email = user.email.lower()
        user.display_name = getattr(form, "cleaned_data", {}).get("display_name", "")
        if commit:
            user.save()
        return user

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Note that an address is its account's. The first time nothing stays of what was set up before.

        Who confirms it where they are signed in to the account, or just began to, knows its password, or came from the
        other site that opens it, and reads its mail: they are one.
        """
        user = email_address.user
        login = unstash_login(request, peek=True)
        began_here = None if login is None or is_outdated(login) else login.user.pk
        with transaction.atomic():
            if not lock_waiting(email_address):
                raise Http404  # removed in this moment, as by someone who signed up with it: the link is dead
            is_first = email_address.email == user.email.lower() and not has_proven_address(user)
            is_confirmed = bool(super().confirm_email(request, email_address))
            if is_confirmed and is_first:  # where staff corrected the address, the wrong one was primary until now
                email_address.set_as_primary()
            if is_confirmed and is_first and user.pk not in {request.user.pk, began_here}:
                clear_before_proof(user)
                if user.last_login is not None:  # someone has used it, and knows the password that it has
                    user.set_unusable_password()
                    user.save(update_fields=["password"])
                    messages.warning(request, str(USED_BEFORE))
                elif not user.has_usable_password():
                    messages.warning(request, str(NO_WAY_IN))
        return is_confirmed

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address that asks, as every limit of this site sees it."""
        try:
            return str(ipaddress.ip_address(client_address(request)))
        except ValueError:  # a socket without an address, or a proxy that writes something else
            return "0.0.0.0"  # noqa: S104 -- not bound to; the field takes addresses alone

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *parts: Any,  # noqa: ANN401
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Show a message, except that a password was changed by the link of a mail: the page after that says so."""
        match = request.resolver_match
        is_said = message_template == PASSWORD_CHANGED and match is not None and match.url_name == BY_LINK
        if not is_said:
            super().add_message(request, level, message_template, *parts, **more)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:  # noqa: ANN401
        """Count the attempt before the password is looked at.

        Raises:
            ValidationError: this account, or this address, has to wait; it says until when.
        """
        try:
            take_attempt("login", **self._who(request, credentials))
        except TooManyAttemptsError as error:
            raise ValidationError(str(error), code="too_many_login_attempts") from error

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:  # noqa: ANN401
        """Find whose password this is; only a wrong one counts."""
        user = super().authenticate(request, **credentials)
        if user and not is_own_address(user, str(credentials.get("email", user.email))):
            return None  # they typed one that may be someone else's
        if user:
            give_back_attempt("login", **self._who(request, credentials))
        return user

    def reauthenticate(self, user: User, password: str) -> bool:
        """Whether this is the password of who is signed in.

        It is tried with the address that they sign in by. allauth takes the row that is marked as primary, which is
        another one where staff corrected the address of the account.
        """
        return self.authenticate(context.request, email=user.email, password=password) == user

    def get_login_stages(self) -> list[str]:
        """allauth's steps of a sign-in, between two of this site."""
        stages = f"{FirstStage.__module__}."
        return [stages + FirstStage.__name__, *super().get_login_stages(), stages + LastStage.__name__]

    def post_login(self, request: HttpRequest, user: User, **details: Any) -> HttpResponse:  # noqa: ANN401
        """Send people where they wanted to go, and remember their browser as one that the account is used with."""
        response: HttpResponse = super().post_login(request, user, **details)
        remember_device(request, response, user)
        return response

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:  # noqa: ANN401
        """After a password was reset by its link: anyone who reads the account's mail need not wait."""
        email = str(credentials.get("email", "")).lower()
        for account in {email, counted_account(request, email)}:
            forget_attempts("login", account=account)

    @staticmethod
    def _who(request: HttpRequest, credentials: dict[str, Any]) -> dict[str, str]:
        account = str(credentials.get("email", credentials.get("username", ""))).lower()
        return {"account": counted_account(request, account), "address": client_address(request)}

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Put a mail into the outbox: no page waits for a mail server, whether or not there is an account.

        Its links lead to the site's own address. That of the request says what anyone who asked has named, its port
        above
        all, and they may have asked for someone else's mail.
        """
        own = RequestSite(self.request)
        own.domain = own.name = urlsplit(settings.SITE_URL).netloc
        named = self.request.build_absolute_uri("/")
        links = {
            name: site_address(f"/{value.removeprefix(named)}")
            for name, value in context.items()
            if isinstance(value, str) and value.startswith(named)
        }
        about: dict[str, Any] = {"request": self.request, "email": email, "current_site": own}
        about["site"] = own.domain
        about["may_sign_up"] = sign_up.is_open(self.request)
        # Of an address for which no account that can be used was found.
        about["is_suspended"] = template_prefix == UNKNOWN_ACCOUNT and is_taken(email)
        about["reset_url"] = site_address(reverse("account_reset_password"))
        if moment := context.get("timestamp"):
            about["moment"] = moment_in_words(moment)
        about |= context | links
        message: EmailMessage = self.render_mail(template_prefix, email, about)
        put_mail(message.to[0], subject=str(message.subject), text=str(message.body))
