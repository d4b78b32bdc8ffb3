"""The Django application `leaderboard`."""

from django.apps import AppConfig
from django.conf import settings

from config import env


class LeaderboardConfig(AppConfig):
    """Holds every model of the site."""

    name = "leaderboard"
    verbose_name = "Leaderboards"

    def ready(self) -> None:
        """Register the checks, and refuse a setting that no email could be sent with."""
        from leaderboard import checks  # noqa: F401, PLC0415 -- models have to be there first

        env.require_class("PLURANK_EMAIL_BACKEND", settings.EMAIL_BACKEND)
