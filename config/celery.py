"""The Celery application. Its messages only wake workers; the work itself is in the job rows."""

import os

# Numeric libraries must not start threads of their own: two workers share two cores.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PLURANK_QUERY_SECONDS", "60")
# Django's checks import every page, of which a worker has none; `manage.py migrate` runs them before anything starts.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

from celery import Celery  # noqa: E402 -- after the environment it reads
from kombu.entity import Exchange, Queue  # noqa: E402

from config.processes.commands import QUEUES  # noqa: E402
from ranking_engine import __version__ as engine_version  # noqa: E402

app = Celery("plurank")
app.config_from_object("django.conf:settings", namespace="CELERY")
# While a site is upgraded, workers of two engine versions run side by side. A wake-up goes to those that can run its
# job: the queue that `--queues rankings` and every sender call so bears the version in the broker.
app.conf.task_queues = [
    Queue(name, Exchange(name), routing_key=name, alias=queue)  # type: ignore[no-untyped-call]
    for queue, name in ((queue, f"{queue}-{engine_version}") for queue in QUEUES)
]
app.set_default()
