"""What the schema says besides the shapes: parameters, errors, authentication."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema as SpectacularAutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from leaderboard.api.protocol.fields import MAX_WHOLE, StrictText, Sure, Whole
from leaderboard.api.protocol.files import ENDING
from leaderboard.api.protocol.pagination import DEFAULT_SIZE, MAX_SIZE
from leaderboard.api.protocol.problems import ErrorSerializer
from leaderboard.models import Benchmark
from leaderboard.models.benchmarks import KEY_LENGTH
from leaderboard.rankings.weights import TEXT_LENGTH as WEIGHTS_LENGTH

FROM_ONE = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
RANK = {"type": "integer", "minimum": 0, "maximum": 999_999}


def text_shape(most: int = 200, *, least: int = 0) -> dict[str, Any]:
    """The schema of a text of an address; longer ones are cut or name nothing."""
    return {"type": "string", "maxLength": most} | ({"minLength": least} if least else {})


# What the addresses' converters take; the keys of rules that have options have brackets.
KEY = {"pattern": "^[-a-zA-Z0-9_]+$"}
PATH_BOUNDS = {"rule": {"pattern": "^[^/]+$"}, "number": {"minimum": 0}, "user": {"minimum": 0}}
CURSOR = OpenApiParameter(
    "cursor",
    {"type": "string", "maxLength": 4 * KEY_LENGTH // 3 + 4, "pattern": "^[A-Za-z0-9_-]*={0,2}$"},
    description="Where the page begins; comes with the `next` of the page before.",
)
PAGE_SIZE = OpenApiParameter(
    "page_size",
    {"type": "integer", "minimum": 1, "maximum": MAX_SIZE, "default": DEFAULT_SIZE},
    description="How many entries a page has.",
)
PAGING = [CURSOR, PAGE_SIZE]
UPDATED_SINCE = OpenApiParameter(
    "updated_since", OpenApiTypes.DATETIME, description="Only what changed since: a time with its zone, as ISO 8601."
)
REVISION = OpenApiParameter(
    "revision", FROM_ONE, description="A published revision; the newest published one by default."
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
WEIGHTS = OpenApiParameter(
    "weights",
    text_shape(WEIGHTS_LENGTH),
    description="Weights of tasks by key that differ from the revision's own, such as `cola:3,rte:0`; a task of weight "
    "0 takes no part. Computed on demand, within a budget.",
)
GROUP_WEIGHTS = OpenApiParameter(
    "group_weights",
    text_shape(WEIGHTS_LENGTH),
    description="As `weights`, of groups; `basic` aggregation does not look at them.",
)
DRY_RUN = OpenApiParameter(
    "dry_run", bool, description="Return the answer that a real call would get, with status 200; nothing is stored."
)
RULE = OpenApiParameter("rule", text_shape(), description="The key of a rule; the benchmark's default rule without it.")
NAME_QUERY = OpenApiParameter("q", text_shape(), description="Only systems whose name or key says this, in any case.")
FILTERS = [
    NAME_QUERY,
    OpenApiParameter("organisation", text_shape(), description="Only systems whose organisation says this."),
    OpenApiParameter("tag", text_shape(80), description="Only systems with this tag."),
    OpenApiParameter("complete", bool, description="Only systems with a score on every voting task."),
    OpenApiParameter("top", RANK, description="Only ranks up to this one."),
]
# Which form a file has; addresses under `files/` have no other, and the others take them, too.
FORMAT = OpenApiParameter("format", enum=["csv"], default="csv", description="In place of the Accept header.")
LONG = OpenApiParameter("long", bool, description="For CSV: one row per score, with everything stored about it.")
TABLE_FORMAT = OpenApiParameter(
    "format",
    enum=["csv", "tex", "md"],
    default="csv",
    description="In place of the Accept header: the whole table as CSV, LaTeX (booktabs) or Markdown.",
)
SCORES_FORMAT = OpenApiParameter(
    "format",
    enum=["csv", "tex", "md", "preflib", "eee"],
    default="csv",
    description="In place of the Accept header: as of other tables, `preflib` for the orders of the voting tasks, and "
    "`eee` for a zip of records of Every Eval Ever.",
)
KEPT = OpenApiParameter(
    "kept",
    bool,
    description="Whether what you said of such columns and systems the last time, here or on the page, fills in what "
    "you do not say now. What you say is kept for the next time.",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": "^[!-~]{1,100}$"},
    OpenApiParameter.HEADER,
    description="1 to 100 visible ASCII characters. The same key and body again gives the submission that the first "
    "call made, with status 200; another body is a 409.",
)


def error(description: str) -> OpenApiResponse:
    """An error, in the one shape of errors."""
    return OpenApiResponse(ErrorSerializer, description=description)


# Answered by the web server before the site is asked, so that they have no body of ours.
TOO_LONG = {
    414: OpenApiResponse(description="The URL is longer than the web server reads."),
    431: OpenApiResponse(description="The URL or a header is longer than the web server reads."),
}
READING = {
    **TOO_LONG,
    400: error("A parameter of the URL cannot be understood."),
    304: OpenApiResponse(description="The answer named by `If-None-Match` has not changed."),
    401: error("The token is none, or has expired."),
    403: error("The token lacks the scope."),
    404: error("There is nothing here that is open to you."),
    406: error("There is no such form of this."),
    429: error("Too many requests; `Retry-After` says when to try again."),
    503: error("The database is busy; `Retry-After` says when to try again."),
}
WRITING = {
    **TOO_LONG,
    400: error("Something in the body is wrong; `details` says where. Nothing is stored."),
    401: error("There is no token, or it is none, or has expired."),
    403: error("The token lacks the scope, or its user may not do this."),
    404: error("There is nothing here that is open to you."),
    409: error("It cannot be done now."),
    413: error("The body is too large."),
    415: error("The body is neither JSON nor, where a table is taken, CSV, in UTF-8."),
    406: error("There is no such form of this."),
    429: error("Too many requests; `Retry-After` says when to try again."),
    503: error("The database is busy and nothing was stored; `Retry-After` says when to try again."),
}


def reading(shape: Any, *, csv: str = "", table: str = "", files: Any = ()) -> dict[Any, Any]:  # noqa: ANN401
    """The answers of a route that reads.

    Args:
        shape: of the JSON, a serializer class.
        csv: what the CSV holds, where there is one.
        table: what CSV, LaTeX and Markdown hold, where there are all three.
        files: pairs of a further content type and what it holds.
    """
    answers: dict[Any, Any] = {(200, "application/json"): shape}
    kinds = ("text/csv", "application/x-tex", "text/markdown") if table else ("text/csv",) if csv else ()
    for kind, held in [*((kind, table or csv) for kind in kinds), *files]:
        is_packed = kind == "application/zip"
        answers[200, kind] = OpenApiResponse(OpenApiTypes.BINARY if is_packed else OpenApiTypes.STR, description=held)
    return answers | READING


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer <secret>`; `Token` means the same."""

    target_class = "leaderboard.api.protocol.access.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ANN401
        """How the schema calls it."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "Tokens are made at /account/tokens/. `Authorization: Token <secret>` means the same.",
        }


class AutoSchema(SpectacularAutoSchema):
    """What is said of every route: reading needs no token; lists of a body state how many entries are taken."""

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:  # noqa: ANN401
        """The schema of a field, with the bounds that strict fields check."""
        shape = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        kinds = shape.get("type", ()) if isinstance(shape, dict) else ()
        if "array" in kinds:
            bounds = {"minItems": getattr(field, "least", None), "maxItems": getattr(field, "most", None)}
        elif isinstance(field, StrictText) and not {"format", "enum"} & set(shape):
            bounds = {"maxLength": field.most}
        elif isinstance(field, Whole):
            bounds = {"enum": list(field.among)} if field.among else {"minimum": 0, "maximum": MAX_WHOLE} | shape
        elif isinstance(field, Sure):
            bounds = {"enum": [True]}
        else:
            bounds = {}
        return shape | {name: bound for name, bound in bounds.items() if bound is not None} if bounds else shape

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:  # noqa: ANN401
        """An operation, which answers either with JSON or with files: addresses of their own have those."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        for one in operation.get("parameters", ()) if operation else ():
            if one["in"] == "path":
                one["schema"] |= PATH_BOUNDS.get(one["name"], KEY) if "format" not in one["schema"] else {}
        if operation is None or self.method != "GET":
            return operation
        for status, answer in operation["responses"].items():
            if not status.startswith("2") and answer.get("content"):  # errors are JSON, whatever was asked for
                answer["content"] = {"application/json": next(iter(answer["content"].values()))}
        is_of_files = getattr(self.view, "is_of_files", False)
        contents = operation["responses"].get("200", {}).get("content", {})
        unused = [kind for kind in contents if (kind == "application/json") == is_of_files]
        if is_of_files:
            operation["operationId"] += ENDING
            operation["summary"] += ", as a file"
        if unused and len(unused) < len(contents):
            for kind in unused:
                del contents[kind]
            left_out = {"cursor", "page_size"} if is_of_files else {"format", "long"}
            operation["parameters"] = [one for one in operation["parameters"] if one["name"] not in left_out]
        return operation

    def get_auth(self) -> list[dict[str, Any]]:
        """How one signs in; an empty entry says that one need not."""
        schemes: list[dict[str, Any]] = super().get_auth()
        is_reading = self.method == "GET" or getattr(self.view, "reads_by_post", False)
        return [*schemes, {}] if is_reading else schemes


def strict_bodies(result: dict[str, Any], **_: Any) -> dict[str, Any]:  # noqa: ANN401
    """State which bodies are needed, and that they have no further fields; answers may get some.

    Args:
        result: the schema, whose components are changed.
    """
    components = result["components"]["schemas"]
    operations = [operation for methods in result["paths"].values() for operation in methods.values()]

    def reached(begin: list[Any]) -> set[str]:
        names: set[str] = set()
        waiting = list(begin)
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
                if name and name not in names:
                    names.add(name)
                    waiting.append(components[name])
                waiting += node.values()
            elif isinstance(node, list):
                waiting += node
        return names

    for operation in operations:
        kinds = operation.get("requestBody", {}).get("content", {}).values()
        refs = [str(kind["schema"].get("$ref", "")).removeprefix("#/components/schemas/") for kind in kinds]
        if any(name and components[name].get("required") for name in refs):
            operation["requestBody"]["required"] = True
    sent = reached([operation.get("requestBody") for operation in operations])
    answered = reached([operation["responses"] for operation in operations])
    for name in sent - answered:
        if components[name].get("type") == "object" and "properties" in components[name]:
            components[name]["additionalProperties"] = False
    return result


def body_example(name: str, value: dict[str, Any] | list[Any]) -> OpenApiExample:
    """A body of JSON as the schema shows it."""
    return OpenApiExample(name, value=value, request_only=True, media_type="application/json")
