"""The WSGI application that gunicorn serves."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PLURANK_QUERY_SECONDS", "15")  # a thread that waits longer is missing to other readers
os.environ.setdefault("PLURANK_IDLE_SECONDS", "75")  # a thread that no one needs keeps no connection from a worker

import config.celery  # noqa: F401 -- pages and API send wake-ups through it; its defaults are for workers

django.setup(set_prefix=False)

from config.processes.prefix import without_prefix  # noqa: E402 -- settings have to be there first
from config.processes.requests import Handler  # noqa: E402

application = without_prefix(Handler())

from leaderboard.on_demand.budget import children  # noqa: E402

children().start()
