"""A cache inside one process, bounded by the memory that its values take."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class BoundedCache(Generic[V]):
    """The values asked for last, as many as fit. Safe to use from several threads.

    It is for values that are the same for every reader. Where they change, the key must, too, or `is_current` says so.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._held: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = Lock()
        self.n_bytes = 0  # about how much memory the held values take

    def get_or_make(
        self,
        key: Hashable,
        make: Callable[[], V],
        n_bytes: Callable[[V], int],
        is_current: Callable[[V], bool] = lambda _: True,
    ) -> V:
        """The value of `key`, made where none is held that is current.

        Two threads that ask at once may both make it; a value larger than the whole bound is not kept.

        Args:
            key: of the value.
            make: makes it.
            n_bytes: about how much memory it takes.
            is_current: whether a held value is still what `make` would make.
        """
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
        if held is not None and is_current(held[0]):
            return held[0]
        value = make()
        size = n_bytes(value)
        if size > self.most_bytes:
            return value  # it would push all others out, and itself
        with self._lock:
            self.n_bytes += size - self._held.pop(key, (None, 0))[1]
            self._held[key] = (value, size)
            while self.n_bytes > self.most_bytes:
                self.n_bytes -= self._held.popitem(last=False)[1][1]
        return value

    def clear(self) -> None:
        """Forget every value."""
        with self._lock:
            self._held.clear()
            self.n_bytes = 0

    def __len__(self) -> int:
        return len(self._held)
