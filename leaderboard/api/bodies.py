"""What a body says, read strictly into what the services take: every problem with its place."""

import hashlib
from typing import Any

from leaderboard.api.problems import ApiError
from leaderboard.services.hashing import content_hash
from leaderboard.services.upload_checks import stated_reason
from leaderboard.services.uploads import MOST_ISSUES, Upload, UploadRow
from ranking_engine.prospects import MAJORITY, RULES
from ranking_engine.texts import line_problem, lines_problem

NOTE_LENGTH = 5000
MOST_INSTANCES = 2**31  # what the database counts to
TEXTS = ("name", "key", "organisation", "url", "description", "corrects")


def wrong_body(details: list[dict[str, Any]], n_problems: int | None = None) -> ApiError:
    """The error of a body that cannot be stored."""
    n = len(details) if n_problems is None else n_problems
    count = f"{n}{' or more' if n >= MOST_ISSUES else ''} problem{'' if n == 1 else 's'}"
    first = details[0]
    place = first.get("place") or ", ".join(
        part for part in (f"line {first['line']}" if "line" in first else "", str(first.get("column", ""))) if part
    )
    told = f"{place}: {first['message']}" if place else first["message"]
    return ApiError(400, f"Nothing was stored: {count}. {told}", details=details[:MOST_ISSUES])


class Reader:
    """Reads values of a JSON body and collects what is wrong."""

    def __init__(self) -> None:
        self.problems: list[dict[str, Any]] = []

    def add(self, place: str, message: str) -> None:
        """Note what is wrong at a place."""
        if len(self.problems) < MOST_ISSUES:
            self.problems.append({"place": place, "message": message})

    def fields(self, value: Any, place: str, known: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401
        """An object with no other fields than those known."""
        if not isinstance(value, dict):
            self.add(place, f"expected an object, found {kind_of(value)}")
            return {}
        prefix = f"{place}." if place else ""
        for name in value:
            if name not in known:
                self.add(f"{prefix}{name[:60]}", f"there is no such field; the fields are {', '.join(known)}")
        return value

    def text(self, value: Any, place: str, most: int = 5000, *, is_line: bool = True) -> str:  # noqa: ANN401
        """A text that can be stored: one line, unless it may have several."""
        if not isinstance(value, str):
            self.add(place, f"expected a text, found {kind_of(value)}")
            return ""
        if len(value) > most:
            self.add(place, f"{len(value)} characters; at most {most} are kept")
            return ""
        if problem := line_problem(value) if is_line else lines_problem(value):
            self.add(place, f"it {problem}")
            return ""
        return value

    def truth(self, value: Any, place: str) -> bool:  # noqa: ANN401
        """True or false."""
        if not isinstance(value, bool):
            self.add(place, f"expected true or false, found {kind_of(value)}")
        return value is True

    def score(self, value: Any, place: str) -> float | None:  # noqa: ANN401
        """A number or null."""
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            return value
        hint = "; write the number without quotation marks" if isinstance(value, str) else ""
        self.add(place, f"expected a number or null, found {kind_of(value)}{hint}")
        return None

    def score_or_reason(self, value: Any, place: str) -> float | str | None:  # noqa: ANN401
        """A number, null, or a text that says why there is no number."""
        return stated_reason(value) or self.score(value, place)

    def finish(self) -> None:
        """Stop where something is wrong."""
        if self.problems:
            raise wrong_body(self.problems)


def kind_of(value: Any) -> str:  # noqa: ANN401
    """What a value of a body is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value[:30]!r}"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"the number {str(value)[:30]}"


def json_upload(data: Any) -> Upload:  # noqa: ANN401
    """A JSON body as an upload.

    Raises:
        ApiError: it has another shape.
    """
    reader = Reader()
    body = reader.fields(data, "", ("systems", "note", "create_systems"))
    systems = body.get("systems")
    if isinstance(data, dict) and not isinstance(systems, list):
        message = f"expected a list of systems, found {kind_of(systems)}" if "systems" in body else "it is missing"
        reader.add("systems", message)
    found = systems if isinstance(systems, list) else []
    rows = [_row(reader, value, f"systems[{i}]") for i, value in enumerate(found)]
    note = reader.text(body["note"], "note", NOTE_LENGTH, is_line=False) if "note" in body else ""
    if any(row.corrects for row in rows) and not note.strip():
        reader.add("note", "it is missing; say what was wrong: a correction is shown with its reason")
    creates = reader.truth(body["create_systems"], "create_systems") if "create_systems" in body else False
    reader.finish()
    digest = content_hash(["application/json", data])
    return Upload(rows, note=note, creates_systems=creates, payload_hash=digest)


def _row(reader: Reader, value: Any, place: str) -> UploadRow:  # noqa: ANN401
    system = reader.fields(value, place, (*TEXTS, "scores", "instances"))
    texts = {
        name: reader.text(system[name], f"{place}.{name}", is_line=name != "description")
        for name in TEXTS
        if name in system
    }
    scores: dict[str, float | str | None] = {}
    details: dict[str, tuple[float | None, int | None]] = {}
    instances = _instances(reader, system.get("instances", {}), f"{place}.instances")
    if isinstance(value, dict) and not isinstance(system.get("scores", {} if instances else None), dict):
        found = f"expected an object, found {kind_of(system['scores'])}" if "scores" in system else "it is missing"
        reader.add(f"{place}.scores", found)
    elif system:
        for label, score in system.get("scores", {}).items():
            name, here = reader.text(label, f"{place}.scores", 200), f"{place}.scores.{label[:60]}"
            if isinstance(score, dict):
                scores[name], details[name] = _measured(reader, score, here)
            else:
                scores[name] = reader.score_or_reason(score, here)
    return UploadRow(
        scores,
        name=texts.get("name", ""),
        key=texts.get("key", ""),
        organisation=texts.get("organisation", ""),
        url=texts.get("url", ""),
        description=texts.get("description", ""),
        instances=instances,
        corrects=texts.get("corrects", ""),
        details=details,
    )


def _measured(
    reader: Reader, given: dict[str, Any], place: str
) -> tuple[float | None, tuple[float | None, int | None]]:
    """A score with what is known of how it was measured: its standard error, its number of instances."""
    found = reader.fields(given, place, ("value", "standard_error", "n_instances"))
    value = reader.score(found.get("value"), f"{place}.value")
    if found.get("value") is None:
        reader.add(f"{place}.value", "it is missing; write null or a reason in place of the object where none is")
    error, n = reader.score(found.get("standard_error"), f"{place}.standard_error"), found.get("n_instances")
    if error is not None and not 0 <= error < float("inf"):
        reader.add(f"{place}.standard_error", f"{error!r}; a standard error is a number from 0")
        error = None
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or not 0 <= n < MOST_INSTANCES):
        reader.add(f"{place}.n_instances", f"expected a whole number from 0, found {kind_of(n)}")
        n = None
    return value, (None if error is None else float(error), n)


def _instances(reader: Reader, value: Any, place: str) -> dict[str, dict[str, float | None]]:  # noqa: ANN401
    """Scores by task and by instance."""
    if not isinstance(value, dict):
        reader.add(place, f"expected an object with an object for each task, found {kind_of(value)}")
        return {}
    found: dict[str, dict[str, float | None]] = {}
    for label, scores in value.items():
        here = f"{place}.{label[:60]}"
        if not isinstance(scores, dict):
            reader.add(here, f"expected an object with a score for each instance, found {kind_of(scores)}")
            continue
        found[reader.text(label, place, 200)] = {
            name: reader.score(score, f"{here}.{name[:60]}") for name, score in scores.items()
        }
    return found


def csv_upload(
    data: Any,  # noqa: ANN401
    *,
    note: str,
    creates_systems: bool,
    is_of_instances: bool = False,
    system_column: str = "",
) -> Upload:
    """A CSV body as an upload; the table is read when it is checked.

    Raises:
        ApiError: the note cannot be stored.
    """
    table = data if isinstance(data, bytes) else b""
    reader = Reader()
    kept = reader.text(note, "note", NOTE_LENGTH, is_line=False)
    column = reader.text(system_column, "system_column", 200)
    reader.finish()
    parts = ["text/csv", hashlib.sha256(table).hexdigest(), kept, creates_systems]
    return Upload(
        table=table,
        is_of_instances=is_of_instances,
        system_column=column,
        note=kept,
        creates_systems=creates_systems,
        payload_hash=content_hash([*parts, "instances", column] if is_of_instances else parts),
    )


def reason_of(data: Any, *, is_needed: bool) -> str:  # noqa: ANN401
    """The reason in a body, which may be empty where none is needed.

    Raises:
        ApiError: it is missing, or no text.
    """
    reader = Reader()
    body = reader.fields(data, "", ("reason",))
    reason = reader.text(body.get("reason", ""), "reason", NOTE_LENGTH, is_line=False).strip()
    if is_needed and not reason and not reader.problems:
        reader.add("reason", "it is missing; say why")
    reader.finish()
    return reason


MOST_CONDITIONS, CONDITION_LENGTH = 100, 2000


def conditions_of(data: Any) -> tuple[list[str], bool, str]:  # noqa: ANN401
    """The conditions in a body, whether tasks of weight 0 count, and what is to be won.

    Raises:
        ApiError: it has another shape.
    """
    reader = Reader()
    body = reader.fields(data, "", ("conditions", "all_tasks", "rule"))
    stated = body.get("conditions")
    if isinstance(data, dict) and not isinstance(stated, list):
        found = f"expected a list of texts, found {kind_of(stated)}" if "conditions" in body else "it is missing"
        reader.add("conditions", found)
    listed = stated if isinstance(stated, list) else []
    if len(listed) > MOST_CONDITIONS:
        reader.add("conditions", f"{len(listed)} conditions; at most {MOST_CONDITIONS} are taken")
    texts = [reader.text(text, f"conditions[{i}]", CONDITION_LENGTH, is_line=False) for i, text in enumerate(listed)]
    all_tasks = reader.truth(body["all_tasks"], "all_tasks") if "all_tasks" in body else False
    rule = reader.text(body["rule"], "rule", 60) if "rule" in body else MAJORITY
    if rule not in RULES:
        reader.add("rule", f"{rule[:40]!r}; expected one of {', '.join(RULES)}")
    reader.finish()
    return texts, all_tasks, rule
