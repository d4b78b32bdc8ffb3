"""What the bodies of hosting say: benchmarks, their settings, tasks, people and decisions, read strictly."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from leaderboard.api.bodies import NOTE_LENGTH, Reader, kind_of
from leaderboard.models import Benchmark, Membership, Task, Webhook
from leaderboard.models.webhooks import ADDRESS_LENGTH
from leaderboard.services.benchmark_settings import SETTINGS
from leaderboard.services.task_changes import COUNTING, MOST_TASKS, GroupEdit, Proposal, TaskEdit
from ranking_engine.names import clean_name, fold_name

WEIGHT_DIGITS, WEIGHT_PLACES = 20, 10
MOST_DECISIONS = 100
LARGEST = 2**31 - 1
CHOICES: dict[str, list[str]] = {
    "visibility": Benchmark.Visibility.values,
    "submission_policy": Benchmark.SubmissionPolicy.values,
    "score_view": Benchmark.ScoreView.values,
    "missing_policy": Benchmark.MissingPolicy.values,
    "aggregation": Benchmark.Aggregation.values,
    "replacement": Benchmark.Replacement.values,
}
CAPS, MOMENTS = ("daily_cap", "total_cap"), ("deadline", "embargo_until", "anonymous_until")
TASK_FIELDS = tuple(field.name for field in fields(TaskEdit))
GROUP_FIELDS = tuple(field.name for field in fields(GroupEdit))
ACCEPT, REJECT, REJECT_AND_BAN = "accept", "reject", "reject_and_ban"


class HostingReader(Reader):
    """Reads further kinds of values."""

    def optional(self, value: Any, place: str, read: Callable[[Any, str], Any]) -> Any:  # noqa: ANN401
        """Null, or what `read` makes of the value."""
        return None if value is None else read(value, place)

    def whole(self, value: Any, place: str) -> int | None:  # noqa: ANN401
        """A whole number that is not negative."""
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
            return value
        self.add(place, f"expected a whole number from 0 to {LARGEST:,}, found {kind_of(value)}")
        return None

    def weight(self, value: Any, place: str, what: str = "weight") -> Decimal:  # noqa: ANN401
        """A weight: a decimal as text, or a number; kept exactly as it is written. `what` names another such number."""
        stated = value if isinstance(value, str) else repr(value)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)) or not stated.isascii():
            self.add(place, f"expected a decimal such as \"0.5\", found {kind_of(value)}")
            return Decimal(1)
        try:
            found = Decimal(stated)
        except InvalidOperation:
            found = Decimal("NaN")
        if not found.is_finite() or found < 0 or not _fits(found):
            limits = f"{WEIGHT_DIGITS - WEIGHT_PLACES} digits before the point and {WEIGHT_PLACES} behind it"
            self.add(place, f"{stated[:30]!r} is no {what}: a decimal that is not negative, with at most {limits}")
            return Decimal(1)
        return found

    def precision(self, value: Any, place: str) -> Decimal | None:  # noqa: ANN401
        """The precision of a task, or null."""
        return None if value is None else self.weight(value, place, "precision")

    def sure(self, body: dict[str, Any]) -> None:
        """Whether somebody says that they know that something cannot be undone."""
        if body.get("is_sure") is not True:
            self.add("is_sure", "say true: this cannot be undone")

    def moment(self, value: Any, place: str) -> datetime | None:  # noqa: ANN401
        """A time with its zone, as ISO 8601."""
        text = self.text(value, place, 40)
        try:
            found = datetime.fromisoformat(text)
            if found.tzinfo:
                return found.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        self.add(place, f"{text[:40]!r} is no time with its zone; write 2026-12-31T12:00:00Z")
        return None

    def choice(self, value: Any, place: str, known: list[str]) -> str:  # noqa: ANN401
        """One of several texts."""
        text = self.text(value, place, 60)
        if text not in known:
            self.add(place, f"{text[:40]!r}; expected one of {', '.join(known)}")
        return text

    def direction(self, value: Any, place: str) -> int:  # noqa: ANN401
        """The direction of a task."""
        if isinstance(value, int) and not isinstance(value, bool) and value in Task.Direction.values:
            return value
        told = "expected 1 (higher is better), -1 (lower) or 0 (never votes)"
        self.add(place, f"{told}, found {kind_of(value)}")
        return int(Task.Direction.HIGHER)

    def listing(self, value: Any, place: str, most: int) -> list[Any]:  # noqa: ANN401
        """A list."""
        if not isinstance(value, list):
            self.add(place, f"expected a list, found {kind_of(value)}")
            return []
        if len(value) > most:
            self.add(place, f"{len(value)} entries; at most {most} are taken")
        return value[:most]

    def reason(self, body: Mapping[str, Any]) -> str:
        """Why, where that is said."""
        return self.text(body["reason"], "reason", NOTE_LENGTH, is_line=False).strip() if "reason" in body else ""


def _fits(weight: Decimal) -> bool:
    exponent = weight.normalize().as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -WEIGHT_PLACES and weight < 10 ** (WEIGHT_DIGITS - WEIGHT_PLACES)


PLAIN: dict[str, Callable[[HostingReader, Any, str], Any]] = {
    "decision_days": HostingReader.whole,
    "rejects_overdue": HostingReader.truth,
}


def _setting(reader: HostingReader, name: str, value: Any) -> Any:  # noqa: ANN401
    if name in CHOICES:
        return reader.choice(value, name, CHOICES[name])
    if name in PLAIN:
        return PLAIN[name](reader, value, name)
    if name in (*CAPS, *MOMENTS):
        return reader.optional(value, name, reader.whole if name in CAPS else reader.moment)
    if name == "tags":
        return [reader.text(tag, f"tags[{i}]", 80) for i, tag in enumerate(reader.listing(value, name, 50))]
    return reader.text(value, name, 20_000, is_line=name not in ("description", "citation"))


def settings_of(data: Any) -> tuple[dict[str, Any], str]:  # noqa: ANN401
    """The settings in a body, and the reason.

    Raises:
        ApiError: it has another shape.
    """
    reader = HostingReader()
    body = reader.fields(data, "", (*SETTINGS, "reason"))
    values = {name: _setting(reader, name, body[name]) for name in SETTINGS if name in body}
    reason = reader.reason(body)
    reader.finish()
    return values, reason


def benchmark_of(data: Any) -> tuple[dict[str, Any], Proposal]:  # noqa: ANN401
    """A benchmark that is to be: its fields, and its tasks with how they count.

    Raises:
        ApiError: it has another shape.
    """
    reader = HostingReader()
    body = reader.fields(data, "", (*SETTINGS, "key", "tasks", "groups", *COUNTING))
    values = {name: _setting(reader, name, body[name]) for name in SETTINGS if name in body}
    if "key" in body:
        values["key"] = reader.text(body["key"], "key", 80)
    if isinstance(data, dict):
        for name in ("name", "tasks"):
            if name not in body:
                reader.add(name, "it is missing")
    tasks = body.get("tasks")
    has_groups = bool(body.get("groups")) or any(
        isinstance(task, dict) and task.get("group") for task in (tasks if isinstance(tasks, list) else [])
    )
    aggregation = Benchmark.Aggregation.BALANCED if has_groups else Benchmark.Aggregation.BASIC
    nothing = Proposal([], [], Benchmark.MissingPolicy.DROP_SYSTEMS, aggregation, Benchmark.Replacement.ROW)
    proposal = _proposal(reader, body, nothing)
    reader.finish()
    return values, proposal


def proposal_of(data: Any, present: Proposal) -> tuple[Proposal, str]:  # noqa: ANN401
    """Changes of tasks and groups as what is to be, and the reason.

    Args:
        data: the body; of tasks and groups it names those that change or are new, of each the fields that change.
        present: what there is.

    Raises:
        ApiError: it has another shape.
    """
    reader = HostingReader()
    body = reader.fields(data, "", ("tasks", "groups", *COUNTING, "reason"))
    proposal, reason = _proposal(reader, body, present), reader.reason(body)
    reader.finish()
    return proposal, reason


def _proposal(reader: HostingReader, body: Mapping[str, Any], present: Proposal) -> Proposal:
    tasks = {edit.key: edit for edit in present.tasks}
    groups = {edit.key: edit for edit in present.groups}
    for i, value in enumerate(reader.listing(body.get("groups", []), "groups", MOST_TASKS)):
        edit = _edit(reader, value, f"groups[{i}]", groups, GroupEdit)
        groups[edit.key if edit.key in groups else f"~{i}"] = edit
    for i, value in enumerate(reader.listing(body.get("tasks", []), "tasks", MOST_TASKS)):
        edit = _edit(reader, value, f"tasks[{i}]", tasks, TaskEdit)
        tasks[edit.key if edit.key in tasks else f"~{i}"] = edit
    known = {fold_name(group.name) for group in groups.values()}
    by_key = {group.key: group.name for group in groups.values() if group.key}
    settled = []
    for edit in tasks.values():
        group = clean_name(edit.group)
        group = by_key.get(group, group) if fold_name(group) not in known else group
        if group and fold_name(group) not in known:  # a group that only tasks name weighs 1
            known.add(fold_name(group))
            groups[f"~{group}"] = GroupEdit(group)
        settled.append(replace(edit, group=group))
    counting = {name: getattr(present, name) for name in COUNTING}
    for name in COUNTING:
        if name == "gamma" and name in body:
            counting[name] = reader.score(body[name], name)
        elif name in body:
            counting[name] = reader.choice(body[name], name, CHOICES[name])
    return Proposal(tasks=settled, groups=list(groups.values()), **counting)


def _edit(reader: HostingReader, value: Any, place: str, known: Mapping[str, Any], kind: Any) -> Any:  # noqa: ANN401
    """A task or a group: what there is of this key, else a new one, with the stated fields."""
    names = TASK_FIELDS if kind is TaskEdit else GROUP_FIELDS
    row = reader.fields(value, place, names)
    stated = {name: _field(reader, name, row[name], f"{place}.{name}") for name in names if name in row}
    present = known.get(stated.get("key", ""))
    if present is None and not stated.get("name"):
        reader.add(f"{place}.name", "it is missing: what is new has a name, and `key` names nothing that there is")
        stated["name"] = ""
    return replace(present, **stated) if present else kind(**stated)


def _field(reader: HostingReader, name: str, value: Any, place: str) -> Any:  # noqa: ANN401
    if name in ("group", "cluster") and value is None:
        return ""
    readers: dict[str, Callable[[Any, str], Any]] = {
        "weight": reader.weight,
        "minimum": reader.score,
        "maximum": reader.score,
        "chance": reader.score,
        "precision": reader.precision,
        "is_archived": reader.truth,
        "direction": reader.direction,
    }
    return readers[name](value, place) if name in readers else reader.text(value, place, 200)


def archiving_of(data: Any) -> tuple[bool, str]:  # noqa: ANN401
    """Whether a benchmark is to be archived, and why."""
    reader = HostingReader()
    body = reader.fields(data, "", ("archived", "reason"))
    archived = reader.truth(body.get("archived"), "archived")
    reason = reader.reason(body)
    reader.finish()
    return archived, reason


def release_of(data: Any) -> dict[str, Any]:  # noqa: ANN401
    """The number, name and note of a revision that is to be frozen."""
    reader = HostingReader()
    body = reader.fields(data, "", ("revision", "name", "note"))
    found = {
        "number": reader.whole(body.get("revision"), "revision"),
        "name": reader.text(body.get("name"), "name", 200),
        "note": reader.text(body.get("note", ""), "note", NOTE_LENGTH, is_line=False),
    }
    reader.finish()
    return found


def edition_of(data: Any) -> dict[str, Any]:  # noqa: ANN401
    """The name and key of a new edition, and whether scores come with it."""
    reader = HostingReader()
    body = reader.fields(data, "", ("name", "key", "with_scores"))
    found = {
        "name": reader.text(body.get("name"), "name", 200),
        "key": reader.text(body.get("key", ""), "key", 80),
        "with_scores": reader.truth(body.get("with_scores", False), "with_scores"),
    }
    reader.finish()
    return found


def invitation_of(data: Any) -> str:  # noqa: ANN401
    """The role that an invitation offers."""
    reader = HostingReader()
    role = reader.choice(reader.fields(data, "", ("role",)).get("role"), "role", Membership.Role.values)
    reader.finish()
    return role


def webhook_of_body(data: Any) -> tuple[str, list[str]]:  # noqa: ANN401
    """The address of a webhook that is to be, and what it is told of."""
    reader = HostingReader()
    body = reader.fields(data, "", ("address", "events"))
    address = reader.text(body.get("address"), "address", ADDRESS_LENGTH)
    events = _events(reader, body.get("events"))
    reader.finish()
    return address, events


def webhook_change_of(data: Any) -> tuple[bool | None, list[str] | None]:  # noqa: ANN401
    """Whether a webhook is to be on, and what it is told of; None for what stays."""
    reader = HostingReader()
    body = reader.fields(data, "", ("is_active", "events"))
    is_active = reader.truth(body["is_active"], "is_active") if "is_active" in body else None
    events = _events(reader, body["events"]) if "events" in body else None
    reader.finish()
    return is_active, events


def _events(reader: HostingReader, value: Any) -> list[str]:  # noqa: ANN401
    listed = reader.listing(value, "events", len(Webhook.Event.values))
    return [reader.choice(event, f"events[{i}]", Webhook.Event.values) for i, event in enumerate(listed)]


def person_of(data: Any) -> tuple[str | None, bool, str]:  # noqa: ANN401
    """The role that somebody is to have (empty for none, None where it stays), whether a ban is lifted, and why."""
    reader = HostingReader()
    body = reader.fields(data, "", ("role", "banned", "reason"))
    role = None
    if "role" in body:
        role = "" if body["role"] is None else reader.choice(body["role"], "role", Membership.Role.values)
    lifts = "banned" in body and not reader.truth(body["banned"], "banned")
    if "banned" in body and not lifts:
        reader.add("banned", "false lifts a ban; somebody is banned by a decision about their submission")
    if role is None and not lifts:
        reader.add("role", "it is missing; say the role, or null for none")
    reason = reader.reason(body)
    reader.finish()
    return role, lifts, reason


def takedown_of(data: Any) -> dict[str, Any]:  # noqa: ANN401
    """Why scores are taken down, and whether the note on them goes as well."""
    reader = HostingReader()
    body = reader.fields(data, "", ("reason", "with_note", "is_sure"))
    reason = reader.reason(body)
    if not reason:
        reader.add("reason", "it is missing; say why: it stays on record, so do not repeat the scores in it")
    found = {"reason": reason, "with_note": reader.truth(body.get("with_note", False), "with_note")}
    reader.sure(body)
    reader.finish()
    return found


def closing_of(data: Any) -> str:  # noqa: ANN401
    """The password of whoever closes their account."""
    reader = HostingReader()
    body = reader.fields(data, "", ("password", "is_sure"))
    password = reader.text(body.get("password"), "password", 4096, is_line=False)
    reader.sure(body)
    reader.finish()
    return password


def decisions_of(data: Any) -> tuple[list[UUID], str, str]:  # noqa: ANN401
    """Which submissions are decided, how, and why."""
    reader = HostingReader()
    body = reader.fields(data, "", ("submissions", "decision", "reason"))
    numbers = []
    for i, value in enumerate(reader.listing(body.get("submissions"), "submissions", MOST_DECISIONS)):
        try:
            numbers.append(UUID(reader.text(value, f"submissions[{i}]", 40)))
        except ValueError:
            reader.add(f"submissions[{i}]", "this is not the number of a submission")
    decision = reader.choice(body.get("decision"), "decision", [ACCEPT, REJECT, REJECT_AND_BAN])
    reason = reader.reason(body)
    if decision != ACCEPT and not reason:
        reader.add("reason", "it is missing; the submitter reads it")
    reader.finish()
    return numbers, decision, reason
