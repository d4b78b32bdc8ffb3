"""Sites that post to receivers, for tests."""

import pytest


@pytest.fixture
def inside(settings):
    """An operator's site whose receivers are inside."""
    settings.WEBHOOKS_INSIDE, settings.WEBHOOK_SECONDS = True, 1
    return settings
