"""Doing several things at the very same time, each thread with a database connection of its own."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections


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
