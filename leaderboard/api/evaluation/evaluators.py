"""ClaimedFile by programs of the owners: what waits is claimed, kept by renewing the claim, and reported."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import BenchmarkView
from leaderboard.api.protocol.fields import ScoreField, Shape, Strict, Text, kind_of, read_each, read_number
from leaderboard.api.protocol.parsers import StrictJSONParser
from leaderboard.api.protocol.problems import ApiError, wrong_body
from leaderboard.api.protocol.schema import READING, WRITING, body_example
from leaderboard.evaluation.evaluators import (
    ClaimedFile,
    ProgramReport,
    ReportedScore,
    claim_evaluation,
    claimed_evaluation,
    renew_evaluation,
    report_evaluation,
)
from leaderboard.evaluation.problems import EvaluationError, ReportError
from leaderboard.models import ApiToken

EVALUATE = (ApiToken.Scope.EVALUATE,)
PROBLEM_LENGTH = 1000


class ScoresByInstance(Strict, s.DictField):
    """Scores by the id of an instance."""

    def to_internal_value(self, data: Any) -> dict[Any, float]:  # noqa: ANN401
        """Every score, by id."""
        if not isinstance(data, dict):
            raise s.ValidationError(f"expected an object of numbers, found {kind_of(data)}")
        values, problems = read_each(data.items(), read_number)
        if problems:
            raise s.ValidationError(problems)  # type: ignore[arg-type]
        return values


class ClaimSerializer(Shape):
    """Who asks."""

    program = Text(max_length=60, absent="program", help_text="What it calls itself, for the status page.")


class SplitScoreSerializer(Shape):
    """A score on one split."""

    value = ScoreField()
    standard_error = ScoreField(allow_null=True, absent=None)


class SplitScoresSerializer(Shape):
    """Scores by split."""

    public = SplitScoreSerializer()
    private = SplitScoreSerializer()


class ReportSerializer(Shape):
    """What a program found: a value, or why there is none."""

    value = ScoreField(allow_null=True, absent=None)
    standard_error = ScoreField(allow_null=True, absent=None)
    instances = ScoresByInstance(
        child=s.FloatField(), allow_null=True, absent=None, help_text="By id, of every instance or of none."
    )
    splits = SplitScoresSerializer(
        allow_null=True, absent=None, help_text="Where the claim names splits; `value` is on all instances together."
    )
    problem = Text(max_length=PROBLEM_LENGTH, absent="", help_text="Why there is no value, for the submitter.")


class EvaluationSerializer(Shape):
    """A file of predictions that is yours to score until its lease ends."""

    claim = s.UUIDField(source="job.claim_token", help_text="Names it in the other URLs.")
    task = s.CharField(source="file.task.key")
    split = s.CharField(help_text="`test`, or `development` for a trial run.")
    splits = s.ListField(
        child=s.CharField(),
        help_text="The splits of which the report needs scores of their own: `public` and `private`, or none.",
    )
    references = s.IntegerField(source="references.number", help_text="The number of the file that states the ids.")
    system = s.CharField(source="file.prediction_submission.system_name")
    submission = s.UUIDField(source="file.prediction_submission.uuid")
    file = s.CharField(source="file.name")
    sha256 = s.CharField(source="file.sha256")
    n_predictions = s.IntegerField(source="file.n_predictions")
    lease_until = s.DateTimeField(source="job.lease_until")
    deadline = s.DateTimeField(source="job.deadline", help_text="No lease is renewed beyond this.")


class ClaimedSerializer(Shape):
    """What was claimed."""

    evaluation = EvaluationSerializer(allow_null=True, help_text="Null where nothing waits.")


class ReportedSerializer(Shape):
    """That a report was taken."""

    state = s.CharField(help_text="Of the submission of predictions.")


class OwnersView(BenchmarkView):
    """What programs of the owners do."""

    scopes: ClassVar = {"POST": EVALUATE, "GET": EVALUATE, "HEAD": EVALUATE}
    parser_classes = [StrictJSONParser]

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Check that they are owners."""
        super().initial(request, *args, **kwargs)
        if not self.audience.may_administer:
            raise ApiError(403, "Only programs of the owners of a benchmark evaluate its predictions.")

    def evaluation(self, claim: UUID) -> ClaimedFile:
        """What a claim is of.

        Raises:
            ApiError: it ended.
        """
        try:
            return claimed_evaluation(self.benchmark, claim)
        except EvaluationError as problem:
            raise ApiError(409, str(problem)) from problem


class ClaimView(OwnersView):
    """Claiming."""

    @extend_schema(
        operation_id="claim_evaluation",
        summary="Claim predictions to evaluate",
        tags=["evaluations"],
        request=ClaimSerializer,
        responses={200: ClaimedSerializer, **WRITING},
        examples=[body_example("A program says what it is called", {"program": "judge-1"})],
    )
    def post(self, request: Request, key: str) -> Response:
        """The next file that waits for a program of the owners. It is yours until its lease ends; renew it in time."""
        body = ClaimSerializer.read(request.data)
        claimed = claim_evaluation(self.benchmark, program=body["program"])
        return Response(ClaimedSerializer.render({"evaluation": claimed}))


class EvaluatedFileView(OwnersView):
    """The predictions."""

    @extend_schema(
        operation_id="evaluated_predictions",
        summary="Fetch predictions to evaluate",
        tags=["evaluations"],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY} | READING,
    )
    def get(self, request: Request, key: str, uuid: UUID) -> HttpResponseBase:
        """The file as it was submitted; every id of the split has a prediction in it."""
        response = HttpResponse(self.evaluation(uuid).content, content_type="application/octet-stream")
        response["Content-Disposition"] = 'attachment; filename="predictions"'
        response["Cache-Control"] = "private, no-store"
        return response


class RenewView(OwnersView):
    """Renewing."""

    @extend_schema(
        operation_id="renew_evaluation",
        summary="Renew a claim",
        tags=["evaluations"],
        request=None,
        responses={200: EvaluationSerializer, **WRITING},
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """Prolong the lease. A 409 says that it ended: stop, for what you report is dropped."""
        try:
            renew_evaluation(self.evaluation(uuid))
        except EvaluationError as problem:
            raise ApiError(409, str(problem)) from problem
        return Response(EvaluationSerializer.render(self.evaluation(uuid)))


class ReportView(OwnersView):
    """Reporting."""

    @extend_schema(
        operation_id="report_evaluation",
        summary="Report an evaluation",
        tags=["evaluations"],
        request=ReportSerializer,
        responses={200: ReportedSerializer, **WRITING},
        examples=[
            OpenApiExample(
                "A score with those of its instances",
                value={"value": 0.5, "standard_error": 0.5, "instances": {"i1": 0, "i2": 1}},
                request_only=True,
            ),
            OpenApiExample(
                "Scores by split",
                value={"value": 0.5, "splits": {"public": {"value": 0.4}, "private": {"value": 0.6}}},
                request_only=True,
            ),
        ],
    )
    def post(self, request: Request, key: str, uuid: UUID) -> Response:
        """The score of the file, once. Where every file of the submission is scored, its scores enter the board."""
        body = ReportSerializer.read(request.data)
        evaluation = self.evaluation(uuid)
        report = ProgramReport(
            ReportedScore(body["value"], body["standard_error"]),
            {name: ReportedScore(**score) for name, score in (body["splits"] or {}).items()},
            body["instances"],
            body["problem"],
        )
        try:
            report_evaluation(evaluation, report, author=self.user)
        except ReportError as problem:
            raise wrong_body([{"place": problem.place, "message": str(problem)}]) from problem
        except EvaluationError as problem:
            raise ApiError(409, str(problem)) from problem
        row = evaluation.file.prediction_submission
        row.refresh_from_db(fields=["state"])
        return Response(ReportedSerializer.render({"state": row.state}))
