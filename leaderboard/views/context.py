"""What every template receives."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    """The site's own facts: its version and the engine's."""
    return {"plurank_version": settings.PLURANK_VERSION, "engine_version": settings.ENGINE_VERSION}
