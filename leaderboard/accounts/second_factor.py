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
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from leaderboard.models import User

ENCRYPTED = {"secret", "seed", "migrated_codes"}  # of what allauth stores of a second factor and of recovery codes
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
        """The text again. One that an unknown key encrypted fits no code: its owner needs a new second factor."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()


def encrypt_again(row: Authenticator) -> bool:
    """Encrypt a second factor, or recovery codes, with the present secret key where a former one does now.

    Args:
        row: locked by the caller.

    Returns:
        Whether a former key encrypted it before.

    Raises:
        InvalidToken: no key of the settings did.
    """
    data = row.data | {name: _encrypted_now(row.data[name]) for name in ENCRYPTED & row.data.keys()}
    if data == row.data:
        return False
    row.data = data
    row.save(update_fields=["data"])
    return True


def _encrypted_now(stored: str | list[str]) -> str | list[str]:
    """What is stored, encrypted with the present key: the same where it is already."""
    if isinstance(stored, list):
        return [str(_encrypted_now(each)) for each in stored]
    try:
        _fernet(settings.SECRET_KEY).decrypt(stored.encode())
    except InvalidToken:
        return _cipher().rotate(stored.encode()).decode()
    return stored


def _cipher() -> MultiFernet:
    """The present secret key encrypts; former ones decrypt, too."""
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(secret_key: str) -> Fernet:
    key = hashlib.sha256(b"plurank.second-factor" + secret_key.encode()).digest()
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
