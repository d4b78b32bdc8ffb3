"""Keys for names, and names that look alike. What a name may be is the engine's to say (`ranking_engine.names`)."""

import difflib
import re
import unicodedata
from collections.abc import Container, Sequence

from django.utils.text import slugify

from leaderboard.models.benchmarks import KEY_LENGTH
from ranking_engine.names import fold_name

UNNAMED = "unnamed"  # the slug of a name without ASCII letters and digits
MOST_COMPARISONS = 20_000  # of one text with another; each takes some 30 microseconds

# Letters of Cyrillic and of Greek that look like Latin ones.
_LOOKS_LIKE = str.maketrans(
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u051b\u051d"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03f2\u03f3",
    "ABEKMHOPCTYXSIJaeopcyxsijdhqwABEZHIKMNOPTYXocj",
)
_SEPARATORS = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
_ASCII_SEPARATORS = {code: None for code in range(128) if _SEPARATORS.match(chr(code))}


def make_key(name: str, taken: Container[str]) -> str:
    """A key for `name` that is not in `taken`: its ASCII slug, numbered from 2 where the slug is taken."""
    words = slugify(name).replace("_", "-").split("-")
    slug = "-".join(word for word in words if word)[: KEY_LENGTH - 6].strip("-") or UNNAMED
    key, number = slug, 2
    while key in taken:
        key, number = f"{slug}-{number}", number + 1
    return key


def skeleton(name: str) -> str:
    """What two names have in common that look alike: they differ in nothing but case, spaces, hyphens, joiners, or in
    letters of other scripts that look like Latin ones.
    """
    if name.isascii():  # as below, for what most names are
        return name.casefold().translate(_ASCII_SEPARATORS)
    return _SEPARATORS.sub("", fold_name(unicodedata.normalize("NFKC", name).translate(_LOOKS_LIKE)))


class NearMisses:
    """Known names that a name may be a slip of the pen for.

    Args:
        known: the names there are.
        n_asked: how many names will be asked about. Where that makes too many comparisons, only names that look
            alike are found.
    """

    def __init__(self, known: Sequence[str], *, n_asked: int = 1) -> None:
        self._by_skeleton = {skeleton(name): name for name in known}
        self._compares = len(known) * n_asked <= MOST_COMPARISONS
        self._by_fold = {fold_name(name): name for name in known} if self._compares else {}

    def add(self, name: str) -> None:
        """Know one more name, unless one that looks alike is known."""
        if self._compares:
            self._by_fold.setdefault(fold_name(name), name)
        self._by_skeleton.setdefault(skeleton(name), name)

    def twin(self, name: str) -> str | None:
        """The known name that looks like this one, if there is one."""
        return self._by_skeleton.get(skeleton(name))

    def of(self, name: str) -> list[str]:
        """The nearest known names, at most three, nearest first."""
        same = self.twin(name)
        close: list[str] = []
        if self._compares:
            keys = difflib.get_close_matches(fold_name(name), self._by_fold, n=3, cutoff=0.85)
            close = [self._by_fold[key] for key in keys]
        return close if same is None or same in close else [same, *close][:3]
