"""The second factor: its secrets are kept encrypted, and its picture is one of the site's own addresses."""

import base64
import hashlib
import secrets

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.http import HttpRequest

from leaderboard.models import User


class SecondFactorAdapter(DefaultMFAAdapter):
    """Encrypts what the database keeps, so that a copy of it opens no account, nor does the Django admin."""

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


def pending_picture(request: HttpRequest, user: User) -> str | None:
    """The picture to scan of the secret that this session is about to activate, as SVG; None where there is none."""
    secret = request.session.get(SECRET_SESSION_KEY)
    if not secret:
        return None
    adapter = SecondFactorAdapter()
    return adapter.build_totp_svg(adapter.build_totp_url(user, secret))
