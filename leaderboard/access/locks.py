"""The lock of a benchmark. Every transaction that changes a benchmark takes it first, and takes it here.

Who acts by a role names themselves as they take the lock, and their role is looked up once more: someone whose role is
being taken away at the same moment passed every check before, and has no role once the lock is theirs.
"""

from collections.abc import Collection

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext

from leaderboard.access.audience import DECIDING
from leaderboard.models import Benchmark, Membership, User


def lock_benchmark(number: int) -> Benchmark:
    """Lock a benchmark until the caller's transaction ends: for what needs no role, and for steps of the site itself.

    Args:
        number: its primary key.

    Returns:
        The benchmark as it is now.
    """
    return Benchmark.objects.select_for_update().get(pk=number)


def lock_as_owner(number: int, author: User, *, or_staff: bool = False) -> Benchmark:
    """Lock a benchmark for what its owners alone do, and look once more whether `author` owns it.

    Args:
        number: its primary key.
        author: who does it.
        or_staff: whether the site's staff do it as well.

    Raises:
        PermissionDenied: they do not own it now.
    """
    locked = lock_benchmark(number)
    is_allowed = _has_role(locked, author, [Membership.Role.OWNER])
    if not is_allowed and or_staff:
        is_allowed = User.objects.filter(pk=author.pk, is_staff=True, is_active=True).exists()
    if not is_allowed:
        raise PermissionDenied(gettext("You do not own this benchmark any more."))
    return locked


def lock_as_moderator(number: int, actor: User | None) -> Benchmark:
    """Lock a benchmark for what moderators and owners do, and look once more whether `actor` is one.

    Args:
        number: its primary key.
        actor: who does it; None for the site itself, which needs no role.

    Raises:
        PermissionDenied: they are neither now.
    """
    locked = lock_benchmark(number)
    if actor is not None and not _has_role(locked, actor, DECIDING):
        raise PermissionDenied(gettext("You are no moderator or owner of this benchmark any more."))
    return locked


def _has_role(benchmark: Benchmark, user: User, roles: Collection[str]) -> bool:
    """A query of its own, after the lock: one query for both would see roles as they were before it waited."""
    return Membership.objects.filter(benchmark=benchmark, user=user, role__in=roles).exists()
