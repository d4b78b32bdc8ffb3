"""The cache in Redis, without which the site goes on: what is not to be had is computed again."""

import logging
import time
from collections.abc import Mapping
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
REST_SECONDS = 5.0  # a Redis that did not answer is not asked again for so long


class ForgivingRedisCache(RedisCache):
    """While Redis is away nothing is found and nothing is kept; no request fails for it.

    Limits of the API that are counted here then hold nobody back. Those of guessing count in the database.
    """

    _rests_until = 0.0  # of the whole process: one Redis

    def _tried(self, name: str, otherwise: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if time.monotonic() < ForgivingRedisCache._rests_until:
            return otherwise
        try:
            return getattr(super(), name)(*args, **kwargs)
        except (RedisError, OSError) as error:
            ForgivingRedisCache._rests_until = time.monotonic() + REST_SECONDS
            logger.warning("the cache did not answer, and is not asked for %g s: %s", REST_SECONDS, error)
            return otherwise

    def add(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it was not there; True while Redis is away, so that whoever adds a lock goes on."""
        return bool(self._tried("add", True, *args, **kwargs))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:  # noqa: ANN401
        """The value, or `default`."""
        return self._tried("get", default, key, default, version)

    def set(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Keep a value, if that is possible."""
        self._tried("set", None, *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it is there and lives longer."""
        return bool(self._tried("touch", False, *args, **kwargs))

    def delete(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it was there."""
        return bool(self._tried("delete", False, *args, **kwargs))

    def get_many(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:  # noqa: ANN401
        """Those that are there."""
        return dict(self._tried("get_many", {}, *args, **kwargs))

    def set_many(self, data: Mapping[Any, Any], *args: Any, **kwargs: Any) -> list[Any]:  # noqa: ANN401
        """Keep several; the keys of those that were not kept."""
        return list(self._tried("set_many", list(data), data, *args, **kwargs))

    def has_key(self, *args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        """Whether it is there."""
        return bool(self._tried("has_key", False, *args, **kwargs))

    def clear(self) -> None:
        """Forget everything."""
        self._tried("clear", None)
