"""Names that a word may be a slip of the pen for, found within a bound on the work."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ranking_engine.text.names import fold_name

MAX_COMPARED = 60  # letters of a word, to be compared with others
MAX_PAIRS = 8_000_000  # of letters that one upload has compared; each takes some 50 nanoseconds
PAIRS_A_NAME = 200  # that are counted for beginning to compare two names, however short


class CloseNames:
    """Finds names that a word may be a slip of the pen for, within a bound on the work for all words together.

    Comparing two texts takes time that grows with the product of their lengths and more. So long words, long names, and
    whatever is asked for once the allowance is used up have no close names: a suggestion is a courtesy.

    Args:
        names: the names there are.
        n_pairs: how many pairs of letters may be compared.
    """

    def __init__(self, names: Iterable[str], *, n_pairs: int = MAX_PAIRS) -> None:
        self._by_fold = {fold_name(name): name for name in names if len(name) <= MAX_COMPARED}
        self._n_letters = sum(map(len, self._by_fold))
        self._n_pairs_left = n_pairs

    def add(self, name: str) -> None:
        """Know one more name."""
        folded = fold_name(name) if len(name) <= MAX_COMPARED else ""
        if folded and folded not in self._by_fold:
            self._by_fold[folded] = name
            self._n_letters += len(folded)

    def of(self, word: str, *, n: int = 1, cutoff: float = 0.6) -> list[str]:
        """At most `n` names, closest first, whose likeness (the ratio of `difflib`, 0 to 1) is `cutoff` or more."""
        if len(word) > MAX_COMPARED:
            return []
        n_pairs = len(word) * self._n_letters + PAIRS_A_NAME * len(self._by_fold)
        if n_pairs > self._n_pairs_left:
            return []
        self._n_pairs_left -= n_pairs
        return [self._by_fold[close] for close in difflib.get_close_matches(fold_name(word), self._by_fold, n, cutoff)]

    def suggestion(self, word: str, *, cutoff: float = 0.6) -> str:
        """The end of a sentence that asks whether the closest name was meant; empty where none is close."""
        close = self.of(word, cutoff=cutoff)
        return f"; did you mean {close[0]!r}?" if close else ""
