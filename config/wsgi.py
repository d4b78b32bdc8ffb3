"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

import config.celery  # noqa: F401 -- pages and API send wake-ups through this application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PLURANK_QUERY_SECONDS", "15")  # a thread that waits longer is missing to other readers
application = get_wsgi_application()

from leaderboard.services.on_demand import children  # noqa: E402 -- settings have to be there first

children().start()
