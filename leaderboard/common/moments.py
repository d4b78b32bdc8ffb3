"""Moments for people, in one form wherever a sentence names one."""

from datetime import UTC, datetime

from django.utils import dateformat
from django.utils.translation import gettext


def moment_in_words(when: datetime) -> str:
    """`3 Feb 2026, 14:05 UTC`, as tables show them; `when` has a time zone."""
    return dateformat.format(when.astimezone(UTC), gettext("j M Y, H:i")) + " UTC"
