"""Requests to a site, with retries that store nothing twice."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from plurank.client.errors import BY_STATUS, SiteError, UnreachableError
from plurank.version import __version__
from ranking_engine.files.extras import extra

API = "/api/v1/"
RETRIED = (429, 502, 503, 504)
MAX_WAIT = 120  # seconds between two attempts, whatever the site says
MAX_ANSWER = 64 * 2**20  # bytes
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class SiteConnection:
    """Sends requests and returns what JSON answers hold.

    What is asked again after a lost answer or a busy site: everything that is only read, and whatever is sent with an
    idempotency key, which makes it one submission however often it arrives.

    Args:
        url: of the site, such as "https://boards.example".
        token: empty for none. It is sent over HTTPS, or to this machine.
        retries: further attempts.
        timeout: seconds that an answer may take to begin.

    Raises:
        ValueError: it is not the URL of a site, or a token would be sent in the clear.
        ImportError: urllib3 is not installed.
    """

    def __init__(self, url: str, token: str = "", *, retries: int = 5, timeout: float = 60) -> None:
        urllib3 = extra("urllib3", "client")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{url[:200]!r} is not the URL of a site; expected one such as https://boards.example")
        if token and parts.scheme == "http" and parts.hostname not in LOCAL:
            raise ValueError(f"a token is not sent over http:// to {parts.hostname}; write https://")
        if token and not (token.isascii() and token.isprintable()):
            raise ValueError("the token has characters that no token has; copy it again")
        self.root = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._token = token
        self._waiting = urllib3.Retry(
            total=retries, redirect=0, status_forcelist=RETRIED, allowed_methods=None, backoff_factor=0.5,
            backoff_max=MAX_WAIT, respect_retry_after_header=True, raise_on_status=False, retry_after_max=MAX_WAIT,
        )  # fmt: skip
        self._once = urllib3.Retry(total=0, redirect=0, raise_on_status=False)
        self._pool = urllib3.PoolManager(timeout=urllib3.Timeout(connect=10, read=timeout))
        self._errors = urllib3.exceptions.HTTPError

    def get(self, path: str, **parameters: Any) -> Any:  # noqa: ANN401 -- JSON
        """Return what a route answers.

        Args:
            path: below /api/v1/.
            parameters: of the query; None is left out.

        Raises:
            SiteError: the site refused, or did not answer.
        """
        return json.loads(self.request("GET", path, parameters))

    def pages(self, path: str, **parameters: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 -- JSON
        """Yield the pages of a list, each asked for when it is needed, all of one revision.

        Raises:
            SiteError: the site refused, or did not answer; or the next page would be elsewhere.
        """
        page = self.get(path, **{"page_size": 1000, **parameters})
        yield page
        while page.get("next"):
            if API not in page["next"]:
                raise SiteError(f"the site names a next page that is none of its API's: {page['next'][:200]}")
            page = json.loads(self.request("GET", page["next"].partition(API)[2], {}))
            yield page

    def listed(self, path: str, **parameters: Any) -> list[dict[str, Any]]:  # noqa: ANN401 -- JSON
        """Return all entries of a list.

        Raises:
            SiteError: the site refused, or did not answer.
        """
        return [entry for page in self.pages(path, **parameters) for entry in page["results"]]

    def send(
        self,
        path: str,
        body: object,
        *,
        method: str = "POST",
        is_repeatable: bool = False,
        key: str = "",
        content_type: str = "text/csv",
        **parameters: Any,  # noqa: ANN401 -- JSON
    ) -> Any:  # noqa: ANN401 -- JSON
        """Send JSON and return the answer.

        Args:
            path: below /api/v1/.
            body: what is sent, or bytes of a file.
            method: POST or PATCH.
            is_repeatable: whether the route takes an idempotency key, or stores nothing.
            key: the idempotency key; a new one where empty.
            content_type: of bytes.
            parameters: of the query; None is left out.

        Raises:
            SiteError: the site refused, or did not answer.
        """
        is_table = isinstance(body, bytes)
        content = body if isinstance(body, bytes) else json.dumps(body, allow_nan=False).encode()
        headers = {"Content-Type": content_type if is_table else "application/json"}
        if is_repeatable:
            headers["Idempotency-Key"] = key or str(uuid.uuid4())
        return json.loads(self.request(method, path, parameters, content, headers))

    def send_files(
        self,
        path: str,
        files: Sequence[tuple[str, bytes] | tuple[str, bytes, str]],
        fields: Mapping[str, Any],
        *,
        key: str = "",
        **parameters: Any,  # noqa: ANN401 -- JSON
    ) -> Any:  # noqa: ANN401 -- JSON
        """Send files as a form does, and return the answer.

        Args:
            path: below /api/v1/.
            files: the name and the bytes of each, and where it is not `files` the name of its field.
            fields: beside them.
            key: the idempotency key; a new one where empty.
            parameters: of the query; None is left out.

        Raises:
            SiteError: the site refused, or did not answer.
        """
        boundary = uuid.uuid4().hex
        parts = [
            (f'name="{name}"', value.encode() if isinstance(value, str) else json.dumps(value).encode())
            for name, value in fields.items()
        ]
        for name, data, *field in files:
            # As browsers write names in forms.
            texts = (name, *field, "files")[:2]
            quoted, of = (text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22") for text in texts)
            parts.append((f'name="{of}"; filename="{quoted}"\r\nContent-Type: application/octet-stream', data))
        body = b"".join(
            b"--%s\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % (boundary.encode(), head.encode(), data)
            for head, data in parts
        )
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Idempotency-Key": key or str(uuid.uuid4()),
        }
        return json.loads(self.request("POST", path, parameters, body + f"--{boundary}--\r\n".encode(), headers))

    def request(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, Any],
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return the bytes of an answer.

        Raises:
            SiteError: the site refused, did not answer, or answered more than is read.
        """
        sent = {"User-Agent": f"plurank/{__version__}", "Accept": "application/json, */*;q=0.5", **(headers or {})}
        if self._token:
            sent["Authorization"] = f"Token {self._token}"
        words = [
            (name, {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value)
            for name, value in parameters.items()
            if value is not None
        ]
        url = f"{self.root}{API}{path}" + (f"?{urlencode(words, doseq=True)}" if words else "")
        is_safe = method == "GET" or "Idempotency-Key" in sent
        waiting = self._waiting if is_safe else self._once
        try:
            answer = self._pool.request(
                method, url, body=body, headers=sent, retries=waiting, redirect=False, preload_content=False
            )
            content: bytes = answer.read(MAX_ANSWER + 1)
            answer.release_conn()
        except self._errors as error:
            raise UnreachableError(f"{self.root} did not answer: {error}") from error
        if len(content) > MAX_ANSWER:
            raise SiteError(f"{url} answers more than {MAX_ANSWER // 2**20} MB", status=answer.status)
        if answer.status < 300:
            return content
        try:
            said = json.loads(content)["error"]
            message, code, details = str(said["message"]), str(said["code"]), list(said.get("details") or [])
        except (ValueError, TypeError, KeyError):  # not in the site's own words
            message = f"{url} answered with status {answer.status}; is this the URL of a site?"
            code, details = "", []
        retry_after = answer.headers.get("Retry-After")
        seconds = float(retry_after) if retry_after and retry_after.isdecimal() else None
        kind = BY_STATUS.get(answer.status, SiteError)
        raise kind(message, status=answer.status, code=code, details=details, retry_after=seconds)
