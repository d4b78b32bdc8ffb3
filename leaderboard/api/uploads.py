"""Scores as they are sent: a body of JSON, or a table."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from leaderboard.access.audience import Audience
from leaderboard.api.protocol.fields import (
    IS_MISSING,
    ITSELF,
    ScoreField,
    Shape,
    Strict,
    StrictText,
    Text,
    Truth,
    kind_of,
    read_each,
    read_number,
    read_text,
)
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.common.hashing import content_hash
from leaderboard.submissions.checks import MISSING_WORDS, stated_reason
from leaderboard.submissions.importing.choices import COLUMNS, kept_assignment, read_with_kept
from leaderboard.submissions.imports import note_of, rows_of_import, suggested
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload
from ranking_engine.files.instance_tables import CLUSTER_LENGTH
from ranking_engine.files.metadata import MAX_FIELDS

MAX_INSTANCES = 2**31  # what the database counts to
LABEL_LENGTH = 200
MEASURED = {
    "type": "object",
    "required": ["value"],
    "additionalProperties": False,
    "properties": {
        "value": {"type": "number"},
        "standard_error": {"type": ["number", "null"], "minimum": 0},
        "n_instances": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_INSTANCES - 1},
    },
}


class MeasuredValue(ScoreField):
    """The number of a score that says how it was measured."""

    def to_internal_value(self, data: Any) -> float:  # noqa: ANN401
        """The number."""
        if data is None:
            raise s.ValidationError("it is missing; write null or a reason in place of the object if there is none")
        return super().to_internal_value(data)


class StandardError(ScoreField):
    """The standard error of a score."""

    def to_internal_value(self, data: Any) -> float:  # noqa: ANN401
        """The number."""
        value = super().to_internal_value(data)
        if not 0 <= value < float("inf"):
            raise s.ValidationError(f"{value!r}; a standard error is a number from 0")
        return float(value)


class InstanceCount(Strict, s.IntegerField):
    """On how many instances a score was measured."""

    def to_internal_value(self, data: Any) -> int:  # noqa: ANN401
        """The number."""
        if isinstance(data, bool) or not isinstance(data, int) or not 1 <= data < MAX_INSTANCES:
            raise s.ValidationError(f"expected a whole number from 1, found {kind_of(data)}")
        return data


class MeasuredScoreSerializer(Shape):
    """A score with what is known of how it was measured."""

    value = MeasuredValue()
    standard_error = StandardError(allow_null=True, absent=None)
    n_instances = InstanceCount(allow_null=True, absent=None)


@extend_schema_field(
    {"oneOf": [{"type": "number"}, {"type": "string", "enum": sorted(MISSING_WORDS.values())}, MEASURED]}
)
class ScoreOrReason(Strict, s.Field):
    """A number, a number with its standard error and number of instances, or why there is none."""

    measured = MeasuredScoreSerializer()

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401
        """The number, the reason, or the values of a measured score."""
        if isinstance(data, dict):
            return self.measured.to_internal_value(data)
        return stated_reason(data) or read_number(data)


class ScoresByTask(Strict, s.DictField):
    """Scores by the name or the key of a task."""

    child = ScoreOrReason(allow_null=True)

    def to_internal_value(self, data: Any) -> dict[Any, Any]:  # noqa: ANN401
        """Every score, by task."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object, found {kind_of(data)}")
        values, problems = read_each(data.items(), self.child.run_validation)
        return _labelled(values, problems, data)


class InstanceField(Strict, s.DictField):
    """Something of each instance, by task."""

    noun = ""  # what there is of each

    def read(self, value: Any) -> Any:  # noqa: ANN401
        """What is sent of one instance.

        Raises:
            ValidationError: it is none.
        """
        raise NotImplementedError

    def to_internal_value(self, data: Any) -> dict[Any, Any]:  # noqa: ANN401
        """Everything that is sent, by task and instance."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object with an object for each task, found {kind_of(data)}")
        values, problems = read_each(data.items(), self.of_task)
        return _labelled(values, problems, data)

    def of_task(self, sent: Any) -> dict[Any, Any]:  # noqa: ANN401
        """What is sent of one task, by instance.

        Raises:
            ValidationError: something is wrong with it.
        """
        if not isinstance(sent, dict):
            raise s.ValidationError(f"expected an object with a {self.noun} for each instance, found {kind_of(sent)}")
        values, problems = read_each(sent.items(), self.read)
        if problems:
            raise s.ValidationError(problems)  # type: ignore[arg-type]
        return values


class InstanceScoresField(InstanceField):
    """Scores by task, then by instance."""

    child = s.DictField(child=s.FloatField(allow_null=True))
    noun = "score"

    def read(self, value: Any) -> float | None:  # noqa: ANN401
        """A score, or None where there is none."""
        return None if value is None else read_number(value)


class InstanceClustersField(InstanceField):
    """The clusters of instances by task, then by instance."""

    child = s.DictField(child=s.CharField(max_length=CLUSTER_LENGTH))
    noun = "cluster"

    def read(self, value: Any) -> str:  # noqa: ANN401
        """The name of a cluster."""
        return read_text(value, CLUSTER_LENGTH)


def _labelled(values: dict[Any, Any], problems: dict[Any, Any], data: Mapping[str, Any]) -> dict[Any, Any]:
    """What was read by task, where nothing is wrong with it nor with what the tasks are called."""
    _, nameless = read_each(((label, label) for label in data), lambda label: read_text(label, LABEL_LENGTH))
    if nameless:
        problems = {ITSELF: [message for messages in nameless.values() for message in messages]} | problems
    if problems:
        raise s.ValidationError(problems)
    return values


@extend_schema_field({"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}})
class FormFiles(s.ListField):
    """Files as a form sends them."""


class AddressText(StrictText, s.URLField):
    """An address, which is checked when it is stored."""


class NumberText(StrictText, s.UUIDField):  # type: ignore[misc]
    """The number of a submission, which is looked up when it is stored."""


@extend_schema_field(
    {
        "type": "object",
        "maxProperties": MAX_FIELDS,
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    }
)
class MetadataValues(Strict, s.Field):
    """Values of the systems' metadata, which are checked when they are stored."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401
        """Every value, by the label of its field."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object, found {kind_of(data)}")
        if len(data) > MAX_FIELDS:
            raise s.ValidationError(f"{len(data)} values; a benchmark has at most {MAX_FIELDS} fields")
        return data


class SubmittedSystemSerializer(Shape):
    """One system's scores."""

    words = "a list of systems"

    name = Text(required=False, help_text="The name of a system on the board, or of a new one.")
    key = Text(required=False, help_text="In place of the name of a system on the board, or for a new one.")
    organisation = Text(required=False)
    url = AddressText(required=False)
    description = Text(is_line=False, required=False)
    metadata = MetadataValues(
        required=False,
        help_text="By the key or name of one of the `metadata_fields`. Fields that are left out do not change.",
    )
    corrects = NumberText(
        required=False,
        help_text="The `submission` of one system that this corrects: it takes that one's place. The upload's `note` "
        "says what was wrong.",
    )
    scores = ScoresByTask(
        required=False,
        help_text="By the name or key of a task; null where a score is not reported, a text that says why there is "
        "none, or an object with `value` and, where known, `standard_error` and `n_instances`. Tasks may be left out; "
        "a correction leaves the scores that it does not mention as they were.",
    )
    instances = InstanceScoresField(
        required=False,
        help_text="Scores of single instances, by the name or key of a task, then by instance. Their mean is the "
        "task's score where `scores` states none.",
    )
    clusters = InstanceClustersField(
        required=False,
        help_text="Clusters of these instances, by the name or key of a task, then by instance: instances with the "
        "same text, such as questions about one passage, count as one in standard errors. Those left out are "
        "independent.",
    )

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """Without scores of instances there are others."""
        tasks = data.get("instances") if isinstance(data, dict) else None
        has_instances = isinstance(tasks, dict) and any(isinstance(scores, dict) for scores in tasks.values())
        if isinstance(data, dict) and "scores" not in data and not has_instances:
            yield "scores", "it is missing"

    def to_internal_value(self, data: Any) -> SubmittedRow:  # noqa: ANN401
        """A row of an upload."""
        values = super().to_internal_value(data)
        scores = values.pop("scores", {})
        measured = {task: score for task, score in scores.items() if isinstance(score, dict)}
        return SubmittedRow(
            system_name=values.pop("name", ""),
            scores=scores | {task: score["value"] for task, score in measured.items()},
            instance_scores=values.pop("instances", {}),
            instance_clusters=values.pop("clusters", {}),
            details={task: (score["standard_error"], score["n_instances"]) for task, score in measured.items()},
            **values,
        )


class SubmissionBodySerializer(Shape):
    """An upload, taken whole or not at all."""

    systems = SubmittedSystemSerializer(many=True, error_messages=IS_MISSING)
    note = Text(
        most=NOTE_LENGTH,
        is_line=False,
        absent="",
        help_text="How the scores were measured; shown with the submission.",
    )
    create_systems = Truth(absent=False, help_text="Whether names that are not on the board are new.")

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """A correction says why."""
        systems = data.get("systems") if isinstance(data, dict) else None
        rows = systems if isinstance(systems, list) else []
        if any(isinstance(row, dict) and row.get("corrects") for row in rows) and not values.get("note", "").strip():
            yield "note", "it is missing; say what was wrong: a correction is shown with its reason"


def json_upload(data: Any) -> Upload:  # noqa: ANN401
    """A JSON body as an upload.

    Raises:
        ApiError: it has another shape.
    """
    body = SubmissionBodySerializer.read(data)
    return Upload(
        body["systems"],
        note=body["note"],
        creates_systems=body["create_systems"],
        payload_hash=content_hash(["application/json", data]),
    )


class TableQuerySerializer(Shape):
    """What an address says of a table."""

    note = Text(most=NOTE_LENGTH, is_line=False)
    system_column = Text(most=LABEL_LENGTH)


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
    TableQuerySerializer.read({"note": note, "system_column": system_column})
    parts = ["text/csv", hashlib.sha256(table).hexdigest(), note, creates_systems]
    return Upload(
        table=table,
        is_of_instances=is_of_instances,
        system_column=system_column,
        note=note,
        creates_systems=creates_systems,
        payload_hash=content_hash([*parts, "instances", system_column] if is_of_instances else parts),
    )


def kept_upload(audience: Audience, data: Any, *, note: str, creates_systems: bool) -> Upload:  # noqa: ANN401
    """A CSV body as an upload, its columns and systems read as their sender said the last time, here or on the page.

    Raises:
        ApiError: the note cannot be stored.
        InputError: the table cannot be read, or something in it has not been said yet.
    """
    TableQuerySerializer.read({"note": note, "system_column": ""})
    table = data if isinstance(data, bytes) else b""
    benchmark, user = audience.benchmark, audience.user
    results, _ = read_with_kept(benchmark, user, [("table.csv", table)], COLUMNS, None)
    assignment = suggested(benchmark, results, kept_assignment(benchmark, user, results))
    return Upload(
        rows=rows_of_import(audience, results, assignment),
        is_imported=True,
        note=note_of(results, note),
        creates_systems=creates_systems,
        payload_hash=content_hash(["text/csv", hashlib.sha256(table).hexdigest(), note, creates_systems, "kept"]),
    )
