"""Hashes of things that JSON can say, and of secrets."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from typing import Any

from django.utils.crypto import salted_hmac


def canonical_json(content: Any) -> str:  # noqa: ANN401
    """The one JSON text of `content`: keys sorted, no spaces, no NaN."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(content: Any) -> str:  # noqa: ANN401
    """SHA-256 of the canonical JSON of `content`, in hexadecimal."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def secret_of_form(once: str, *what: object) -> str:
    """A long secret for a link, which no one can guess: the same one where a form was sent twice.

    Args:
        once: a random text that the form had as a hidden field; where it is empty, each secret is another.
        what: who makes the link, and to what.
    """
    if not once:
        return secrets.token_urlsafe(24)
    digest = salted_hmac("plurank.link", canonical_json([once, *map(str, what)]), algorithm="sha256").digest()
    return urlsafe_b64encode(digest[:24]).decode()


def secret_hash(secret: str) -> str:
    """SHA-256 of a long random secret, in hexadecimal: what is stored of one in its place."""
    return hashlib.sha256(secret.encode()).hexdigest()
