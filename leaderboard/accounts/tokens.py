"""API tokens: made, found by their secret, revoked. Only hashes are stored."""

from collections.abc import Sequence
from datetime import timedelta
from hmac import compare_digest

from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from knox.crypto import hash_token
from knox.settings import CONSTANTS

from leaderboard.accounts.address_proof import has_proven_address
from leaderboard.common.language.sentences import Sentence
from leaderboard.common.locks import user_lock
from leaderboard.common.moments import moment_in_words
from leaderboard.common.prepared import PreparedQuery
from leaderboard.common.site_address import site_address
from leaderboard.models import ApiToken, NoticeKind, User
from leaderboard.notifications.notices import tell
from leaderboard.notifications.outbox import put_mail

LIFETIMES = (30, 90, 365)  # days
MAX_TOKENS = 50  # a user
SOON_DAYS = 7  # before it expires, its owner is warned
LAST_USE_SECONDS = 60  # the last use is noted at most so often


class TokenError(ValueError):
    """A token that cannot be made; the message says why, in words for its owner."""


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The user's tokens, newest first; expired ones stay until they are revoked."""
    return ApiToken.objects.filter(user=user).order_by("-created", "name")


def create_token(user: User, *, name: str, scopes: Sequence[str], days: int) -> tuple[ApiToken, str]:
    """Store a token, and mail its owner that there is one.

    Returns:
        The token's row, and its secret, which no one can read again.

    Raises:
        TokenError: the name is taken, a scope or the lifetime is none that there is, or there are too many tokens.
    """
    unknown = set(scopes) - set(ApiToken.Scope.values)
    if unknown or not scopes:
        raise TokenError(gettext("Choose from the scopes %(values)s.") % {"values": ", ".join(ApiToken.Scope.values)})
    if days not in LIFETIMES:
        raise TokenError(
            gettext("A token can be valid for %(lifetimes)s days.") % {"lifetimes": ", ".join(map(str, LIFETIMES))}
        )
    ordered = [scope for scope in ApiToken.Scope.values if scope in scopes]
    try:
        with user_lock(user):
            if ApiToken.objects.filter(user=user).count() >= MAX_TOKENS:
                raise TokenError(
                    gettext("You have %(max_tokens)s tokens; revoke one first.") % {"max_tokens": MAX_TOKENS}
                )
            token, secret = ApiToken.objects.create(user, expiry=timedelta(days=days), name=name, scopes=ordered)
            if has_proven_address(user):  # so that no one makes one behind their back
                pages = ("tokens", "account_change_password", "sessions")
                links = "\n".join(site_address(reverse(page)) for page in pages)
                facts = {
                    "token": token.name,
                    "scopes": ", ".join(token.scopes),
                    "expiry": moment_in_words(token.expiry),
                }
                paragraphs = [
                    gettext("Hello %(name)s,") % {"name": user.shown_name},
                    gettext(
                        "an API token was created for your account: “%(token)s”. Its scopes are %(scopes)s, and it "
                        "expires on %(expiry)s."
                    )
                    % facts,
                    gettext(
                        "If that was not you, someone else is signed in to your account. Revoke the token, change your "
                        "password, and sign out everywhere else:"
                    ),
                    f"{links}\n",
                ]
                put_mail(user.email, subject=gettext("[Plurank] A new API token"), text="\n\n".join(paragraphs))
            return token, secret
    except IntegrityError as error:
        raise TokenError(
            gettext("You already have a token of this name; revoke it, or choose another name.")
        ) from error


def revoke_token(user: User, name: str) -> bool:
    """Delete the user's token of this name. Returns whether there was one."""
    return ApiToken.objects.filter(user=user, name=name).delete()[0] > 0


def revoke_all_tokens(user: User) -> int:
    """Delete all tokens of a user, as when their password may have been known to someone else.

    Returns:
        How many there were.
    """
    return ApiToken.objects.filter(user=user).delete()[0]


_KEY = "?"  # in the place of how a secret begins
_TOKENS = PreparedQuery(lambda: ApiToken.objects.filter(token_key=_KEY).select_related("user"))


def find_token(secret: str) -> ApiToken | None:
    """The token of this secret, with its user, expired or not."""
    digest = hash_token(secret)
    rows = _TOKENS.rows({_KEY: secret[: CONSTANTS.TOKEN_KEY_LENGTH]})
    return next((row for row in rows if compare_digest(digest, row.digest)), None)


def is_expired(token: ApiToken) -> bool:
    """Whether the token's time is over."""
    return token.expiry is not None and token.expiry <= timezone.now()


def expires_soon(token: ApiToken) -> bool:
    """Whether its owner should make another one."""
    soon = timezone.now() + timedelta(days=SOON_DAYS)
    return token.expiry is not None and token.expiry <= soon and not is_expired(token)


def note_use(token: ApiToken) -> None:
    """Note that the token was used, unless that was noted within the last minute."""
    now = timezone.now()
    stale = now - timedelta(seconds=LAST_USE_SECONDS)
    if token.last_used_at is None or token.last_used_at < stale:
        rows = ApiToken.objects.filter(pk=token.pk)
        rows.filter(Q(last_used_at=None) | Q(last_used_at__lt=stale)).update(last_used_at=now)


WARN_DAYS = (SOON_DAYS, 1)


def tell_of_expiring_tokens() -> int:
    """Warn the owners of tokens that expire soon, each once a week before and once a day before.

    Returns:
        How many warnings were written at most.
    """
    now = timezone.now()
    soon = ApiToken.objects.filter(expiry__gt=now, expiry__lte=now + timedelta(days=max(WARN_DAYS)))
    n_written = 0
    for token in soon.select_related("user").iterator(chunk_size=500):
        days = min(days for days in WARN_DAYS if token.expiry <= timezone.now() + timedelta(days=days))
        n_written += tell(
            [token.user_id],
            NoticeKind.TOKEN,
            key=f"token {token.digest[:32]} {days}",
            sentence=Sentence(
                "Your API token “%(token)s” expires on %(expiry)s. Programs that use it need a new one."
            ).of(token=token.name, expiry=token.expiry),
            path=reverse("tokens"),
        )
    return n_written
