"""A sign-in that waits for its next step, such as a code of the second factor.

It waits in a session that belongs to no account yet, so that ending the sessions of an account does not end it. It
keeps what such a session would have to know, and is given up once that is no longer true.
"""

from typing import Any

from allauth.account.models import Login
from allauth.account.stages import LoginStage
from allauth.core.internal.httpkit import headed_redirect_response
from django.contrib import messages
from django.http import HttpResponse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy

KNOWN = "session_hash"
OUTDATED = gettext_lazy(
    "The password was changed, or all sessions of the account were ended, after this sign-in began. Sign in again."
)


class FirstStage(LoginStage):
    """Before every other step: keeps what a session of the account must know at this moment."""

    key = "plurank_first"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Go on."""
        if self.login.user is not None:  # None where an account is only feigned
            self.state[KNOWN] = self.login.user.get_session_auth_hash()
        return None, True


class LastStage(LoginStage):
    """After every other step, whatever that was."""

    key = "plurank_last"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Go on, or lead back to the first page of signing in."""
        if not is_outdated(self.login):
            return None, True
        messages.error(self.request, str(OUTDATED))
        return headed_redirect_response("account_login"), False


def is_outdated(login: Login) -> bool:
    """Whether the account was closed, or its password changed or its sessions ended, since a sign-in began."""
    user: Any = login.user
    stages = login.state.get("stages", {})
    known = stages.get(FirstStage.key, {}).get("data", {}).get(KNOWN, "")
    valid = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()] if user and user.is_active else []
    return not any(constant_time_compare(known, each) for each in valid)
