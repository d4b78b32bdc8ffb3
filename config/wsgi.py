"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PLURANK_QUERY_SECONDS", "15")  # a thread that waits longer is missing to other readers
os.environ.setdefault("PLURANK_IDLE_SECONDS", "75")  # a thread that no one needs keeps no connection from a worker

import config.celery  # noqa: F401 -- pages and API send wake-ups through it; its defaults are for workers
from config.processes.prefix import without_prefix

application = without_prefix(get_wsgi_application())

from leaderboard.on_demand.budget import children  # noqa: E402 -- settings have to be there first

children().start()
