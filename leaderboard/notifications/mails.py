"""Mails about notices: one about a benchmark at a time and person, with whatever came since the last one."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from leaderboard.common.site_address import site_address
from leaderboard.models import Notice, NoticeDigest, NoticeKind, User
from leaderboard.notifications.notices import notice_text, stop_mails
from leaderboard.notifications.outbox import put_mail
from leaderboard.notifications.queries import visible_notices

SALT = "plurank.unsubscribe"
SHOWN_NOTICES = 20
SUBJECTS = {
    NoticeKind.DECISION: gettext_lazy("about your submission"),
    NoticeKind.PREDICTIONS: gettext_lazy("about your predictions"),
    NoticeKind.OVERTAKEN: gettext_lazy("your system fell in rank"),
    NoticeKind.FIRST_PLACE: gettext_lazy("a new first place"),
    NoticeKind.WAITING: gettext_lazy("a submission needs a decision"),
    NoticeKind.TOKEN: gettext_lazy("an API token expires soon"),
    NoticeKind.WEBHOOK: gettext_lazy("a webhook was switched off"),
    NoticeKind.FOLLOWED: gettext_lazy("news from a URL that your benchmark follows"),
    NoticeKind.ORGANISATION: gettext_lazy("a benchmark left your organisation"),
}
MAILS_A_SWEEP = 50
STALE = timedelta(days=3)  # what could not be mailed for so long is left to the page


def put_digests() -> int:
    """Put the mails that are due into the outbox. Any number of sweepers is harmless.

    No one gets two mails about one benchmark within `settings.NOTICE_SECONDS`, and who never confirmed their address
    gets none: it may be someone else's.

    Returns:
        How many were put there.
    """
    now = timezone.now()
    waiting = Notice.objects.filter(
        is_mail_wanted=True, mailed_at=None, created_at__gt=now - STALE, user__is_active=True
    ).exclude(user__in=EmailAddress.objects.filter(primary=True, verified=False).values("user"))
    groups = waiting.order_by("user", "benchmark").values_list("user_id", "benchmark_id").distinct()
    since = now - timedelta(seconds=settings.NOTICE_SECONDS)
    recent = set(NoticeDigest.objects.filter(sent_at__gt=since).values_list("user_id", "about"))
    n_put = 0
    for user, benchmark in groups.iterator(chunk_size=1000):
        if n_put < MAILS_A_SWEEP and (user, _about(benchmark)) not in recent:
            n_put += _put_digest(user, benchmark, now)
    return n_put


def _about(benchmark_id: int | None) -> str:
    return f"benchmark {benchmark_id}" if benchmark_id else "account"


@transaction.atomic
def _put_digest(user_id: int, benchmark_id: int | None, now: datetime) -> int:
    # Note that a mail goes out now, unless one did of late.
    sent = NoticeDigest.objects.filter(user=user_id, about=_about(benchmark_id))
    if not sent.filter(sent_at__lte=now - timedelta(seconds=settings.NOTICE_SECONDS)).update(sent_at=now):
        try:
            with transaction.atomic():
                NoticeDigest.objects.create(user_id=user_id, about=_about(benchmark_id), sent_at=now)
        except IntegrityError:
            return 0
    user = User.objects.get(pk=user_id)
    waiting = Notice.objects.filter(user=user, benchmark=benchmark_id, is_mail_wanted=True, mailed_at=None)
    visible = list(visible_notices(user).filter(pk__in=waiting.values("pk")).order_by("pk"))
    waiting.update(mailed_at=now)
    if not visible:  # about a benchmark that is closed to them by now
        return 0
    benchmark = visible[0].benchmark
    kinds = sorted({notice.kind for notice in visible})
    link = unsubscribe_link(user, kinds)
    # What it is about, in our own words: subjects are where others read them, too.
    about, n_notices = benchmark.name if benchmark else gettext("Your account"), len(visible)
    what = (
        str(SUBJECTS[NoticeKind(visible[0].kind)])
        if n_notices == 1
        else ngettext("%(n)s notice", "%(n)s notices", n_notices) % {"n": n_notices}
    )
    lines = [gettext("Hello %(name)s,") % {"name": user.shown_name}, ""]
    for notice in visible[:SHOWN_NOTICES]:
        lines += [f"- {notice_text(notice)}", f"  {site_address(notice.path)}", ""]
    if n_notices > SHOWN_NOTICES:
        more = {"n": n_notices - SHOWN_NOTICES, "link": site_address(reverse("notices"))}
        lines += [gettext("and %(n)s more: %(link)s") % more, ""]
    choices = site_address(reverse("notice_choices"))
    lines += [gettext("Unsubscribe from these emails: %(link)s") % {"link": link}]
    lines += [gettext("Notification settings: %(link)s") % {"link": choices}, ""]
    put_mail(
        user.email,
        subject=gettext("[Plurank] %(about)s: %(what)s") % {"about": about, "what": what},
        text="\n".join(lines),
        headers={
            "List-Unsubscribe": f"<{link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    return 1


def has_confirmed_address(user: User) -> bool:
    """Whether mails are sent to the user: nothing says that the address is not theirs."""
    return not EmailAddress.objects.filter(user=user, primary=True, verified=False).exists()


def unsubscribe_link(user: User, kinds: Sequence[str]) -> str:
    """The address by which anyone who has the mail stops mails of these kinds; it needs no password and never
    expires."""
    token = signing.dumps([user.pk, list(kinds)], salt=SALT)
    return site_address(reverse("unsubscribe", args=[token]))


def read_unsubscribe(token: str) -> tuple[User, list[str]] | None:
    """Whose mails of which kinds a link stops; None where it is not from this site."""
    try:
        number, kinds = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=number).first()
    return (user, [kind for kind in kinds if kind in NoticeKind.values]) if user else None


def unsubscribe(token: str) -> list[str] | None:
    """Stop the mails that a link names. Returns their kinds, None where the link is not from this site."""
    subscription = read_unsubscribe(token)
    if subscription is None:
        return None
    stop_mails(*subscription)
    return subscription[1]
