"""Display names: only they identify people in the audit trail, in batches and in the queue."""

import json
import re

from django.contrib.admin.models import LogEntry
from django.utils.translation import gettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.models import Membership, User
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


def display_name_problem(name: str, user: User | None = None) -> str:
    """Why no one can take this display name, as a sentence; empty where they can. An empty name always can be taken.

    Args:
        name: the new display name.
        user: whose it is to be, where they have an account.
    """
    if name and (problem := name_problem(name, allow_formula=True)):
        return in_page_language(f"The display name {problem}.")
    if SITES_OWN.fullmatch(skeleton(name)):
        return gettext("This name is reserved; choose another display name.")
    if is_taken(name, user):
        return gettext("This display name, or one that looks like it, is already taken.")
    return ""


def rename_in_log(before: str, after: str) -> None:
    """Older rows of the administration's log call anyone who got a role on a benchmark by name: the one they have."""
    for role in Membership.Role.values:
        named, renamed = (json.dumps(f"{name}: {role} of ")[1:-1] for name in (before, after))  # the log is JSON
        for entry in LogEntry.objects.filter(change_message__contains=named):
            entry.change_message = entry.change_message.replace(named, renamed)
            entry.save(update_fields=["change_message"])
