"""Addresses that someone added to their account and never confirmed: they may be anyone's, so they do nothing.

They keep no one from signing up, sign no one in, and go after some days. Until then they stay in the list of the
account that added them, whatever happens elsewhere: one that went would tell that someone has an account with it now.
"""

import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta

from allauth.account.internal.flows.email_verification import (
    add_email_verification_sent_message,
    send_verification_email_to_address,
)
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.core import ratelimit
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.models import User

UNCONFIRMED_DAYS = 7


def signs_in_by(email: str) -> QuerySet[User]:
    """The accounts that sign in by an address, confirmed or not: one, or none."""
    return User.objects.alias(address=Lower("email")).filter(address=email.lower())


def is_taken(email: str) -> bool:
    """Whether an account signs in by an address, or confirmed it."""
    return signs_in_by(email).exists() or EmailAddress.objects.filter(email=email.lower(), verified=True).exists()


def lock_waiting(address: EmailAddress) -> bool:
    """Until the transaction ends, let no one else confirm an address, whatever account it would be for.

    Returns:
        Whether the row is still there.
    """
    rows = EmailAddress.objects.select_for_update().filter(email=address.email).order_by("pk")
    return address.pk in [row.pk for row in rows]


def _unconfirmed() -> QuerySet[EmailAddress]:
    return EmailAddress.objects.filter(verified=False).exclude(email=Lower("user__email"))


@contextmanager
def links_replaced(emails: Collection[str]) -> Iterator[None]:
    """While an account is made with some addresses: where others added one before, their links end.

    The links are in mails to the person who signs up now. The lists of the others say the same as before; if they have
    a link sent again, it works only where someone is signed in to their account.
    """
    with transaction.atomic():
        rows = _unconfirmed().filter(email__in=[email.lower() for email in emails]).order_by("pk")
        added = list(rows.select_for_update(of=("self",)))  # one that is being confirmed is waited for
        EmailAddress.objects.filter(pk__in=[row.pk for row in added]).delete()
        yield
        # Who adds one again in this moment has it already.
        again = [EmailAddress(user_id=row.user_id, email=row.email) for row in added]
        EmailAddress.objects.bulk_create(again, ignore_conflicts=True)


def send_link(request: HttpRequest, address: EmailAddress) -> None:
    """Mail the link that confirms an address of the account that asks for it.

    Mails to further addresses have a limit of their own, so that they keep no one from the mail of their own sign-up.
    """
    if address.email == address.user.email.lower():
        is_sent = send_verification_email_to_address(request, address)
    elif is_sent := bool(ratelimit.consume(request, action="confirm_email", key=f"further:{address.email}")):
        address.send_confirmation(request)
        add_email_verification_sent_message(request, address.email, signup=False)
    if not is_sent:
        messages.warning(
            request,
            gettext(
                "No email was sent: the last one to %(email)s went out less than three "
                "minutes ago. Wait, then choose “Send the link again”."
            )
            % {"email": address.email},
        )


def old_unconfirmed() -> QuerySet[EmailAddress]:
    """Those that wait for some days already."""
    before = timezone.now() - timedelta(days=UNCONFIRMED_DAYS)
    return _unconfirmed().filter(pk__in=EmailConfirmation.objects.filter(created__lt=before).values("email_address"))


def date_unconfirmed(most: int) -> None:
    """Note of up to `most` addresses without a date that they wait since now: their own rows have no date."""
    undated = _unconfirmed().exclude(pk__in=EmailConfirmation.objects.values("email_address"))
    rows = [  # their keys open nothing, and no one gets them
        EmailConfirmation(email_address_id=number, key=secrets.token_hex(32))
        for number in undated.order_by("pk").values_list("pk", flat=True)[:most]
    ]
    if rows:  # an INSERT, even of no row, is a writer's turn on SQLite
        EmailConfirmation.objects.bulk_create(rows)
