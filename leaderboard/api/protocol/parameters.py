"""The parameters of an address: those that the schema states of a route, and no others."""

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from leaderboard.api.protocol.problems import ApiError

EVERYWHERE = frozenset({"format"})  # a form that a route does not have is a 406
SHOWN_NAMES, SHOWN_CHARACTERS = 5, 40


_by_handler: dict[Callable[..., Any], frozenset[str]] = {}


def stated_parameters(view: Any, handler: Callable[..., Any]) -> frozenset[str]:  # noqa: ANN401
    """The names of the parameters that the schema states of a route.

    Args:
        view: with its request.
        handler: the function that answers one method of the view, as `extend_schema` left it.
    """
    if handler not in _by_handler:
        names = set(EVERYWHERE)
        if kind := getattr(handler, "kwargs", {}).get("schema"):
            shape = kind()
            shape.view = view
            names |= {one.name for one in shape.get_override_parameters() if one.location == "query"}
        _by_handler[handler] = frozenset(names)
    return _by_handler[handler]


def require_known(given: Iterable[str], known: frozenset[str]) -> None:
    """See that an address has no parameter but those that are known.

    Args:
        given: the names in the address.
        known: those of the route.

    Raises:
        ApiError: there is another, which would be ignored; each with the nearest known name.
    """
    unknown = [name for name in given if name not in known]
    if not unknown:
        return
    details = []
    for name in unknown[:SHOWN_NAMES]:
        near = difflib.get_close_matches(name[:SHOWN_CHARACTERS].lower(), sorted(known), n=1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        details.append({"parameter": name[:SHOWN_CHARACTERS], "message": f"there is no such parameter{hint}"})
    first = details[0]
    message = f"`{first['parameter']}`: {first['message']}. There are: {', '.join(sorted(known))}."
    raise ApiError(400, message.replace("?.", "?"), code="unknown_parameter", details=details)
