#!/usr/bin/env python
"""Run a management command of Plurank: `python manage.py help` lists them."""

import io
import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # A locale that is not UTF-8 must not end a command, or keep the sweep from writing an email into its log.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.argv[1:2] in (["sweep"], ["check_health"]):  # other commands may take as long as it takes
        os.environ.setdefault("PLURANK_QUERY_SECONDS", "15")
    # These go straight to PostgreSQL, and take as long as it takes: a connection without PgBouncer begins with limits
    # of its own, not with those of the role. What only looks may go by PgBouncer.
    is_long = sys.argv[1:2] in (["migrate"], ["backup"], ["restore"])
    if is_long and not {"--check", "--plan"} & set(sys.argv):
        os.environ |= {"PLURANK_PGBOUNCER": "false", "PLURANK_QUERY_SECONDS": "0"}
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError, ProgrammingError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # a setting that is wrong: the message says which, a traceback hides it
        sys.exit(str(error))
    except (OperationalError, ProgrammingError) as error:
        if "--traceback" in sys.argv:
            raise
        from leaderboard.operations.health import database_problem, reached_limit

        if limit := reached_limit(error):
            sys.exit(limit)
        is_migrating = sys.argv[1:2] == ["migrate"]
        if is_migrating and isinstance(error, OperationalError):  # its disk is full, or it is not there
            sys.exit(f"the database failed: {error}")
        if not is_migrating and (problem := database_problem()):
            sys.exit(problem)
        raise
