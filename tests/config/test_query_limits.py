"""How long which process waits for PostgreSQL, unless somebody sets it otherwise."""

import os
import subprocess
import sys

import pytest
from django.conf import settings


@pytest.mark.parametrize(
    ("module", "limits"),
    [
        ("config.wsgi", "statement_timeout=15s -c lock_timeout=10s -c idle_session_timeout=75s"),
        ("config.celery", "statement_timeout=60s -c lock_timeout=10s"),
        ("config.settings", "statement_timeout=0s -c lock_timeout=0s"),
    ],
    ids=["web server", "worker", "command"],
)
def test_each_process_has_its_own_limits_on_waits(module, limits):
    program = (
        f"import django, {module}; django.setup(); from django.conf import settings; "
        "print(settings.DATABASES['default']['OPTIONS']['options'])"
    )
    kept = {name: value for name, value in os.environ.items() if name != "PLURANK_QUERY_SECONDS"}
    environment = kept | {
        "DATABASE_URL": "postgres://plurank@127.0.0.1:1/nobody",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PLURANK_VAR": str(settings.VAR),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=settings.ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"-c idle_in_transaction_session_timeout=30s -c {limits}\n"
