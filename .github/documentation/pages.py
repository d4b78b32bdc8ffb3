"""The README as the first page, and links to files outside of docs/ as links to the repository."""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README of the repository as the first page."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=LINK.sub(_below_docs, text)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that leave docs/ lead to the file in the repository, or become plain text where it has no address."""
    folder = posixpath.dirname(page.file.src_uri)

    def inside(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, match[1]))
        if path.startswith("docs/") and "../" not in path:
            return match[0]
        return f"]({config.repo_url}/blob/main/{path})" if config.repo_url else f"](#) (`{path}`)"

    return LINK.sub(inside, markdown)


def _below_docs(match: re.Match[str]) -> str:
    """A link of the README, as seen from docs/."""
    path = match[1].removeprefix("docs/") if match[1].startswith("docs/") else f"../{match[1]}"
    if (ROOT / "docs" / path / "README.md").exists():
        path = f"{path}/README.md"
    return f"]({path}{match[2] or ''})"
