"""Result files of other programs, by the same checks as every upload."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import shapes
from leaderboard.api.bodies import wrong_body
from leaderboard.api.import_bodies import (
    ImportBody,
    assignment_of,
    column_labels,
    import_body,
    places_in_mapping,
    system_labels,
)
from leaderboard.api.openapi import DRY_RUN, IDEMPOTENCY_KEY, IMPORT_EXAMPLE, WRITING, error
from leaderboard.api.parsers import FilesParser, StrictJSONParser
from leaderboard.api.shapes import imports as import_shapes
from leaderboard.api.views.submissions import SUBMIT, Submissions, issue_detail
from leaderboard.importers import FORMATS, ResultsError
from leaderboard.models import Benchmark
from leaderboard.services.imports import Assignment, Import, note_of, read_import, rows_of_import, suggested
from leaderboard.services.submission_errors import SubmissionError
from leaderboard.services.submissions import require_may_submit
from leaderboard.services.upload_problems import DraftError
from leaderboard.services.uploads import Upload, UploadError

ANSWER = PolymorphicProxySerializer(
    "ImportPreviewOrStatus", [import_shapes.ImportPreview, shapes.SubmissionStatus], resource_type_field_name=None
)


class Imports(Submissions):
    """Importing result files."""

    scopes: ClassVar = {"POST": (SUBMIT,)}
    parser_classes = [StrictJSONParser, FilesParser]

    @extend_schema(
        operation_id="import_results",
        summary="Import result files",
        tags=["submissions"],
        parameters=[
            DRY_RUN,
            OpenApiParameter(
                "importer", enum=[one.KEY for one in FORMATS], description="The format; else it is recognised."
            ),
            IDEMPOTENCY_KEY,
        ],
        request={"application/json": import_shapes.ImportBody, "multipart/form-data": import_shapes.ImportForm},
        responses={
            200: OpenApiResponse(
                ANSWER, description="What a dry run recognised, or the submission that the first call made."
            ),
            201: shapes.SubmissionStatus,
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
        body, importer = import_body(request.data), str(request.query_params.get("importer", ""))
        try:
            require_may_submit(self.user, self.benchmark)
        except SubmissionError as problem:
            raise self.refused(problem) from problem
        try:
            found = read_import(body.files, importer)
        except ResultsError as problem:
            raise wrong_body([{"place": "files", "message": str(issue)} for issue in problem.issues]) from problem
        assignment, problems = assignment_of(body, found, suggested(self.benchmark, found))
        upload = None if problems else self._upload_of(body, importer, found, assignment, problems)
        if self.truth("dry_run"):
            return Response(self._recognised(found, assignment, problems, upload))
        if upload is None:
            raise wrong_body(problems)
        return self.take(request, upload)

    def _upload_of(
        self,
        body: ImportBody,
        importer: str,
        found: Import,
        assignment: Assignment,
        problems: list[dict[str, str]],
    ) -> Upload | None:
        """The upload, or None with what is wrong added to `problems`."""
        try:
            rows = rows_of_import(self.benchmark, self.user, found, assignment)
        except DraftError as error:
            places = places_in_mapping((problem.place for problem in error.problems.found), found)
            problems += [
                {"place": place, "message": problem.message}
                for place, problem in zip(places, error.problems.found, strict=True)
            ]
            return None
        return Upload(
            raw=rows,
            note=note_of(found, body.note),
            creates_systems=body.creates_systems,
            payload_hash=body.payload_hash(importer),
            idempotency_key=self.idempotency_key(),
        )

    def _recognised(
        self, found: Import, assignment: Assignment, problems: list[dict[str, str]], upload: Upload | None
    ) -> dict[str, Any]:
        preview = None
        details: list[dict[str, Any]] = list(problems)
        if upload is not None:
            try:
                preview = self.preview(upload)
            except UploadError as problem:
                details = [issue_detail(issue) for issue in problem.issues]
        n_scores = [0] * len(found.systems)
        for s, _, value, _, _ in found.cells:
            n_scores[s] += value is not None
        return {
            "dry_run": True,
            "importer": found.format_name,
            "columns": _columns(self.benchmark, found, assignment),
            "systems": [
                {"system": label, "n_scores": n_scores[s], "assigned": assignment.names.get(s, "")}
                for s, label in enumerate(system_labels(found))
            ],
            "notes": list(found.notes),
            "warnings": list(found.warnings),
            "problems": details,
            "preview": preview,
        }


def _columns(benchmark: Benchmark, found: Import, assignment: Assignment) -> list[dict[str, Any]]:
    values = found.values
    return [
        {
            "column": label,
            "task": column.task,
            "subset": column.subset,
            "split": column.split,
            "metric": column.metric,
            "higher_is_better": column.higher_is_better,
            "n_scores": len(values.get(c, [])),
            "least": min(values[c]) if c in values else None,
            "greatest": max(values[c]) if c in values else None,
            "assigned": assignment.tasks.get(c, ""),
        }
        for c, (label, column) in enumerate(zip(column_labels(found), found.columns, strict=True))
    ]
