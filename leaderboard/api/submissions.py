"""Submissions: sent and looked up."""

from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import reverse
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

from leaderboard.access.audience import Audience, visible_batch
from leaderboard.api.evaluation.scored_files import ScoredFileSerializer
from leaderboard.api.protocol.base import DRY, MANAGE, ApiView, NamedSystemSerializer
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.parsers import CSVParser, StrictJSONParser
from leaderboard.api.protocol.problems import ApiError, wrong_body
from leaderboard.api.protocol.schema import (
    IDEMPOTENCY_KEY,
    KEPT,
    READING,
    WRITING,
    error,
    text_shape,
)
from leaderboard.api.protocol.sending import SendingView
from leaderboard.api.uploads import LABEL_LENGTH, SubmissionBodySerializer, csv_upload, json_upload, kept_upload
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.models import ApiToken, Batch, Benchmark, Submission
from leaderboard.models.submissions import Source
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.submissions.batches.status import batch_standing
from leaderboard.submissions.instances.vectors import differing_means
from leaderboard.submissions.lifecycle import require_may_submit
from leaderboard.submissions.preview.upload import preview_upload
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.queries import batch_naming, scored_files
from leaderboard.submissions.uploads import Upload, check_upload, submit_upload
from ranking_engine.files.problems import SHOWN_PROBLEMS, InputError

MAX_DIFFERING = 100
BATCH_STATES = ["pending", "approved", "rejected", "retracted", "accepted", "failed", "published", "withdrawn"]
SUBMIT = (ApiToken.Scope.SUBMIT,)
ANY_SCOPE = (ApiToken.Scope.READ, *SUBMIT, *MANAGE)
SUBMISSION_EXAMPLE = OpenApiExample(
    "Two systems",
    value={
        "systems": [
            {"name": "Deep Thought", "organisation": "Magrathea", "scores": {"CoLA": 71.3, "SST-2": None}},
            {"key": "bert-large", "scores": {"CoLA": 60.5, "SST-2": 94.9}},
        ],
        "note": "Mean of five runs.",
        "create_systems": True,
    },
    request_only=True,
    media_type="application/json",
)
CSV_EXAMPLE = OpenApiExample(
    "The same as a table",
    value="system,CoLA,SST-2\nDeep Thought,71.3,\nBERT Large,60.5,94.9\n",
    request_only=True,
    media_type="text/csv",
)
ERROR_EXAMPLE = OpenApiExample(
    "A cell that is no number",
    value={
        "error": {
            "code": "invalid",
            "message": "Nothing was stored: 1 problem.",
            "details": [{"line": 2, "column": "CoLA", "message": "'high' is not a number"}],
        }
    },
    response_only=True,
    status_codes=["400"],
)


class StageSerializer(Shape):
    """One stage on the way from submitted to published."""

    name = s.CharField()
    state = s.ChoiceField(choices=["done", "running", "waiting", "failed"])
    text = s.CharField(allow_blank=True)


class SubmissionOfSystemSerializer(NamedSystemSerializer):
    """One system of a submission."""

    system = s.CharField(allow_null=True, help_text="Its key; null until something of it is accepted.")
    name = s.CharField(source="shown_name")
    states = s.DictField(
        help_text="What it states of its system, of `key`, `organisation`, `url`, `description`, `tags`, `metadata`; "
        "the board says it once it is accepted."
    )
    submission = s.UUIDField(source="uuid", help_text="Names this system's part, for withdrawing or correcting it.")
    state = s.ChoiceField(choices=Submission.State.values)
    corrects = s.UUIDField(
        source="corrects.uuid",
        allow_null=True,
        help_text="The `submission` in whose place it is once accepted.",
    )

    def value_of_system(self, row: Submission) -> str | None:
        """Its key."""
        return None if row.system.is_waiting else row.system.key

    def value_of_states(self, row: Submission) -> dict[str, Any]:
        """What was stated, without the name."""
        return {name: value for name, value in (row.statement or {}).items() if name != "name"}


class EventSerializer(Shape):
    """What happened to a submission."""

    at = s.DateTimeField()
    who = s.CharField(allow_blank=True)
    text = s.CharField()
    reason = s.CharField(allow_blank=True)


class SubmissionStatusSerializer(Shape):
    """The state of a submission."""

    uuid = s.UUIDField(source="batch.uuid")
    url = s.URLField()
    benchmark = s.CharField(source="batch.benchmark.key")
    state = s.ChoiceField(
        choices=BATCH_STATES,
        source="standing.state",
        help_text="A moderator has to decide; decided; its board is being computed, cannot be computed, is published.",
    )
    revision = s.IntegerField(
        source="standing.revision_number", allow_null=True, help_text="The revision that accepted it."
    )
    published_revision = s.IntegerField(
        source="standing.publication.revision.number",
        allow_null=True,
        help_text="The published revision, once that includes it.",
    )
    source = s.ChoiceField(choices=Source.values, source="batch.source")  # type: ignore[assignment]
    submitted_at = s.DateTimeField(source="batch.created_at")
    submitted_by = s.CharField(source="batch.uploader.shown_name")
    note = s.CharField(source="batch.note", allow_blank=True)
    systems = SubmissionOfSystemSerializer(many=True)
    scored_files = ScoredFileSerializer(many=True)
    stages = StageSerializer(many=True, source="standing.stages")
    events = EventSerializer(many=True, source="standing.events")


class RankMoveSerializer(NamedSystemSerializer):
    """A system whose rank would change; null is unranked."""

    system = s.CharField(source="key", allow_null=True, help_text="Its key; null where it is new.")
    before = s.IntegerField(allow_null=True)
    after = s.IntegerField(allow_null=True)


@extend_schema_serializer(deprecate_fields=["winners_before", "winners_after"])
class PreviewedRuleSerializer(Shape):
    """What an upload would change under one rule."""

    rule = s.CharField()
    winner_names_before = s.ListField(child=s.CharField(), source="winners_before")
    winner_names_after = s.ListField(child=s.CharField(), source="winners_after")
    winners_before = s.ListField(child=s.CharField(), help_text="As `winner_names_before`, the name to use.")
    winners_after = s.ListField(child=s.CharField(), help_text="As `winner_names_after`, the name to use.")
    n_changes = s.IntegerField(source="n_moves")
    changes = RankMoveSerializer(many=True, source="moves", help_text="At most 100.")
    unranked = s.ListField(
        child=s.CharField(), help_text="The names of systems of the upload that would have no rank; at most 100."
    )


class PreviewedSystemSerializer(NamedSystemSerializer):
    """A system of the upload."""

    system = s.CharField(source="key", allow_null=True, help_text="Its key; null where it is new.")
    is_new = s.BooleanField()

    def value_of_is_new(self, system: dict[str, Any]) -> bool:
        """Whether there is no such system yet."""
        return system["key"] is None


class DifferingScoreSerializer(Shape):
    """A stated score further than 1e-6 from the mean of the scores on its instances. It is kept as stated."""

    name = s.CharField(help_text="Of the system.")
    task = s.CharField(help_text="Its key.")
    stated = s.FloatField()
    mean = s.FloatField()


class SubmissionPreviewSerializer(Shape):
    """What an upload would change; nothing is stored."""

    revision = s.IntegerField(help_text="The revision that the upload was compared with; 0 before the first scores.")
    dry_run = s.BooleanField()
    would_be_accepted = s.BooleanField(help_text="False where a moderator would have to decide.")
    systems = PreviewedSystemSerializer(many=True)
    differing_scores = DifferingScoreSerializer(many=True)
    rules = PreviewedRuleSerializer(many=True)


PREVIEW_OR_STATUS = PolymorphicProxySerializer(
    "PreviewOrStatus", [SubmissionPreviewSerializer, SubmissionStatusSerializer], resource_type_field_name=None
)


class SubmissionsView(SendingView):
    """Submitting scores."""

    scopes: ClassVar = {"POST": SUBMIT}
    is_open_to_restricted = True
    parser_classes = [StrictJSONParser, CSVParser]

    @extend_schema(
        operation_id="submit",
        summary="Submit scores",
        tags=["submissions"],
        parameters=[
            OpenApiParameter("dry_run", bool, description="Check and preview only; nothing is stored."),
            OpenApiParameter("create_systems", bool, description="For a CSV body: as in a JSON body."),
            OpenApiParameter("note", text_shape(NOTE_LENGTH), description="For a CSV body: as in a JSON body."),
            OpenApiParameter("instances", bool, description="The CSV body has scores of single instances."),
            OpenApiParameter(
                "system_column",
                text_shape(LABEL_LENGTH),
                description="Of such a body, where it is not called `system`.",
            ),
            KEPT,
            IDEMPOTENCY_KEY,
        ],
        request={
            "application/json": SubmissionBodySerializer,
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
            201: SubmissionStatusSerializer,
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
        idempotency_key, parameters = self.idempotency_key(), request.query_params
        is_csv = (request.content_type or "").split(";")[0].strip() == CSVParser.media_type
        if is_csv and self.truth("kept") and not self.truth("instances"):
            try:
                upload = kept_upload(
                    self.audience,
                    request.data,
                    note=parameters.get("note", ""),
                    creates_systems=self.truth("create_systems"),
                )
            except InputError as problem:
                raise wrong_body(problem_details(problem, place="file")) from problem
        elif is_csv:
            upload = csv_upload(
                request.data,
                note=parameters.get("note", ""),
                creates_systems=self.truth("create_systems"),
                is_of_instances=self.truth("instances"),
                system_column=parameters.get("system_column", ""),
            )
        else:
            upload = json_upload(request.data)
        return self.take(request, replace(upload, idempotency_key=idempotency_key))

    def take(self, request: Request, upload: Upload) -> Response:
        """Check and store an upload, or preview it, and say its state."""
        try:
            if self.truth("dry_run"):
                return Response(SubmissionPreviewSerializer.render(self.preview(upload)), headers=DRY)
            batch, is_new = submit_upload(self.benchmark, self.user, upload)
        except InputError as problem:
            raise wrong_body(problem_details(problem), len(problem.problems.listed)) from problem
        except SubmissionError as problem:
            raise self.refused(problem) from problem
        return self.stored(submission_status(request, batch, self.audience), is_new=is_new)

    def preview(self, upload: Upload) -> dict[str, Any]:
        """What an upload would change, for `SubmissionPreviewSerializer` to render.

        Raises:
            InputError: it cannot be stored.
            SubmissionError: its user may not submit here.
            ApiError: the board is too large to be previewed.
        """
        require_may_submit(self.audience)
        rows = check_upload(self.audience, upload)
        try:
            # By previews of made-up scores one could find out those that are hidden.
            outcomes = [] if self.audience.is_restricted else preview_upload(self.benchmark, rows)
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        return {
            "dry_run": True,
            "revision": self.benchmark.last_revision_number,
            "would_be_accepted": self.audience.is_accepted_at_once,
            "systems": [row["system"] for row in rows],
            "differing_scores": [
                {"name": name, "task": task, "stated": score, "mean": mean}
                for name, task, score, mean in differing_means(rows)[:MAX_DIFFERING]
            ],
            "rules": outcomes,
        }


def problem_details(error: InputError, *, place: str = "") -> list[dict[str, Any]]:
    """What is wrong with an upload, as the details of an error: the first of them.

    Args:
        error: with the problems.
        place: of the body in which all of them are, if they are of its files. Messages about a file say file and line.
    """
    details = []
    for problem in error.problems.listed[:SHOWN_PROBLEMS]:
        places: dict[str, Any] = {
            "place": place or problem.place,
            "file": problem.source,
            "line": problem.line,
            "column": problem.place_name,
        }
        message = str(problem) if place or problem.source else problem.message
        details.append({"message": message} | {name: value for name, value in places.items() if value})
    return details


class SubmissionView(ApiView):
    """The state of a submission."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE}

    @extend_schema(
        operation_id="submission",
        summary="Look a submission up",
        tags=["submissions"],
        responses={(200, "application/json"): SubmissionStatusSerializer} | READING,
    )
    def get(self, request: Request, uuid: UUID) -> HttpResponseBase:
        """The stages of a submission until its board is published; `uuid` may be that of one of its systems."""
        batch, audience = visible_batch(request.user, batch_naming(uuid)[0])
        is_public = batch.benchmark.visibility == Benchmark.Visibility.PUBLIC
        return self.answer(
            lambda: submission_status(request, batch, audience), level=audience.level, is_public=is_public
        )


def submission_status(request: Request, batch: Batch, audience: Audience) -> dict[str, Any]:
    """The state of a batch, as the API says it to this audience."""
    url = request.build_absolute_uri(reverse("api:submission", args=[batch.uuid]))
    listed = {"systems": batch.submissions.select_related("system", "corrects"), "scored_files": scored_files(batch)}
    return SubmissionStatusSerializer.render(
        {"batch": batch, "standing": batch_standing(batch, audience), "url": url, **listed}
    )
