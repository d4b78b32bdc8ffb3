"""Predictions: submitted, listed, looked up, cancelled, scored again."""

from typing import Any, ClassVar, cast
from uuid import UUID

from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.own.me import ANY_SCOPE
from leaderboard.api.protocol.base import MANAGE, ApiView, BenchmarkView
from leaderboard.api.protocol.fields import Shape, Text, Truth
from leaderboard.api.protocol.pagination import with_site
from leaderboard.api.protocol.parsers import PredictionsParser
from leaderboard.api.protocol.problems import ApiError, ErrorDetailSerializer, wrong_body
from leaderboard.api.protocol.schema import IDEMPOTENCY_KEY, READING, WRITING, reading
from leaderboard.api.submissions import SUBMIT, StageSerializer, SubmissionsView, problem_details
from leaderboard.api.uploads import AddressText, MetadataValues
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.queries import own_predictions, places_on_board, progress_of, visible_predictions
from leaderboard.evaluation.receiving import PredictionUpload, submit_predictions
from leaderboard.evaluation.rescoring.corrections import score_again
from leaderboard.evaluation.steps import cancel_predictions
from leaderboard.models import PredictionSubmission
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.models.submissions import Source
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError

TABLE, FILE = "table", "file:"
MOST = 100  # submissions of a list


class PredictionsBodySerializer(Shape):
    """What a form says beside its files."""

    system = Text(max_length=NAME_LENGTH, error_messages={"required": "it is missing"})
    organisation = Text(absent="")
    url = AddressText(absent="")
    description = Text(is_line=False, absent="")
    metadata = MetadataValues(absent={})
    note = Text(max_length=NOTE_LENGTH, is_line=False, absent="")
    trial = Truth(absent=False)


class PredictionsFormSerializer(s.Serializer):
    """A system and its predictions, as a form sends them."""

    system = s.CharField(max_length=NAME_LENGTH, help_text="Its name: of a system on the board, or a new one.")
    table = s.FileField(
        required=False,
        help_text="One file of CSV or JSON lines for all tasks, with a column `task`. Or in its place for each task a "
        "file `file:` and the task's key or name.",
    )
    organisation = s.CharField(required=False)
    url = s.URLField(required=False)
    description = s.CharField(required=False)
    metadata = s.CharField(required=False, help_text="An object of JSON, by the key or name of a field.")
    note = s.CharField(required=False, max_length=NOTE_LENGTH)
    trial = s.BooleanField(
        required=False, help_text="Score on the development split only; nothing gets onto the board."
    )


class PredictionProblemSerializer(ErrorDetailSerializer):
    """Why predictions were refused when they were scored."""


class PredictionResultSerializer(Shape):
    """What was found for one task. Figures are null until you may see them."""

    task = s.CharField(source="task_key", help_text="Its key.")
    file = s.CharField(source="file_name")
    sha256 = s.CharField(help_text="Of the file.")
    n_predictions = s.IntegerField()
    value = s.FloatField(allow_null=True)
    standard_error = s.FloatField(allow_null=True)
    n_instances = s.IntegerField(allow_null=True)
    metric = s.CharField(allow_blank=True)
    library = s.CharField(allow_blank=True, help_text="The library that computed it, with its version.")
    references = s.IntegerField(allow_null=True, help_text="The number of the references.")


class BestPredictionsSerializer(Shape):
    """The best submission of predictions so far."""

    uuid = s.UUIDField()
    system = s.CharField(source="system_name", help_text="Its name.")
    results = PredictionResultSerializer(many=True)


class PredictionStageSerializer(StageSerializer):
    """One stage on the way from submitted to the submission of scores."""

    state = s.ChoiceField(
        choices=["done", "running", "waiting", "failed", "skipped"],
        help_text="Skipped where nothing failed, and the scores do not count.",
    )


class PredictionsStatusSerializer(Shape):
    """How far a submission of predictions is."""

    uuid = s.UUIDField(source="row.uuid")
    url = s.URLField()
    benchmark = s.CharField(source="row.benchmark.key")
    system = s.CharField(source="row.system_name", help_text="Its name.")
    state = s.ChoiceField(choices=PredictionSubmission.State.values, source="row.state")
    trial = s.BooleanField(source="row.is_trial")
    phase = s.CharField(allow_null=True)
    submitted_at = s.DateTimeField(source="row.created_at")
    submitted_by = s.CharField(source="row.submitter.shown_name")
    scored_at = s.DateTimeField(source="row.scored_at", allow_null=True)
    note = s.CharField(source="row.note", allow_blank=True)
    outcome = s.CharField(source="row.outcome", allow_blank=True, help_text="What became of it, in a sentence.")
    submission = s.UUIDField(
        allow_null=True, help_text="The submission of scores that came of it; `submissions/` says more."
    )
    stages = PredictionStageSerializer(many=True, source="progress.stages")
    problems = PredictionProblemSerializer(many=True, source="row.problems")
    results = PredictionResultSerializer(many=True, source="progress.results")
    best = BestPredictionsSerializer(
        allow_null=True,
        source="progress.best",
        help_text="With the Ladder, where these predictions are not better: the best submission so far of the same "
        "team, or person, with its scores. Their own are secret.",
    )

    def value_of_phase(self, status: dict[str, Any]) -> str | None:
        """Its name."""
        phase = status["row"].phase
        return phase.name if phase else None

    def value_of_submission(self, status: dict[str, Any]) -> UUID | None:
        """The number of the batch."""
        submission = status["row"].submission
        return submission.batch.uuid if submission else None

    def value_of_problems(self, status: dict[str, Any]) -> list[dict[str, Any]]:
        """Each without what it does not say."""
        return [{name: value for name, value in one.items() if value} for one in status["row"].problems]


class PredictionsEntrySerializer(Shape):
    """One submission of predictions in a list."""

    uuid = s.UUIDField(source="row.uuid")
    url = s.URLField(help_text="Where it says more.")
    system = s.CharField(source="row.system_name")
    state = s.ChoiceField(choices=PredictionSubmission.State.values, source="row.state")
    trial = s.BooleanField(source="row.is_trial")
    submitted_at = s.DateTimeField(source="row.created_at")
    submitted_by = s.CharField(source="row.submitter.shown_name")
    place = s.CharField(
        allow_blank=True,
        help_text="What became of its scores: `on the board`, `not on the board`, or why they wait or left it. Empty "
        "until it is scored, and for a trial run.",
    )

    def value_of_url(self, entry: dict[str, Any]) -> str:
        """Its path."""
        return reverse("api:prediction", args=[entry["row"].uuid])


class PredictionsListSerializer(Shape):
    """Your submissions of predictions, and your team's, the newest first."""

    count = s.IntegerField(help_text="How many there are; the newest 100 are listed.")
    results = PredictionsEntrySerializer(many=True)


def _predictions_status(request: Request, row: PredictionSubmission) -> dict[str, Any]:
    """How far a submission is, as the API says it."""
    url = request.build_absolute_uri(reverse("api:prediction", args=[row.uuid]))
    return PredictionsStatusSerializer.render({"row": row, "progress": progress_of(row), "url": url})


class PredictionsView(SubmissionsView):
    """Submitting predictions, and listing your own."""

    scopes: ClassVar = {"POST": SUBMIT, "GET": ANY_SCOPE, "HEAD": ANY_SCOPE}
    parser_classes = [PredictionsParser]

    @extend_schema(
        operation_id="own_predictions",
        summary="List your predictions",
        tags=["predictions"],
        responses=reading(PredictionsListSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """What you and your team submitted to a benchmark, the newest first."""
        rows = own_predictions(self.user, self.benchmark)
        newest = list(rows[:MOST])
        places = places_on_board(self.benchmark, newest)
        entries = [{"row": row, "place": places.get(row.pk, "")} for row in newest]
        content = {"count": rows.count(), "results": entries}
        rendered = with_site(request, PredictionsListSerializer.render(content))
        return self.answer(lambda: rendered, level="own", is_public=False)

    @extend_schema(
        operation_id="submit_predictions",
        summary="Submit predictions",
        tags=["predictions"],
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": PredictionsFormSerializer},
        responses={
            200: OpenApiResponse(
                PredictionsStatusSerializer, description="What the first call with this key submitted."
            ),
            201: PredictionsStatusSerializer,
            **WRITING,
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """The predictions of one system, a file for each task or one for all, as a form.

        All of it is checked at once: ids that are missing, unknown or there twice, and values that cannot be read, each
        with file and line. Predictions without a problem are stored, and scored in the background.
        """
        idempotency_key = self.idempotency_key()
        sent = dict(cast("dict[str, Any]", request.data))  # as `PredictionsParser` returns it
        files: dict[str, tuple[str, bytes]] = sent.pop("files")
        body = PredictionsBodySerializer.read(sent)
        table = files.pop(TABLE, None)
        strange = [name for name in files if not name.startswith(FILE)]
        if strange:
            raise ApiError(400, f"There is no file {strange[0][:60]!r} here; send `{TABLE}`, or `{FILE}` and a task.")
        about = SubmittedRow(
            system_name=body["system"],
            organisation=body["organisation"],
            url=body["url"],
            description=body["description"],
            metadata=body["metadata"],
        )
        upload = PredictionUpload(
            about,
            {name.removeprefix(FILE): file for name, file in files.items()},
            table,
            note=body["note"],
            is_trial=body["trial"],
            source=Source.API,
            idempotency_key=idempotency_key,
        )
        try:
            row, is_new = submit_predictions(self.benchmark, self.user, upload)
        except InputError as problem:
            raise wrong_body(problem_details(problem), len(problem.problems.listed)) from problem
        except EvaluationError as problem:
            raise ApiError(409, str(problem)) from problem
        except SubmissionError as problem:
            raise self.refused(problem) from problem
        return self.stored(_predictions_status(request, row), is_new=is_new)


class PredictionView(ApiView):
    """One submission of predictions."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE}

    @extend_schema(
        operation_id="prediction",
        summary="Look predictions up",
        tags=["predictions"],
        responses={(200, "application/json"): PredictionsStatusSerializer} | READING,
    )
    def get(self, request: Request, uuid: UUID) -> HttpResponseBase:
        """How far they are, why they were refused, and what scoring found, as far as you may see it."""
        row, audience = visible_predictions(request.user, uuid)
        return self.answer(lambda: _predictions_status(request, row), level=audience.level, is_public=False)


class RescoredSerializer(Shape):
    """What is being scored again."""

    n_submissions = s.IntegerField(help_text="How many submissions are scored against the newest references.")


class RescoreView(BenchmarkView):
    """Scoring again."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="rescore_predictions",
        summary="Score predictions again",
        tags=["predictions"],
        request=None,
        responses={200: RescoredSerializer, **WRITING},
    )
    def post(self, request: Request, key: str) -> Response:
        """After references were corrected: score everything that is or might be on the board against the newest ones.

        Once all of it is scored, the changed scores go onto the board as corrections, with one revision. Predictions
        that are the best of their system only now follow, as submissions of the people who sent them.
        """
        if not self.audience.may_administer:
            raise ApiError(403, "Only the owners of a benchmark can have predictions scored again.")
        try:
            n = score_again(self.audience)
        except EvaluationError as problem:
            raise ApiError(409, str(problem)) from problem
        return Response(RescoredSerializer.render({"n_submissions": n}))


class CancelPredictionView(ApiView):
    """Cancelling."""

    scopes: ClassVar = {"POST": SUBMIT}

    @extend_schema(
        operation_id="cancel_prediction",
        summary="Cancel predictions",
        tags=["predictions"],
        request=None,
        responses={200: PredictionsStatusSerializer, **WRITING},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take predictions back that still wait; only who submitted them may. They then count in no quota."""
        row, _ = visible_predictions(request.user, uuid)
        if row.submitter_id != self.user.pk:
            raise ApiError(403, "Only who submitted predictions can cancel them.")
        try:
            cancel_predictions(row)
        except EvaluationError as problem:
            raise ApiError(409, str(problem)) from problem
        return Response(_predictions_status(request, visible_predictions(request.user, uuid)[0]))
