"""The cache inside one process, against a list of what was asked for last."""

import random
from functools import partial

from leaderboard.common.cache import BoundedCache


def test_it_holds_what_was_asked_for_last_as_far_as_it_fits():
    cache, held = BoundedCache(10), {}  # sizes by key, what was asked for last at the end
    draw = random.Random(1)
    for _ in range(2_000):
        key, size, is_current = draw.randrange(8), draw.randrange(12), draw.random() < 0.8
        kept = held.pop(key, None)
        if kept is not None:
            held[key] = kept
        value = cache.get_or_make(key, partial(int, size), int, lambda _, answer=is_current: answer)
        if kept is not None and is_current:
            assert value == kept
            continue
        assert value == size
        if size <= 10:
            held.pop(key, None)
            held[key] = size
            while sum(held.values()) > 10:
                held.pop(next(iter(held)))
        assert (len(cache), cache.n_bytes) == (len(held), sum(held.values()))
    cache.clear()
    assert (len(cache), cache.n_bytes) == (0, 0)
