"""When the database was last backed up, by `manage.py backup`; what other programs write no one here knows."""

from django.db import DatabaseError
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Min
from django.utils import timezone

from leaderboard.models import LastBackup

ONLY = 1  # the key of the one row


def note_backup(n_bytes: int) -> bool:
    """Keep that a backup was written just now. False where the database does not take it: the backup is there.

    Args:
        n_bytes: the size of its file.
    """
    try:
        LastBackup.objects.update_or_create(pk=ONLY, defaults={"made_at": timezone.now(), "n_bytes": n_bytes})
    except DatabaseError:
        return False
    return True


def backup_age() -> float:
    """Seconds since the last backup; since the database was made, where there was none."""
    made_at = LastBackup.objects.values_list("made_at", flat=True).first()
    if made_at is None:
        made_at = MigrationRecorder.Migration.objects.aggregate(first=Min("applied"))["first"]
    return max(0.0, (timezone.now() - made_at).total_seconds()) if made_at else 0.0
