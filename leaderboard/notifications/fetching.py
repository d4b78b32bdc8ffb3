"""Fetching from a URL that an owner entered, under the rules of `posting`: the public internet alone, and an end to it.

Redirects are followed, a few of them: each address is read, resolved and checked as the first one was. What an answer
says is read up to a bound, before and after it is unpacked.
"""

import ssl
import zlib
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPResponse, IncompleteRead
from urllib.parse import urljoin

from django.conf import settings

from leaderboard.notifications.posting import PostError, connected, read_address

MAX_REDIRECTS = 3
REDIRECTS = {301, 302, 303, 307, 308}
VALIDATOR_LENGTH = 200  # a longer one is as none
CHUNK_BYTES = 65_536
MAX_MEMBERS = 10_000  # of compressed content; bgzip writes one for each 64 kB
PACKED = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


@dataclass(frozen=True)
class Validators:
    """What an answer says of its content, to ask later whether that changed."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True)
class Fetched:
    """What an address answered: with status 304 there is no body, because nothing changed."""

    status: int
    body: bytes
    validators: Validators


def fetch(address: str, *, known: Validators | None = None, most_bytes: int, seconds: float) -> Fetched:
    """Get what an address has, if it changed.

    Args:
        address: where; `https` and public, as for webhooks.
        known: of what was fetched the last time; None to get it anyway.
        most_bytes: that its content may have, packed and unpacked.
        seconds: that each of its redirects may take.

    Raises:
        AddressError: nothing is fetched from this address, or from one that it redirects to.
        PostError: it did not answer, or not with content.
    """
    for _ in range(MAX_REDIRECTS + 1):
        target = read_address(address)
        headers = {
            "Accept-Encoding": "gzip",
            "User-Agent": f"Plurank/{settings.PLURANK_VERSION}",
            **({"If-None-Match": known.etag} if known and known.etag else {}),
            **({"If-Modified-Since": known.last_modified} if known and known.last_modified else {}),
        }
        with connected(target, seconds) as connection:
            connection.request("GET", target.path, headers=headers)
            with connection.getresponse() as response:
                status, place = response.status, response.headers.get("Location", "")
                body = _bounded_body(response, most_bytes) if status == HTTPStatus.OK else b""
        if status in REDIRECTS and place:
            address = urljoin(address, place)
        elif status == HTTPStatus.OK or (status == HTTPStatus.NOT_MODIFIED and known):
            # Those are sent back that are short, and of characters that belong in a header.
            given = (response.headers.get(name, "").strip() for name in ("ETag", "Last-Modified"))
            etag, last_modified = (
                text if len(text) <= VALIDATOR_LENGTH and text.isascii() and text.isprintable() else ""
                for text in given
            )
            return Fetched(status, body, Validators(etag, last_modified))
        else:
            raise PostError(f"The answer was {status}.", status)
    raise PostError(f"The URL redirects more than {MAX_REDIRECTS} times.")


def _bounded_body(response: HTTPResponse, most_bytes: int) -> bytes:
    """What an answer says, whole and unpacked.

    Raises:
        IncompleteRead: the connection ended before all of it arrived.
        PostError: it is too large, packed or unpacked, or it cannot be unpacked.
    """
    parts: list[bytes] = []
    size = 0
    try:
        while part := response.read(CHUNK_BYTES):
            size += len(part)
            if size > most_bytes:
                raise _too_large(most_bytes)
            parts.append(part)
    except ssl.SSLEOFError as error:
        raise IncompleteRead(b"".join(parts)) from error
    packed, encoding = b"".join(parts), response.headers.get("Content-Encoding", "identity").strip().lower()
    if response.length:  # so many bytes of the stated length are missing; reading in pieces does not compare
        raise IncompleteRead(packed, response.length)
    if encoding in ("identity", ""):
        return packed
    if encoding not in PACKED:
        raise PostError("The content is compressed in a way that this site did not ask for.", HTTPStatus.OK)
    try:
        return unpacked(packed, encoding, most_bytes)
    except zlib.error as error:
        raise PostError("The compressed content is damaged.", HTTPStatus.OK) from error


def unpacked(packed: bytes, encoding: str, most_bytes: int) -> bytes:
    """Compressed content, of all its members: `gzip -c new >> all.gz` and bgzip write several into one file.

    Args:
        packed: the content.
        encoding: a key of `PACKED`.
        most_bytes: that it may have unpacked.

    Raises:
        PostError: it is too large, has too many members, or ends within one.
        zlib.error: it is damaged.
    """
    rest, place = memoryview(packed), 0
    reading = zlib.decompressobj(PACKED[encoding])
    parts: list[bytes] = []
    size, n_members = 0, 1
    while place < len(rest):
        if reading.eof:
            if rest[place] == 0 and not any(rest[place:]):  # zeros that fill a block
                break
            reading, n_members = zlib.decompressobj(PACKED[encoding]), n_members + 1
            if n_members > MAX_MEMBERS:
                raise PostError(f"The compressed content has more than {MAX_MEMBERS:,} parts.", HTTPStatus.OK)
        piece = rest[place : place + CHUNK_BYTES]
        parts.append(reading.decompress(piece, most_bytes + 1 - size))
        size += len(parts[-1])
        if size > most_bytes:
            raise _too_large(most_bytes)
        place += len(piece) - len(reading.unused_data)
    if not reading.eof:
        raise PostError("The compressed content is incomplete.", HTTPStatus.OK)
    return b"".join(parts)


def _too_large(most_bytes: int) -> PostError:
    return PostError(f"The content has more than {most_bytes:,} bytes.", HTTPStatus.OK)
