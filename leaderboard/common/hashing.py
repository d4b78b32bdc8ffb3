"""Hashes of things that JSON can say, and of secrets."""

import hashlib
import json
from typing import Any


def canonical_json(content: Any) -> str:  # noqa: ANN401
    """The one JSON text of `content`: keys sorted, no spaces, no NaN."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(content: Any) -> str:  # noqa: ANN401
    """SHA-256 of the canonical JSON of `content`, in hexadecimal."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def secret_hash(secret: str) -> str:
    """SHA-256 of a long random secret, in hexadecimal: what is stored of one in its place."""
    return hashlib.sha256(secret.encode()).hexdigest()
