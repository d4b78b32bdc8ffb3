"""`manage.py` under a clock that is wrong: `python -m tests.faults.skewed SECONDS sweep --every 0.2`."""

import os
import sys
import time
from datetime import timedelta

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.management import execute_from_command_line
from django.utils import timezone

if __name__ == "__main__":
    skew = float(sys.argv[1])
    right_now, right_time = timezone.now, time.time
    timezone.now = lambda: right_now() + timedelta(seconds=skew)
    time.time = lambda: right_time() + skew
    execute_from_command_line(["manage.py", *sys.argv[2:]])
