"""What a body says of result files: the files, and which of their columns and systems is which here."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.api.bodies import NOTE_LENGTH, Reader, kind_of
from leaderboard.services.hashing import content_hash
from leaderboard.services.imports import SCALES, Assignment, Import

FIELDS = ("files", "mapping", "note", "create_systems")
MAPPED = ("tasks", "scales", "systems")
LABEL = 1000


@dataclass(frozen=True)
class ImportBody:
    """What was sent."""

    files: Sequence[tuple[str, bytes]]
    mapping: Mapping[str, Mapping[str, str]]
    note: str
    creates_systems: bool

    def payload_hash(self, importer: str) -> str:
        """Of all of it."""
        files = [[name, hashlib.sha256(data).hexdigest()] for name, data in self.files]
        mapping = {name: dict(said) for name, said in self.mapping.items()}
        return content_hash(["import", importer, files, mapping, self.note, self.creates_systems])


def import_body(data: Any) -> ImportBody:  # noqa: ANN401
    """A body of files.

    Raises:
        ApiError: it has another shape.
    """
    reader = Reader()
    body = reader.fields(data, "", FIELDS)
    files = body.get("files")
    if isinstance(data, dict) and not (isinstance(files, list) and files):
        reader.add("files", "expected a list of files with at least one, each with `name` and `text`")
    found = [
        _file(reader, file, f"files[{i}]") for i, file in enumerate(files if isinstance(files, list) else [])
    ]
    mapping = reader.fields(body.get("mapping", {}), "mapping", MAPPED)
    read = ImportBody(
        files=found,
        mapping={name: _labels(reader, mapping[name], f"mapping.{name}") for name in MAPPED if name in mapping},
        note=reader.text(body["note"], "note", NOTE_LENGTH, is_line=False) if "note" in body else "",
        creates_systems=reader.truth(body["create_systems"], "create_systems") if "create_systems" in body else False,
    )
    reader.finish()
    return read


def _file(reader: Reader, file: Any, place: str) -> tuple[str, bytes]:  # noqa: ANN401
    if isinstance(file, tuple):  # of a form
        return file
    fields = reader.fields(file, place, ("name", "text"))
    name = reader.text(fields.get("name", ""), f"{place}.name", 255)
    text = fields.get("text")
    if not isinstance(text, str):
        reader.add(f"{place}.text", f"expected the file as a text, found {kind_of(text)}")
        return name, b""
    return name, text.encode(errors="replace")


def _labels(reader: Reader, said: Any, place: str) -> dict[str, str]:  # noqa: ANN401
    if not isinstance(said, dict):
        reader.add(place, f"expected an object of texts, found {kind_of(said)}")
        return {}
    return {
        label: "" if value is None else reader.text(value, f"{place}.{label[:60]}", 400)
        for label, value in said.items()
    }


def column_labels(found: Import) -> list[str]:
    """What each column of an import is called in a mapping."""
    return _told_apart([column.name for column in found.columns])


def system_labels(found: Import) -> list[str]:
    """What each system of an import is called in a mapping."""
    n_called = Counter(name for name, _ in found.systems)
    return _told_apart(
        [f"{name} ({revision})" if revision and n_called[name] > 1 else name for name, revision in found.systems]
    )


def _told_apart(labels: Sequence[str]) -> list[str]:
    """The labels, a second of the same text with its number behind it."""
    seen: set[str] = set()
    told = []
    for k, label in enumerate(labels):
        told.append(f"{label} #{k}" if label in seen else label)
        seen.add(label)
    return told


def assignment_of(body: ImportBody, found: Import, suggested: Assignment) -> tuple[Assignment, list[dict[str, str]]]:
    """What the mapping says over what can be said without doubt, and what of it fits nothing in the files."""
    problems: list[dict[str, str]] = []

    def said(kind: str, labels: Sequence[str], check: Callable[[str], str] = lambda value: "") -> dict[int, str]:
        places = {label: k for k, label in enumerate(labels)}
        chosen = {}
        for label, value in body.mapping.get(kind, {}).items():
            place = f"mapping.{kind}.{label[:60]}"
            if label not in places:
                listed = ", ".join(repr(known) for known in labels[:5])
                problems.append({"place": place, "message": f"the files have no such one; they have {listed}"[:LABEL]})
            elif message := check(value):
                problems.append({"place": place, "message": message})
            else:
                chosen[places[label]] = value
        return chosen

    def scale_problem(value: str) -> str:
        return "" if value in SCALES else f"{value[:40]!r}; expected one of {', '.join(SCALES)}"

    columns, systems = column_labels(found), system_labels(found)
    assignment = Assignment(
        tasks={**suggested.tasks, **said("tasks", columns)},
        scales={**suggested.scales, **said("scales", columns, scale_problem)},
        names={**suggested.names, **said("systems", systems)},
    )
    return assignment, problems


def places_in_mapping(places: Iterable[str], found: Import) -> list[str]:
    """Where in a mapping problems are that the form knows as `task-3`, `scale-3` or `system-1`."""
    columns, systems = column_labels(found), system_labels(found)
    labels = {"task": columns, "scale": columns, "system": systems}
    named = []
    for place in places:
        kind, _, number = place.partition("-")
        is_known = kind in labels and number.isdecimal()
        named.append(f"mapping.{kind}s.{labels[kind][int(number)]}" if is_known else "files")
    return named
