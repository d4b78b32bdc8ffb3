"""Which faults strike which machine, how often each is drawn, and drawing them."""

import random
from collections.abc import Callable
from typing import Any

from tests.faults.on_postgresql import (
    drop_connections,
    fill_disk,
    hang_connections,
    kill_backend,
    lock_row,
    make_deadlocks,
    make_read_only,
    restart_pgbouncer,
    restart_postgresql,
    stall_postgresql,
    take_connections,
)
from tests.faults.on_processes import (
    deliver_often,
    give_one_job_to_two,
    jump_clock,
    kill_running_process,
    kill_supervisor,
    kill_sweep,
    kill_web,
    kill_worker,
    run_older_host,
    stall_sweep,
    stall_worker,
    stop_as_systemd,
)
from tests.faults.on_redis import fill_redis, flush_redis, lose_redis_for_a_minute, restart_redis, stall_redis
from tests.faults.on_sqlite import (
    fill_folder,
    garble_messages,
    keep_write_lock,
    kill_all,
    lose_messages,
    replace_messages_by_file,
)

Fault = Callable[[Any, random.Random, str], bool]  # machine, dice, benchmark's key: whether it struck

# How often each is drawn. Starting a process costs seconds of two processors, so those that start many are rarer.
ON_PROCESSES: dict[Fault, int] = {
    kill_worker: 3,
    kill_running_process: 5,
    kill_web: 2,
    kill_sweep: 2,
    kill_supervisor: 1,
    stall_worker: 2,
    stall_sweep: 2,
    stop_as_systemd: 3,
    deliver_often: 3,
    give_one_job_to_two: 3,
    jump_clock: 1,
}
ON_REDIS: dict[Fault, int] = {flush_redis: 2, restart_redis: 3, stall_redis: 3, fill_redis: 2}
ON_POSTGRESQL: dict[Fault, int] = {
    restart_postgresql: 3,
    kill_backend: 2,
    drop_connections: 2,
    stall_postgresql: 3,
    fill_disk: 3,
    make_read_only: 2,
    take_connections: 2,
    lock_row: 3,
    make_deadlocks: 3,
    run_older_host: 1,
}
ON_SQLITE: dict[Fault, int] = {
    keep_write_lock: 4,
    fill_folder: 4,
    replace_messages_by_file: 4,
    lose_messages: 3,
    garble_messages: 3,
    kill_all: 2,
}
FAULTS: dict[str, dict[Fault, int]] = {
    "postgresql": ON_PROCESSES | ON_REDIS | ON_POSTGRESQL | {hang_connections: 3},
    "pooled": ON_PROCESSES | ON_REDIS | ON_POSTGRESQL | {restart_pgbouncer: 5},
    "sqlite": ON_PROCESSES | ON_SQLITE,
}
# What a few schedules that must be through soon leave out: it takes longest itself, or what follows it does.
SLOW = {stall_worker, run_older_host, kill_supervisor, kill_all, keep_write_lock, stall_postgresql, hang_connections}
BY_NAME: dict[str, Fault] = {
    fault.__name__: fault for faults in FAULTS.values() for fault in [*faults, lose_redis_for_a_minute]
}


def draw_faults(draw: random.Random, number: int, stack: str, *, is_short: bool = False) -> list[Fault]:
    """So many different ones of those that strike this kind of machine."""
    left = {fault: n for fault, n in FAULTS[stack].items() if not (is_short and fault in SLOW)}
    drawn: list[Fault] = []
    for _ in range(number):
        drawn += draw.choices(list(left), list(left.values()))
        del left[drawn[-1]]
    return drawn
