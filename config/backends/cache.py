"""The caches, which count how often they knew an answer.

Without the one in Redis the site goes on: what is not to be had is computed again.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

from config.monitoring.meters import count_cache_read

logger = logging.getLogger(__name__)
_NOTHING = object()
REST_SECONDS = 5.0  # a Redis that did not answer is not asked again for so long
SKEW_SECONDS = 60  # by which the clocks of the machines may differ


class Taken(NamedTuple):
    """Whether there was room for one more within a time, how many count now, and for how long the first does."""

    is_allowed: bool
    n: int
    seconds: float


class CountedMemoryCache(LocMemCache):
    """The cache of a site of one web process, in its memory."""

    _taking = Lock()

    def take(self, key: str, most: int, seconds: int) -> Taken:
        """Count one more where fewer than `most` were counted in the last `seconds`, in one step: at the same moment
        no one else counts.
        """
        with CountedMemoryCache._taking:
            now = time.time()
            times = [at for at in super().get(key, []) if now - seconds < at <= now + SKEW_SECONDS]
            if is_allowed := len(times) < most:
                times.append(now)
                self.set(key, times, seconds)
        return Taken(is_allowed, len(times), times[0] + seconds - now if times else seconds)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:  # noqa: ANN401
        """The value, or `default`."""
        value = super().get(key, _NOTHING, version)
        count_cache_read(is_hit=value is not _NOTHING)
        return default if value is _NOTHING else value


# Times that count are a list, the oldest first; those far ahead are of a clock that was wrong. Redis runs a script as
# one step.
TAKE = """
local first = redis.call('LINDEX', KEYS[1], 0)
while first and (tonumber(first) <= ARGV[3] - ARGV[2] or tonumber(first) > ARGV[3] + ARGV[4]) do
  redis.call('LPOP', KEYS[1])
  first = redis.call('LINDEX', KEYS[1], 0)
end
local n, is_allowed = redis.call('LLEN', KEYS[1]), 0
if n < tonumber(ARGV[1]) then
  redis.call('RPUSH', KEYS[1], ARGV[3])
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  n, is_allowed = n + 1, 1
end
return {is_allowed, n, first or ARGV[3]}
"""


class CountingRedisCache(RedisCache):
    """The cache of a site of several web processes, in Redis."""

    def take(self, key: str, most: int, seconds: int) -> Taken:
        """As that of `CountedMemoryCache`, for all processes together."""
        script = self._cache.get_client(key, write=True).register_script(TAKE)
        now = time.time()
        is_allowed, n, first_at = script([self.make_and_validate_key(key)], [most, seconds, repr(now), SKEW_SECONDS])
        return Taken(bool(is_allowed), n, float(first_at) + seconds - now)


class ForgivingRedisCache(CountingRedisCache):
    """While Redis is away nothing is found and nothing is kept; no request fails for it.

    Limits of the API that are counted here then hold no one back. Those of guessing count in the database.
    """

    _rests_until = 0.0  # of the whole process: one Redis

    def _tried(self, name: str, otherwise: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if time.monotonic() < ForgivingRedisCache._rests_until:
            return otherwise
        from redis.exceptions import RedisError  # noqa: PLC0415 -- slow import, in vain where no Redis is

        try:
            return getattr(super(), name)(*args, **kwargs)
        except (RedisError, OSError) as error:
            ForgivingRedisCache._rests_until = time.monotonic() + REST_SECONDS
            logger.warning("the cache did not answer and is not used for %g s: %s", REST_SECONDS, error)
            return otherwise

    def take(self, key: str, most: int, seconds: int) -> Taken:
        """Whether there was room for one more; while Redis is away there always is."""
        return Taken(*self._tried("take", (True, 1, seconds), key, most, seconds))

    def add(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it was not there; True while Redis is away, so that anyone who adds a lock goes on."""
        return bool(self._tried("add", True, *args, **kwargs))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:  # noqa: ANN401
        """The number that is there and `delta`, in one step; `delta` while Redis is away."""
        return int(self._tried("incr", delta, key, delta, version))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:  # noqa: ANN401
        """The value, or `default`."""
        value = self._tried("get", _NOTHING, key, _NOTHING, version)
        count_cache_read(is_hit=value is not _NOTHING)
        return default if value is _NOTHING else value

    def set(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Keep a value, if that is possible."""
        self._tried("set", None, *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it is there and lives longer."""
        return bool(self._tried("touch", False, *args, **kwargs))

    def delete(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it was there."""
        return bool(self._tried("delete", False, *args, **kwargs))

    def get_many(self, keys: Iterable[Any], version: int | None = None) -> dict[Any, Any]:
        """Those that are there."""
        keys = list(keys)
        values = dict(self._tried("get_many", {}, keys, version))
        count_cache_read(is_hit=True, n=len(values))
        count_cache_read(is_hit=False, n=len(keys) - len(values))
        return values

    def set_many(self, data: Mapping[Any, Any], *args: Any, **kwargs: Any) -> list[Any]:  # noqa: ANN401
        """Keep several; the keys of those that were not kept."""
        return list(self._tried("set_many", list(data), data, *args, **kwargs))

    def has_key(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it is there."""
        return bool(self._tried("has_key", False, *args, **kwargs))

    def clear(self) -> None:
        """Forget everything."""
        self._tried("clear", None)
