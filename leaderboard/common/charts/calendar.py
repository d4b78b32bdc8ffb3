"""Days along an axis: where a date is, and which dates are written below it."""

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from itertools import count, islice, takewhile

from django.utils import dateformat

DAY_SECONDS = 86_400
MAX_DATES = 7
HOURS, DAYS, MONTHS, YEARS = (1, 3, 6, 12), (1, 2, 7, 14), (1, 3, 6), (1, 2, 5, 10, 20, 50, 100)


def day_of(when: date | datetime) -> float:
    """A date as days since the first of the year 1, a moment in UTC with its fraction of a day."""
    if not isinstance(when, datetime):
        return float(when.toordinal())
    utc = when.astimezone(UTC)
    return utc.toordinal() + (utc - datetime.combine(utc.date(), time(), UTC)).total_seconds() / DAY_SECONDS


def date_ticks(least: float, most: float) -> list[tuple[float, str]]:
    """Round dates between two days, at most MAX_DATES of them, with their texts.

    Args:
        least: the first day, as `day_of` has it.
        most: the last one, after the first.
    """
    start = date.fromordinal(max(1, math.floor(least)))
    for dates in (
        *(partial(_hours, start, step) for step in HOURS),
        *(partial(_days, start, step) for step in DAYS),
        *(partial(_months, start, step) for step in MONTHS),
        *(partial(_years, start, step) for step in YEARS),
    ):
        until = takewhile(lambda tick: tick[0] <= most, dates())
        ticks = list(islice((tick for tick in until if tick[0] >= least), MAX_DATES + 1))
        if len(ticks) <= MAX_DATES:
            return ticks
    return []


def _hours(start: date, step: int) -> Iterator[tuple[float, str]]:
    for hour in count(0, step):
        yield start.toordinal() + hour / 24, f"{_day_text(start, hour // 24)}, {hour % 24:02}:00"


def _days(start: date, step: int) -> Iterator[tuple[float, str]]:
    for n_days in count(0, step):
        yield float(start.toordinal() + n_days), _day_text(start, n_days)


def _months(start: date, step: int) -> Iterator[tuple[float, str]]:
    for month in range(start.year * 12 + (start.month - 1) // step * step, date.max.year * 12, step):
        first = date(month // 12, month % 12 + 1, 1)
        yield day_of(first), dateformat.format(first, "M Y")


def _years(start: date, step: int) -> Iterator[tuple[float, str]]:
    for year in range(max(1, start.year // step * step), date.max.year, step):
        yield day_of(date(year, 1, 1)), str(year)


def _day_text(start: date, n_days: int) -> str:
    on = start + timedelta(days=n_days)
    return dateformat.format(on, "j M Y")
