"""The demonstration: real public leaderboards, loaded the way an owner loads their own files."""

from collections.abc import Callable
from pathlib import Path

from django.db import transaction

from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Benchmark, User
from leaderboard.studies.plans import study_when_idle

FOLDER = Path(__file__).resolve().parent.parent / "demonstration"


def load_demonstration(*, owner_email: str, owner_password: str, progress: Callable[[str], None]) -> list[str]:
    """Make the owner's account and load the benchmarks that are not there yet.

    Args:
        owner_email: the account that owns them; its password is set again, so that what is printed is true.
        owner_password: that account's password.
        progress: called with a line of text for every benchmark.

    Returns:
        The keys of the benchmarks that were loaded now.
    """
    with transaction.atomic():
        owner = User.objects.filter(email=owner_email).first()
        if owner is None:
            owner = User.objects.create_superuser(owner_email, owner_password, display_name="Demonstration owner")
        elif not owner.check_password(owner_password):
            owner.set_password(owner_password)
            owner.save(update_fields=["password"])
    loaded = []
    for folder in sorted(path for path in FOLDER.iterdir() if (path / "scores.csv").exists()):
        if Benchmark.objects.filter(key=folder.name).exists():
            continue
        with transaction.atomic():
            benchmark = import_folder(folder, owner=owner, submission_policy=Benchmark.SubmissionPolicy.OPEN)
            study_when_idle(benchmark)
        progress(f"{benchmark.name}: {benchmark.systems.count()} systems, {benchmark.tasks.count()} tasks")
        loaded.append(benchmark.key)
    return loaded
