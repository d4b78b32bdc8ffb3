"""Who may make an account: everyone, people of some domains, people with an invitation, or no one."""

from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext

from leaderboard.accounts.organisations.members import find_organisation_invitation
from leaderboard.accounts.people import find_invitation
from leaderboard.common.limits import client_address, require_attempt_left, take_attempt
from leaderboard.common.requests import DeadLinkError, signed_in

Invited = TypeVar("Invited")

INVITATION = "invitation"  # the session's key for the secret of the invitation that its visitor opened


def remember_invitation(request: HttpRequest, secret: str) -> None:
    """Keep the invitation that a visitor without an account opened, for the sign-up that may follow."""
    if settings.SIGN_UP == "invitation":
        request.session[INVITATION] = secret


def opened_invitation(request: HttpRequest, secret: str, find: Callable[[str], Invited | None]) -> Invited:
    """The invitation that a link leads to. Links that lead to none are counted, so that no one tries many.

    Args:
        request: that opens the link.
        secret: of the link.
        find: returns the invitation of a secret, None where there is none.

    Raises:
        DeadLinkError: it leads to none.
        TooManyAttemptsError: they opened too many such links.
    """
    whose = {"address": client_address(request)}
    if request.user.is_authenticated:
        whose["account"] = str(signed_in(request).pk)
    require_attempt_left("join", **whose)
    invitation = find(secret)
    if invitation is None:
        take_attempt("join", **whose)
        raise DeadLinkError(
            gettext(
                "This link opens no invitation. It may be mistyped, was already used or revoked, or has expired, or "
                "the person who sent it is no longer an owner. Ask an owner for another one."
            )
        )
    return invitation


def is_open(request: HttpRequest) -> bool:
    """Whether this visitor may sign up; of their address `require_domain` decides."""
    if settings.SIGN_UP == "invitation":
        secret = request.session.get(INVITATION, "")
        return bool(secret) and (find_invitation(secret) or find_organisation_invitation(secret)) is not None
    return bool(settings.SIGN_UP != "closed")


def require_domain(email: str) -> None:
    """Refuse an address of another domain, where the site takes accounts of some domains only.

    Raises:
        ValidationError: the part behind the @ is none of `PLURANK_SIGN_UP_DOMAINS`. Their subdomains do not count.
    """
    if settings.SIGN_UP == "domains" and email.rpartition("@")[2].lower() not in settings.SIGN_UP_DOMAINS:
        domains = ", ".join(f"@{domain}" for domain in settings.SIGN_UP_DOMAINS)
        raise ValidationError(
            gettext("This site accepts only email addresses that end in %(domains)s.") % {"domains": domains},
            code="domain",
        )
