"""`manage.py sweep` that counts its sweeps: `python -m tests.faults.counted sweep`.

Each that came to its end is a byte in the file `sweeps` of the host's folder.
"""

import os
import runpy

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PLURANK_QUERY_SECONDS", "15")  # as manage.py has it, which comes too late here

import django

django.setup()

from django.conf import settings  # noqa: E402

from leaderboard.management.commands import sweep  # noqa: E402


def count() -> None:
    """One more sweep came to its end."""
    with (settings.VAR / "sweeps").open("ab") as file:
        file.write(b".")


if __name__ == "__main__":
    sweep.OFTEN = (*sweep.OFTEN, count)
    runpy.run_path("manage.py", run_name="__main__")
