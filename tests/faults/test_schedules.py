"""Twenty random fault schedules, on services and a site of their own; `make faults` runs two hundred."""

import os
import re
import subprocess
import sys

import pytest
from django.conf import settings

from config.local_services import MissingProgramError, find_program

pytestmark = pytest.mark.services
SEED = int(os.environ.get("PLURANK_TEST_SEED", "20"))


def test_twenty_fault_schedules_lose_nothing_mix_nothing_and_publish_everything():
    """Takes a minute: once with the tests on PostgreSQL and Redis, which say that these are there."""
    if settings.IS_SQLITE or not settings.REDIS_URL:
        pytest.skip("runs with the tests on PostgreSQL and Redis")
    try:
        for name in ("initdb", "redis-server", "setpriv"):
            find_program(name, name)
    except MissingProgramError as missing:
        pytest.skip(str(missing))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLURANK_", "DATABASE_URL"))}
    command = [sys.executable, "-m", "tests.faults", "--schedules", "20", "--seed", str(SEED)]
    done = subprocess.run(
        command, cwd=settings.ROOT, env=kept, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr[-5000:]
    assert re.search(r"^20 schedules held", done.stdout, flags=re.MULTILINE)
