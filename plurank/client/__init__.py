"""A site from Python: read its boards, submit scores, import files; `pip install 'plurank[client]'`."""

from plurank.client.errors import (
    InvalidInputError,
    NotAllowedError,
    NotThereError,
    SiteError,
    TooManyError,
    UnreachableError,
)
from plurank.client.site import RemoteBenchmark, RemoteSubmission, Site

__all__ = [
    "InvalidInputError",
    "NotAllowedError",
    "NotThereError",
    "RemoteBenchmark",
    "RemoteSubmission",
    "Site",
    "SiteError",
    "TooManyError",
    "UnreachableError",
]
