"""The documentation of this repository, `docs/`, as pages of the site."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.urls import get_script_prefix, reverse

from leaderboard.common.markdown import Heading, render_document

FOLDER = settings.ROOT / "docs"
INDEX = "README"  # a folder's own page
FILES = {".svg": "image/svg+xml", ".jpg": "image/jpeg", ".png": "image/png"}
KEPT = 60  # documents that stay rendered
FIRST_HOURS = ("reader", "submitter", "owner", "researcher", "developer", "operator")
# The order of the rest; what is not named here follows by title.
ORDER = (
    "operate", "settings", "api", "importing", "prospects", "studies", "rules", "calibration", "papers", "performance",
    "erasure", "design",
)  # fmt: skip
# Pages of the site that documents name by their addresses, which become links.
PAGES = (
    "account_signup", "api:docs", "api:schema", "choose_rule", "new", "notice_choices", "rules", "status", "tokens",
    "try",
)  # fmt: skip


@dataclass(frozen=True)
class Document:
    """One page of the documentation."""

    path: str
    title: str
    summary: str  # its first paragraph as plain text
    html: str
    headings: list[Heading]


@dataclass(frozen=True)
class DocumentEntry:
    """A document in the list."""

    path: str
    title: str
    summary: str


def find_document(path: str) -> Document | None:
    """The document at `path` under `docs/`, without its ending; None where there is none."""
    file = _files().get(path)
    return None if file is None else _rendered(path, file, file.stat().st_mtime_ns, get_script_prefix())


def find_file(path: str) -> Path | None:
    """A picture of the documentation; None where there is none."""
    return _pictures().get(path)


def first_hours() -> list[DocumentEntry]:
    """What to do in the first hour, for each of the people who come."""
    files = _files()
    paths = [path for who in FIRST_HOURS if (path := f"first-hour/{who}") in files]
    return [_entry(path, files[path]) for path in paths]


def other_documents() -> list[DocumentEntry]:
    """All documents beside those, without the pages of single rules."""
    entries = [_entry(path, file) for path, file in _files().items() if "/" not in path]
    place = {path: number for number, path in enumerate(ORDER)}
    return sorted(entries, key=lambda one: (place.get(one.path, len(ORDER)), one.title))


def section_html(path: str, title: str) -> str:
    """One section of a document as HTML, without its heading; empty where there is none."""
    file = _files().get(path)
    return "" if file is None else _section(path, title, file, file.stat().st_mtime_ns, get_script_prefix())


@lru_cache(maxsize=4 * KEPT)
def _section(path: str, title: str, file: Path, changed: int, prefix: str) -> str:
    text = file.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return render_document(text, _addresses(path), _pages())[0]


def _pages() -> dict[str, str]:
    """Where the pages are, by their addresses on a site that is not below a path."""
    prefix = get_script_prefix()
    return {f"/{address.removeprefix(prefix)}": address for address in map(reverse, PAGES)}


def _files() -> dict[str, Path]:
    """Every document by its path; a folder's own page by the folder's."""
    files = {}
    for file in sorted(FOLDER.rglob("*.md")):
        path = file.relative_to(FOLDER).with_suffix("").as_posix()
        files[path.removesuffix(f"/{INDEX}")] = file
    return files


def _pictures() -> dict[str, Path]:
    """Every picture of the documentation by its path."""
    return {file.relative_to(FOLDER).as_posix(): file for ending in FILES for file in FOLDER.rglob(f"*{ending}")}


def _entry(path: str, file: Path) -> DocumentEntry:
    document = _rendered(path, file, file.stat().st_mtime_ns, get_script_prefix())
    return DocumentEntry(document.path, document.title, document.summary)


@lru_cache(maxsize=KEPT)
def _rendered(path: str, file: Path, changed: int, prefix: str) -> Document:
    """The document, rendered once as long as its file and the path below which the site is stay as they are."""
    folder = file.relative_to(FOLDER).as_posix()
    text = file.read_text(encoding="utf-8")
    html, headings = render_document(text, _addresses(folder), _pages())
    title = headings[0].text if headings else path
    first = re.search(r"<p>(.*?)</p>", html, re.DOTALL)
    summary = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", first[1])) if first else ""
    return Document(path, title, summary, html, [heading for heading in headings if heading.level == 2])


def _addresses(folder: str) -> Callable[[str], str]:
    """Where a relative link of a document leads on the site; empty where it leads out of the documentation.

    The folder is read once for all links of a document: reading it takes longer than anything else here.
    """
    files, pictures = _files(), _pictures()

    def address(target: str) -> str:
        to, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(folder), to))
        end = f"#{anchor}" if anchor else ""
        if path.endswith(".md"):
            page = path.removesuffix(".md").removesuffix(f"/{INDEX}")
            return reverse("document", args=[page]) + end if page in files else ""
        return reverse("document_file", args=[path]) if path in pictures else ""

    return address
