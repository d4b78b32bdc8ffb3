"""Submissions: sent, looked up, decided, withdrawn."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.bodies import csv_upload, json_upload, reason_of, wrong_body
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
from leaderboard.models import ApiToken, Batch, Benchmark, Submission
from leaderboard.selectors.audience import audience, visible_batch
from leaderboard.selectors.submissions import batch_naming
from leaderboard.services.batch_page import batch_standing
from leaderboard.services.columns import TooLargeError
from leaderboard.services.instance_vectors import differing_means
from leaderboard.services.submission_errors import QuotaError, SubmissionError
from leaderboard.services.submissions import (
    decides_alone,
    reject_batch,
    require_may_submit,
    take_batch,
    withdraw_submission,
)
from leaderboard.services.upload_preview import preview_upload
from leaderboard.services.uploads import IdempotencyError, Upload, UploadError, check_upload, submit_upload

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
        upload = self._upload()
        try:
            if self._truth("dry_run"):
                return Response(self._preview(upload))
            batch, is_new = submit_upload(self.benchmark, self.user, upload)
        except UploadError as problem:
            raise wrong_body([_detail(issue) for issue in problem.issues], problem.n_issues) from problem
        except IdempotencyError as problem:
            raise ApiError(409, str(problem), code="idempotency_key_reused") from problem
        except QuotaError as problem:
            raise ApiError(429, str(problem), code="quota_exceeded") from problem
        except SubmissionError as problem:
            raise ApiError(403, str(problem)) from problem
        content = submission_status(request, batch)
        response = Response(content, status=201 if is_new else 200)
        response["Location"] = content["url"]
        response["Cache-Control"] = "no-store"
        return response

    def _upload(self) -> Upload:
        key = self.request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is not None and not IDEMPOTENCY.fullmatch(key):
            raise ApiError(400, "`Idempotency-Key` is not 1 to 100 visible ASCII characters.")
        data = self.request.data
        if (self.request.content_type or "").split(";")[0].strip() == CSVParser.media_type:
            note = self.request.query_params.get("note", "")
            upload = csv_upload(
                data,
                note=note,
                creates_systems=self._truth("create_systems"),
                is_of_instances=self._truth("instances"),
                system_column=self.request.query_params.get("system_column", ""),
            )
        else:
            upload = json_upload(data)
        return replace(upload, idempotency_key=key)

    def _truth(self, name: str) -> bool:
        text = self.request.query_params.get(name, "false")
        if text not in {"true", "false"}:
            raise ApiError(400, f"`{name}` is {text[:40]!r}; expected true or false.")
        return bool(text == "true")

    def _preview(self, upload: Upload) -> dict[str, Any]:
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
            "rules": [
                {
                    "rule": outcome.rule,
                    "winners_before": outcome.winners_before,
                    "winners_after": outcome.winners_after,
                    "n_changes": outcome.n_moves,
                    "changes": [
                        {"system": move.key, "name": move.name, "before": move.before, "after": move.after}
                        for move in outcome.moves
                    ],
                }
                for outcome in outcomes
            ],
        }


def _detail(issue: Any) -> dict[str, Any]:  # noqa: ANN401 -- an Issue
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


class DecisionView(ApiView):
    """What moderators and owners do to a submission."""

    scopes: ClassVar = {"POST": (MANAGE,)}

    def decide(self, request: Request, batch: Batch, step: Callable[[], object]) -> Response:
        """Take a step, and say where the submission stands then."""
        try:
            step()
        except SubmissionError as problem:
            raise ApiError(409, str(problem)) from problem
        response = Response(submission_status(request, batch))
        response["Cache-Control"] = "no-store"
        return response

    def batch_for_moderator(self, uuid: UUID) -> tuple[Batch, Submission | None]:
        """The batch that `uuid` names, and which submission of it, for those who decide about it."""
        batch_uuid, submission = batch_naming(uuid)
        batch = visible_batch(self.viewer, batch_uuid)
        if not audience(self.viewer, batch.benchmark).may_moderate:
            raise ApiError(403, f"Moderators and owners of {batch.benchmark.name} decide about this.")
        return batch, submission

    def whole_batch(self, uuid: UUID) -> Batch:
        """The batch that `uuid` names, which is decided as a whole."""
        batch, submission = self.batch_for_moderator(uuid)
        if submission is not None and batch.submissions.count() > 1:
            raise ApiError(409, f"This system came with others, and they are decided together: name {batch.uuid}.")
        return batch


class Withdraw(DecisionView):
    """Withdrawing."""

    @extend_schema(
        operation_id="withdraw",
        summary="Withdraw scores",
        tags=["decisions"],
        request=shapes.Reason,
        responses={200: shapes.SubmissionStatus, **WRITING},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take the accepted scores of one system off the board, with the next revision.

        Of a submission of several systems, `uuid` is the `submission` of one of them.
        """
        batch, submission = self.batch_for_moderator(uuid)
        reason = reason_of(request.data, is_needed=True)
        if submission is None:
            rows = list(batch.submissions.all())
            if len(rows) > 1:
                raise ApiError(
                    409, f"This submission has {len(rows)} systems; name one by the `submission` that stands with it."
                )
            submission = rows[0]
        return self.decide(request, batch, lambda: withdraw_submission(submission, actor=self.user, reason=reason))


class Accept(DecisionView):
    """Accepting."""

    @extend_schema(
        operation_id="accept",
        summary="Accept a submission",
        tags=["decisions"],
        request=shapes.OptionalReason,
        responses={200: shapes.SubmissionStatus, **WRITING},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Accept a waiting submission as a whole: the next revision includes it."""
        batch = self.whole_batch(uuid)
        reason = reason_of(request.data, is_needed=False)
        return self.decide(request, batch, lambda: take_batch(batch, actor=self.user, reason=reason))


class Reject(DecisionView):
    """Rejecting."""

    @extend_schema(
        operation_id="reject",
        summary="Reject a submission",
        tags=["decisions"],
        request=shapes.Reason,
        responses={200: shapes.SubmissionStatus, **WRITING},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Reject a waiting submission as a whole; its submitter reads the reason."""
        batch = self.whole_batch(uuid)
        reason = reason_of(request.data, is_needed=True)
        return self.decide(request, batch, lambda: reject_batch(batch, actor=self.user, reason=reason))


def submission_status(request: Request, batch: Batch) -> dict[str, Any]:
    """Where a batch stands, as the API says it."""
    found = batch_standing(batch)
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
            {"system": row.system.key, "name": row.system.name, "submission": str(row.uuid), "state": row.state}
            for row in found.submissions
        ],
        "stages": found.stages,
        "events": [
            {"at": payloads.moment(event["at"]), "who": event["who"], "text": event["text"], "reason": event["reason"]}
            for event in found.events
        ],
    }
