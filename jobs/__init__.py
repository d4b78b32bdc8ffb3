"""Background work: the Celery tasks that run the jobs of `leaderboard`."""
