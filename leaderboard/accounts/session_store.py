"""Django's sessions in the database, found with a query that is compiled once: all pages for those signed in ask it."""

from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.models import Session
from django.utils import timezone

from leaderboard.common.prepared import PreparedQuery

_KEY = "?"  # in the place of the key of a session
_SESSIONS = PreparedQuery(lambda: Session.objects.filter(session_key=_KEY))


class SessionStore(DatabaseSessions):
    """Django's own, of the same name, since what is stored is signed with it."""

    def _get_session_from_db(self) -> Session | None:
        session = _SESSIONS.first({_KEY: self.session_key})
        if session is not None and session.expire_date > timezone.now():
            return session
        self._session_key = None
        return None
