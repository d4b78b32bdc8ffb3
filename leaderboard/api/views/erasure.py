"""Deleting for good: the scores of one submission, one's own account."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.hosting_bodies import closing_of, takedown_of
from leaderboard.api.hosting_examples import CLOSING_EXAMPLE, TAKEDOWN_EXAMPLE
from leaderboard.api.openapi import DRY_RUN, WRITING
from leaderboard.api.problems import ApiError
from leaderboard.api.shapes import hosting as shapes
from leaderboard.api.views.hosting import MANAGE
from leaderboard.api.views.writing import WritingView
from leaderboard.selectors.audience import erasable_submission, visible_batch
from leaderboard.selectors.submissions import batch_naming
from leaderboard.services.attempts import TooManyAttemptsError, attempt, client_address
from leaderboard.services.closing import close_account
from leaderboard.services.takedowns import take_down, takedown_effects


class TakeDown(WritingView):
    """Taking scores down."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="take_down",
        summary="Delete scores for good",
        tags=["decisions"],
        parameters=[DRY_RUN],
        request=shapes.TakedownBody,
        responses={200: shapes.Takedown, **WRITING},
        examples=[TAKEDOWN_EXAMPLE],
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Delete the scores of one system's submission wherever the site keeps them; for owners and the site's staff.

        Earlier revisions that held them then answer 410. Withdrawing takes scores off the board and keeps them; this
        cannot be undone.
        """
        batch_uuid, named = batch_naming(uuid)
        submission = erasable_submission(self.user, self._of_one_system(batch_uuid) if named is None else uuid)
        stated = takedown_of(request.data)

        def step() -> dict[str, Any]:
            effects = takedown_effects(submission)
            revision = take_down(submission, actor=self.user, **stated)
            return {
                "submission": str(submission.uuid),
                "n_scores": effects.n_scores,
                "n_vectors": effects.n_vectors,
                "held_at": effects.revisions_text,
                "releases": [release.key for release in effects.releases],
                "n_drafts": effects.n_drafts,
                "revision": revision.number if revision else None,
            }

        return self.carry_out(step)

    def _of_one_system(self, batch_uuid: UUID) -> UUID:
        """The submission of a batch of one system.

        Raises:
            Http404: there is no such batch, or it is not open to whoever asks.
            ApiError: it has several.
        """
        rows = list(visible_batch(self.user, batch_uuid).submissions.values_list("uuid", flat=True)[:2])
        if len(rows) != 1:
            raise ApiError(409, "It has several systems; name one by the `submission` that stands with it.")
        return rows[0]


class CloseAccount(WritingView):
    """Closing one's account."""

    scopes: ClassVar = {"POST": MANAGE}

    @extend_schema(
        operation_id="close_account",
        summary="Close one's account",
        tags=["people"],
        parameters=[DRY_RUN],
        request=shapes.ClosingBody,
        responses={200: shapes.ClosedAccount, **WRITING},
        examples=[CLOSING_EXAMPLE],
    )
    def post(self, request: Request) -> Response:
        """Make the token's user a former member, for good; all their tokens end, what they did stays.

        A token alone is not enough, as a session alone is not on the site: the password is asked for.
        """
        password = closing_of(request.data)
        user = self.user
        try:
            with attempt("login", account=user.email, address=client_address(request)):
                if not user.check_password(password):
                    raise ApiError(403, "The password is wrong.")
        except TooManyAttemptsError as error:
            raise Throttled(error.seconds, str(error)) from error

        def step() -> dict[str, Any]:
            close_account(user)
            return {"closed": True}

        return self.carry_out(step)
