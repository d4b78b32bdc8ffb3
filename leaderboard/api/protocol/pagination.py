"""Lists in pages: a page begins behind the key (or number) that its cursor names, so none is skipped or shown twice."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from leaderboard.api.protocol.problems import wrong_parameter
from leaderboard.common.text import whole_number
from leaderboard.models.benchmarks import KEY_LENGTH

T = TypeVar("T")
DEFAULT_SIZE, MAX_SIZE = 100, 1000


@dataclass(frozen=True)
class Window:
    """What part of a list is asked for."""

    after: str  # the key of the last item of the page before; empty on the first page
    size: int


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page, the key that the next one begins behind, or None on the last page, and how many all pages have."""

    items: Sequence[T]
    last_key: str | None
    count: int | None = None  # None where no one counts them


def window(parameters: Any) -> Window:  # noqa: ANN401 -- a QueryDict
    """The part of a list that the address asks for.

    Raises:
        ApiError: the cursor is not from this site, or the size is not allowed.
    """
    size = parameters.get("page_size", str(DEFAULT_SIZE))
    n_entries = whole_number(size, 5)
    if n_entries is None or not 1 <= n_entries <= MAX_SIZE:
        raise wrong_parameter(
            "page_size", f"`page_size` is {size[:40]!r}; expected a whole number from 1 to {MAX_SIZE}."
        )
    cursor = parameters.get("cursor", "")
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        key = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeError) as error:
        raise wrong_parameter("cursor", "`cursor` is none of this API's; follow the `next` of a page.") from error
    if len(key) > KEY_LENGTH or "\0" in key:
        raise wrong_parameter("cursor", "`cursor` is none of this API's; follow the `next` of a page.")
    return Window(key, n_entries)


def number_after(wanted: Window) -> int:
    """The cursor of a list that is paged by numbers; 0 on the first page.

    Raises:
        ApiError: it is no number.
    """
    if not wanted.after:
        return 0
    if not (wanted.after.isdecimal() and len(wanted.after) < 10):
        raise wrong_parameter("cursor", "`cursor` is none of this list's; follow the `next` of a page.")
    return int(wanted.after)


def cut_counted(all_items: Sequence[T], wanted: Window) -> Page[T]:
    """A page of a whole list that is in a fixed order: the cursor is how many items came before.

    Raises:
        ApiError: the cursor is none of this list's.
    """
    first = number_after(wanted)
    end = first + wanted.size
    return Page(all_items[first:end], str(end) if len(all_items) > end else None, len(all_items))


def cut(first: Sequence[T], wanted: Window, key_of: Any, count: int) -> Page[T]:  # noqa: ANN401
    """A page of what comes behind the cursor: one item more than it has says that there is a next. All are `count`."""
    items = first[: wanted.size]
    return Page(items, str(key_of(items[-1])) if len(first) > wanted.size else None, count)


def cut_sorted(all_items: Sequence[T], wanted: Window, key_of: Any) -> Page[T]:  # noqa: ANN401
    """A page of a whole list that is in the order of its keys."""
    behind = [item for item in all_items if key_of(item) > wanted.after]
    return cut(behind, wanted, key_of, len(all_items))


def with_site(request: Any, rendered: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """A rendered list with the address of the site before the path in the `url` of each entry."""
    for entry in rendered["results"]:
        entry["url"] = request.build_absolute_uri(entry["url"])
    return rendered


def page_links(request: Any, page: Page[Any], **pinned: Any) -> dict[str, Any]:  # noqa: ANN401
    """What a page says beside its entries: how many all pages have, and the address of the next.

    Args:
        request: of the page.
        page: what was cut.
        pinned: parameters of that address, such as the revision that all pages belong to.
    """
    if page.last_key is None:
        return {"count": page.count, "next": None}
    query = request.query_params.copy()
    for name, value in pinned.items():
        if value is not None:
            query[name] = str(value)
    query["cursor"] = base64.urlsafe_b64encode(page.last_key.encode()).decode().rstrip("=")
    return {"count": page.count, "next": request.build_absolute_uri(f"{request.path}?{query.urlencode()}")}
