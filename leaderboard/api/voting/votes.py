"""Votes: the ratings of a benchmark that collects them, sending a batch, and what is decided about one."""

from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework import serializers as s
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import DRY, MANAGE, ApiView, WritingView
from leaderboard.api.protocol.fields import ChoiceText, ReasonText, Shape, Text
from leaderboard.api.protocol.parsers import check_charset, read_bytes
from leaderboard.api.protocol.problems import ApiError, wrong_body
from leaderboard.api.protocol.schema import DRY_RUN, IDEMPOTENCY_KEY, READING, WRITING, body_example, error, text_shape
from leaderboard.api.protocol.sending import SendingView
from leaderboard.api.submissions import ANY_SCOPE, SUBMIT, problem_details
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.models import ApiToken, Benchmark, VoteBatch
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.submissions.problems import SubmissionError
from leaderboard.votes.content import (
    COLUMNS_LENGTH,
    SentVotes,
    checked_votes,
    collects_votes,
    read_columns,
)
from leaderboard.votes.lifecycle import STEPS, require_may_send, send_votes
from leaderboard.votes.queries import ratings_for, require_step, visible_vote_batch
from ranking_engine.files.problems import InputError

VOTES_EXAMPLE = body_example(
    "Two votes",
    [
        {"model_a": "Deep Thought", "model_b": "Eliza", "winner": "model_a", "voter": "v1", "category": "maths"},
        {"model_a": "Eliza", "model_b": "Deep Thought", "winner": "tie", "voter": "v2", "category": "maths"},
    ],
)
STEP_EXAMPLE = body_example("Withdraw a batch", {"step": "withdraw", "reason": "The log was broken."})
VOTE = {
    "type": "object",
    "required": ["model_a", "model_b", "winner"],
    "properties": {
        "model_a": {"type": "string"},
        "model_b": {"type": "string"},
        "winner": {"type": "string", "enum": ["model_a", "model_b", "tie", "tie (bothbad)"]},
    },
}


class VotesParser(BaseParser):
    """Votes as bytes; the engine reads them, whatever of its forms they have."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ANN401
        """The body's bytes."""
        check_charset(media_type)
        return read_bytes(stream, parser_context, settings.IMPORT_BYTES)


class JSONVotesParser(VotesParser):
    """A JSON list of votes."""

    media_type = "application/json"


class LinesVotesParser(VotesParser):
    """JSON lines."""

    media_type = "application/x-ndjson"


class CSVVotesParser(VotesParser):
    """A table."""

    media_type = "text/csv"


class ParquetVotesParser(VotesParser):
    """A Parquet file."""

    media_type = "application/vnd.apache.parquet"


class VoteBatchSerializer(Shape):
    """A batch of votes and its state."""

    batch = s.UUIDField(source="batch.uuid")
    benchmark = s.CharField(source="batch.benchmark.key")
    state = s.ChoiceField(
        choices=[state for state in VoteBatch.State.values if state != VoteBatch.State.DRAFT], source="batch.state"
    )
    n_votes = s.IntegerField(source="batch.n_votes")
    n_people = s.IntegerField(source="batch.n_voters", help_text="Who voted, as far as the votes say it.")
    systems = s.DictField(
        child=s.IntegerField(), source="batch.systems", help_text="The number of votes on each system, by name."
    )
    categories = s.DictField(
        child=s.IntegerField(), source="batch.categories", help_text="The number of votes in each category."
    )
    note = s.CharField(allow_blank=True, source="batch.note")
    sent_at = s.DateTimeField(source="batch.created_at")
    url = s.URLField(help_text="Where its state is.")


def _batch_state(request: Request, batch: VoteBatch) -> dict[str, Any]:
    """A batch as the API says it."""
    url = request.build_absolute_uri(reverse("api:vote_batch", args=[batch.uuid]))
    return VoteBatchSerializer.render({"batch": batch, "url": url})


class VotePreviewSerializer(Shape):
    """What was read; nothing is stored."""

    dry_run = s.BooleanField()
    would_be_accepted = s.BooleanField(help_text="False where a moderator would have to decide.")
    n_votes = s.IntegerField()
    n_people = s.IntegerField()
    systems = s.DictField(child=s.IntegerField())
    categories = s.DictField(child=s.IntegerField())


class VoteRatingsSerializer(Shape):
    """The newest ratings."""

    collects_votes = s.BooleanField(help_text="Whether the scores of this benchmark are computed from votes.")
    computed_at = s.DateTimeField(allow_null=True, help_text="Null while there are no ratings.")
    engine_version = s.CharField(allow_null=True)
    is_computing = s.BooleanField(help_text="Whether newer ratings are being computed.")
    error = s.CharField(allow_blank=True, help_text="Why the newest ratings could not be computed.")
    ratings = s.DictField(help_text="As `plurank votes --format json` has them; empty while there are none.")


class VotesQuerySerializer(Shape):
    """What an address says of votes."""

    note = Text(most=NOTE_LENGTH, is_line=False)
    columns = Text(most=COLUMNS_LENGTH)


class StepBodySerializer(Shape):
    """What is done to a batch."""

    step = ChoiceText(choices=list(STEPS))
    reason = ReasonText(help_text="Needed to reject, withdraw and reinstate.")


class VotesView(SendingView):
    """The ratings, and sending votes."""

    scopes: ClassVar = {"POST": SUBMIT}
    parser_classes = [JSONVotesParser, LinesVotesParser, CSVVotesParser, ParquetVotesParser]

    @property
    def is_open_to_restricted(self) -> bool:  # type: ignore[override]
        """Votes may be sent where their ratings are hidden."""
        return self.request.method == "POST"

    @extend_schema(
        operation_id="vote_ratings",
        summary="Read the ratings of votes",
        tags=["votes"],
        responses={(200, "application/json"): VoteRatingsSerializer} | READING,
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Ratings with intervals, what the votes cannot compare, and how few of them decide the first place."""

        def build() -> dict[str, Any]:
            newest = ratings_for(self.audience)
            row = newest.ratings
            return VoteRatingsSerializer.render(
                {
                    "collects_votes": collects_votes(self.benchmark),
                    "computed_at": row.created_at if row else None,
                    "engine_version": row.engine_version if row else None,
                    "is_computing": newest.job is not None,
                    "error": newest.error,
                    "ratings": newest.report,
                }
            )

        return self.answer_here(build)

    @extend_schema(
        operation_id="send_votes",
        summary="Send votes",
        tags=["votes"],
        parameters=[
            OpenApiParameter("dry_run", bool, description="Check and preview only; nothing is stored."),
            OpenApiParameter("note", text_shape(NOTE_LENGTH), description="How the votes were collected."),
            OpenApiParameter(
                "columns",
                text_shape(COLUMNS_LENGTH),
                description="What columns are, where their names do not say it: `rater=voter,words=weight`.",
            ),
            IDEMPOTENCY_KEY,
        ],
        request={
            "application/json": {"type": "array", "items": VOTE},
            "application/x-ndjson": {"type": "string", "description": "One object a line, as Chatbot Arena has them."},
            "text/csv": {"type": "string", "description": "Columns `model_a`, `model_b`, `winner` and others."},
            "application/vnd.apache.parquet": {"type": "string", "format": "binary"},
        },
        examples=[VOTES_EXAMPLE],
        responses={
            200: OpenApiResponse(
                PolymorphicProxySerializer(
                    "VotePreviewOrBatch", [VotePreviewSerializer, VoteBatchSerializer], resource_type_field_name=None
                ),
                description="The preview of a dry run, or the batch that the first call with this key made.",
            ),
            201: VoteBatchSerializer,
            **WRITING,
            422: error("The votes take more time or memory to read than there is for an answer."),
        },
    )
    def post(self, request: Request, key: str) -> Response:
        """A batch of votes, taken whole or not at all.

        Where submissions are open it is accepted at once, and all votes are rated again; else a moderator decides.
        """
        idempotency_key = self.idempotency_key()
        try:
            sent = self.sent(request)
            if self.truth("dry_run"):
                return Response(VotePreviewSerializer.render(self.preview(sent)), headers=DRY)
            batch, is_new = send_votes(self.benchmark, self.user, sent, idempotency_key=idempotency_key)
        except InputError as problem:
            raise wrong_body(problem_details(problem), len(problem.problems.listed)) from problem
        except SubmissionError as problem:
            raise self.refused(problem) from problem
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        return self.stored(_batch_state(request, batch), is_new=is_new)

    def sent(self, request: Request) -> SentVotes:
        """What was sent.

        Raises:
            ApiError: a parameter cannot be understood.
        """
        parameters = VotesQuerySerializer.read(
            {name: request.query_params.get(name, "") for name in ("note", "columns")}
        )
        try:
            columns = read_columns(parameters["columns"])
        except ValidationError as invalid:
            raise ApiError(400, f"`columns`: {' '.join(invalid.messages)}") from invalid
        data = request.data if isinstance(request.data, bytes) else b""
        return SentVotes(data, columns, parameters["note"])

    def preview(self, sent: SentVotes) -> dict[str, Any]:
        """What is in votes that may be sent, for `VotePreviewSerializer` to render.

        Raises:
            SubmissionError: they may not be sent.
            InputError: with everything that is wrong with them.
        """
        require_may_send(self.audience)
        checked = checked_votes(self.audience, sent)
        return {
            "dry_run": True,
            "would_be_accepted": self.audience.is_accepted_at_once,
            "n_votes": checked.n_votes,
            "n_people": checked.n_voters,
            "systems": checked.systems,
            "categories": checked.categories,
        }


class VoteBatchView(ApiView):
    """The state of a batch."""

    scopes: ClassVar = {"GET": ANY_SCOPE, "HEAD": ANY_SCOPE}

    @extend_schema(
        operation_id="vote_batch",
        summary="Look a batch of votes up",
        tags=["votes"],
        responses={(200, "application/json"): VoteBatchSerializer} | READING,
    )
    def get(self, request: Request, uuid: UUID) -> HttpResponseBase:
        """What is in a batch, and whether it counts."""
        batch, audience = visible_vote_batch(request.user, uuid)
        is_public = batch.benchmark.visibility == Benchmark.Visibility.PUBLIC
        return self.answer(lambda: _batch_state(request, batch), level=audience.level, is_public=is_public)


class VoteStepView(WritingView):
    """Decisions about a batch."""

    scopes: ClassVar = {"POST": (*SUBMIT, *MANAGE)}

    @extend_schema(
        operation_id="vote_step",
        summary="Decide about a batch of votes",
        tags=["votes"],
        parameters=[DRY_RUN],
        request=StepBodySerializer,
        examples=[STEP_EXAMPLE],
        responses={200: VoteBatchSerializer, **WRITING},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Accept, reject, withdraw, reinstate or retract a batch.

        Moderators decide about what waits; its sender retracts it before that, and where the benchmark lets
        submitters withdraw their scores, withdraws it after.
        """
        batch, audience = visible_vote_batch(request.user, uuid)
        body = StepBodySerializer.read(request.data)
        require_step(batch, audience, body["step"])
        if audience.may_moderate and body["step"] != "retract" and ApiToken.Scope.MANAGE not in self.token.scopes:
            raise ApiError(403, "The token lacks the scope `manage` that this needs.", code="insufficient_scope")

        def step() -> dict[str, Any]:
            STEPS[body["step"]](batch, actor=self.user, reason=body["reason"])
            return _batch_state(request, batch)

        return self.carry_out(step)
