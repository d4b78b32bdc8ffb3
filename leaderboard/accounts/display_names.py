"""Display names: only they identify people in the audit trail, in batches and in the queue."""

import re

from django.utils.translation import gettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.models import User
from leaderboard.models.people import skeleton_of
from ranking_engine.text.confusables import skeleton
from ranking_engine.text.names import name_problem

SITES_OWN = re.compile(r"user\d+|formermember")  # what it calls people without a name, by their skeletons


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


def display_name_problem(name: str) -> str:
    """Why a new account cannot have this display name, as a sentence; empty where it can. An empty name always can."""
    if name and (problem := name_problem(name, allow_formula=True)):
        return in_page_language(f"The display name {problem}.")
    if SITES_OWN.fullmatch(skeleton(name)):
        return gettext("This name is reserved; choose another display name.")
    if is_taken(name):
        return gettext("This display name, or one that looks like it, is already taken.")
    return ""
