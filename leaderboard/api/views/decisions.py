"""What is decided about submissions: accepted, rejected, withdrawn, reinstated, taken back."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads, shapes
from leaderboard.api.bodies import reason_of
from leaderboard.api.openapi import DRY_RUN, REASON_EXAMPLE, WRITING
from leaderboard.api.problems import ApiError
from leaderboard.api.views.submissions import MANAGE, SUBMIT, submission_status
from leaderboard.api.views.writing import WritingView
from leaderboard.models import Batch, Submission
from leaderboard.selectors.audience import audience, visible_batch
from leaderboard.selectors.submissions import batch_naming
from leaderboard.services.decision_preview import outcomes_between, outcomes_of_accepting
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.preview import latest_state
from leaderboard.services.submissions import (
    reinstate_submission,
    reject_batch,
    retract_batch,
    take_batch,
    withdraw_submission,
)
from leaderboard.services.upload_preview import RuleOutcome

# What the schema says of every decision.
DECIDING: dict[str, Any] = {
    "parameters": [DRY_RUN],
    "examples": [REASON_EXAMPLE],
    "responses": {200: shapes.DecidedStatus, **WRITING},
}


class DecisionView(WritingView):
    """What moderators and owners do to a submission."""

    scopes: ClassVar = {"POST": (MANAGE,)}

    def decide(
        self,
        request: Request,
        batch: Batch,
        step: Callable[[], object],
        rules: Callable[[], list[RuleOutcome]] | None = None,
    ) -> Response:
        """Take a step, and say where the submission stands then; a dry run says, too, which ranks it changes.

        Args:
            request: what was asked.
            batch: which submission is meant.
            step: takes the step.
            rules: says what a dry run would change; where None, the board after it is held against the one before.
        """
        is_dry, states = self.truth("dry_run"), []

        def told() -> dict[str, Any]:
            step()
            if is_dry and rules is None:
                states.append(latest_state(batch.benchmark))
            return submission_status(request, batch)

        response = self.carry_out(told)
        if is_dry:  # it is taken back: whatever is ranked now is ranked outside the transaction
            found = rules or (lambda: outcomes_between(latest_state(batch.benchmark), states[0]))
            response.data["rules"] = told_outcomes(found)
        return response

    def batch_for_moderator(self, uuid: UUID) -> tuple[Batch, Submission | None]:
        """The batch that `uuid` names, and which submission of it, for those who decide about it."""
        batch_uuid, submission = batch_naming(uuid)
        batch = visible_batch(self.viewer, batch_uuid)
        if not audience(self.viewer, batch.benchmark).may_moderate:
            raise ApiError(403, f"Moderators and owners of {batch.benchmark.name} decide about this.")
        return batch, submission

    def one_system(self, request: Request, uuid: UUID) -> tuple[Batch, Submission, str]:
        """The submission of one system that `uuid` names, with its batch, and the reason in the body."""
        batch, submission = self.batch_for_moderator(uuid)
        reason = reason_of(request.data, is_needed=True)
        if submission is None:
            rows = list(batch.submissions.all())
            if len(rows) > 1:
                raise ApiError(
                    409, f"This submission has {len(rows)} systems; name one by the `submission` that stands with it."
                )
            submission = rows[0]
        return batch, submission, reason

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
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take the accepted scores of one system off the board, with the next revision.

        Of a submission of several systems, `uuid` is the `submission` of one of them.
        """
        batch, submission, reason = self.one_system(request, uuid)
        return self.decide(request, batch, lambda: withdraw_submission(submission, actor=self.user, reason=reason))


class Reinstate(Withdraw):
    """Reinstating."""

    @extend_schema(
        operation_id="reinstate",
        summary="Reinstate withdrawn scores",
        tags=["decisions"],
        request=shapes.Reason,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Put the withdrawn scores of one system back to the place that they had, with the next revision."""
        batch, submission, reason = self.one_system(request, uuid)
        return self.decide(request, batch, lambda: reinstate_submission(submission, actor=self.user, reason=reason))


class Retract(DecisionView):
    """Taking back."""

    scopes: ClassVar = {"POST": (SUBMIT,)}

    @extend_schema(
        operation_id="retract",
        summary="Take one's own submission back",
        tags=["submissions"],
        request=shapes.OptionalReason,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take a submission back, as a whole, before it comes onto the board; only its submitter may."""
        batch = visible_batch(self.viewer, batch_naming(uuid)[0])
        if batch.uploader_id != self.user.pk:
            raise ApiError(403, "This submission is somebody else's.")
        reason = reason_of(request.data, is_needed=False)
        step = partial(retract_batch, batch, actor=self.user, reason=reason)
        return self.decide(request, batch, step, rules=list)


class Accept(DecisionView):
    """Accepting."""

    @extend_schema(
        operation_id="accept",
        summary="Accept a submission",
        tags=["decisions"],
        request=shapes.OptionalReason,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Accept a waiting submission as a whole: the next revision includes it."""
        batch = self.whole_batch(uuid)
        reason = reason_of(request.data, is_needed=False)
        return self.decide(
            request,
            batch,
            lambda: take_batch(batch, actor=self.user, reason=reason),
            lambda: outcomes_of_accepting(batch.benchmark, [batch]),
        )


class Reject(DecisionView):
    """Rejecting."""

    @extend_schema(
        operation_id="reject",
        summary="Reject a submission",
        tags=["decisions"],
        request=shapes.Reason,
        **DECIDING,
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Reject a waiting submission as a whole; its submitter reads the reason."""
        batch = self.whole_batch(uuid)
        reason = reason_of(request.data, is_needed=True)
        step = partial(reject_batch, batch, actor=self.user, reason=reason)
        return self.decide(request, batch, step, rules=list)


def told_outcomes(find: Callable[[], list[RuleOutcome]]) -> list[dict[str, Any]] | None:
    """What a decision would change under each rule; None where the board is too large to be ranked on demand."""
    try:
        return [payloads.rule_outcome(outcome) for outcome in find()]
    except TooLargeError:
        return None
