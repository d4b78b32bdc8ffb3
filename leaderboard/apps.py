"""The Django application `leaderboard`."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """Holds every model of the site."""

    name = "leaderboard"
    verbose_name = "Leaderboards"
