"""The Django application `leaderboard`."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """Holds every model of the site."""

    name = "leaderboard"
    verbose_name = "Leaderboards"

    def ready(self) -> None:
        """Register the checks."""
        from leaderboard import checks  # noqa: F401, PLC0415 -- models have to be there first
