"""Addresses that the site gives up by itself: the trail says so, and a notice to the owners of the benchmark."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.common.language.sentences import Sentence
from leaderboard.models import AuditEntry, Benchmark, FollowedAddress, Membership, NoticeKind, Webhook
from leaderboard.notifications.notices import tell


@dataclass(frozen=True)
class AddressKind:
    """A kind of address that the site sends to or asks by itself.

    Attributes:
        word: for keys of notices.
        subject: what the trail calls it.
        notice: the kind of notice that owners get.
        sentence: that it was given up, of which `benchmark`, and `why`.
        page: where owners see these addresses.
    """

    word: str
    subject: AuditEntry.Subject
    notice: NoticeKind
    sentence: Sentence
    page: str


WEBHOOK = AddressKind(
    "webhook",
    AuditEntry.Subject.WEBHOOK,
    NoticeKind.WEBHOOK,
    Sentence("A webhook of %(benchmark)s was switched off. %(why)s"),
    "manage_webhooks",
)
FOLLOWED = AddressKind(
    "followed",
    AuditEntry.Subject.ADDRESS,
    NoticeKind.FOLLOWED,
    Sentence("%(benchmark)s no longer follows one of its URLs. %(why)s"),
    "manage_following",
)


def tell_of_switching_off(
    kind: AddressKind, address: Webhook | FollowedAddress, benchmark: Benchmark, why: Sentence
) -> None:
    """Note that an address was switched off, and tell the owners, once a day. Call in the transaction that does it.

    Args:
        kind: of the address.
        address: that was switched off.
        benchmark: whose it is.
        why: it was.
    """
    changes = changes_between(kind.subject, str(address.uuid), {"active": True}, {"active": False})
    record_changes(benchmark, changes, actor=None, reason=why.text)
    owners = Membership.objects.filter(benchmark=benchmark, role=Membership.Role.OWNER)
    tell(
        owners.values_list("user_id", flat=True),
        kind.notice,
        key=f"{kind.word} {address.pk} off {timezone.now():%Y-%m-%d}",
        sentence=kind.sentence.of(benchmark=benchmark.name, why=why),
        path=reverse(kind.page, args=[benchmark.key]),
        benchmark=benchmark,
    )
