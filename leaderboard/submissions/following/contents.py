"""What is at a followed URL: one file, the scores of another site's board, or the files of a JSON list."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urljoin

from django.conf import settings

from leaderboard.models import FollowedAddress
from leaderboard.notifications.fetching import Fetched, Validators, fetch
from leaderboard.notifications.posting import PostError
from leaderboard.submissions.following.addresses import Kind, scores_address
from leaderboard.submissions.following.forges import (
    ENTRIES_OF_PAGE,
    MAX_PAGES,
    folder_listing,
    gitlab_file,
    gitlab_tree_page,
    is_file,
    is_gitlab_tree,
    path_of_file,
)
from ranking_engine.text.characters import writable

MAX_FILES = 200  # of a list
LIST_BYTES = 2**20
ALL_SECONDS = 300  # for all files of a list
NAME_LENGTH = 100
TOO_LATE = f"The files did not arrive within {ALL_SECONDS} seconds."


@dataclass(frozen=True)
class Content:
    """What one fetch brought.

    Attributes:
        files: the name and the bytes of each; None where nothing changed since the last fetch.
        validators: by the address of each file.
        status: of the last answer.
    """

    files: Sequence[tuple[str, bytes]] | None
    validators: Mapping[str, Validators]
    status: int

    @property
    def n_bytes(self) -> int:
        """Of all files together."""
        return sum(len(data) for _, data in self.files or ())

    @property
    def sha256(self) -> str:
        """Of the names and the bytes of all files."""
        digests = [f"{hashlib.sha256(data).hexdigest()} {name}" for name, data in self.files or ()]
        return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def fetch_content(followed: FollowedAddress) -> Content:
    """Get what a benchmark follows. A person who asks gets it whole, even if nothing changed.

    Raises:
        AddressError: nothing is fetched from this address, or from one that it names.
        PostError: something of it does not arrive, or is too large.
    """
    known = {} if followed.is_asked_for else {name: Validators(*both) for name, both in followed.validators.items()}
    if followed.kind != Kind.LIST:
        address = scores_address(followed.address) if followed.kind == Kind.BOARD else followed.address
        answer = _get(address, known.get(address), settings.UPLOAD_BYTES)
        name = "scores.csv" if followed.kind == Kind.BOARD else file_name(address)
        files = None if answer.status == 304 else [(name, answer.body)]
        return Content(files, {address: answer.validators}, answer.status)
    ends_at = time.monotonic() + ALL_SECONDS
    addresses = _files_of_list(followed.address, ends_at)
    answers: dict[str, Fetched] = {}
    for address in addresses:
        answers[address] = _next_file(address, known.get(address), answers, ends_at)
    if known.keys() == answers.keys() and all(answer.status == 304 for answer in answers.values()):
        return Content(None, known, 304)
    for address in [address for address, answer in answers.items() if answer.status == 304]:  # something else changed
        answers[address] = _next_file(address, None, answers, ends_at)
    validators = {address: answer.validators for address, answer in answers.items()}
    return Content([(file_name(address), answers[address].body) for address in addresses], validators, 200)


def _files_of_list(address: str, ends_at: float) -> list[str]:
    """The addresses of the files of a list, or of a folder of a forge.

    Args:
        address: of the list, or of the page of the folder.
        ends_at: when asking has to end, as `time.monotonic` says it.

    Raises:
        PostError: it does not arrive in time, is no list, is empty, or has too many files.
    """
    listing = folder_listing(address)
    if not is_gitlab_tree(listing):
        return _listed_addresses(_read_entries(_get(listing, None, LIST_BYTES).body), listing)
    entries: list[Any] = []
    for number in range(1, MAX_PAGES + 1):
        if time.monotonic() > ends_at:
            raise PostError(TOO_LATE)
        page = _read_entries(_get(gitlab_tree_page(listing, number), None, LIST_BYTES).body)
        entries += page
        if len(page) < ENTRIES_OF_PAGE:
            return _listed_addresses(entries, listing)
    raise PostError(f"The folder has more than {MAX_PAGES * ENTRIES_OF_PAGE:,} entries.")


def _next_file(address: str, known: Validators | None, before: Mapping[str, Fetched], ends_at: float) -> Fetched:
    if time.monotonic() > ends_at:
        raise PostError(TOO_LATE)
    left = settings.IMPORT_BYTES - sum(len(answer.body) for answer in before.values())
    if left <= 0:
        raise PostError(f"The files have more than {settings.IMPORT_BYTES:,} bytes.")
    return _get(address, known, min(left, settings.UPLOAD_BYTES))


def _get(address: str, known: Validators | None, most_bytes: int) -> Fetched:
    return fetch(address, known=known, most_bytes=most_bytes, seconds=float(settings.FOLLOW_SECONDS))


def _read_entries(body: bytes) -> list[Any]:
    """The entries of a JSON list.

    Raises:
        PostError: it is none.
    """
    try:
        listed = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise PostError("The list is not JSON.") from error
    if not isinstance(listed, list):
        raise PostError("The content is not a JSON list of files.")
    return listed


def _listed_addresses(entries: Sequence[Any], base: str) -> list[str]:
    """The addresses of the files of a list, in its order, each once.

    An entry is an address, relative to that of the list or whole, or an object as the APIs of forges give for a folder:
    GitHub, Gitea and Forgejo state its `download_url`, GitLab its `path` in the repository.

    Args:
        entries: of the list.
        base: the address of the list.

    Raises:
        PostError: it is no such list, it is empty, or it has too many files.
    """
    addresses: dict[str, None] = {}
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, dict) and not is_file(entry):
            continue
        try:
            named = entry
            if isinstance(entry, dict):
                named, path = entry.get("download_url"), entry.get("path")
                named = gitlab_file(base, path) if named is None and isinstance(path, str) else named
            if not isinstance(named, str) or not named:
                raise PostError(f"Entry {number} of the list is neither a URL nor an object with a download_url.")
            addresses[urljoin(base, named)] = None
        except ValueError as error:
            raise PostError(f"Entry {number} of the list is no URL.") from error
    if not addresses:
        raise PostError("The list has no files.")
    if len(addresses) > MAX_FILES:
        raise PostError(f"The list has {len(addresses):,} files; at most {MAX_FILES} are fetched.")
    return list(addresses)


def file_name(address: str) -> str:
    """What a file is called: the end of the path of its address."""
    name = PurePosixPath(path_of_file(address)).name
    return writable(name)[-NAME_LENGTH:] or "scores.csv"
