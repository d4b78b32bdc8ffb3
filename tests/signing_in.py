"""Browsers that are signed in, in the states that a test needs."""

import time

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.account.models import EmailAddress
from django.conf import settings
from django.test import Client

from leaderboard.models import User


def signed_in(user: User) -> Client:
    """A browser with a session whose password was typed long ago."""
    client = Client()
    client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def confirm_password(client: Client, user: User, *, seconds_ago: float = 0.0) -> Client:
    """The browser, with a session whose user typed the password again so long ago."""
    session = client.session
    record = {"method": "password", "at": time.time() - seconds_ago, "reauthenticated": True}
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [record]
    session[f"{AUTHENTICATION_METHODS_SESSION_KEY}_user"] = str(user.pk)
    session.save()
    return client


def prove_address(user: User) -> User:
    """The user, who has answered the mail to their address."""
    EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    return user
