"""What somebody was told, as far as they may still know of it."""

from django.db.models import Q, QuerySet

from leaderboard.models import Benchmark, Membership, Notice, NoticeChoice, NoticeKind, User

Way = NoticeChoice.Way


def visible_notices(user: User) -> QuerySet[Notice]:
    """The user's notices, newest first, without those about benchmarks that are closed to them now."""
    own = Membership.objects.filter(user=user).values("benchmark")
    open_to_them = Q(benchmark=None) | ~Q(benchmark__visibility=Benchmark.Visibility.PRIVATE) | Q(benchmark__in=own)
    return Notice.objects.filter(open_to_them, user=user).select_related("benchmark")


def count_unread(user: User) -> int:
    """How many of them the user did not look at."""
    return visible_notices(user).filter(read_at=None).count()


def ways_of(user: User) -> dict[str, str]:
    """Where the user wants to hear of each kind of thing."""
    chosen = dict(NoticeChoice.objects.filter(user=user).values_list("kind", "way"))
    return {kind: chosen.get(kind, Way.MAIL.value) for kind in NoticeKind.values}
