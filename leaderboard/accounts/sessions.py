"""Where someone is signed in, and how they end that."""

import json
from dataclasses import dataclass
from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY, update_session_auth_hash
from django.contrib.sessions.models import Session
from django.db.models import F
from django.http import HttpRequest
from django.utils.translation import gettext

from leaderboard.models import User


@dataclass(frozen=True)
class SessionRow:
    """One browser that is signed in."""

    number: int
    browser: str
    address: str
    since: datetime
    is_current: bool


BROWSERS = ("Firefox", "Edg", "OPR", "Chrome", "Safari", "curl", "python")
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")
SHOWN_NAMES = {"Edg": "Edge", "OPR": "Opera", "Mac OS X": "macOS", "python": "Python"}


def sessions_of(request: HttpRequest, user: User) -> list[SessionRow]:
    """The user's sessions that still open something, newest first."""
    rows = UserSession.objects.purge_and_list(user)
    return [
        SessionRow(
            number=row.pk,
            browser=browser_name(row.user_agent),
            address=row.ip,
            since=row.created_at,
            is_current=row.session_key == request.session.session_key,
        )
        for row in sorted(rows, key=lambda row: row.created_at, reverse=True)
    ]


def browser_name(user_agent: str) -> str:
    """A browser in words: the first name of each list that is in what it says of itself."""
    parts = [next((name for name in names if name in user_agent), "") for names in (BROWSERS, SYSTEMS)]
    named = [SHOWN_NAMES.get(name, name) for name in parts if name]
    if not named:
        return gettext("an unknown browser")
    if len(named) == 1:
        return named[0]
    return gettext("%(browser)s on %(system)s") % {"browser": named[0], "system": named[1]}


def end_session(user: User, number: int) -> bool:
    """End one of the user's sessions. Returns whether there was one."""
    row = UserSession.objects.filter(user=user, pk=number).first()
    if row is not None:
        row.end()
    return row is not None


def end_other_sessions(request: HttpRequest, user: User) -> None:
    """End every session of the user but this one, those that no list knows of among them."""
    User.objects.filter(pk=user.pk).update(session_generation=F("session_generation") + 1)
    user.refresh_from_db()
    for row in UserSession.objects.filter(user=user).exclude(session_key=request.session.session_key):
        row.end()
    update_session_auth_hash(request, user)
    UserSession.objects.create_from_request(request)


def end_all_sessions(user: User) -> None:
    """End every session of a user."""
    User.objects.filter(pk=user.pk).update(session_generation=F("session_generation") + 1)
    for row in UserSession.objects.filter(user=user):
        row.end()


def forget_sessions(user: User) -> int:
    """Delete every stored session that belongs to a user or names one of their addresses, ended ones among them.

    What someone typed to sign in or to sign up stays in the session of their browser, signed in or not, until that
    runs out. Sessions are stored packed, so each of them is read.

    Returns:
        How many there were.
    """
    emails = {user.email, *EmailAddress.objects.filter(user=user).values_list("email", flat=True)}
    addresses = [email.casefold() for email in emails]
    theirs = []
    for row in Session.objects.iterator(chunk_size=1000):
        content = row.get_decoded()
        text = json.dumps(content, default=str, ensure_ascii=False).casefold()
        if content.get(SESSION_KEY) == str(user.pk) or any(address in text for address in addresses):
            theirs.append(row.pk)
    UserSession.objects.filter(user=user).delete()
    return Session.objects.filter(pk__in=theirs).delete()[0]
