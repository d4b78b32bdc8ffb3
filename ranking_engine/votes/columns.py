"""What the columns of a file of votes are, and what their cells mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ranking_engine.files.problems import InputError
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import listed, shorten
from ranking_engine.votes.data import BOTH_BAD, FIRST, SECOND, TIE

# The names that a role's column has, the best one first; letters of either case, spaces and hyphens as underscores.
ROLES: dict[str, tuple[str, ...]] = {
    "a": ("model_a", "system_a", "a", "first"),
    "b": ("model_b", "system_b", "b", "second"),
    "winner": ("winner", "outcome", "result", "preference"),
    "category": ("category", "task", "language"),
    "voter": ("voter", "judge", "annotator", "user"),
    "prompt": ("prompt_id", "question_id", "prompt", "question"),
    "time": ("time", "tstamp", "timestamp", "date"),
    "weight": ("weight",),
}
NEEDED = ("a", "b", "winner")
# One column per outcome, as some published files have them.
ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
WINNERS = {
    **dict.fromkeys(("model_a", "a", "system_a", "first", "left", "1", "model_a_wins"), FIRST),
    **dict.fromkeys(("model_b", "b", "system_b", "second", "right", "2", "model_b_wins"), SECOND),
    **dict.fromkeys(("tie", "draw", "both", "equal", "0", "0.5", "both_good"), TIE),
    **dict.fromkeys(("tie (bothbad)", "bothbad", "both_bad", "neither", "tie_both_bad"), BOTH_BAD),
}
# Where Chatbot Arena's files keep what style control uses: one object per vote.
METADATA = "conv_metadata"
STYLE = {
    "length": ("sum_assistant_a_tokens", "sum_assistant_b_tokens"),
    "headers": ("header_count_a", "header_count_b"),
    "lists": ("list_count_a", "list_count_b"),
    "bold": ("bold_count_a", "bold_count_b"),
}


@dataclass(frozen=True)
class VoteColumns:
    """Which columns of a file are read.

    Attributes:
        roles: by role of ROLES, the name of its column; "winner" may be missing where `one_hot` is.
        one_hot: the three columns of ONE_HOT, or none.
        covariates: by name, the column of the first system and that of the second; the second is empty where one column
            has the difference.
        in_metadata: the covariates whose two are in the object METADATA.
    """

    roles: Mapping[str, str]
    one_hot: tuple[str, ...]
    covariates: Mapping[str, tuple[str, str]]
    in_metadata: frozenset[str]

    @classmethod
    def of(cls, header: Sequence[str], roles_by_column: Mapping[str, str], covariates: Sequence[str]) -> VoteColumns:
        """Find the columns in a header.

        Args:
            header: the names of all columns.
            roles_by_column: which come before what names say.
            covariates: the names of covariates: a column of that name with the difference; or two with `_a` and `_b`
                behind it; or one of STYLE, where there is the column METADATA.

        Raises:
            InputError: a column or a role is not there, or a role has two columns.
        """
        by_key: dict[str, str] = {}
        for name in header:
            by_key.setdefault(column_key(name), name)
        roles: dict[str, str] = {}
        for column, role in roles_by_column.items():
            if role not in ROLES:
                raise InputError.of(f"{shorten(role)!r} is no role of a column; expected one of {', '.join(ROLES)}")
            if column_key(column) not in by_key:
                raise InputError.of(f"there is no column {shorten(column)!r}{CloseNames(header).suggestion(column)}")
            if role in roles:
                raise InputError.of(f"two columns are to be {role!r}: {shorten(roles[role])!r} and {shorten(column)!r}")
            roles[role] = by_key[column_key(column)]
        taken = set(roles.values())
        for role, names in ROLES.items():
            if role not in roles:
                own = next((by_key[name] for name in names if name in by_key and by_key[name] not in taken), None)
                if own is not None:
                    roles[role] = own
                    taken.add(own)
        one_hot: tuple[str, ...] = ()
        if "winner" not in roles and all(name in by_key for name in ONE_HOT):
            one_hot = tuple(by_key[name] for name in ONE_HOT)
        missing = [role for role in NEEDED if role not in roles and not (role == "winner" and one_hot)]
        if missing:
            wanted = "; ".join(f"{role}: one of {', '.join(ROLES[role])}" for role in missing)
            have = listed([shorten(name, 30) for name in header], 10)
            raise InputError.of(f"no column is {' or '.join(missing)} ({wanted}); the columns are {have}")
        pairs, in_metadata = _covariate_columns(covariates, by_key)
        return cls(roles, one_hot, pairs, in_metadata)

    @property
    def names(self) -> list[str]:
        """The columns that are read, each once."""
        of_covariates = [
            column
            for name, pair in self.covariates.items()
            for column in ([METADATA] if name in self.in_metadata else pair)
            if column
        ]
        return list(dict.fromkeys([*self.roles.values(), *self.one_hot, *of_covariates]))


def _covariate_columns(
    covariates: Sequence[str], by_key: Mapping[str, str]
) -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
    """Return the columns of covariates, and which of these are in METADATA; see `VoteColumns.of`."""
    pairs: dict[str, tuple[str, str]] = {}
    in_metadata = set()
    for name in covariates:
        key = column_key(name)
        if f"{key}_a" in by_key and f"{key}_b" in by_key:
            pairs[name] = (by_key[f"{key}_a"], by_key[f"{key}_b"])
        elif key in by_key:
            pairs[name] = (by_key[key], "")
        elif key in STYLE and METADATA in by_key:
            pairs[name] = STYLE[key]
            in_metadata.add(name)
        else:
            wanted = f"{shorten(key)} with the difference, or {shorten(key)}_a and {shorten(key)}_b"
            hint = CloseNames(by_key).suggestion(key)
            raise InputError.of(f"no column has the covariate {shorten(name)!r}; expected {wanted}{hint}")
    return pairs, frozenset(in_metadata)


def column_key(name: str) -> str:
    """Return what two spellings of a column's name have in common."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def winner_of(cell: object, first: object, second: object) -> int | None:
    """Return who won: FIRST, SECOND, TIE or BOTH_BAD; None for a cell that says nothing.

    A cell may also have the name of one of the two systems.
    """
    text = str(cell).strip() if cell is not None else ""
    if text and first != second and text in (str(first).strip(), str(second).strip()):
        return FIRST if text == str(first).strip() else SECOND
    return WINNERS.get(text.casefold(), WINNERS.get(column_key(text)))


def one_hot_winner(cells: Sequence[object]) -> int | None:
    """Return who won by the columns of ONE_HOT, of which one is 1 and the others 0; None for anything else."""
    signs = ["" if cell is None else str(cell).strip().casefold() for cell in cells]
    is_set = [sign in ("1", "1.0", "true") for sign in signs]
    return is_set.index(True) if sum(is_set) == 1 and len(cells) == len(ONE_HOT) else None


def seconds_of(cell: object) -> float:
    """Return a time as a number: a number as it is, a date of ISO 8601 in seconds; ValueError for another text."""
    if isinstance(cell, datetime):
        return cell.timestamp()
    text = str(cell).strip()
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text).timestamp()


def amount_of(cell: Any) -> float:  # noqa: ANN401 -- whatever a file has there
    """Return a covariate of one system: a number, or the sum over an object such as {"h1": 2, "h2": 0}."""
    if isinstance(cell, Mapping):
        return float(sum(float(value or 0) for value in cell.values()))
    return float(cell)


def relative_gap(first: float, second: float) -> float:
    """Return (first - second) / (|first| + |second|), 0 where both are 0: how much more the first has, -1 to 1."""
    size = abs(first) + abs(second)
    return (first - second) / size if size else 0.0
