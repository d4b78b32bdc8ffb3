"""The second factor: its secrets are kept encrypted, and its picture is one of the site's own addresses."""

import base64
import hashlib
import secrets
from typing import ClassVar

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    SECRET_SESSION_KEY,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from leaderboard.models import User

STEPS_AHEAD = 10  # of half a minute each, so many more than any right clock is ahead


class SecondFactorAdapter(DefaultMFAAdapter):
    """Encrypts what the database keeps, so that a copy of it opens no account, nor does the Django admin."""

    error_messages: ClassVar = DefaultMFAAdapter.error_messages | {
        "unverified_email": gettext_lazy(
            "Confirm or remove every email address that is not confirmed; then you can set up a second factor."
        ),
        "add_email_blocked": gettext_lazy("While the second factor is on, you cannot add an email address."),
    }

    def encrypt(self, text: str) -> str:
        """The text as it is stored."""
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """The text again. One that another secret key encrypted fits no code: its owner needs a new second factor."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()


def _cipher() -> Fernet:
    key = hashlib.sha256(b"plurank.second-factor" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def use_code(authenticator: Authenticator, code: str) -> bool:
    """Mark a code of an authenticator app as used, and with it every earlier one, by one conditional UPDATE.

    Args:
        authenticator: of the app, which has found the code right.
        code: as it was typed.

    Returns:
        Whether this or a later one was not used before.
    """
    secret = SecondFactorAdapter().decrypt(authenticator.data["secret"])
    steps = list(yield_hotp_counters_from_time())
    fitting = [
        step
        for step in [min(steps) - 1, *steps]  # the half minute may have ended since the code was checked
        if compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step)))
    ]
    step = max(fitting, default=max(steps))
    # One far ahead was used under a clock that was wrong: codes of a right clock must not be refused until then.
    is_later = Q(last_code_step__lt=step) | Q(last_code_step__gt=step + STEPS_AHEAD)
    users = User.objects.filter(is_later, pk=authenticator.user_id)
    return users.update(last_code_step=step) > 0


def pending_picture(request: HttpRequest, user: User) -> str | None:
    """The picture to scan of the secret that this session is about to activate, as SVG; None where there is none."""
    secret = request.session.get(SECRET_SESSION_KEY)
    if not secret:
        return None
    adapter = SecondFactorAdapter()
    return adapter.build_totp_svg(adapter.build_totp_url(user, secret))
