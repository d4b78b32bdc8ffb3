"""Mails and webhooks: put into the outbox with their cause, sent by the sweep, at least once.

A message is claimed by one conditional UPDATE, sent, and marked. Who is killed in between leaves it claimed; it comes
due again, and is sent twice rather than never. Its `Message-ID` is the same both times. No transaction is open while a
server is spoken to.

A mail that its server refuses is given up after some attempts. A server that is away, or that refuses the site itself,
uses up none of them: such mails wait, and are given up when they are `MAIL_DAYS` old. A mail in the middle of which the
connection ends may itself be the cause: it uses up an attempt, and the others go on.
"""

import logging
import random
import smtplib
import time
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Case, F, Q, QuerySet, When, Window
from django.db.models.functions import Coalesce, RowNumber
from django.utils import timezone

from leaderboard.models import OutboxMessage
from leaderboard.notifications.deliveries import FileMaker, deliver
from leaderboard.notifications.posting import AddressError, PostError
from ranking_engine.text.characters import writable

logger = logging.getLogger(__name__)

BATCH = 20  # at one go, so that anyone who sends hears in time that it is to stop
MAX_OF_ONE_OWNER = 4  # webhooks, at one go
ROUND_SECONDS = 60.0  # after which a round begins again, so that what came due meanwhile has its turn
MAIL_STEPS = 6
FILE_SECONDS = 50.0  # for the file of a large board
FIRST_PAUSE, LONGEST_PAUSE = 30.0, 6 * 3600.0  # seconds
LONGEST_SERVER_PAUSE = 15 * 60.0  # seconds, while the mail server is away
TOO_LARGE = 552  # of one mail, whose size the mail server gets with the sender; 452 is its own full disk
CLOSES = 421  # a mail server that closes the connection says so, at any step
MOST_BROKEN_OFF = 2  # mails in succession; then it is the server, and the others wait
JITTER = 0.5  # the share of a pause that it may be shorter or longer
SUBJECT_LENGTH = 150
LOST = "the attempt ended without a result: the sender was killed or took too long"
State, Kind = OutboxMessage.State, OutboxMessage.Kind


class ServerUnreachableError(Exception):
    """The mail server does not answer, or refuses the site: that is no mail's fault, and no other one is tried now."""


class BrokenOffError(Exception):
    """The connection ended in the middle of a mail, or the server took too long for it."""


def put_mail(to: str, *, subject: str, text: str, headers: Mapping[str, str] | None = None) -> OutboxMessage:
    """Put a mail into the outbox; it is sent once the transaction around is committed.

    Args:
        to: the address, of one person.
        subject: line breaks in it become spaces; other control characters go.
        text: plain text.
        headers: further headers, such as List-Unsubscribe.
    """
    line = writable(" ".join(subject.split())).strip()[:SUBJECT_LENGTH]
    payload = {"to": to, "subject": line, "text": writable(text), "headers": dict(headers or {})}
    return OutboxMessage.objects.create(kind=Kind.MAIL, payload=payload, not_before=timezone.now())


def put_webhook(url: str) -> OutboxMessage:
    """Put a message into the outbox that stands for the delivery of a webhook; the delivery names it.

    Args:
        url: what operators are told of the address.
    """
    return OutboxMessage.objects.create(kind=Kind.WEBHOOK, payload={"url": url}, not_before=timezone.now())


def send_due_webhooks(board_file: FileMaker | None = None) -> int:
    """As `send_due_messages`, for webhooks: strangers' servers may take their time, and keep no mail back."""
    return send_due_messages(Kind.WEBHOOK, board_file)


def send_due_messages(kind: str = Kind.MAIL, board_file: FileMaker | None = None) -> int:
    """Send what is due of one kind, oldest first, a bounded number of it; any number of senders is harmless.

    Args:
        kind: mails or webhooks.
        board_file: what makes the files that webhooks may want.

    Returns:
        How many were sent. What fails is tried again later. A mail server that does not answer, or that breaks off two
        mails in succession, ends the round.
    """
    now = timezone.now()
    # What was claimed for the last time by someone who is heard of no more is given up.
    claimed = OutboxMessage.objects.filter(state=State.WAITING, attempts__gte=settings.OUTBOX_ATTEMPTS)
    for lost in claimed.filter(not_before__lte=now)[:BATCH]:
        record_failure(lost, LOST)
    waiting = OutboxMessage.objects.filter(kind=kind, state=State.WAITING)
    due = waiting.filter(not_before__lte=now).order_by("not_before", "pk")
    if kind == Kind.WEBHOOK:
        # Each owner's first webhook, then each owner's second, and at most a few of one owner's: who has many slow
        # receivers, on many benchmarks, delays their own and not everyone else's. Those that fail come last.
        whose = Coalesce("delivery__webhook__author_id", 0 - F("delivery__webhook__benchmark_id"))
        turn = Window(RowNumber(), partition_by=[whose], order_by=[F("not_before").asc(), F("pk").asc()])
        is_failing = Case(When(delivery__webhook__n_failures__gt=0, then=1), default=0)
        rows = due.annotate(turn=turn, is_failing=is_failing).filter(turn__lte=MAX_OF_ONE_OWNER)
        due = rows.order_by("turn", "is_failing", "not_before", "pk")
    else:
        # Those that failed come last: a mail at which the server closes the connection, each time, is in no one's way.
        has_failed = Case(When(attempts__gt=0, then=1), default=0)
        due = due.order_by(has_failed, "not_before", "pk")
    n_sent, n_broken_off, began = 0, 0, time.monotonic()
    connection = get_connection()
    try:
        for pk in list(due.values_list("pk", flat=True)[:BATCH]):
            if time.monotonic() - began > ROUND_SECONDS:
                break
            message = claim_message(pk, kind)
            if message is None:
                continue
            try:
                if message.kind == Kind.MAIL:
                    _send_mail(message, connection)
                else:
                    deliver(message, board_file)
            except ServerUnreachableError as error:
                put_off_mails(message, str(error), now)
                break
            except BrokenOffError as error:
                record_failure(message, str(error))
                connection.close()
                n_broken_off += 1
                if n_broken_off == MOST_BROKEN_OFF:
                    put_off_mails(message, str(error), now)
                    break
            except (PostError, AddressError) as error:  # in words for the owners of the webhook
                record_failure(message, str(error))
            except Exception as error:  # noqa: BLE001 -- whatever one message does, the others are sent
                record_failure(message, f"{type(error).__name__}: {error}")
                connection.close()  # who knows in what state it is
                n_broken_off = 0
            else:
                n_sent += mark_sent(message)
                n_broken_off = 0
    finally:
        connection.close()
    return n_sent


def claim_message(pk: int, kind: str = Kind.MAIL) -> OutboxMessage | None:
    """Make a due message this sender's own for as long as one attempt may take; None where another was first."""
    now = timezone.now()
    token = uuid.uuid4()
    row = OutboxMessage.objects.filter(
        pk=pk, kind=kind, state=State.WAITING, not_before__lte=now, attempts__lt=settings.OUTBOX_ATTEMPTS
    )
    claimed = row.update(claim_token=token, attempts=F("attempts") + 1, not_before=now + longest_attempt(kind))
    return OutboxMessage.objects.get(pk=pk) if claimed else None


def longest_attempt(kind: str) -> timedelta:
    """How long one attempt at sending may take."""
    # A mail is several steps, each of which may take the timeout; a webhook is one, and may need a file before.
    is_mail = kind == Kind.MAIL
    seconds = MAIL_STEPS * settings.EMAIL_TIMEOUT if is_mail else settings.WEBHOOK_SECONDS + FILE_SECONDS
    return timedelta(seconds=seconds)


def _send_mail(message: OutboxMessage, connection: BaseEmailBackend) -> None:
    try:
        connection.open()
    except OSError as error:
        raise ServerUnreachableError(_in_words(error)) from error
    payload = message.payload
    host = urlsplit(settings.SITE_URL).hostname or "localhost"
    headers = {"Message-ID": f"<{message.pk}.{message.created_at:%Y%m%d%H%M%S}@{host}>"} | payload["headers"]
    mail = EmailMessage(payload["subject"], payload["text"], None, [payload["to"]], headers=headers)
    try:
        connection.send_messages([mail])
    except OSError as error:
        if is_of_server(error):
            raise ServerUnreachableError(_in_words(error)) from error
        if is_break_off(error):
            raise BrokenOffError(
                f"the connection ended in the middle of it: {type(error).__name__}: {error}"
            ) from error
        raise


def _in_words(error: OSError) -> str:
    """What operators are told of a mail server that is away, or that refuses the site."""
    is_away = isinstance(error, smtplib.SMTPServerDisconnected) or not isinstance(error, smtplib.SMTPException)
    problem = "does not answer" if is_away else "refuses this site"
    return f"{OutboxMessage.SERVER_ERROR}{problem}: {type(error).__name__}: {error}"


def is_of_server(error: OSError) -> bool:
    """Whether an error in the middle of sending is about the site as the sender: other mails would fail alike."""
    if isinstance(error, smtplib.SMTPSenderRefused):
        return error.smtp_code != TOO_LARGE
    return isinstance(error, smtplib.SMTPHeloError)


def is_break_off(error: OSError) -> bool:
    """Whether the connection ended in the middle of a mail: that may be because of this mail, or of the server."""
    if isinstance(error, smtplib.SMTPResponseException):
        return error.smtp_code == CLOSES
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return {code for code, _ in error.recipients.values()} == {CLOSES}
    return isinstance(error, smtplib.SMTPServerDisconnected | ConnectionError | TimeoutError)


def _owned(message: OutboxMessage) -> QuerySet[OutboxMessage]:
    return OutboxMessage.objects.filter(pk=message.pk, state=State.WAITING, claim_token=message.claim_token)


def mark_sent(message: OutboxMessage) -> int:
    """Note that it went out, and forget what it said. 0 where the claim was lost: then it goes out again."""
    return _owned(message).update(state=State.SENT, finished_at=timezone.now(), payload={}, last_error="")


def record_failure(message: OutboxMessage, error: str) -> None:
    """Put a message off that could not be sent, or give it up after the last attempt."""
    now = timezone.now()
    logger.warning("%s, attempt %s: %s", message, message.attempts, error)
    if message.attempts >= settings.OUTBOX_ATTEMPTS:
        _owned(message).update(state=State.FAILED, finished_at=now, last_error=error[:2000])
        return
    _owned(message).update(not_before=now + backoff(message.attempts), last_error=error[:2000], claim_token=None)


def put_off_mails(message: OutboxMessage, error: str, due_at: datetime) -> None:
    """Put off the mail for which the server was away, and with it the others that are due: they would fail alike.

    Its attempt does not count, unless it was recorded as a failure before. A server that refuses the site's password
    is not asked once a second.

    Args:
        message: the mail that was tried last.
        error: for operators.
        due_at: mails that came due after this moment are tried at once.
    """
    now = timezone.now()
    logger.warning("%s waits: %s", message, error)
    rest = {"not_before": now + server_pause(now - message.created_at), "last_error": error[:2000], "claim_token": None}
    _owned(message).update(attempts=F("attempts") - 1, **rest)
    due = OutboxMessage.objects.filter(kind=Kind.MAIL, state=State.WAITING, not_before__lte=due_at)
    due.update(**rest)


def end_old_mails() -> int:
    """Give up mails that no server took until they were `MAIL_DAYS` old, and forget what the abandoned ones said.

    Only those that were put off just now: one that is due, as after a week without a sweep, is tried first.

    Of an abandoned mail that is as old, operators see the address and the subject; a younger one can be sent again.

    Returns:
        How many were given up.
    """
    now = timezone.now()
    old = OutboxMessage.objects.filter(kind=Kind.MAIL, created_at__lt=now - timedelta(days=settings.MAIL_DAYS))
    tried = old.filter(state=State.WAITING, claim_token=None, not_before__gt=now)
    n_ended = tried.update(state=State.FAILED, finished_at=now) if tried.exists() else 0
    for abandoned in old.filter(state=State.FAILED, payload__has_key="text"):
        payload = {name: abandoned.payload[name] for name in ("to", "subject")}
        OutboxMessage.objects.filter(pk=abandoned.pk, state=State.FAILED).update(payload=payload)
    return n_ended


def retry_mails() -> int:
    """Make abandoned mails due again whose text is still there; returns how many."""
    abandoned = OutboxMessage.objects.filter(kind=Kind.MAIL, state=State.FAILED, payload__has_key="text")
    fresh = {"attempts": 0, "not_before": timezone.now(), "finished_at": None, "claim_token": None, "last_error": ""}
    return abandoned.update(state=State.WAITING, **fresh)


def forget_addressee(address: str) -> int:
    """Delete every mail to an address, or that names it, whether it waits or was given up."""
    named = Q(payload__to=address) | Q(payload__text__icontains=address) | Q(payload__subject__icontains=address)
    return OutboxMessage.objects.filter(named, kind=Kind.MAIL).delete()[0]


def backoff(attempts: int) -> timedelta:
    """How long a message rests after its `attempts`-th failure: 30 s, 1, 2, 4 ... minutes, at most 6 h, give or take
    a half."""
    return _about(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempts - 1)))


def server_pause(age: timedelta) -> timedelta:
    """How long mails rest while the server is away: a quarter of the mail's age, from 30 s to 15 minutes, give or take
    a half."""
    return _about(min(LONGEST_SERVER_PAUSE, max(FIRST_PAUSE, age.total_seconds() / 4)))


def _about(seconds: float) -> timedelta:
    """A pause of about so many seconds, so that what failed together is not tried together."""
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 -- jitter


def longest_pause() -> timedelta:
    """How long a message rests at most between two attempts."""
    return timedelta(seconds=LONGEST_PAUSE * (1 + JITTER))
