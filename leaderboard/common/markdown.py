"""Markdown as HTML: that of people, which cannot hurt, and that of the site's own documentation."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from types import MappingProxyType

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {"p", "br", "em", "strong", "code", "pre", "blockquote", "ul", "ol", "li", "a", "h3", "h4", "h5", "hr"}
DOCUMENT_TAGS = TAGS | {"h1", "h2", "img", "table", "thead", "tbody", "tr", "th", "td"}
DOCUMENT_ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt"}, "th": {"class"}, "td": {"class"}} | {
    f"h{level}": {"id"} for level in range(1, 6)
}
_markdown = MarkdownIt("commonmark", {"html": False})
_documents = MarkdownIt("commonmark", {"html": False}).enable("table")


def render_markdown(text: str) -> str:
    """CommonMark as sanitised HTML: no raw HTML, no images, links that pass on nothing; headings begin at h3."""
    html = _markdown.render(text)
    for level in (3, 2, 1):
        html = html.replace(f"<h{level}>", f"<h{level + 2}>").replace(f"</h{level}>", f"</h{level + 2}>")
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener nofollow",
    )


@dataclass(frozen=True)
class Heading:
    """A heading of a document: its level, its text, and the name by which links find it."""

    level: int
    text: str
    anchor: str


def render_document(
    text: str, address_of: Callable[[str], str], pages: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, list[Heading]]:
    """A document of the site's own as sanitised HTML with tables, images and headings that can be linked to.

    Args:
        text: CommonMark with tables; raw HTML stays text.
        address_of: where a relative link or image leads; empty where it leads nowhere, and is then no link.
        pages: where pages of this site are, by the addresses that documents name; a piece of code that is one of these
            becomes a link.
    """
    tokens = _documents.parse(text)
    headings, times = [], Counter[str]()
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            title = "".join(child.content for child in content.children or [] if child.type in ("text", "code_inline"))
            # Every heading has the name that GitHub gives it.
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            anchor = f"{slug}-{times[slug]}" if times[slug] else slug
            times[slug] += 1
            token.attrSet("id", anchor)
            headings.append(Heading(int(token.tag[1]), title, anchor))
    for token in chain.from_iterable([one, *(one.children or [])] for one in tokens):
        if token.type == "link_open":
            target = str(token.attrGet("href") or "")
            token.attrSet("href", target if re.match(r"(https?:|mailto:|#)", target) else address_of(target))
        elif token.type == "image":
            token.attrSet("src", address_of(str(token.attrGet("src") or "")))
        elif token.type in ("th_open", "td_open") and "right" in str(token.attrGet("style") or ""):
            token.attrSet("class", "number")
    for token in tokens:
        token.children = list(_linked(token.children or [], pages))
    html = nh3.clean(
        _documents.renderer.render(tokens, _documents.options, {}),
        tags=DOCUMENT_TAGS,
        attributes=DOCUMENT_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )
    # Wide tables and long lines of code scroll by themselves, and by the keyboard.
    parts = html.replace(' href=""', "").replace("<pre>", '<pre tabindex="0">').split("<table>")
    tables = (
        f'<div class="table-region is-fit" role="region" aria-label="Table {k}" tabindex="0"><table>{part}'
        for k, part in enumerate(parts[1:], start=1)
    )
    return "".join([parts[0], *tables]).replace("</table>", "</table></div>"), headings


def _linked(tokens: list[Token], pages: Mapping[str, str]) -> Iterator[Token]:
    """The same tokens, with a link around each piece of code that is the address of a page and in no link yet."""
    n_open = 0
    for token in tokens:
        n_open += (token.type == "link_open") - (token.type == "link_close")
        if token.type == "code_inline" and token.content in pages and not n_open:
            yield Token("link_open", "a", 1, attrs={"href": pages[token.content]})
            yield token
            yield Token("link_close", "a", -1)
        else:
            yield token
