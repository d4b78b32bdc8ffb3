"""Submissions: sent and looked up."""

import re
from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.bodies import csv_upload, json_upload, wrong_body
from leaderboard.api.openapi import (
    CSV_EXAMPLE,
    ERROR_EXAMPLE,
    IDEMPOTENCY_KEY,
    READING,
    SUBMISSION_EXAMPLE,
    WRITING,
    error,
)
from leaderboard.api.parsers import CSVParser, StrictJSONParser
from leaderboard.api.problems import ApiError
from leaderboard.api.views.base import ApiView, BenchmarkView
from leaderboard.models import ApiToken, Batch, Benchmark
from leaderboard.selectors.audience import audience, visible_batch
from leaderboard.selectors.submissions import batch_naming
from leaderboard.services.batch_page import batch_standing
from leaderboard.services.instance_vectors import differing_means
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.submission_errors import QuotaError, SubmissionError
from leaderboard.services.submissions import decides_alone, require_may_submit
from leaderboard.services.upload_preview import preview_upload
from leaderboard.services.uploads import IdempotencyError, Issue, Upload, UploadError, check_upload, submit_upload

MOST_DIFFERING = 100
IDEMPOTENCY = re.compile(r"[!-~]{1,100}")
PREVIEW_OR_STATUS = PolymorphicProxySerializer(
    "PreviewOrStatus", [shapes.SubmissionPreview, shapes.SubmissionStatus], resource_type_field_name=None
)
SUBMIT, MANAGE, READ = ApiToken.Scope.SUBMIT, ApiToken.Scope.MANAGE, ApiToken.Scope.READ


class Submissions(BenchmarkView):
    """Submitting scores."""

    scopes: ClassVar = {"POST": (SUBMIT,)}
    is_open_to_restricted = True
    parser_classes = [StrictJSONParser, CSVParser]

    @extend_schema(
        operation_id="submit",
        summary="Submit scores",
        tags=["submissions"],
        parameters=[
            OpenApiParameter("dry_run", bool, description="Check and preview only; nothing is stored."),
            OpenApiParameter("create_systems", bool, description="For a CSV body: as in a JSON body."),
            OpenApiParameter("note", str, description="For a CSV body: as in a JSON body."),
            OpenApiParameter("instances", bool, description="The CSV body holds scores of single instances."),
            OpenApiParameter("system_column", str, description="Of such a body, where it is not called `system`."),
            IDEMPOTENCY_KEY,
        ],
        request={
            "application/json": shapes.SubmissionBody,
            "text/csv": {
                "type": "string",
                "description": "First column `system`, then one column a task. With `instances=true` the columns "
                "`system`, `task`, `instance`, `score`, or `system`, `instance` and one column a task.",
            },
        },
        responses={
            200: OpenApiResponse(
                PREVIEW_OR_STATUS,
                description="The preview of a dry run, or the submission that the first call with this key made.",
            ),
            201: shapes.SubmissionStatus,
            **WRITING,
            422: error("The board is too large to be previewed; the message says the limit."),
        },
        examples=[SUBMISSION_EXAMPLE, CSV_EXAMPLE, ERROR_EXAMPLE],
    )
    def post(self, request: Request, key: str) -> Response:
        """Scores of one or many systems, taken whole or not at all.

        A system's new scores take the place of its old ones. Where submissions are open they are accepted at once, and
        the board that includes them is published about a second later; else a moderator decides.
        """
        return self.take(request, self._upload())

    def take(self, request: Request, upload: Upload) -> Response:
        """Check and store an upload, or preview it, and say where it stands."""
        try:
            if self.truth("dry_run"):
                return Response(self.preview(upload))
            batch, is_new = submit_upload(self.benchmark, self.user, upload)
        except UploadError as problem:
            raise wrong_body([issue_detail(issue) for issue in problem.issues], problem.n_issues) from problem
        except SubmissionError as problem:
            raise self.refused(problem) from problem
        content = submission_status(request, batch)
        response = Response(content, status=201 if is_new else 200)
        response["Location"] = content["url"]
        response["Cache-Control"] = "no-store"
        return response

    @staticmethod
    def refused(problem: SubmissionError) -> ApiError:
        """The error of a submission that its user may not make."""
        if isinstance(problem, IdempotencyError):
            return ApiError(409, str(problem), code="idempotency_key_reused")
        if isinstance(problem, QuotaError):
            return ApiError(429, str(problem), code="quota_exceeded")
        return ApiError(403, str(problem))

    def idempotency_key(self) -> str | None:
        """The caller's own name for this call.

        Raises:
            ApiError: it is none that can be kept.
        """
        key: str | None = self.request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is not None and not IDEMPOTENCY.fullmatch(key):
            raise ApiError(400, "`Idempotency-Key` is not 1 to 100 visible ASCII characters.")
        return key

    def _upload(self) -> Upload:
        key = self.idempotency_key()
        data = self.request.data
        if (self.request.content_type or "").split(";")[0].strip() == CSVParser.media_type:
            note = self.request.query_params.get("note", "")
            upload = csv_upload(
                data,
                note=note,
                creates_systems=self.truth("create_systems"),
                is_of_instances=self.truth("instances"),
                system_column=self.request.query_params.get("system_column", ""),
            )
        else:
            upload = json_upload(data)
        return replace(upload, idempotency_key=key)

    def preview(self, upload: Upload) -> dict[str, Any]:
        """What an upload would change.

        Raises:
            UploadError: it cannot be stored.
            SubmissionError: its user may not submit here.
            ApiError: the board is too large to be previewed.
        """
        require_may_submit(self.user, self.benchmark)
        rows = check_upload(self.benchmark, self.user, upload)
        try:
            # By previews of made-up scores one could find out those that are hidden.
            outcomes = [] if self.audience.is_restricted else preview_upload(self.benchmark, rows)
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        return {
            "dry_run": True,
            "revision": self.benchmark.last_revision_number,
            "would_be_accepted": decides_alone(self.user, self.benchmark),
            "systems": [
                {
                    "system": row["system"]["key"],
                    "name": row["system"]["name"],
                    "is_new": row["system"]["key"] is None,
                }
                for row in rows
            ],
            "differing_scores": [
                {"name": name, "task": task, "stated": stated, "mean": mean}
                for name, task, stated, mean in differing_means(rows)[:MOST_DIFFERING]
            ],
            "rules": [payloads.rule_outcome(outcome) for outcome in outcomes],
        }


def issue_detail(issue: Issue) -> dict[str, Any]:
    """What is wrong with an upload, as one of an error's details."""
    places = {"place": issue.place, "line": issue.line, "column": issue.column}
    return {"message": issue.message} | {name: value for name, value in places.items() if value}


class SubmissionDetail(ApiView):
    """Where a submission stands."""

    scopes: ClassVar = {"GET": (READ, SUBMIT, MANAGE), "HEAD": (READ, SUBMIT, MANAGE)}

    @extend_schema(
        operation_id="submission",
        summary="Look a submission up",
        tags=["submissions"],
        responses={(200, "application/json"): shapes.SubmissionStatus} | READING,
    )
    def get(self, request: Request, uuid: UUID) -> Response:
        """The stages of a submission until its board is published; `uuid` may be that of one of its systems."""
        batch = visible_batch(request.user, batch_naming(uuid)[0])
        is_public = batch.benchmark.visibility == Benchmark.Visibility.PUBLIC
        level = audience(request.user, batch.benchmark).level
        return self.answer(lambda: submission_status(request, batch), level=level, is_public=is_public)


def submission_status(request: Request, batch: Batch) -> dict[str, Any]:
    """Where a batch stands, as the API says it."""
    found = batch_standing(batch)
    submissions = batch.submissions.select_related("system", "corrects")
    return {
        "uuid": str(batch.uuid),
        "url": request.build_absolute_uri(reverse("api:submission", args=[batch.uuid])),
        "benchmark": batch.benchmark.key,
        "state": found.state,
        "revision": found.revision_number,
        "published_revision": found.publication.revision.number if found.publication else None,
        "source": batch.source,
        "submitted_at": payloads.moment(batch.created_at),
        "submitted_by": batch.uploader.shown_name,
        "note": batch.note,
        "systems": [
            {
                "system": None if row.system.is_waiting else row.system.key,
                "name": row.shown_name,
                "states": {name: told for name, told in (row.statement or {}).items() if name != "name"},
                "submission": str(row.uuid),
                "state": row.state,
                "corrects": str(row.corrects.uuid) if row.corrects else None,
            }
            for row in submissions
        ],
        "stages": found.stages,
        "events": [
            {"at": payloads.moment(event["at"]), "who": event["who"], "text": event["text"], "reason": event["reason"]}
            for event in found.events
        ],
    }
