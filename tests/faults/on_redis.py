"""What may happen to Redis; see `on_processes` for what a fault is."""

import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import redis

from tests.faults.services import ServedMachine


def client(machine: ServedMachine) -> redis.Redis:
    """A client of the machine's Redis."""
    return redis.Redis(port=machine.ports["redis"], socket_timeout=5)


def flush_redis(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Redis forgets everything."""
    with suppress(redis.RedisError), client(machine) as own:
        return bool(own.flushall())
    return False


def restart_redis(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Redis is killed, away for a while, mostly seconds, and comes back empty."""
    with redis_away(machine):
        time.sleep(min(60.0, draw.expovariate(1 / 3)))
    return True


def lose_redis_for_a_minute(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Redis is out of reach for longer than any message lives."""
    with redis_away(machine):
        time.sleep(65)
    return True


@contextmanager
def redis_away(machine: ServedMachine) -> Iterator[None]:
    """Redis is killed, and comes back empty."""
    with machine.locks["broker"]:
        machine.kill("redis")
        try:
            yield
        finally:
            machine.start_redis()


def stall_redis(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Redis stops for a while: connections stay open, and nobody answers."""
    return stall_redis_for(machine, draw.uniform(1, 15))


def stall_redis_for(machine: ServedMachine, seconds: float) -> bool:
    """Let Redis stop for so long."""
    with machine.locks["broker"]:
        machine.signal("redis", signal.SIGSTOP)
        time.sleep(seconds)
        machine.signal("redis", signal.SIGCONT)
    return True


def fill_redis(machine: ServedMachine, draw: random.Random, key: str) -> bool:
    """Redis is at its limit of memory, with nothing that it may forget, for a while."""
    return fill_redis_for(machine, draw.uniform(3, 15))


def fill_redis_for(machine: ServedMachine, seconds: float) -> bool:
    """Write what does not expire until Redis takes no more, and delete it after so long."""
    with machine.locks["broker"], suppress(redis.RedisError), client(machine) as own:
        n_written = 0
        with suppress(redis.exceptions.OutOfMemoryError):
            while True:
                for size in (2**20, 2**10):
                    own.set(f"filler {n_written}", bytes(size))
                    n_written += 1
        time.sleep(seconds)
        own.delete(*(f"filler {n}" for n in range(n_written)))
        return n_written > 0
    return False
