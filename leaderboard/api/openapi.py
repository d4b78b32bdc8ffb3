"""What the schema says beside the shapes: parameters, errors, how one signs in."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema as SpectacularAutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from leaderboard.api import shapes
from leaderboard.models import Benchmark

CURSOR = OpenApiParameter("cursor", str, description="Where the page begins; comes with the `next` of the page before.")
PAGE_SIZE = OpenApiParameter("page_size", int, description="1 to 1000; 100 by default.")
PAGING = [CURSOR, PAGE_SIZE]
REVISION = OpenApiParameter(
    "revision", int, description="A published revision; the newest published one by default."
)
MISSING = OpenApiParameter(
    "missing",
    enum=Benchmark.MissingPolicy.values,
    description="Another missing-score policy than the revision's own: computed on demand, within a budget.",
)
AGGREGATION = OpenApiParameter(
    "aggregation",
    enum=Benchmark.Aggregation.values,
    description="Another aggregation of tasks and groups than the revision's own: computed on demand, within a budget.",
)
FORMAT = OpenApiParameter("format", enum=["json", "csv"], description="In place of the Accept header.")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="1 to 100 visible ASCII characters. The same key and body again gives the submission that the first "
    "call made, with status 200; another body is a 409.",
)


def error(description: str) -> OpenApiResponse:
    """An error, in the one shape of errors."""
    return OpenApiResponse(shapes.Error, description=description)


READING = {
    304: OpenApiResponse(description="What `If-None-Match` names is still so."),
    401: error("The token is none, or has expired."),
    403: error("The token lacks the scope."),
    404: error("There is nothing here that is open to you."),
    429: error("Too many requests; `Retry-After` says when to try again."),
}
WRITING = {
    400: error("Something in the body is wrong; `details` says where. Nothing is stored."),
    401: error("There is no token, or it is none, or has expired."),
    403: error("The token lacks the scope, or its user may not do this."),
    404: error("There is nothing here that is open to you."),
    409: error("It cannot be done now."),
    413: error("The body is too large."),
    415: error("The body is neither JSON nor, where a table is taken, CSV, in UTF-8."),
    429: error("Too many requests; `Retry-After` says when to try again."),
}


def reading(shape: Any, *, csv: str = "") -> dict[Any, Any]:  # noqa: ANN401 -- a serializer class
    """The answers of a route that reads; `csv` says what the CSV holds, where there is one."""
    answers: dict[Any, Any] = {(200, "application/json"): shape}
    if csv:
        answers[200, "text/csv"] = OpenApiResponse(OpenApiTypes.STR, description=csv)
    return answers | READING


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Token <secret>`."""

    target_class = "leaderboard.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ANN401
        """How the schema calls it."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token <secret>`; tokens are made at /account/tokens/.",
        }


class AutoSchema(SpectacularAutoSchema):
    """What is said of every route: reading needs no token."""

    def get_auth(self) -> list[dict[str, Any]]:
        """How one signs in; an empty entry says that one need not."""
        found: list[dict[str, Any]] = super().get_auth()
        is_reading = self.method == "GET" or getattr(self.view, "reads_by_post", False)
        return [*found, {}] if is_reading else found


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
            "details": [{"line": 2, "column": "CoLA", "message": "'high' is no number"}],
        }
    },
    response_only=True,
    status_codes=["400"],
)
CONDITIONS_EXAMPLE = OpenApiExample(
    "Language understanding counts for at least a third",
    value={"conditions": ["CoLA + RTE >= 1/3", "CoLA >= RTE", "minimise group:QA"]},
    request_only=True,
    media_type="application/json",
)
