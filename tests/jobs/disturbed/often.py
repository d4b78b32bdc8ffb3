"""Included by a worker, or run in the place of `manage.py`: the process looks after itself, and beats, twice a second.

Without it a worker looks for jobs that no one woke it for every five seconds, and says every ten that it lives; a sweep
looks once a minute for boards that an older version published meanwhile.
"""

import os
import runpy

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PLURANK_QUERY_SECONDS", "15")  # as manage.py has it, which comes too late here

if __name__ == "__main__":
    import django

    django.setup()

from leaderboard.queue import heartbeats, recomputation

heartbeats.BEAT_SECONDS = recomputation.REST_SECONDS = 0.5

if __name__ == "__main__":
    runpy.run_path("manage.py", run_name="__main__")
else:
    from jobs import caretaker

    caretaker.CHECK_SECONDS = 0.5
