"""Folders in git forges: where the API of GitHub, GitLab, Gitea or Forgejo lists one, by the shape of its address."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

ENTRIES_OF_PAGE = 100  # the most that GitLab gives
MAX_PAGES = 10
FILES = ("file", "blob")  # what GitHub, Gitea and Forgejo call a file, and what GitLab does
LINK = "120000"  # the mode of a symbolic link
_PLACE = r"(?P<ref>[^/]+)(?:/(?P<folder>.*))?"
GITHUB_PAGE = re.compile(rf"/(?P<repository>[^/]+/[^/]+)/tree/{_PLACE}")
GITLAB_PAGE = re.compile(rf"/(?P<project>[^/]+(?:/[^/]+)+)/-/tree/{_PLACE}")
GITEA_PAGE = re.compile(rf"(?P<prefix>.*)/(?P<repository>[^/]+/[^/]+)/src/(?:branch|tag|commit)/{_PLACE}")
GITLAB_TREE = re.compile(r"(?P<project>.*/api/v4/projects/[^/]+)/repository/tree/?")
GITLAB_FILE = re.compile(r".*/api/v4/projects/[^/]+/repository/files/(?P<path>[^/]+)/raw/?")


def folder_listing(address: str) -> str:
    """Where the API of a forge lists the folder whose page has this address; any other address as it is.

    GitLab, Gitea and Forgejo run on many hosts, and their pages have addresses of a shape of their own; projects of
    GitLab may be in subgroups. A branch has no slash in its name here: of `tree/a/b`, `a` is the branch.
    """
    parts = urlsplit(address)
    site = f"{parts.scheme}://{parts.netloc}"
    if match := GITLAB_PAGE.fullmatch(parts.path):
        folder = {"path": unquote(match["folder"] or "").strip("/"), "ref": unquote(match["ref"])}
        project = quote(unquote(match["project"]), safe="")
        return f"{site}/api/v4/projects/{project}/repository/tree?{urlencode(folder, quote_via=quote)}"
    if parts.hostname == "github.com" and (match := GITHUB_PAGE.fullmatch(parts.path)):
        base = "https://api.github.com"
    elif match := GITEA_PAGE.fullmatch(parts.path):
        base = f"{site}{match['prefix']}/api/v1"
    else:
        return address
    folder_path = (match["folder"] or "").strip("/")
    return f"{base}/repos/{match['repository']}/contents/{folder_path}?{urlencode({'ref': unquote(match['ref'])})}"


def is_gitlab_tree(listing: str) -> bool:
    """Whether an address is the one by which GitLab's API lists a folder, in pages."""
    return GITLAB_TREE.fullmatch(urlsplit(listing).path) is not None


def gitlab_tree_page(listing: str, number: int) -> str:
    """The address of one page of GitLab's list, from 1."""
    parts = urlsplit(listing)
    parameters = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("page", "per_page")]
    query = urlencode([*parameters, ("per_page", ENTRIES_OF_PAGE), ("page", number)], quote_via=quote)
    return parts._replace(query=query).geturl()


def is_file(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of a folder is a file, and no folder, link or other repository."""
    return entry.get("type", "file") in FILES and entry.get("mode") != LINK


def gitlab_file(listing: str, path: str) -> str | None:
    """Where GitLab has a file of a list, which names only its path in the repository; None for lists of others.

    Raises:
        ValueError: the path is no text that an address can have.
    """
    parts = urlsplit(listing)
    match = GITLAB_TREE.fullmatch(parts.path)
    if match is None:
        return None
    ref = dict(parse_qsl(parts.query)).get("ref", "HEAD")
    query = urlencode({"ref": ref}, quote_via=quote)
    return f"{parts.scheme}://{parts.netloc}{match['project']}/repository/files/{quote(path, safe='')}/raw?{query}"


def path_of_file(address: str) -> str:
    """The path of a file by its address, not escaped; where GitLab has it, its path in the repository."""
    path = urlsplit(address).path
    match = GITLAB_FILE.fullmatch(path)
    return unquote(match["path"] if match else path)
