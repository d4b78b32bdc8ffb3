"""Result files of other programs, by the same checks as every upload."""

import hashlib
from typing import Any, ClassVar

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_serializer,
)
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import DRY
from leaderboard.api.protocol.fields import Shape, ShapeList, Strict, Text, Truth, kind_of, read_each, read_text
from leaderboard.api.protocol.parsers import FilesParser, StrictJSONParser
from leaderboard.api.protocol.problems import ErrorDetailSerializer, wrong_body
from leaderboard.api.protocol.schema import DRY_RUN, IDEMPOTENCY_KEY, KEPT, WRITING, error
from leaderboard.api.submissions import (
    SUBMIT,
    SubmissionPreviewSerializer,
    SubmissionStatusSerializer,
    SubmissionsView,
    problem_details,
)
from leaderboard.api.uploads import FormFiles
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.common.hashing import content_hash
from leaderboard.submissions.imported_metadata import imported_metadata
from leaderboard.submissions.importing.choices import (
    keep_assignment,
    keep_columns,
    kept_assignment,
    read_with_kept,
)
from leaderboard.submissions.importing.mapping import (
    assignment_of,
    column_choices_of,
    column_labels,
    places_in_mapping,
    system_labels,
)
from leaderboard.submissions.imports import SCALES, Assignment, note_of, read_import, rows_of_import, suggested
from leaderboard.submissions.lifecycle import require_may_submit
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.uploads import Upload
from ranking_engine.files.problems import InputError
from ranking_engine.files.roles import ABOUT, ROLES, SPREADS
from ranking_engine.importers import FORMATS, UnclearColumnsError
from ranking_engine.importers.results_table import Import

IMPORT_EXAMPLE = OpenApiExample(
    "A results file of lm-evaluation-harness",
    value={
        "files": [
            {
                "name": "results.json",
                "text": '{"results": {"arc_easy": {"acc,none": 0.71, "acc_stderr,none": 0.009}}, "config": '
                '{"model_args": "pretrained=acme/deep-thought"}}',
            }
        ],
        "mapping": {
            "tasks": {"arc_easy, acc": "ARC easy"},
            "scales": {"arc_easy, acc": "times-100"},
            "systems": {"acme/deep-thought": "Deep Thought"},
        },
        "create_systems": True,
    },
    request_only=True,
    media_type="application/json",
)
NO_FILES = "expected a list of files with at least one, each with `name` and `text`"


class FileText(Strict, s.CharField):
    """What a file holds."""

    def to_internal_value(self, data: Any) -> bytes:  # type: ignore[override]  # noqa: ANN401
        """The same as bytes."""
        if not isinstance(data, str):
            raise s.ValidationError(f"expected the file as a text, found {kind_of(data)}")
        return data.encode(errors="replace")


class FileListSerializer(ShapeList):
    """One file or more."""

    least = 1

    def to_internal_value(self, data: Any) -> list[Any]:  # noqa: ANN401
        """Each with its name."""
        if not (isinstance(data, list) and data):
            raise s.ValidationError(NO_FILES)
        return super().to_internal_value(data)


class ImportFileSerializer(Shape):
    """A file."""

    name = Text(max_length=255, required=True, absent="")
    text = FileText(help_text="Its content, as UTF-8.")

    class Meta:
        list_serializer_class = FileListSerializer

    def to_internal_value(self, data: Any) -> tuple[str, bytes]:  # noqa: ANN401
        """Its name and what it holds; of a form it comes as that."""
        if isinstance(data, tuple):
            return data
        values = super().to_internal_value(data)
        return values["name"], values["text"]


class Labels(Strict, s.DictField):
    """By what the files call a thing what it is here; null is nothing, as an empty text is."""

    def to_internal_value(self, data: Any) -> dict[Any, Any]:  # noqa: ANN401
        """Every text, by label."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object of texts, found {kind_of(data)}")
        values, problems = read_each(data.items(), lambda value: "" if value is None else read_text(value, 400))
        if problems:
            raise s.ValidationError(problems)  # type: ignore[arg-type]
        return values


class MappingSerializer(Shape):
    """What is which, over what can be told without doubt; a dry run says what the files call things."""

    tasks = Labels(
        child=s.CharField(allow_blank=True, max_length=400),
        required=False,
        help_text="By column: the name or key of the task; empty where it is none.",
    )
    scales = Labels(
        child=s.ChoiceField(choices=list(SCALES)), required=False, help_text="By column: how its scores are scaled."
    )
    systems = Labels(
        child=s.CharField(allow_blank=True, max_length=400),
        required=False,
        help_text="By system of the files: its name here; empty where it is left out.",
    )
    columns = Labels(
        child=s.CharField(max_length=400),
        required=False,
        help_text="By column of a table, where it is not clear what it is: "
        f"one of {', '.join(ROLES)}; behind {' and '.join(ABOUT)} a colon and the column that they are about.",
    )
    decimal = Text(max_length=1, absent="", help_text="The decimal mark of a table, where commas could be either.")
    spread = Text(max_length=10, absent="", help_text=f"What figures after ± are, one of {', '.join(SPREADS)}.")
    sheet = Text(max_length=400, absent="", help_text="The sheet of a workbook, where several have cells.")


class ImportBodySerializer(Shape):
    """Result files, all of one format."""

    files = ImportFileSerializer(many=True, error_messages={"required": NO_FILES})
    mapping = MappingSerializer(absent={})
    note = Text(max_length=NOTE_LENGTH, is_line=False, absent="")
    create_systems = Truth(absent=False, help_text="Whether names that are not on the board are new.")


class ImportFormSerializer(Shape):
    """The same as a form: the files as they are."""

    files = FormFiles(child=s.FileField())
    names = s.CharField(
        required=False, help_text="What the files are called, with their folders, as a JSON list in the same order."
    )
    mapping = s.CharField(required=False, help_text="The mapping as JSON.")
    note = s.CharField(required=False, max_length=NOTE_LENGTH)
    create_systems = s.BooleanField(required=False)


class ImportColumnSerializer(Shape):
    """A column that was recognised."""

    column = s.CharField(source="label", help_text="Its name in a mapping.")
    task = s.CharField(source="column.task", allow_blank=True)
    subset = s.CharField(source="column.subset", allow_blank=True)
    split = s.CharField(source="column.split", allow_blank=True)
    metric = s.CharField(source="column.metric", allow_blank=True)
    higher_is_better = s.BooleanField(source="column.higher_is_better", allow_null=True)
    aside = s.CharField(source="column.aside", allow_blank=True, help_text="Why it is a task only if you name it.")
    n_scores = s.IntegerField()
    least = s.FloatField(allow_null=True)
    greatest = s.FloatField(allow_null=True)
    assigned = s.CharField(allow_blank=True, help_text="The task that its scores are read for.")

    def value_of_n_scores(self, column: dict[str, Any]) -> int:
        """How many there are."""
        return len(column["scores"])

    def value_of_least(self, column: dict[str, Any]) -> float | None:
        """The least score."""
        return min(column["scores"], default=None)

    def value_of_greatest(self, column: dict[str, Any]) -> float | None:
        """The greatest score."""
        return max(column["scores"], default=None)


@extend_schema_serializer(deprecate_fields=["system"])
class ImportSystemSerializer(Shape):
    """A system that was recognised."""

    name_in_files = s.CharField(source="system", allow_blank=True, help_text="Its name in a mapping.")
    system = s.CharField(
        allow_blank=True, help_text="As `name_in_files`, which is the name to use. Everywhere else it is a key."
    )
    n_scores = s.IntegerField()
    assigned = s.CharField(allow_blank=True, help_text="Its name here.")


class ImportPreviewSerializer(Shape):
    """What was recognised, and what it would change; nothing is stored."""

    dry_run = s.BooleanField()
    importer = s.CharField(help_text="The format, in words.")
    columns = ImportColumnSerializer(many=True)
    systems = ImportSystemSerializer(many=True)
    notes = s.ListField(child=s.CharField(), help_text="Left-out rows and columns, and how figures were read.")
    warnings = s.ListField(child=s.CharField())
    problems = ErrorDetailSerializer(many=True, help_text="Problems that you must solve before it can be stored.")
    preview = SubmissionPreviewSerializer(allow_null=True, help_text="Null where there are problems.")


ANSWER = PolymorphicProxySerializer(
    "ImportPreviewOrStatus", [ImportPreviewSerializer, SubmissionStatusSerializer], resource_type_field_name=None
)


class ImportsView(SubmissionsView):
    """Importing result files."""

    scopes: ClassVar = {"POST": SUBMIT}
    parser_classes = [StrictJSONParser, FilesParser]

    @extend_schema(
        operation_id="import_results",
        summary="Import result files",
        tags=["submissions"],
        parameters=[
            DRY_RUN,
            KEPT,
            OpenApiParameter(
                "importer", enum=[one.key for one in FORMATS], description="The format; else it is recognised."
            ),
            IDEMPOTENCY_KEY,
        ],
        request={"application/json": ImportBodySerializer, "multipart/form-data": ImportFormSerializer},
        responses={
            200: OpenApiResponse(
                ANSWER, description="The scores that a dry run recognised, or the submission of the first call."
            ),
            201: SubmissionStatusSerializer,
            **WRITING,
            422: error("The board is too large to be previewed; the message says the limit."),
        },
        examples=[IMPORT_EXAMPLE],
    )
    def post(self, request: Request, key: str) -> Response:
        """What lm-evaluation-harness, HELM, MTEB and others write, as a submission of the scores in it.

        A dry run says which columns and systems were recognised, what they were taken for, and what has to be said in
        `mapping` before they can be stored.
        """
        body, importer = ImportBodySerializer.read(request.data), str(request.query_params.get("importer", ""))
        try:
            require_may_submit(self.audience)
        except SubmissionError as problem:
            raise self.refused(problem) from problem
        try:
            said = column_choices_of(body["mapping"])
            if self.truth("kept"):
                results, said = read_with_kept(self.benchmark, self.user, body["files"], importer, said)
            else:
                results = read_import(body["files"], importer, said)
        except UnclearColumnsError as problem:
            raise wrong_body(problem_details(problem, place="mapping.columns")) from problem
        except InputError as problem:
            raise wrong_body(problem_details(problem, place="files")) from problem
        kept = kept_assignment(self.benchmark, self.user, results) if self.truth("kept") else None
        assignment, problems = assignment_of(body["mapping"], results, suggested(self.benchmark, results, kept))
        upload = None if problems else self._upload_of(body, importer, results, assignment, problems)
        if self.truth("dry_run"):
            return Response(self._recognised(results, assignment, problems, upload), headers=DRY)
        if upload is None:
            raise wrong_body(problems)
        answer = self.take(request, upload)
        if kept is not None:
            keep_assignment(self.benchmark, self.user, results, assignment)
            if said is not None:
                keep_columns(self.benchmark, self.user, said)
        return answer

    def _upload_of(
        self,
        body: dict[str, Any],
        importer: str,
        results: Import,
        assignment: Assignment,
        problems: list[dict[str, str]],
    ) -> Upload | None:
        """The upload, or None with what is wrong added to `problems`."""
        try:
            rows = rows_of_import(self.audience, results, assignment)
        except InputError as error:
            places = places_in_mapping((problem.place for problem in error.problems.listed), results)
            problems += [
                {"place": place, "message": problem.message}
                for place, problem in zip(places, error.problems.listed, strict=True)
            ]
            return None
        # The hash is of all that was sent.
        files = [[name, hashlib.sha256(data).hexdigest()] for name, data in body["files"]]
        mapping = {
            name: dict(labels) if isinstance(labels, dict) else labels
            for name, labels in body["mapping"].items()
            if labels or name in ("tasks", "scales", "systems")
        }
        sent = ["import", importer, files, mapping, body["note"], body["create_systems"]]
        return Upload(
            rows=rows,
            is_imported=True,
            note=note_of(results, body["note"]),
            creates_systems=body["create_systems"],
            payload_hash=content_hash(sent),
            idempotency_key=self.idempotency_key(),
        )

    def _recognised(
        self, results: Import, assignment: Assignment, problems: list[dict[str, str]], upload: Upload | None
    ) -> dict[str, Any]:
        preview = None
        details: list[dict[str, Any]] = list(problems)
        if upload is not None:
            try:
                preview = self.preview(upload)
            except InputError as problem:
                details = problem_details(problem)
        n_scores = [0] * len(results.systems)
        for i, _, value, _, _ in results.cells:
            n_scores[i] += value is not None
        columns = zip(column_labels(results), results.columns, strict=True)
        return ImportPreviewSerializer.render(
            {
                "dry_run": True,
                "importer": results.format_name,
                "columns": [
                    {
                        "label": label,
                        "column": column,
                        "scores": results.values.get(c, []),
                        "assigned": assignment.tasks.get(c, ""),
                    }
                    for c, (label, column) in enumerate(columns)
                ],
                "systems": [
                    {"system": label, "n_scores": n_scores[i], "assigned": assignment.names.get(i, "")}
                    for i, label in enumerate(system_labels(results))
                ],
                "notes": [*results.notes, *imported_metadata(self.benchmark, results).notes],
                "warnings": list(results.warnings),
                "problems": details,
                "preview": preview,
            }
        )
