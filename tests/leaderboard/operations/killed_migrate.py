"""`manage.py migrate` that is killed where it would record a migration: `python -m ... MIGRATION [TARGET...]`.

What the migration changed has been sent to the database by then, whether it was applied or undone.
"""

import os
import signal
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.management import execute_from_command_line
from django.db.migrations.recorder import MigrationRecorder


def killed_at(name: str, record):
    """The recorder's function, but for this migration the end of the process."""

    def die_or_record(self, app: str, recorded: str) -> None:
        if recorded == name:
            os.kill(os.getpid(), signal.SIGKILL)
        record(self, app, recorded)

    return die_or_record


if __name__ == "__main__":
    for step in ("record_applied", "record_unapplied"):
        setattr(MigrationRecorder, step, killed_at(sys.argv[1], getattr(MigrationRecorder, step)))
    execute_from_command_line(["manage.py", "migrate", "--noinput", *sys.argv[2:]])
