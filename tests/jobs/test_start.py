"""How a process of the site starts."""

import subprocess
import sys

SLOW = ("scipy.stats", "scipy.optimize", "scipy.sparse", "highspy")


def test_a_process_starts_without_what_takes_seconds_to_import():
    """Whatever a web server or a worker loads before its first request or job; a study imports the rest itself."""
    code = f"""
import django, sys
django.setup()
import config.urls, jobs.tasks
print([name for name in {SLOW} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
