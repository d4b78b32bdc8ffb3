"""The audit trail: who changed what, when and why, with old and new values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from leaderboard.common.text import decimal_text
from leaderboard.models import AuditEntry, Benchmark, Revision, User

Subject = AuditEntry.Subject


@dataclass(frozen=True)
class Change:
    """One field of one thing, before and after."""

    subject: str
    of: str
    field: str
    before: str
    after: str


def changes_between(subject: str, of: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """What differs between two states of one thing, field by field, as texts.

    Args:
        subject: what kind of thing it is.
        of: which one: a setting's name, a key, the number of a user.
        before: its fields, by name; none where it was not there.
        after: as `before`.
    """
    texts = ((name, as_text(before.get(name)), as_text(after.get(name))) for name in dict.fromkeys([*before, *after]))
    return [Change(subject, of, name, old, new) for name, old, new in texts if old != new]


def as_one(changes: Sequence[Change], field: str) -> list[Change]:
    """Changes of one thing as a single one, so that many values take one row of the trail; one alone stays as it is.

    Args:
        changes: all of the same thing, their fields called `FIELD.NAME`.
        field: what the fields are called together, as in "metadata". Both texts are then "NAME: value; NAME: value".
    """
    if len(changes) < 2:
        return list(changes)
    # By name: databases differ in the order in which they keep the names of an object.
    named = sorted((one.field.removeprefix(f"{field}."), one.before, one.after) for one in changes)
    before, after = ("; ".join(f"{texts[0]}: {texts[place]}" for texts in named if texts[place]) for place in (1, 2))
    return [Change(changes[0].subject, changes[0].of, field, before, after)]


def as_text(value: Any) -> str:  # noqa: ANN401
    """A value as the trail keeps it: a text that is the same for equal values."""
    if isinstance(value, bool | Decimal):
        return decimal_text(value) if isinstance(value, Decimal) else "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return "" if value is None else str(value)


def record_changes(
    benchmark: Benchmark,
    changes: Iterable[Change],
    *,
    actor: User | None,
    reason: str = "",
    revision: Revision | None = None,
) -> None:
    """Write changes to the trail, in the transaction that makes them."""
    AuditEntry.objects.bulk_create(
        (
            AuditEntry(
                benchmark=benchmark,
                actor=actor,
                subject=change.subject,
                of=change.of,
                field=change.field,
                before=change.before,
                after=change.after,
                reason=reason,
                revision=revision,
            )
            for change in changes
        ),
        batch_size=500,
    )
