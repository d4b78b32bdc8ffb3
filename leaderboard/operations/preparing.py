"""Make an installation ready to run: its database, its static files, and on request demonstration data."""

import hashlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection

from leaderboard.benchmarks.demonstration import load_demonstration
from leaderboard.evaluation.encryption import MissingKeyError
from leaderboard.models import User
from leaderboard.operations.hidden_tests import add_hidden_tests

OWNER_EMAIL = "owner@plurank.example"


def prepare_site(progress: Callable[[str], None]) -> None:
    """Bring the database up to date, and collect static files where one changed.

    Args:
        progress: called with a line for each step.
    """
    progress("Preparing the database ...")
    call_command("migrate", interactive=False, verbosity=0)
    collect_static(settings.STATIC_ROOT / "collected.stamp", progress)
    connection.close()  # the processes of the site have their own


def add_demonstration(progress: Callable[[str], None]) -> None:
    """Add the demonstration benchmarks that are not there yet, and their owner.

    Args:
        progress: called with a line for each step.
    """
    password = kept_password(settings.VAR / "demo_password")
    load_demonstration(owner_email=OWNER_EMAIL, owner_password=password, progress=progress)
    try:
        add_hidden_tests(User.objects.get(email=OWNER_EMAIL), progress)
    except MissingKeyError as error:
        progress(f"Hidden tests are left out. {error}")
    connection.close()


def kept_password(file: Path) -> str:
    """The demo owner's password: made at the first start, the same ever after, readable by this user only."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if password := file.read_text().strip():
            return password
        file.unlink()  # killed between making and writing it
        return kept_password(file)
    os.write(descriptor, f"{secrets.token_urlsafe(12)}\n".encode())
    os.close(descriptor)
    return kept_password(file)


def collect_static(stamp: Path, progress: Callable[[str], None]) -> None:
    """Collect the static files for the web server, unless nothing changed since `stamp`, beside them, was written."""
    # It distinguishes any two states of all static files, ours and the packages', and of how they are stored.
    digest = hashlib.sha256(repr(settings.STORAGES["staticfiles"]).encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            state = Path(storage.path(path)).stat()
            digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    now = digest.hexdigest()
    if stamp.exists() and stamp.read_text() == now:
        return
    progress("Collecting static files ...")
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(now)
