"""Telling people: one row a person and thing, however often it is found out; read, and chosen whether to hear of."""

from collections.abc import Iterable, Mapping

from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.common.language.sentences import Sentence
from leaderboard.common.language.stored import in_english
from leaderboard.models import Benchmark, Notice, NoticeChoice, NoticeKind, User
from leaderboard.notifications.queries import visible_notices

Way = NoticeChoice.Way
TEXT_LENGTH = 2000


def tell(
    people: Iterable[int],
    kind: NoticeKind,
    *,
    key: str,
    sentence: Sentence,
    path: str,
    benchmark: Benchmark | None = None,
    words: str = "",
    author: User | None = None,
) -> int:
    """Tell several people the same; as `tell_each`."""
    sentences = dict.fromkeys(people, sentence)
    return tell_each(sentences, kind, key=key, path=path, benchmark=benchmark, words=words, author=author)


def tell_each(
    sentences: Mapping[int, Sentence],
    kind: NoticeKind,
    *,
    key: str,
    path: str,
    benchmark: Benchmark | None = None,
    words: str = "",
    author: User | None = None,
) -> int:
    """Tell people of one thing, in the transaction that makes it happen.

    Closed accounts hear nothing, nor does who does not want to.

    Args:
        sentences: what each is told, by the id of the user: no score, no name that they may not know.
        kind: what sort of thing it is.
        key: which one, unique a person: telling it again changes nothing.
        path: where they see more.
        benchmark: what it is about; None for one's account.
        words: what someone wrote of it, such as a reason.
        author: who wrote them; None for the site itself.

    Returns:
        How many rows were written at most.
    """
    if not sentences:
        return 0
    ways = dict(NoticeChoice.objects.filter(user__in=list(sentences), kind=kind).values_list("user_id", "way"))
    active = User.objects.filter(pk__in=list(sentences), is_active=True).order_by("pk").values_list("pk", flat=True)
    rows = [
        Notice(
            user_id=user,
            benchmark=benchmark,
            kind=kind,
            key=key,
            text=in_english(sentences[user])[:TEXT_LENGTH],
            sentence=sentences[user].as_data(),
            words=" ".join(words.split())[:TEXT_LENGTH],
            author=author if words.strip() else None,
            path=path,
            is_mail_wanted=ways.get(user, Way.MAIL) == Way.MAIL,
        )
        for user in active
        if ways.get(user) != Way.OFF
    ]
    Notice.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
    return len(rows)


def settle(kind: NoticeKind, *, keys: Iterable[str], sentence: Sentence, path: str, benchmark: Benchmark) -> None:
    """Say in notices that asked for something that it was done: they are read, and no mail goes out any more.

    Args:
        kind: of these notices.
        keys: which ones, of any person.
        sentence: what they say from now on.
        path: where people see more.
        benchmark: what they are about.
    """
    notices = Notice.objects.filter(benchmark=benchmark, kind=kind, key__in=list(keys))
    notices.filter(mailed_at=None).update(is_mail_wanted=False)
    notices.update(
        text=in_english(sentence)[:TEXT_LENGTH],
        sentence=sentence.as_data(),
        path=path,
        read_at=Coalesce("read_at", timezone.now()),
    )


def notice_text(notice: Notice) -> str:
    """What a notice says in the language that is in force, with the reason that someone gave.

    Those of older releases are in English.
    """
    text = notice.text if notice.sentence is None else str(Sentence.from_data(notice.sentence))
    return gettext("%(text)s Reason: %(words)s") % {"text": text, "words": notice.words} if notice.words else text


def mark_read(user: User) -> int:
    """Mark all that the user may see as read."""
    return visible_notices(user).filter(read_at=None).update(read_at=timezone.now())


def choose_ways(user: User, ways: Mapping[str, str]) -> None:
    """Keep where the user wants to hear of which kinds. Waiting notices that are no longer wanted are not sent.

    Raises:
        ValueError: there is no such kind, or no such way.
    """
    for kind, way in ways.items():
        if kind not in NoticeKind.values or way not in Way.values:
            raise ValueError(f"There is no notice {kind!r} to have {way!r}")
        NoticeChoice.objects.update_or_create(user=user, kind=kind, defaults={"way": way})
    unwanted = [kind for kind, way in ways.items() if way != Way.MAIL]
    Notice.objects.filter(user=user, is_mail_wanted=True, mailed_at=None).filter(kind__in=unwanted).update(
        is_mail_wanted=False
    )


def stop_mails(user: User, kinds: Iterable[str]) -> None:
    """Send no more mails of these kinds; the site goes on to show them, unless it was told not to."""
    off = set(NoticeChoice.objects.filter(user=user, way=Way.OFF).values_list("kind", flat=True))
    choose_ways(user, {kind: Way.SITE for kind in kinds if kind in NoticeKind.values and kind not in off})
