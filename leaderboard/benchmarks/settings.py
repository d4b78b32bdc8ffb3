"""Settings of a benchmark that do not affect ranks: readers, submitters, quotas, deadlines."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.hashing import content_hash
from leaderboard.common.language.engine import in_page_language
from leaderboard.models import AuditEntry, Benchmark, User
from leaderboard.rankings.configuration import check_default_rule
from ranking_engine.text.names import check_name

SETTINGS = (
    "name",
    "description",
    "visibility",
    "submission_policy",
    "daily_cap",
    "total_cap",
    "deadline",
    "embargo_until",
    "decision_days",
    "rejects_overdue",
    "submitters_withdraw",
    "shows_submitters",
    "score_view",
    "anonymous_until",
    "default_rule",
    "source_url",
    "licence",
    "citation",
    "doi",
    "tags",
)


def settings_token(benchmark: Benchmark) -> str:
    """Says what all settings are now: others have another token."""
    return content_hash([str(getattr(benchmark, name)) for name in SETTINGS])


@transaction.atomic
def change_settings(
    benchmark: Benchmark, values: Mapping[str, Any], *, author: User, reason: str = "", token: str = ""
) -> int:
    """Store settings and what changed in the trail.

    Args:
        benchmark: whose.
        values: by the names of SETTINGS; those that are left out stay.
        author: who changes them.
        reason: why.
        token: of the settings that they saw, as a form has all of them; empty where they changed some alone.

    Returns:
        How many changed.

    Raises:
        ValidationError: a value is not valid, or someone changed the settings since; nothing is stored.
        KeyError: there is no such setting.
    """
    locked = lock_as_owner(benchmark.pk, author)
    if token and token != settings_token(locked):
        raise ValidationError(
            gettext(
                "Someone changed the settings after you opened this page. Open it again, and make your changes there."
            )
        )
    before = {name: getattr(locked, name) for name in SETTINGS}
    for name, value in values.items():
        if name not in before:
            raise KeyError(name)
        setattr(locked, name, value)
    try:
        locked.name = check_name(locked.name, "benchmark")
    except ValueError as problem:
        raise ValidationError({"name": in_page_language(str(problem))}) from problem
    check_default_rule(locked)
    locked.full_clean()
    locked.save(update_fields=SETTINGS)
    changes = [
        change
        for name in SETTINGS
        for change in changes_between(
            AuditEntry.Subject.SETTING, name, {"value": before[name]}, {"value": getattr(locked, name)}
        )
    ]
    record_changes(locked, changes, actor=author, reason=reason)
    return len(changes)


@transaction.atomic
def archive(benchmark: Benchmark, *, author: User, archived: bool, reason: str = "") -> None:
    """Close a benchmark for good, or open it again. An archived one is read as before and takes no submissions."""
    locked = lock_as_owner(benchmark.pk, author)
    changes = changes_between(
        AuditEntry.Subject.BENCHMARK, locked.key, {"archived": locked.is_archived}, {"archived": archived}
    )
    locked.is_archived = archived
    locked.save(update_fields=["is_archived"])
    record_changes(locked, changes, actor=author, reason=reason)
