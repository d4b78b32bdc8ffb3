"""A submission to a site, until its board is published."""

from __future__ import annotations

from typing import ClassVar

from plurank.client.remote import RemoteWork


class RemoteSubmission(RemoteWork):
    """A submission to a site; it is done when the board with it is published, or will not be.

    Its `state` is `pending` (a moderator decides), `accepted`, `published`, `rejected`, ...: docs/api.md has all.
    `status` is what the site said last.
    """

    ADDRESS: ClassVar = "submissions"
    CALLED: ClassVar = "submission {} is"
    ENDS: ClassVar = frozenset({"published", "rejected", "retracted", "withdrawn", "failed"})
