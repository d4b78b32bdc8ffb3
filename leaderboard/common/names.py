"""Keys for names, and names that look alike. `ranking_engine.text.names` says what a name may be."""

from collections.abc import Container, Sequence

from django.utils.text import slugify

from leaderboard.models.benchmarks import KEY_LENGTH
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.confusables import shape, skeleton, words_joined
from ranking_engine.text.names import fold_name

UNNAMED = "unnamed"  # the slug of a name without ASCII letters and digits
LOOK_ALIKE = "differ in nothing but case, spaces, hyphens or signs that look alike"


def make_key(name: str, taken: Container[str]) -> str:
    """A key for `name` that is not in `taken`: its ASCII slug, numbered from 2 where the slug is taken."""
    words = slugify(name).replace("_", "-").split("-")
    slug = "-".join(word for word in words if word)[: KEY_LENGTH - 6].strip("-") or UNNAMED
    key, number = slug, 2
    while key in taken:
        key, number = f"{slug}-{number}", number + 1
    return key


def is_called(text: str, name: str, key: str = "") -> bool:
    """Whether the name or the key of a system has `text` in it, in any case: what `q` asks on pages and of the API."""
    return fold_name(text) in fold_name(name) or text.strip().casefold() in key


class NearMisses:
    """Known names that a name may be a slip of the pen for.

    Names that look alike are always found, by what they have in common. Close ones are a suggestion, and there are none
    where finding them would take too long (`CloseNames`).

    Args:
        known: the names there are.
    """

    def __init__(self, known: Sequence[str]) -> None:
        self._by_skeleton = {skeleton(name): name for name in known}
        self._by_shape = {shape(name): name for name in known}
        self._close = CloseNames(known)

    def add(self, name: str) -> None:
        """Know one more name, unless one that looks alike is known."""
        self._close.add(name)
        self._by_skeleton.setdefault(skeleton(name), name)
        self._by_shape.setdefault(shape(name), name)

    def twin(self, name: str) -> str | None:
        """The known name that looks like this one, if there is one."""
        return self._by_skeleton.get(skeleton(name)) or self._by_shape.get(shape(name))

    def double(self, name: str) -> str | None:
        """The known name that looks like this one, where they differ in more than case, spaces and hyphens."""
        twin = self.twin(name)
        return twin if twin is not None and words_joined(twin) != words_joined(name) else None

    def of(self, name: str) -> list[str]:
        """The nearest known names, at most three, nearest first."""
        same = self.twin(name)
        close = self._close.of(name, n=3, cutoff=0.85)
        return close if same is None or same in close else [same, *close][:3]
