"""How many first and last places are compared: what an address says, and what a board takes without it."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from leaderboard.common.text import whole_number

DEFAULT_PLACES = (1, 3, 5, 10)
MAX_NUMBERS = 6  # of each end
MAX_DIGITS = 4
TEXT_LENGTH = 60  # of a list that is read at all


class PlacesError(ValueError):
    """What an address says of the places under `parameter` cannot be read."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


@dataclass(frozen=True)
class Places:
    """The k of the first k and of the last k places, as they are stated; None where the board decides."""

    top: tuple[int, ...] | None = None
    least: tuple[int, ...] | None = None

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> "Places":
        """What `top` and `least` say, such as `1,3,5`.

        Raises:
            PlacesError: one of them is no list of a few whole numbers.
        """
        return cls(_read_numbers(query, "top"), _read_numbers(query, "least"))

    def of_board(self, n_systems: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The k of both ends: as stated, else those of DEFAULT_PLACES that leave a system out."""
        usual = tuple(k for k in DEFAULT_PLACES if k < n_systems)
        return usual if self.top is None else self.top, usual if self.least is None else self.least

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """What an address says of them; nothing where the board decides."""
        both = (("top", self.top), ("least", self.least))
        return [(name, ",".join(map(str, numbers))) for name, numbers in both if numbers is not None]


def _read_numbers(query: Mapping[str, str], name: str) -> tuple[int, ...] | None:
    text = query.get(name, "")
    if not text.strip():
        return None
    parts = [part.strip() for part in text.split(",")] if len(text) <= TEXT_LENGTH else []
    numbers = {whole_number(part, MAX_DIGITS) or 0 for part in parts}
    if 0 in numbers or not 1 <= len(parts) <= MAX_NUMBERS:
        raise PlacesError(
            gettext(
                "`%(name)s` is %(text)s; expected up to %(most)s whole numbers from 1 to %(largest)s with commas "
                "between them, such as 1,3,5."
            )
            % {"name": name, "text": repr(text[:40]), "most": MAX_NUMBERS, "largest": 10**MAX_DIGITS - 1},
            name,
        )
    return tuple(sorted(numbers))
