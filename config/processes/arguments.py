"""What commands take on their command line, with bounds: argparse names the argument that is outside of them."""

from argparse import ArgumentTypeError
from collections.abc import Callable

PORTS = (1, 65_535)
PROCESSES = 1000  # of one kind, on one machine
LONGEST_SECONDS = 86_400


def whole(least: int, most: int) -> Callable[[str], int]:
    """What reads a whole number from `least` to `most`."""

    def read(text: str) -> int:
        is_number = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not is_number or not least <= int(text) <= most:
            raise ArgumentTypeError(f"{text[:80]!r} is not a whole number from {least} to {most}")
        return int(text)

    return read


def duration(text: str) -> float:
    """Seconds, more than none and at most a day.

    Raises:
        ArgumentTypeError: it is something else, such as `nan`.
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= LONGEST_SECONDS:
        raise ArgumentTypeError(f"{text[:80]!r} is not a number of seconds, more than 0 and at most {LONGEST_SECONDS}")
    return number
