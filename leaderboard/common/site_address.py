"""Addresses of this site for anyone who is elsewhere: readers of mails, of feeds, of webhooks."""

from django.conf import settings


def site_address(path: str) -> str:
    """A path of this site as an address that can be opened from outside, whatever name and port a request named."""
    return settings.SITE_URL.rstrip("/") + path
