"""What pages offer to put on other sites: badges and tables with their addresses, feeds, and the card of a link."""

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext

from leaderboard.access.audience import audience_of
from leaderboard.boards.public.board import ANYBODY
from leaderboard.boards.query import BoardQuery, changed, query_text
from leaderboard.common.text import shortened
from leaderboard.models import Benchmark

FRAME_HEIGHT = 460


def board_share(request: HttpRequest, benchmark: Benchmark, query: BoardQuery) -> dict[str, Any]:
    """Everything that leads from a board to other sites; nothing where not everyone reads it."""
    anybody = audience_of(ANYBODY, benchmark)
    if not anybody.may_read:
        return {}
    page_url = request.build_absolute_uri(reverse("board", args=[benchmark.key]))
    links: dict[str, Any] = {
        "url": page_url,
        "card_url": request.build_absolute_uri(reverse("card", args=[benchmark.key])),
        "feed_url": request.build_absolute_uri(reverse("feed", args=[benchmark.key])),
    }
    if anybody.sees_others:
        badge_url = request.build_absolute_uri(reverse("badge", args=[benchmark.key]))
        alt = gettext("%(benchmark)s on Plurank") % {"benchmark": shortened(benchmark.name)}
        links["badge"] = _badge_snippets(badge_url, page_url, alt)
        if benchmark.visibility == Benchmark.Visibility.PUBLIC:
            view = query_text(changed(query, top=query.top or 10))
            url = request.build_absolute_uri(reverse("embed", args=[benchmark.key]) + view)
            named = f'src="{escape(url)}" title="{escape(benchmark.name)}"'
            frame = f'<iframe {named} width="100%" height="{FRAME_HEIGHT}" loading="lazy"></iframe>'
            links["table"] = {"url": url, "html": frame}
    return links


def system_share(request: HttpRequest, benchmark: Benchmark, key: str, name: str) -> dict[str, Any]:
    """The badge of a system; nothing where not everyone sees its state."""
    anybody = audience_of(ANYBODY, benchmark)
    if not (anybody.may_read and anybody.sees_board):
        return {}
    badge_url = request.build_absolute_uri(reverse("system_badge", args=[benchmark.key, key]))
    page_url = request.build_absolute_uri(reverse("system", args=[benchmark.key, key]))
    alt = gettext("%(system)s on %(benchmark)s") % {
        "system": shortened(name),
        "benchmark": shortened(benchmark.name),
    }
    return {"badge": _badge_snippets(badge_url, page_url, alt)}


def _badge_snippets(url: str, page_url: str, alt: str) -> dict[str, str]:
    """A badge's address, and what shows it with a link: as Markdown and as HTML."""
    quoted = "".join(f"\\{letter}" if letter in r"\[]*_`<>" else letter for letter in alt)
    return {
        "url": url,
        "path": urlsplit(url).path,
        "alt": alt,
        "markdown": f"[![{quoted}]({url})]({page_url})",
        "html": f'<a href="{escape(page_url)}"><img src="{escape(url)}" alt="{escape(alt)}"></a>',
    }
