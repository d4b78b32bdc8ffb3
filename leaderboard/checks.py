"""What `manage.py check --deploy` says about a site that is meant for readers."""

import os
from collections.abc import Sequence
from difflib import get_close_matches

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning as CheckWarning, register

from config import env
from config.settings.mails import CONSOLE_MAILS

THREADS_FOR_COMPUTATIONS = 6  # of the eight that a web process has as it is started everywhere here


@register(Tags.database, deploy=True)
def services_are_named(app_configs: Sequence[AppConfig] | None, **options: object) -> list[CheckMessage]:
    """A misspelt name would go unseen: without these variables the site runs as well, on files in `PLURANK_VAR`."""
    warnings: list[CheckMessage] = []
    if not os.environ.get("DATABASE_URL"):
        hint = "Name the PostgreSQL database, unless you mean an SQLite file in PLURANK_VAR."
        warnings.append(CheckWarning("DATABASE_URL is not set", hint=hint, id="plurank.W001"))
    if not os.environ.get("REDIS_URL"):
        hint = "Name the Redis, unless you mean messages in a folder in PLURANK_VAR."
        warnings.append(CheckWarning("REDIS_URL is not set", hint=hint, id="plurank.W002"))
    return warnings


@register(Tags.security, deploy=True)
def addresses_are_confirmed(app_configs: Sequence[AppConfig] | None, **options: object) -> list[CheckMessage]:
    """Who is signed in at once was told that the address had no account."""
    if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":
        return []
    hint = "Set PLURANK_EMAIL_BACKEND to a mail server's, and PLURANK_EMAIL_VERIFICATION to mandatory or to nothing."
    return [CheckWarning("Sign-up shows whether an email address has an account", hint=hint, id="plurank.W004")]


@register(deploy=True)
def a_sender_is_named(app_configs: Sequence[AppConfig] | None, **options: object) -> list[CheckMessage]:
    """Mail servers refuse or hide what comes from a sender that they do not know."""
    if settings.EMAIL_BACKEND == CONSOLE_MAILS or os.environ.get("PLURANK_EMAIL_FROM"):
        return []
    hint = "Set it to an email address that your mail server may send from, such as plurank@boards.example."
    text = f"PLURANK_EMAIL_FROM is not set: emails come from {settings.DEFAULT_FROM_EMAIL}"
    return [CheckWarning(text, hint=hint, id="plurank.W006")]


@register(deploy=True)
def threads_are_left(app_configs: Sequence[AppConfig] | None, **options: object) -> list[CheckMessage]:
    """Each computation that a reader waits for takes a thread of a web process; without one left pages wait, too."""
    n_threads = settings.ON_DEMAND_CHILDREN + settings.ON_DEMAND_WAITING
    if n_threads <= THREADS_FOR_COMPUTATIONS:
        return []
    hint = f"Have at most {THREADS_FOR_COMPUTATIONS}, or start gunicorn with --threads {n_threads + 2}."
    text = f"PLURANK_ON_DEMAND_CHILDREN and PLURANK_ON_DEMAND_WAITING are {n_threads} together, of eight threads"
    return [CheckWarning(text, hint=hint, id="plurank.W005")]


@register(deploy=True)
def settings_are_known(app_configs: Sequence[AppConfig] | None, **options: object) -> list[CheckMessage]:
    """No one looks at a variable whose name is misspelt; what is unlike every setting belongs to something else."""
    strange = sorted(name for name in os.environ if name.startswith("PLURANK_") and name not in env.asked_for)
    meant = {name: get_close_matches(name, env.asked_for, n=1, cutoff=0.85) for name in strange}
    return [
        CheckWarning(f"{name} is not a setting", hint=f"Did you mean {like[0]}?", id="plurank.W003")
        for name, like in meant.items()
        if like
    ]
