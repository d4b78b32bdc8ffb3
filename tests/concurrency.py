"""Doing several things at the very same time, each thread with a database connection of its own."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections, transaction


def at_once(functions: Sequence[Callable[[], Any]], *, seconds: float = 60) -> list[Any]:
    """Call every function in a thread of its own, all starting together; what each returned, or the error it raised."""
    outcomes: list[Any] = [None] * len(functions)
    barrier = threading.Barrier(len(functions))

    def run(place: int) -> None:
        try:
            barrier.wait(timeout=seconds)
            outcomes[place] = functions[place]()
        except Exception as error:  # noqa: BLE001 -- the caller sees it
            outcomes[place] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(place,), daemon=True) for place in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=seconds)
    assert not any(thread.is_alive() for thread in threads), f"not done after {seconds} s: {outcomes}"
    return outcomes


def before_it_ends(first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
    """Call `first` in a transaction, and `second` before that is committed; what each returned, or the error it raised.

    The transaction waits a moment for `second`, which is over by then where nothing keeps the two apart.
    """
    is_done, is_over = threading.Event(), threading.Event()

    def do_first() -> Any:
        with transaction.atomic():
            outcome = first()
            is_done.set()
            is_over.wait(0.3)
        return outcome

    def do_second() -> Any:
        is_done.wait(30)
        try:
            return second()
        finally:
            is_over.set()

    return at_once([do_first, do_second])
