"""What pages offer to put on other sites: badges and tables with their addresses, feeds, and the card of a link."""

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import escape

from leaderboard.access.audience import audience_of
from leaderboard.boards.public.board import ANYBODY
from leaderboard.boards.query import BoardQuery, changed, query_text
from leaderboard.common.text import shortened
from leaderboard.models import Benchmark

FRAME_HEIGHT = 460


def board_share(request: HttpRequest, benchmark: Benchmark, query: BoardQuery) -> dict[str, Any]:
    """Everything that leads from a board to other sites; nothing where not everybody reads it."""
    anybody = audience_of(ANYBODY, benchmark)
    if not anybody.may_read:
        return {}
    page = request.build_absolute_uri(reverse("board", args=[benchmark.key]))
    found: dict[str, Any] = {
        "url": page,
        "card_url": request.build_absolute_uri(reverse("card", args=[benchmark.key])),
        "feed_url": request.build_absolute_uri(reverse("feed", args=[benchmark.key])),
    }
    if anybody.sees_others:
        address = request.build_absolute_uri(reverse("badge", args=[benchmark.key]))
        found["badge"] = badge_snippets(address, page, f"{shortened(benchmark.name)} on Plurank")
        if benchmark.visibility == Benchmark.Visibility.PUBLIC:
            view = query_text(changed(query, top=query.top or 10))
            found["table"] = frame_snippet(
                request.build_absolute_uri(reverse("embed", args=[benchmark.key]) + view), benchmark.name
            )
    return found


def system_share(request: HttpRequest, benchmark: Benchmark, key: str, name: str) -> dict[str, Any]:
    """The badge of a system; nothing where not everybody sees where it stands."""
    anybody = audience_of(ANYBODY, benchmark)
    if not (anybody.may_read and anybody.sees_board):
        return {}
    address = request.build_absolute_uri(reverse("system_badge", args=[benchmark.key, key]))
    page = request.build_absolute_uri(reverse("system", args=[benchmark.key, key]))
    return {"badge": badge_snippets(address, page, f"{shortened(name)} on {shortened(benchmark.name)}")}


def badge_snippets(address: str, page: str, alt: str) -> dict[str, str]:
    """A badge's address, and what shows it with a link: as Markdown and as HTML."""
    quoted = "".join(f"\\{letter}" if letter in r"\[]*_`<>" else letter for letter in alt)
    return {
        "url": address,
        "path": urlsplit(address).path,
        "alt": alt,
        "markdown": f"[![{quoted}]({address})]({page})",
        "html": f'<a href="{escape(page)}"><img src="{escape(address)}" alt="{escape(alt)}"></a>',
    }


def frame_snippet(address: str, title: str) -> dict[str, str]:
    """An embedded table's address, and the frame that shows it."""
    named = f'src="{escape(address)}" title="{escape(title)}"'
    return {"url": address, "html": f'<iframe {named} width="100%" height="{FRAME_HEIGHT}" loading="lazy"></iframe>'}
