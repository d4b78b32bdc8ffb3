"""Names as people type them: rules by key or name in any case, tasks and systems with "did you mean"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from ranking_engine.catalogue.rule_names import rule_key
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import fold_name, listed, shorten

__all__ = ["NameIndex", "check_settings", "rule_key"]


class NameIndex:
    """The places of names, found as people type them.

    Args:
        names: of tasks or systems.
        kind: what they are names of, in the singular.
    """

    def __init__(self, names: Sequence[str], kind: str) -> None:
        self.names, self.kind = names, kind
        self._exact = {name: k for k, name in enumerate(names)}
        self._folded: dict[str, list[int]] = {}
        for k, name in enumerate(names):
            self._folded.setdefault(fold_name(name), []).append(k)

    def of(self, name: str, argument: str) -> int:
        """Return the place of a name, from 0.

        Raises:
            ValueError: there is none of this name; with `argument`, and the name that comes closest. Or it could be
                one of several, which differ in case alone.
        """
        place = self._exact.get(name)
        if place is None and isinstance(name, str):
            same = self._folded.get(fold_name(name), [])
            if len(same) > 1:
                names = " or ".join(repr(self.names[k]) for k in same)
                raise ValueError(f"`{argument}`: {shorten(name)!r} could be {names}; write it as it is there")
            place = same[0] if same else None
        if place is None:
            text = str(name)
            close = CloseNames(self.names).suggestion(text) or f"; there are {listed(self.names, limit=10)}"
            raise ValueError(f"`{argument}`: there is no {self.kind} {shorten(text)!r}{close}")
        return place

    def spread(self, values: Mapping[str, Any] | Iterable[Any], argument: str, own: Sequence[Any]) -> list[Any]:
        """Return one value for each name: of a mapping by name, else its own; or those of a sequence.

        Raises:
            ValueError: an unknown name, a sequence of another length, or neither mapping nor sequence.
        """
        if isinstance(values, str) or not isinstance(values, Iterable):
            given = shorten(repr(values))
            raise ValueError(f"`{argument}` is {given}; expected a mapping by {self.kind}, or one value for each")  # noqa: TRY004 -- one kind of error for arguments
        if not isinstance(values, Mapping):
            in_order = list(values)
            if len(in_order) != len(self.names):
                raise ValueError(f"`{argument}` has {len(in_order)} values; there are {len(self.names)} {self.kind}s")
            return in_order
        spread = list(own)
        for name, value in values.items():
            spread[self.of(name, argument)] = value
        return spread


def check_settings(function: Callable[..., object], settings: Mapping[str, object], method: str) -> None:
    """Raise a ValueError where `function` of the engine has no such setting; `method` is the one that has them."""
    known = [p.name for p in signature(function).parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
    for name in settings:
        if name not in known:
            close = CloseNames(known).suggestion(name) or f"; there are {', '.join(known)}"
            raise ValueError(f"`{method}` has no setting {shorten(name)!r}{close}")
