"""Reading pages as a person would: tables as rows of text, and whatever the browser complains of."""

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page

READ_ROWS = """
rows => rows.map(row => ({
  place: row.querySelector('.place').textContent,
  name: (name => name.title || name.textContent)(row.querySelector('th a, th span:not(.place)')),
  median: row.querySelector('.range .sr').textContent,
  cells: [...row.querySelectorAll('td')].slice(-document.querySelectorAll('.rule-head').length).map(cell => ({
    rank: (cell.firstChild?.textContent.match(/^=?(\\d+)$/) ?? ['', ''])[1],
    tied: cell.firstChild?.textContent.startsWith('=') ?? false,
    change: (cell.querySelector(':scope > i:not(.sr)')?.textContent ?? '').replace('↑', '+').replace('↓', '-'),
    score: cell.querySelector('small')?.textContent ?? '',
    interval: cell.querySelector('em')?.textContent ?? '',
  })),
}))
"""


RULE_HEADS = ".board .rule-head"
READ_HEADS = "heads => heads.map(head => (head.querySelector('a') ?? head).firstChild.textContent.trim())"


@dataclass
class Visitor:
    """Somebody with a browser of their own. `complaints` is all that the browser said while they read."""

    context: BrowserContext
    url: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """A new tab at a path of the site."""
        page = self.context.new_page()
        page.on("console", lambda message: self._note(page, message))
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.goto(self.url + path)
        return page

    def _note(self, page: Page, message: Any) -> None:
        # Chromium reports a page's own status of 400 or more as a resource that failed; tests ask for such pages.
        is_own_status = message.text.startswith("Failed to load resource") and message.location["url"] == page.url
        if not is_own_status:
            self.complaints.append(f"{page.url}: {message.type}: {message.text}")


def new_visitor(browser: Browser, url: str, **options: Any) -> Visitor:
    """A visitor with an empty browser. `options` are those of a browser context."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
    context.set_default_timeout(20_000)
    return Visitor(context, url)


def board_rows(page: Page) -> list[dict[str, Any]]:
    """The rows of the board on a page."""
    return page.locator(".board:not(.scores-table) tbody tr").evaluate_all(READ_ROWS)


def names(page: Page) -> list[str]:
    """The systems of the board on a page, in order."""
    return [row["name"] for row in board_rows(page)]


def rule_names(page: Page) -> list[str]:
    """The rules that the board has columns of."""
    return [text.strip(" ▲▼") for text in page.locator(RULE_HEADS).evaluate_all(READ_HEADS)]


def ranks_shown(page: Page) -> dict[str, dict[str, int]]:
    """{rule: {system: rank}} of those that the page gives a rank."""
    rows = board_rows(page)
    return {
        rule: {row["name"]: int(row["cells"][c]["rank"]) for row in rows if row["cells"][c]["rank"]}
        for c, rule in enumerate(rule_names(page))
    }


def table_texts(table: Locator) -> list[list[str]]:
    """The body of a plain table, as the texts that are to be seen."""
    read = "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.replace(/\\s+/g, ' ').trim()))"
    return table.locator("tbody tr").evaluate_all(read)
