"""The Celery application. Its messages only wake workers; what there is to do stands in the job rows."""

import os

# Numeric libraries must not start threads of their own: two workers share two cores.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PLURANK_QUERY_SECONDS", "60")

from celery import Celery  # noqa: E402 -- after the environment it reads

app = Celery("plurank")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()
