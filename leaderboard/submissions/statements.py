"""What is said of systems: it stays with each submission, and becomes what the board says once that is accepted.

A system that was never accepted *waits*: it has a provisional key, and nothing is said of it but its name. So no one
decides anything about a system by a submission that waits, or was rejected. Of a system on the board the newest
accepted submission that states something is believed; the audit trail says what it changed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.db import connection
from django.utils.translation import gettext

from leaderboard.access.audit import Change, as_one, as_text, changes_between, record_changes
from leaderboard.common.names import make_key
from leaderboard.common.text import shortened
from leaderboard.models import AuditEntry, Benchmark, Revision, Submission, SubmissionEvent, System, User
from leaderboard.models.systems import PROVISIONAL

FIELDS = ("organisation", "url", "description", "tags", "metadata")
LABELS = {"key": "key", "organisation": "organisation", "url": "address", "description": "description", "tags": "tags",
          "metadata": "metadata"}  # fmt: skip


def statement_of(about: Mapping[str, Any]) -> dict[str, Any]:
    """What a checked row states of its system, as its submission keeps it: its name, and no field that is empty.

    Args:
        about: the row's entry `system`; `new_key` is the key that a new system is to have.
    """
    fields = {name: about[name] for name in FIELDS if about.get(name)}
    key = about.get("new_key") or ""
    return {"name": about["name"], **fields} | ({"key": key} if key else {})


def waiting_system(benchmark: Benchmark, name: str, name_folded: str) -> System:
    """A system that nothing was accepted of, not stored yet."""
    return System(benchmark=benchmark, key=f"{PROVISIONAL}{uuid4().hex}", name=name, name_folded=name_folded)


def believe(submissions: Sequence[Submission], revision: Revision, *, actor: User | None) -> None:
    """Take over what submissions that are accepted now state of their systems; those that waited get their keys.

    Args:
        submissions: of one batch, with their systems.
        revision: that accepted them.
        actor: who accepted them.
    """
    benchmark = revision.benchmark
    waiting = [submission for submission in submissions if submission.system.is_waiting]
    taken: set[str] = set()
    if waiting:
        taken = set(System.objects.filter(benchmark=benchmark).values_list("key", flat=True))
    keys = {str((submission.statement or {}).get("key", "")) for submission in waiting} - taken
    reserved = taken | keys  # for others, when a key is made from a name
    changed: list[System] = []
    changes: list[Change] = []
    for submission in submissions:
        system, statement = submission.system, submission.statement or {}
        new = {name: statement[name] for name in FIELDS if name in statement}
        if system.is_waiting:
            key = statement.get("key", "")
            if not key or key not in keys:
                key = make_key(statement.get("name", system.name), reserved)
            keys.discard(key)
            reserved.add(key)
            system.key, system.name = key, statement.get("name", system.name)
        else:
            if "metadata" in new:  # what it does not state stays
                new["metadata"] = {**system.metadata, **new["metadata"]}
            new = {name: value for name, value in new.items() if value != getattr(system, name)}
            if not new:
                continue
            changes += _changes(system, new)
        for name, value in new.items():
            setattr(system, name, value)
        changed.append(system)
    _store(changed)
    if changes:
        record_changes(benchmark, changes, actor=actor, revision=revision)


def believe_the_rest(submission: Submission, revision: Revision, *, actor: User, reason: str) -> None:
    """Say of a system what is believed now that a submission of it was withdrawn or reinstated.

    Only what that submission states can change. Where nothing of the system is accepted any more it left the board,
    and what was said of it stays with its older revisions.
    """
    names = [name for name in FIELDS if name in (submission.statement or {})]
    events = SubmissionEvent.objects.filter(submission__system=submission.system_id)
    accepted = events.filter(submission__state=Submission.State.ACCEPTED, kind=SubmissionEvent.Kind.ACCEPTED)
    accepted = accepted.order_by("revision__number", "pk")
    statements = [event.submission.statement or {} for event in accepted.select_related("submission")]
    if not names or not statements:
        return
    system = submission.system
    empty = System()
    new = {
        name: next((statement[name] for statement in reversed(statements) if name in statement), getattr(empty, name))
        for name in names
    }
    if "metadata" in new:
        own, others = (submission.statement or {})["metadata"], [one.get("metadata", {}) for one in statements]
        believed = {key: value for one in others for key, value in one.items()}
        # What its owners wrote since then is no submission's, and stays.
        theirs = {key for key in own if key in system.metadata
                  and all(one.get(key) != system.metadata[key] for one in (own, *others))}  # fmt: skip
        kept = {key: value for key, value in system.metadata.items() if key not in own or key in theirs}
        new["metadata"] = kept | {key: believed[key] for key in own if key in believed and key not in theirs}
    new = {name: value for name, value in new.items() if value != getattr(system, name)}
    if new:
        record_changes(revision.benchmark, _changes(system, new), actor=actor, reason=reason, revision=revision)
        for name, value in new.items():
            setattr(system, name, value)
        _store([system])


def _changes(system: System, new: Mapping[str, Any]) -> list[Change]:
    before, after = (
        {name: value for name, value in state.items() if name != "metadata"}
        | {f"metadata.{key}": value for key, value in state.get("metadata", {}).items()}
        for state in ({name: getattr(system, name) for name in new}, new)
    )
    changes = changes_between(AuditEntry.Subject.SYSTEM, system.key, before, after)
    # By name: PostgreSQL and SQLite return the keys of a stored object in different orders.
    of_metadata = sorted((one for one in changes if one.field.startswith("metadata.")), key=lambda one: one.field)
    return [one for one in changes if one not in of_metadata] + as_one(of_metadata, "metadata")


def _store(systems: Sequence[System]) -> None:
    """Write systems back; thousands may join the board at once."""
    rows = [
        (one.key, one.name, one.organisation, one.url, one.description, json.dumps(one.tags), json.dumps(one.metadata),
         one.pk)
        for one in systems
    ]  # fmt: skip
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE leaderboard_system SET key = %s, name = %s, organisation = %s, url = %s, description = %s, "
            "tags = %s, metadata = %s WHERE id = %s",
            rows,
        )


@dataclass(frozen=True)
class Statement:
    """One thing that a submission states of its system, beside what the board says now."""

    system: str  # its name
    what: str
    text: str
    now: str  # empty where the system is new, or nothing is said yet
    is_change: bool  # of what the board says now


def statements_of(submissions: Sequence[Submission]) -> list[Statement]:
    """What submissions that wait state of their systems, except what the board says already.

    Args:
        submissions: with their systems.
    """
    statements = []
    for submission in submissions:
        system, statement = submission.system, submission.statement or {}
        for name, label in LABELS.items():
            if name not in statement or (name == "key" and not system.is_waiting):
                continue
            pairs = [(label, statement[name], "" if system.is_waiting else getattr(system, name))]
            if name == "metadata":  # of a system that waits, there is none
                pairs = [(key, one, system.metadata.get(key)) for key, one in statement[name].items()]
            for what, value, present in pairs:
                now, text = _as_line(present), _as_line(value)
                if text != now:
                    is_change = not system.is_waiting and bool(now)
                    statements.append(Statement(submission.shown_name, what, text, now, is_change))
    return statements


def _as_line(value: Any) -> str:  # noqa: ANN401 -- a text, a list of texts, or a value of the metadata
    """What is stated, as a text."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return as_text(value)


def in_short(statements: Sequence[Statement]) -> list[str]:
    """The same, a line each, cut to what a list has room for."""
    lines = []
    for one in statements:
        line = f"{shortened(one.system)}: {one.what} {shortened(one.text)}"
        if one.is_change:
            line = gettext("%(statement)s in place of %(now)s") % {"statement": line, "now": shortened(one.now)}
        lines.append(line)
    return lines
