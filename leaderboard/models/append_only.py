"""The key to the append-only tables.

Triggers (migration 0002) refuse UPDATE and DELETE on scores, events and a submission's content. They yield only while
a row is in this table, which a takedown inserts and deletes inside its own transaction.
"""

from django.db import models


class AppendOnlyPermit(models.Model):
    """While a row is here, this transaction may change what is otherwise append-only."""

    reason = models.CharField(max_length=200)

    class Meta:
        db_table = "append_only_permit"

    def __str__(self) -> str:
        return self.reason
