"""What all writes have in common: the owner's or moderator's right, a dry run, and one shape for what is refused."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from rest_framework.response import Response

from leaderboard.api.bodies import wrong_body
from leaderboard.api.problems import ApiError
from leaderboard.api.views.base import ApiView, BenchmarkView
from leaderboard.services.closing import ClosingError
from leaderboard.services.people import PeopleError
from leaderboard.services.releases import ReleaseError
from leaderboard.services.submission_errors import SubmissionError
from leaderboard.services.task_changes import ProposalError, StaleProposalError
from leaderboard.services.webhooks import WebhookError

ROWS = {"tasks", "groups"}
CONFLICTS = (StaleProposalError, ReleaseError, PeopleError, SubmissionError, ClosingError, WebhookError)


class WritingView(ApiView):
    """A view that changes something."""

    def carry_out(self, step: Callable[[], Any], *, status: int = 200) -> Response:
        """Take a step whole or not at all; with `dry_run=true` it is taken, told and taken back.

        Args:
            step: does it, and returns the content of the answer.
            status: of an answer that was no dry run.

        Raises:
            ApiError: it cannot be done.
        """
        is_dry = self.truth("dry_run")
        try:
            with transaction.atomic():
                content = step()
                if is_dry:
                    transaction.set_rollback(True)
        except ValidationError as problem:
            raise wrong_body(_details(problem)) from problem
        except ProposalError as problem:
            raise wrong_body([_row_detail(*found) for found in problem.problems]) from problem
        except CONFLICTS as problem:
            raise ApiError(409, str(problem)) from problem
        response = Response(content, status=200 if is_dry else status)
        response["Cache-Control"] = "no-store"
        if is_dry:
            response["Dry-Run"] = "true"
        return response


class OwnerView(WritingView, BenchmarkView):
    """A view for those who own the benchmark; whoever does not is told so once they may know of it."""

    is_open_to_restricted = True
    owned_methods: tuple[str, ...] = ("GET", "HEAD", "POST", "PATCH")

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Check the token, find the benchmark, and see that its owner asks."""
        super().initial(request, *args, **kwargs)
        if request.method in self.owned_methods:
            if request.auth is None:
                raise ApiError(401, "This needs a token.")
            if not self.audience.may_administer:
                raise PermissionDenied("Only the owners of a benchmark change it.")


class ModeratorView(WritingView, BenchmarkView):
    """A view for those who decide about submissions."""

    is_open_to_restricted = True

    def initial(self, request: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Check the token, find the benchmark, and see that a moderator asks."""
        super().initial(request, *args, **kwargs)
        if request.auth is None:
            raise ApiError(401, "This needs a token.")
        if not self.audience.may_moderate:
            raise PermissionDenied("Only the moderators and owners of a benchmark decide about submissions.")


def _details(problem: ValidationError) -> list[dict[str, Any]]:
    if not hasattr(problem, "error_dict"):
        return [{"message": message} for message in problem.messages]
    return [
        {"place": "" if field == "__all__" else field, "message": message}
        for field, messages in problem.message_dict.items()
        for message in messages
    ]


def _row_detail(place: str, row: int | None, field: str, message: str) -> dict[str, Any]:
    """Where in a proposal, by what it says of the whole: its tasks and groups in their order."""
    where = f"{place}[{row}]" if row is not None and place in ROWS else place
    return {"place": f"{where}.{field}" if field else where, "message": message}
