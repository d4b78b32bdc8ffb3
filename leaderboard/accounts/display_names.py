"""Display names: only they identify people in the audit trail, in batches and in the queue."""

from leaderboard.models import User
from leaderboard.models.people import skeleton_of


def is_taken(name: str, user: User | None = None) -> bool:
    """Whether someone else's display name is this one, or looks like it.

    Accounts from before that share a name keep it; no one else gets it.

    Args:
        name: the new display name; an empty one is never taken, the site then calls people by their number.
        user: whose it is to be, where they have an account.
    """
    if not name.strip():
        return False
    alike = User.objects.filter(name_skeleton=skeleton_of(name))
    return (alike.exclude(pk=user.pk) if user and user.pk else alike).exists()
