"""What the owners of a benchmark tell its readers above the board.

They are few and short, and every reader of the board sees all of them: so they are in the benchmark's own row, and the
board needs no query for them. The trail keeps who wrote and removed what.
"""

from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audit import Change, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.models import AuditEntry, Benchmark, User
from leaderboard.models.texts import is_lines

MAX_ANNOUNCEMENTS, MAX_LENGTH = 5, 500  # of a benchmark; characters of one


@dataclass(frozen=True)
class Announcement:
    """A text and when it was written, which tells it from the others of its benchmark."""

    text: str
    at: datetime


def announcements_of(benchmark: Benchmark) -> list[Announcement]:
    """The announcements that are above the board, newest first."""
    return [Announcement(entry["text"], datetime.fromisoformat(entry["at"])) for entry in benchmark.announcements]


@transaction.atomic
def announce(benchmark: Benchmark, text: str, *, author: User) -> None:
    """Put a text above the board.

    Args:
        benchmark: whose.
        text: plain; addresses in it become links.
        author: an owner.

    Raises:
        ValidationError: it is empty or too long, has control characters, or there are too many already.
    """
    if len(text) > MAX_LENGTH:
        raise ValidationError(
            gettext("An announcement has at most %(max_length)s characters, not %(n_text)s.")
            % {"max_length": MAX_LENGTH, "n_text": f"{len(text):,}"}
        )
    text = text.strip()
    if not text:
        raise ValidationError(gettext("Write what you want to announce."))
    is_lines(text)
    locked = lock_as_owner(benchmark.pk, author)
    if len(locked.announcements) >= MAX_ANNOUNCEMENTS:
        raise ValidationError(
            gettext("There are %(max_announcements)s announcements; take one down first.")
            % {"max_announcements": MAX_ANNOUNCEMENTS}
        )
    locked.announcements = [{"text": text, "at": timezone.now().isoformat()}, *locked.announcements]
    _store(locked, "", text, author)


@transaction.atomic
def remove_announcement(benchmark: Benchmark, moment: str, *, author: User) -> None:
    """Take a text down.

    Args:
        benchmark: whose.
        moment: when it was written, in ISO 8601.
        author: an owner.

    Raises:
        ValidationError: there is none of this moment.
    """
    locked = lock_as_owner(benchmark.pk, author)
    removed = [entry for entry in locked.announcements if entry["at"] == moment]
    if not removed:
        raise ValidationError(gettext("This announcement was taken down already."))
    locked.announcements = [entry for entry in locked.announcements if entry["at"] != moment]
    _store(locked, removed[0]["text"], "", author)


def _store(benchmark: Benchmark, before: str, after: str, author: User) -> None:
    benchmark.save(update_fields=["announcements"])
    change = Change(AuditEntry.Subject.BENCHMARK, benchmark.key, "announcement", before, after)
    record_changes(benchmark, [change], actor=author)
