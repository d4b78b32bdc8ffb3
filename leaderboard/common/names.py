"""Keys for names, and names that look alike. `ranking_engine.text.names` says what a name may be."""

import os.path
from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from leaderboard.models.benchmarks import KEY_LENGTH
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.confusables import shape, skeleton, words_joined
from ranking_engine.text.names import check_name, fold_name

T = TypeVar("T")
KEY_TRIES = 5  # of a row whose key someone else may choose at the same moment
MIN_PREFIX = 6  # characters that all names begin with, from which on long names lose them
UNNAMED = "unnamed"  # the slug of a name without ASCII letters and digits
LOOK_ALIKE = "differ only in case, spaces, hyphens or look-alike characters"


def make_key(name: str, taken: Container[str]) -> str:
    """A key for `name` that is not in `taken`: its ASCII slug, numbered from 2 where the slug is taken."""
    words = slugify(name).replace("_", "-").split("-")
    slug = "-".join(word for word in words if word)[: KEY_LENGTH - 6].strip("-") or UNNAMED
    key, number = slug, 2
    while key in taken:
        key, number = f"{slug}-{number}", number + 1
    return key


def with_free_key(store: Callable[[], T]) -> T:
    """Store a row under a key that no other row has; again where someone else took the key at the same moment.

    Args:
        store: chooses a key, again each time, and stores the row.

    Raises:
        IntegrityError: the last of `KEY_TRIES` tries found its key taken, too.
    """
    for _ in range(KEY_TRIES - 1):
        try:
            with transaction.atomic():
                return store()
        except IntegrityError:
            continue
    return store()


def is_called(text: str, name: str, key: str = "") -> bool:
    """Whether the name or the key of a system has `text` in it, in any case: what `q` asks on pages and of the API."""
    return fold_name(text) in fold_name(name) or text.strip().casefold() in key


class NameForms:
    """What names are compared by, computed once for each: long ones of some alphabets take a tenth of a millisecond.

    An upload keeps one for as long as it is checked.
    """

    def __init__(self) -> None:
        self._looks: dict[str, tuple[str, str]] = {}
        self._checked: dict[str, tuple[str, str] | ValueError] = {}

    def look(self, name: str) -> tuple[str, str]:
        """The skeleton and the shape of a name."""
        if name not in self._looks:
            self._looks[name] = (skeleton(name), shape(name))
        return self._looks[name]

    def checked(self, text: str) -> tuple[str, str]:
        """A text as the name of a system, and folded.

        Raises:
            ValueError: it cannot be a name.
        """
        if text not in self._checked:
            try:
                name = check_name(text)
                self._checked[text] = (name, fold_name(name))
            except ValueError as error:
                self._checked[text] = error
        checked = self._checked[text]
        if isinstance(checked, ValueError):
            raise checked.with_traceback(None)
        return checked


class NearMisses:
    """Known names that a name may be a slip of the pen for.

    Names that look alike are always found, by what they have in common. Close ones are a suggestion, and there are none
    where finding them would take too long (`CloseNames`).

    Args:
        known: the names there are.
        forms: what names are compared by, where some of it is known already.
    """

    def __init__(self, known: Sequence[str], forms: NameForms | None = None) -> None:
        self._forms = forms or NameForms()
        looks = [self._forms.look(name) for name in known]
        self._by_skeleton = {bare: name for (bare, _), name in zip(looks, known, strict=True)}
        self._by_shape = {drawn: name for (_, drawn), name in zip(looks, known, strict=True)}
        self._close = CloseNames(known)

    def add(self, name: str) -> None:
        """Know one more name, unless one that looks alike is known."""
        self._close.add(name)
        bare, drawn = self._forms.look(name)
        self._by_skeleton.setdefault(bare, name)
        self._by_shape.setdefault(drawn, name)

    def twin(self, name: str) -> str | None:
        """The known name that looks like this one, if there is one."""
        bare, drawn = self._forms.look(name)
        return self._by_skeleton.get(bare) or self._by_shape.get(drawn)

    def double(self, name: str) -> str | None:
        """The known name that looks like this one, where they differ in more than case, spaces and hyphens."""
        twin = self.twin(name)
        return twin if twin is not None and words_joined(twin) != words_joined(name) else None

    def of(self, name: str) -> list[str]:
        """The nearest known names, at most three, nearest first."""
        same = self.twin(name)
        close = self._close.of(name, n=3, cutoff=0.85)
        return close if same is None or same in close else [same, *close][:3]


def cut_apart(names: Sequence[str], most: int = 32) -> list[str]:
    """Names that fit into a narrow column and still differ: longer ones lose their middle.

    Where all names begin alike and some are too long, the long ones lose that beginning first. Names that would then
    look the same stay whole.

    Args:
        names: those that are shown together.
        most: characters of the shortened ones.
    """
    if all(len(name) <= most for name in names):
        return list(names)
    common = os.path.commonprefix(list(names)) if len(names) > 1 else ""  # noqa: RUF071 -- letter by letter
    start = max((k + 1 for k, letter in enumerate(common) if letter in "-_/ :"), default=0)
    start = start if start >= MIN_PREFIX else 0
    cut = []
    for name in names:
        rest = f"…{name[start:]}" if len(name) > most and start else name
        tail = (most - 1) // 2
        cut.append(rest if len(rest) <= most else f"{rest[: most - 1 - tail]}…{rest[-tail:]}")
    n_alike = Counter(cut)
    return [short if n_alike[short] == 1 else name for short, name in zip(cut, names, strict=True)]
