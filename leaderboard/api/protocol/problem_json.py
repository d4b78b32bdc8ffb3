"""Errors as RFC 9457 has them (`application/problem+json`), for those who ask for it."""

import re
from http import HTTPStatus
from typing import Any

from rest_framework.renderers import JSONRenderer

MEDIA_TYPE = "application/problem+json"
MAX_ACCEPT = 8192  # characters of the header that are looked at
_INDEX = re.compile(r"\[(\d{1,9})\]")
_END = re.compile(r"[.\[]")


class ProblemRenderer(JSONRenderer):
    """JSON under its own name."""

    media_type = MEDIA_TYPE


def asks_for_problems(accept: str) -> bool:
    """Whether an Accept header names problem details."""
    kinds = (part.partition(";")[0].strip().lower() for part in accept[:MAX_ACCEPT].split(","))
    return MEDIA_TYPE in kinds


def as_problem(status: int, content: dict[str, Any], sent: Any) -> dict[str, Any]:  # noqa: ANN401
    """An error in the form of RFC 9457.

    Args:
        status: of the answer.
        content: what `error` says in the other form: `code`, `message`, `details`.
        sent: the body of the request as it was read; None where it was not.

    Returns:
        The members of the RFC, with `code` and `errors`: of each thing that is wrong its `detail` with a JSON `pointer`
        into the body, or the `file`, `line` and `column` of a table, or the `parameter` of the address.
    """
    errors = []
    for problem in content["details"]:
        places = {name: problem[name] for name in ("file", "line", "column", "parameter") if name in problem}
        if "place" in problem and (pointer := json_pointer(sent, problem["place"])) is not None:
            places = {"pointer": pointer} | places
        errors.append({"detail": problem["message"], **places})
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": content["message"],
        "code": content["code"],
        "errors": errors,
    }


def json_pointer(sent: Any, place: str) -> str | None:  # noqa: ANN401
    """A place such as `systems[0].scores.qnli` as a pointer of RFC 6901.

    Args:
        sent: the JSON in which it is; keys may have dots and brackets.
        place: what leads there; its last part need not be there.

    Returns:
        The pointer; None where the place is nowhere in what was sent.
    """
    parts, here, rest = [], sent, place
    while rest:
        if isinstance(here, list) and (match := _INDEX.match(rest)):
            number = int(match[1])
            parts.append(str(number))
            here = here[number] if number < len(here) else None
            rest = rest[match.end() :].removeprefix(".")
        elif isinstance(here, dict):
            ends = [match.start() for match in _END.finditer(rest)]
            key = next((rest[:end] for end in [len(rest), *reversed(ends)] if rest[:end] in here), None)
            parts.append(rest if key is None else key)  # what is missing is named by the last part
            here, rest = (None, "") if key is None else (here[key], rest[len(key) :].removeprefix("."))
        else:
            return None
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)
