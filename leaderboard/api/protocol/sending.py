"""What all views share that take what people send to a benchmark: scores, votes, predictions."""

import re
from typing import Any

from rest_framework.response import Response

from leaderboard.api.protocol.base import BenchmarkView
from leaderboard.api.protocol.problems import ApiError
from leaderboard.submissions.problems import QuotaError, SubmissionError
from leaderboard.submissions.uploads import IdempotencyError

IDEMPOTENCY = re.compile(r"[!-~]{1,100}")


class SendingView(BenchmarkView):
    """A view that stores what is sent, once for each key of its sender."""

    def idempotency_key(self) -> str | None:
        """The caller's own name for this call.

        Raises:
            ApiError: it is none that can be kept.
        """
        key: str | None = self.request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is not None and not IDEMPOTENCY.fullmatch(key):
            raise ApiError(400, "`Idempotency-Key` is not 1 to 100 visible ASCII characters.")
        return key

    @staticmethod
    def refused(problem: SubmissionError) -> ApiError:
        """The error of what its user may not send."""
        if isinstance(problem, IdempotencyError):
            return ApiError(409, str(problem), code="idempotency_key_reused")
        if isinstance(problem, QuotaError):
            return ApiError(429, str(problem), code="quota_exceeded")
        return ApiError(403, str(problem))

    @staticmethod
    def stored(content: dict[str, Any], *, is_new: bool) -> Response:
        """The answer to what was stored.

        Args:
            content: its state, with the address of that as `url`.
            is_new: whether this call stored it, and not an earlier one with the same key.
        """
        headers = {"Location": content["url"], "Cache-Control": "no-store"}
        return Response(content, status=201 if is_new else 200, headers=headers)
