"""URLs of this site for use elsewhere: in emails, feeds and webhooks."""

from django.conf import settings


def site_address(path: str) -> str:
    """A path of this site as an address that can be opened from outside, whatever name and port a request named."""
    return settings.SITE_URL.rstrip("/") + path
