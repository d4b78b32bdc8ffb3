"""A few random fault schedules on a site of their own; `make faults` runs hundreds, and the single experiments."""

import os
import re
import subprocess
import sys

import pytest
from django.conf import settings

from config.processes.local_services import MissingProgramError, find_program
from tests.faults.services import EXPERIMENTS

pytestmark = pytest.mark.services
SEED = os.environ.get("PLURANK_TEST_SEED", "20")
IS_SERVED = not settings.IS_SQLITE and bool(settings.REDIS_URL)
on_services = pytest.mark.skipif(not IS_SERVED, reason="runs with the tests on PostgreSQL and Redis")
PROGRAMS = {"postgresql": ["initdb", "redis-server", "setpriv"], "sqlite": []}
PROGRAMS["pooled"] = [*PROGRAMS["postgresql"], "pgbouncer"]


def run_faults(stack: str, *arguments: str, timeout: int = 600) -> str:
    """What `python -m tests.faults` prints, with none of this process's settings. It must end well."""
    try:
        for name in PROGRAMS[stack]:
            find_program(name, name)
    except MissingProgramError as missing:
        pytest.skip(str(missing))
    own = ("PLURANK_", "DATABASE_URL", "REDIS_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    command = [sys.executable, "-m", "tests.faults", *arguments]
    done = subprocess.run(
        command, cwd=settings.ROOT, env=kept, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5000:]
    return done.stdout


def held(output: str) -> int:
    """How many schedules were found right."""
    return int(re.findall(r"^(\d+) schedules held: ", output, flags=re.MULTILINE)[-1])


@on_services
def test_fault_schedules_on_postgresql_and_redis_lose_nothing_mix_nothing_and_publish_everything():
    """Takes about a minute. The faults that take longest are left out here."""
    assert held(run_faults("postgresql", "--short", "--schedules", "6", "--seed", SEED)) == 6


@on_services
def test_fault_schedules_behind_pgbouncer_do_so():
    """Takes about forty seconds."""
    assert held(run_faults("pooled", "--stack", "pooled", "--short", "--schedules", "3", "--seed", SEED)) == 3


@pytest.mark.skipif(IS_SERVED, reason="runs with the tests on SQLite")
def test_fault_schedules_on_sqlite_and_a_folder_do_so():
    """Takes about half a minute."""
    assert held(run_faults("sqlite", "--stack", "sqlite", "--short", "--schedules", "4", "--seed", SEED)) == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_single_long_fault_loses_nothing_and_the_site_comes_back(name):
    """Takes up to five minutes each."""
    assert held(run_faults(EXPERIMENTS[name], "--experiment", name, timeout=1200)) == 4
