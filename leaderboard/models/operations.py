"""What the site knows of its own processes."""

from django.db import models


class Heartbeat(models.Model):
    """When a process of a role was last heard of. One row a role, however many processes there are."""

    role = models.CharField(max_length=20, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.role}, {self.seen_at:%Y-%m-%d %H:%M:%S}"
