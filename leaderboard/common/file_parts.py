"""Files that are made while they are sent, so that a large one is never in memory as a whole."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

PART_BYTES = 64 * 1024


def in_parts(texts: Iterable[str]) -> Iterator[bytes]:
    """Texts, mostly lines, as the bytes of a file: together as many as have some PART_BYTES."""
    waiting: list[bytes] = []
    size = 0
    for text in texts:
        waiting.append(text.encode())
        size += len(waiting[-1])
        if size >= PART_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def file_response(
    request: HttpRequest, texts: Iterable[str], content_type: str
) -> HttpResponse | StreamingHttpResponse:
    """The answer with a file: one that is small says its length, a longer one is sent in parts while it is made.

    The first two parts are made here, so that what goes wrong until then is answered as an error. What goes wrong later
    breaks the connection: the client sees that the file has no end.

    Args:
        request: what is answered; nothing further is made for a HEAD.
        texts: the file. They must not depend on the request being under way, nor on an open transaction.
        content_type: of the file.
    """
    parts = in_parts(texts)
    start = list(islice(parts, 2))
    if len(start) < 2:
        return HttpResponse(b"".join(start), content_type=content_type)
    return StreamingHttpResponse([] if request.method == "HEAD" else chain(start, parts), content_type=content_type)
