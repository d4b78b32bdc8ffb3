"""What is decided about submissions: accepted, rejected, withdrawn, reinstated, retracted."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.access.audience import audience_of, erasable_submission, moderated_batch, visible_batch
from leaderboard.api.protocol.base import MANAGE, WritingView
from leaderboard.api.protocol.fields import ReasonText, Shape, Sure, Truth
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.schema import DRY_RUN, WRITING, body_example
from leaderboard.api.submissions import SUBMIT, PreviewedRuleSerializer, SubmissionStatusSerializer, submission_status
from leaderboard.models import Batch, Submission
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.submissions.lifecycle import (
    reinstate_submission,
    reject_batch,
    retract_batch,
    take_batch,
    withdraw_submission,
)
from leaderboard.submissions.moderation.preview import outcomes_between, outcomes_of_accepting
from leaderboard.submissions.moderation.takedowns import take_down, takedown_effects
from leaderboard.submissions.preview.draft import latest_state
from leaderboard.submissions.preview.upload import RuleOutcome
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.queries import batch_naming, lone_submission, require_whole
from leaderboard.submissions.withdrawals import cancel_request, decline_withdrawal, withdraw_own

REASON_EXAMPLE = body_example("Why", {"reason": "Measured on the training set."})
TAKEDOWN_EXAMPLE = body_example(
    "Published without a right to it",
    {"reason": "The test set's owner objects.", "with_note": True, "is_sure": True},
)


class DecidedStatusSerializer(SubmissionStatusSerializer):
    """The state of a submission after a decision; a dry run says what that would change."""

    rules = PreviewedRuleSerializer(
        many=True,
        required=False,
        allow_null=True,
        help_text="Of a dry run: what would change under each rule; under an embargo, when that ends. Null where the "
        "board is too large to be ranked on demand.",
    )


class ReasonSerializer(Shape):
    """Why."""

    reason = ReasonText(needed="it is missing; say why")


class OptionalReasonSerializer(Shape):
    """Why, if there is something to say."""

    reason = ReasonText()


class TakedownBodySerializer(Shape):
    """Why scores are to be deleted for good."""

    reason = ReasonText(
        needed="it is missing; say why: it is kept for good, so do not repeat the scores in it",
        help_text="It is kept for good, so do not repeat the scores in it.",
    )
    with_note = Truth(absent=False, help_text="Whether the note on the whole submission goes as well.")
    is_sure = Sure(help_text="true: this cannot be undone.")


class TakedownSerializer(Shape):
    """What was deleted."""

    submission = s.UUIDField(source="submission.uuid")
    n_scores = s.IntegerField(source="effects.n_scores")
    n_vectors = s.IntegerField(source="effects.n_vectors", help_text="Of single instances.")
    held_at = s.CharField(
        source="effects.revisions_text",
        allow_blank=True,
        help_text="The revisions that contained them, which are no longer shown.",
    )
    releases = s.ListField(child=s.CharField(), help_text="The keys of frozen revisions among these.")
    n_drafts = s.IntegerField(
        source="effects.n_drafts", help_text="Unconfirmed drafts that may have the same scores, and are deleted."
    )
    revision = s.IntegerField(
        source="revision.number", allow_null=True, help_text="The revision without them, where they were on the board."
    )

    def value_of_releases(self, content: dict[str, Any]) -> list[str]:
        """The keys of frozen revisions."""
        return [release.key for release in content["effects"].releases]


# What the schema says of every decision.
DECIDING: dict[str, Any] = {
    "parameters": [DRY_RUN],
    "examples": [REASON_EXAMPLE],
    "responses": {200: DecidedStatusSerializer, **WRITING},
}


class DecisionView(WritingView):
    """What moderators and owners do to a submission."""

    scopes: ClassVar = {"POST": MANAGE}

    def decide(
        self,
        request: Request,
        batch: Batch,
        step: Callable[[], object],
        rules: Callable[[], list[RuleOutcome]] | None = None,
    ) -> Response:
        """Take a step, and say the state of the submission then; a dry run says, too, which ranks it changes.

        Args:
            request: what was asked.
            batch: which submission is meant.
            step: takes the step.
            rules: says what a dry run would change; where None, the board after it is compared with the one before.
        """
        is_dry, states = self.truth("dry_run"), []

        def decided() -> dict[str, Any]:
            step()
            if is_dry and rules is None:
                states.append(latest_state(batch.benchmark))
            return submission_status(request, batch, audience_of(request.user, batch.benchmark))

        response = self.carry_out(decided)
        if is_dry:  # it is taken back: whatever is ranked now is ranked outside the transaction
            outcomes = rules or (lambda: outcomes_between(latest_state(batch.benchmark), states[0]))
            response.data["rules"] = previewed_rules(outcomes)
        return response

    def moderated(self, uuid: UUID) -> tuple[Batch, Submission | None]:
        """The batch that `uuid` names, and which submission of it, for those who decide about it."""
        batch_uuid, submission = batch_naming(uuid)
        return moderated_batch(self.viewer, batch_uuid), submission


class WithdrawView(DecisionView):
    """Withdrawing."""

    @extend_schema(
        operation_id="withdraw",
        summary="Withdraw scores",
        tags=["decisions"],
        request=ReasonSerializer,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take the accepted scores of one system off the board, with the next revision.

        Of a submission of several systems, `uuid` is the `submission` of one of them.
        """
        batch, submission = self.moderated(uuid)
        reason = ReasonSerializer.read(request.data)["reason"]

        def step() -> None:
            withdraw_submission(lone_submission(batch, submission), actor=self.user, reason=reason)

        return self.decide(request, batch, step)


class ReinstateView(WithdrawView):
    """Reinstating."""

    @extend_schema(
        operation_id="reinstate",
        summary="Reinstate withdrawn scores",
        tags=["decisions"],
        request=ReasonSerializer,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Put the withdrawn scores of one system back to the place that they had, with the next revision."""
        batch, submission = self.moderated(uuid)
        reason = ReasonSerializer.read(request.data)["reason"]

        def step() -> None:
            reinstate_submission(lone_submission(batch, submission), actor=self.user, reason=reason)

        return self.decide(request, batch, step)


class RetractView(DecisionView):
    """Taking back."""

    scopes: ClassVar = {"POST": SUBMIT}

    @extend_schema(
        operation_id="retract",
        summary="Withdraw your own waiting submission",
        tags=["submissions"],
        request=OptionalReasonSerializer,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take a submission back, as a whole, before it comes onto the board; only its submitter may."""
        batch, _ = visible_batch(self.viewer, batch_naming(uuid)[0])
        reason = OptionalReasonSerializer.read(request.data)["reason"]
        step = partial(retract_batch, batch, actor=self.user, reason=reason)
        return self.decide(request, batch, step, rules=list)


class OwnWithdrawalView(DecisionView):
    """Withdrawing your scores, or asking for it."""

    scopes: ClassVar = {"POST": SUBMIT}

    @extend_schema(
        operation_id="withdraw_own",
        summary="Withdraw your own accepted scores, or ask for it",
        tags=["submissions"],
        request=ReasonSerializer,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take your accepted scores of one system off the board, with the next revision, or ask the moderators for it.

        The owners set which; once submissions are closed or the deadline is past, you ask. Then the system's `state`
        stays `accepted`, and the request is the last of `events`, for you and the moderators alone.
        """
        batch_uuid, submission = batch_naming(uuid)
        batch, audience = visible_batch(self.viewer, batch_uuid)
        reason = ReasonSerializer.read(request.data)["reason"]

        def step() -> None:
            withdraw_own(audience, lone_submission(batch, submission), reason=reason)

        # Where names or scores are hidden from them, so is what their withdrawal changes for others.
        return self.decide(request, batch, step, rules=list if audience.is_restricted else None)


class OwnWithdrawalCancelView(DecisionView):
    """Cancelling your request to withdraw scores."""

    scopes: ClassVar = {"POST": SUBMIT}

    @extend_schema(
        operation_id="cancel_own_withdrawal",
        summary="Cancel your own request to withdraw scores",
        tags=["submissions"],
        request=None,
        parameters=[DRY_RUN],
        responses={200: DecidedStatusSerializer, **WRITING},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Cancel your request to have scores withdrawn, while the moderators have not decided; they stay."""
        batch_uuid, submission = batch_naming(uuid)
        batch, audience = visible_batch(self.viewer, batch_uuid)

        def step() -> None:
            cancel_request(audience, lone_submission(batch, submission))

        return self.decide(request, batch, step, rules=list)


class KeepView(DecisionView):
    """Declining a request to withdraw scores."""

    @extend_schema(
        operation_id="keep",
        summary="Decline a request to withdraw scores",
        tags=["decisions"],
        request=ReasonSerializer,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Leave scores on the board that their submitter asked to have withdrawn; the submitter reads the reason.

        To grant a request, withdraw the scores.
        """
        batch, submission = self.moderated(uuid)
        reason = ReasonSerializer.read(request.data)["reason"]

        def step() -> None:
            decline_withdrawal(lone_submission(batch, submission), actor=self.user, reason=reason)

        return self.decide(request, batch, step, rules=list)


class AcceptView(DecisionView):
    """Accepting."""

    @extend_schema(
        operation_id="accept",
        summary="Accept a submission",
        tags=["decisions"],
        request=OptionalReasonSerializer,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Accept a waiting submission as a whole: the next revision includes it."""
        batch, submission = self.moderated(uuid)
        reason = OptionalReasonSerializer.read(request.data)["reason"]

        def step() -> None:
            require_whole(batch, submission)
            take_batch(batch, actor=self.user, reason=reason)

        return self.decide(request, batch, step, lambda: outcomes_of_accepting(batch.benchmark, [batch]))


class RejectView(DecisionView):
    """Rejecting."""

    @extend_schema(
        operation_id="reject",
        summary="Reject a submission",
        tags=["decisions"],
        request=ReasonSerializer,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Reject a waiting submission as a whole; its submitter reads the reason."""
        batch, submission = self.moderated(uuid)
        reason = ReasonSerializer.read(request.data)["reason"]

        def step() -> None:
            require_whole(batch, submission)
            reject_batch(batch, actor=self.user, reason=reason)

        return self.decide(request, batch, step, rules=list)


class TakeDownView(WritingView):
    """Taking scores down."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="take_down",
        summary="Delete scores for good",
        tags=["decisions"],
        parameters=[DRY_RUN],
        request=TakedownBodySerializer,
        responses={200: TakedownSerializer, **WRITING},
        examples=[TAKEDOWN_EXAMPLE],
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Delete the scores of one system's submission wherever the site keeps them; for owners and the site's staff.

        Earlier revisions that held them then answer 410. Withdrawing takes scores off the board and keeps them; this
        cannot be undone.
        """
        batch_uuid, named = batch_naming(uuid)
        if named is None:  # of a batch of one system that is open to anyone who asks
            batch, _ = visible_batch(self.user, batch_uuid)
            try:
                named = lone_submission(batch, None)
            except SubmissionError as error:
                raise ApiError(409, str(error)) from error
        submission = erasable_submission(self.user, named.uuid)
        body = TakedownBodySerializer.read(request.data)

        def step() -> dict[str, Any]:
            effects = takedown_effects(submission)
            revision = take_down(submission, actor=self.user, reason=body["reason"], with_note=body["with_note"])
            return TakedownSerializer.render({"submission": submission, "effects": effects, "revision": revision})

        return self.carry_out(step)


def previewed_rules(find: Callable[[], list[RuleOutcome]]) -> list[dict[str, Any]] | None:
    """What a decision would change under each rule; None where the board is too large to be ranked on demand."""
    try:
        return [PreviewedRuleSerializer.render(outcome) for outcome in find()]
    except TooLargeError:
        return None
