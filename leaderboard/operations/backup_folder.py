"""A folder of backups, of which the newest of each day and of each week are kept."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

NAME = re.compile(r"plurank-(\d{4}-\d{2}-\d{2}T\d{6})Z\.backup")
MOMENT = "%Y-%m-%dT%H%M%S"


def backup_name(moment: datetime) -> str:
    """What a backup of this moment is called: `plurank-2026-05-01T031000Z.backup`, in UTC."""
    return f"plurank-{moment.astimezone(UTC).strftime(MOMENT)}Z.backup"


def surplus_backups(folder: Path, *, daily: int, weekly: int) -> list[Path]:
    """The backups in a folder that are neither the last of one of the newest `daily` days on which there was one, nor
    the last of one of the newest `weekly` weeks (Monday to Sunday, UTC); oldest first.

    Files of any other name are no one's to remove.
    """
    moments = []
    for path in folder.iterdir():
        if (match := NAME.fullmatch(path.name)) and path.is_file():
            with suppress(ValueError):  # such as the 45th of a month
                moments.append((datetime.strptime(match[1], MOMENT).replace(tzinfo=UTC), path))
    moments.sort()
    days = {moment.date(): path for moment, path in moments}
    weeks = {moment.isocalendar()[:2]: path for moment, path in moments}
    kept = {*list(days.values())[-daily:], *(list(weeks.values())[-weekly:] if weekly else [])}
    return [path for _, path in moments if path not in kept]
