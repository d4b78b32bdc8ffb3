"""What the site knows of its backups."""

from django.db import models


class LastBackup(models.Model):
    """When `manage.py backup` last wrote this database down. One row."""

    made_at = models.DateTimeField()
    n_bytes = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.n_bytes} bytes, {self.made_at:%Y-%m-%d %H:%M:%S}"
