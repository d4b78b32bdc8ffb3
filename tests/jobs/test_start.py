"""How a process of the site starts."""

import json
import subprocess
import sys

import pytest
from django.core.management import get_commands, load_command_class

from tests.jobs.forks import PACKAGES

SLOW = ["scipy.stats", "scipy.special", "scipy.optimize", "scipy.sparse", "highspy", "numpy.f2py"]
PAGES = ["config.urls", "leaderboard.api.urls", "rest_framework.views", "allauth.account.views", "markdown_it"]
WEB_SERVER = "import django; django.setup(); import config.urls, jobs.tasks"
WORKER = "from config.celery import app; app.loader.import_default_modules()"


@pytest.mark.parametrize(("process", "names"), [(WEB_SERVER, SLOW), (WORKER, SLOW + PAGES)])
def test_a_process_starts_without_what_takes_seconds_to_import(process, names):
    """Whatever it loads before its first request or job; a study imports the rest itself, and a worker has no page."""
    code = f"import json, sys; {process}; print(json.dumps([name for name in {names} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_commands_start_without_checks_that_import_every_page():
    """`migrate` runs the checks before anything starts; `demo` is the whole site."""
    ours = {name: app for name, app in get_commands().items() if app in ("leaderboard", "jobs")}
    checked = {name for name, app in ours.items() if load_command_class(app, name).requires_system_checks}
    assert checked == {"demo", "migrate"}


def test_what_forked_processes_share_reads_no_setting_and_starts_no_thread():
    code = f"""
import importlib, sys, threading
for package in {PACKAGES}:
    importlib.import_module(package)
from django.conf import settings
own = ("config", "leaderboard", "jobs", "prometheus_client")
ours = [name for name in sys.modules if name.partition(".")[0] in own]
print(ours, settings.configured, threading.active_count())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False 1\n"
