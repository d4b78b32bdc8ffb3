"""Drafts: what somebody wants to submit, checked, and kept until they confirm it."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils import timezone

from leaderboard.models import Benchmark, Draft, Score, Submission, System, Task, User
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.selectors.audience import audience
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.services.names import near_misses
from ranking_engine.names import check_name, fold_name

ADDRESS_LENGTH = 500
DESCRIPTION_LENGTH = 5000
is_web_address = URLValidator(schemes=["http", "https"])
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


@dataclass(frozen=True)
class RawRow:
    """One system's scores as they came in: texts, nothing checked."""

    system_name: str
    scores: Mapping[str, str]  # task key -> text; an empty text is a score that is not reported
    organisation: str = ""
    url: str = ""
    description: str = ""
    line: int | None = None


@dataclass
class Problems:
    """What is wrong with an upload, by place: `system_name`, or the key of a task."""

    by_place: dict[str, list[str]] = field(default_factory=dict)

    def add(self, place: str, message: str) -> None:
        """Note a problem."""
        self.by_place.setdefault(place, []).append(message)

    def __bool__(self) -> bool:
        return bool(self.by_place)


class DraftError(ValueError):
    """An upload that cannot become a draft; `problems` says where and why."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("; ".join(f"{place}: {' '.join(texts)}" for place, texts in problems.by_place.items()))
        self.problems = problems

    @property
    def in_words(self) -> str:
        """All that is wrong, for a place without fields."""
        texts = [text for place in self.problems.by_place.values() for text in place]
        return f"This can no longer be submitted: {'; '.join(texts)}"


def parse_score(text: str, task: Task) -> float | None:
    """A score from its text; None where the text is empty.

    Raises:
        ValueError: it is no number, not finite, or outside the task's stated range.
    """
    text = text.strip()
    if not text:
        return None
    if not NUMBER.match(text):
        raise ValueError(f"{text[:40]!r} is not a number; write 71.3, or leave the field empty where there is no score")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]!r} is too large to be a score")
    if task.minimum is not None and value < task.minimum:
        raise ValueError(f"{text[:40]} is below {task.minimum:g}, the least score of {task.name}")
    if task.maximum is not None and value > task.maximum:
        raise ValueError(f"{text[:40]} is above {task.maximum:g}, the greatest score of {task.name}")
    return value


def board_systems(benchmark: Benchmark) -> list[BoardSystem]:
    """The systems of the benchmark's latest revision."""
    revision = benchmark.revisions.order_by("-number").first()
    return systems_at(revision) if revision else []


def make_draft(
    benchmark: Benchmark, owner: User, rows: Sequence[RawRow], *, source: str, note: str = ""
) -> Draft:
    """Check an upload and keep it until it is confirmed.

    Raises:
        DraftError: something in it cannot be stored; nothing is kept.
    """
    return Draft.objects.create(
        benchmark=benchmark,
        owner=owner,
        source=source,
        rows=check_rows(benchmark, owner, rows),
        note=note,
        previewed_number=benchmark.last_revision_number,
        expires_at=timezone.now() + timedelta(days=settings.DRAFT_DAYS),
    )


def rows_now(draft: Draft, benchmark: Benchmark) -> list[dict[str, Any]]:
    """The draft's rows, checked anew: systems, tasks and rights may have changed since it was made.

    Args:
        draft: what was checked some time ago.
        benchmark: as it stands now.

    Raises:
        DraftError: something in it cannot be stored any more.
    """
    return check_rows(benchmark, draft.owner, [_raw(row) for row in draft.rows])


def _raw(row: Mapping[str, Any]) -> RawRow:
    about = row["system"]
    return RawRow(
        system_name=about["name"],
        scores={key: repr(score["value"]) if "value" in score else "" for key, score in row["scores"].items()},
        organisation=about["organisation"],
        url=about["url"],
        description=about["description"],
        line=row["line"],
    )


def check_rows(benchmark: Benchmark, owner: User, rows: Sequence[RawRow]) -> list[dict[str, Any]]:
    """The rows of an upload as a draft keeps them.

    Raises:
        DraftError: something in them cannot be stored.
    """
    standing = standing_of(benchmark, owner)
    problems = Problems()
    checked = [check_row(standing, row, problems) for row in rows]
    if not rows:
        problems.add("rows", "there is no system; an upload has at least one")
    names = Counter(fold_name(row["system"]["name"]) for row in checked if row["system"])
    for row in checked:
        if row["system"] and names.pop(fold_name(row["system"]["name"]), 1) > 1:
            problems.add("system_name", f"{row['system']['name']} stands here more than once; a system has one row")
    if problems:
        raise DraftError(problems)
    return checked


@dataclass(frozen=True)
class Standing:
    """What every row of an upload is held against, read once: the benchmark as it stands, for one owner of uploads."""

    benchmark: Benchmark
    tasks: Mapping[str, Task]  # by key, without archived ones
    by_name: Mapping[str, BoardSystem]  # the systems on the board by folded name
    by_key: Mapping[str, BoardSystem]
    left: Mapping[str, int]  # systems that were on the board once, by folded name
    replaceable: frozenset[int] | None  # the systems whose scores the owner may replace; None for all

    def may_replace(self, system_id: int) -> bool:
        """Whether the owner may submit scores for a system that is on the board, or was."""
        return self.replaceable is None or system_id in self.replaceable

    def system(self, name: str) -> BoardSystem | None:
        """The system on the board that is meant: by name, then by key."""
        return self.by_name.get(fold_name(name)) or self.by_key.get(name)


def standing_of(benchmark: Benchmark, owner: User) -> Standing:
    """What uploads of `owner` are held against now."""
    on_board = board_systems(benchmark)
    # A system that only waits for a moderator is nobody's business.
    once = System.objects.filter(benchmark=benchmark, changes__isnull=False).values_list("name_folded", "pk")
    return Standing(
        benchmark=benchmark,
        tasks={task.key: task for task in Task.objects.filter(benchmark=benchmark, is_archived=False)},
        by_name={fold_name(system.name): system for system in on_board},
        by_key={system.key: system for system in on_board},
        left=dict(once.distinct()),
        replaceable=_replaceable(owner, benchmark),
    )


def _replaceable(user: User, benchmark: Benchmark) -> frozenset[int] | None:
    """The systems whose scores `user` may replace: those they submitted before. None for all.

    Where a moderator decides about every submission, everyone may propose.
    """
    is_moderated = benchmark.submission_policy == Benchmark.SubmissionPolicy.MODERATED
    if is_moderated or audience(user, benchmark).may_moderate:
        return None
    shown = [Submission.State.ACCEPTED, Submission.State.WITHDRAWN]
    theirs = Submission.objects.filter(benchmark=benchmark, batch__uploader=user, state__in=shown)
    return frozenset(theirs.values_list("system_id", flat=True))


def check_row(standing: Standing, row: RawRow, problems: Problems, *, with_neighbours: bool = True) -> dict[str, Any]:
    """One row as a draft keeps it; what is wrong with it goes to `problems`.

    Args:
        standing: what it is held against.
        row: what came in.
        problems: takes what is wrong.
        with_neighbours: whether to look for names that resemble a new one, which takes its time.
    """
    system = _check_system(standing, row, problems, with_neighbours=with_neighbours)
    scores: dict[str, Any] = {}
    for key, text in row.scores.items():
        if key not in standing.tasks:
            problems.add(key, f"{key!r} is not a task of {standing.benchmark.name}")
            continue
        try:
            value = parse_score(text, standing.tasks[key])
        except ValueError as error:
            problems.add(key, str(error))
            continue
        scores[key] = {"missing": Score.MissingReason.NOT_REPORTED} if value is None else {"value": value}
    if not any("value" in score for score in scores.values()) and not problems:
        problems.add("scores", "no score is given; a submission has at least one")
    return {"system": system, "scores": scores, "line": row.line}


def _check_system(standing: Standing, row: RawRow, problems: Problems, *, with_neighbours: bool) -> dict[str, Any]:
    """Which system is meant: by name, then by key; else a new one, which is to be confirmed."""
    try:
        name = check_name(row.system_name)
    except ValueError as problem:
        problems.add("system_name", str(problem))
        return {}
    found = standing.system(name)
    known_id = found.id if found else standing.left.get(fold_name(name))
    if known_id and not standing.may_replace(known_id):
        problems.add(
            "system_name",
            f"{found.name if found else name} came onto the board through another account; only that account, a "
            f"moderator or an owner replaces its scores. Choose another name, or ask the benchmark's owners.",
        )
    _check_about(row, problems)
    is_unsure = with_neighbours and not found
    return {
        "key": found.key if found else None,
        "name": found.name if found else name,
        "organisation": row.organisation,
        "url": row.url,
        "description": row.description,
        "near_misses": near_misses(name, [known.name for known in standing.by_key.values()]) if is_unsure else [],
    }


def _check_about(row: RawRow, problems: Problems) -> None:
    """What a row says of its system beside the name; pages make a link of its address."""
    for place, text, most in (
        ("organisation", row.organisation, NAME_LENGTH),
        ("url", row.url, ADDRESS_LENGTH),
        ("description", row.description, DESCRIPTION_LENGTH),
    ):
        if len(text) > most:
            problems.add(place, f"{len(text)} characters; at most {most} are kept")
        if "\0" in text:
            problems.add(place, "it holds the control character U+0000")
    if row.url:
        try:
            is_web_address(row.url)
        except ValidationError:
            problems.add("url", f"{row.url[:40]!r} is not an address that begins with http:// or https://")
