"""Child processes: they answer as the function does, and end with their seconds, their memory or their parent."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from leaderboard.computing.pool import (
    ROOT,
    AbandonedError,
    Limits,
    NoTurnError,
    OutOfMemoryError,
    OutOfTimeError,
    Pool,
)
from leaderboard.computing.rankings import board_in_turn, majority_facts, split_rules
from ranking_engine import Pairwise, ScoreMatrix, rank_all

SMALL = ScoreMatrix([[3.0, 1.0], [2.0, 2.0], [1.0, float("nan")]])
LIMITS = Limits(n_children=2, n_waiting=1, patience=0.2, seconds=30, memory_bytes=256 * 2**20)


def long_matrix() -> ScoreMatrix:
    """One for which Bradley-Terry in two steps takes the best part of a minute, also on a fast machine."""
    values = np.random.default_rng(1).integers(0, 1000, (900, 999))
    return ScoreMatrix(values, groups=[f"g{t // 3}" for t in range(999)])


def long_call(pool: Pool, **options):
    return pool.run(rank_all, long_matrix(), ["bradley_terry"], keywords={"aggregation": "two_step"}, **options)


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(LIMITS)
    yield made
    made.stop()


def is_running(pid: int) -> bool:
    try:
        return b"leaderboard.computing.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_child_says_what_the_function_says_and_is_used_again(pool):
    pool.start()
    children = pool.process_ids
    assert len(children) == 2
    for rule in ("borda", "copeland", "mean"):
        outcome, own = pool.run(rank_all, SMALL, [rule])[rule], rank_all(SMALL, [rule])[rule]
        assert np.array_equal(outcome.scores, own.scores, equal_nan=True)
        assert (outcome.status, outcome.reason, outcome.ranks.tolist()) == (own.status, own.reason, own.ranks.tolist())
    assert pool.process_ids == children
    assert pool.cpu_seconds > 0


def test_parts_come_one_by_one_and_are_the_whole(pool):
    parts = []
    rules = split_rules(3, 2).quick
    assert pool.run(board_in_turn, SMALL, "median", "basic", rules, None, on_part=parts.append) is None
    winner, in_smith_set = majority_facts(SMALL, "basic")
    assert (parts[0][0], parts[0][1].tolist()) == (winner, in_smith_set.tolist())
    ranks = {rule: outcome.ranks.tolist() for part in parts[1:] for rule, outcome in part.items()}
    own = rank_all(SMALL, rules, missing="median")
    assert ranks == {rule: own[rule].ranks.tolist() for rule in rules}


def test_what_a_function_raises_is_raised_here(pool):
    with pytest.raises(ValueError, match="expected one of"):
        pool.run(rank_all, SMALL, ["bordo"])
    assert "borda" in pool.run(rank_all, SMALL, ["borda"])


def test_nothing_but_the_engine_is_run(pool):
    with pytest.raises(ValueError, match="functions of posix are not run here"):
        pool.run(os.getcwd)


def test_a_call_ends_with_its_seconds_and_another_child_takes_its_place(pool):
    pool.start()
    before, began = set(pool.process_ids), pool.cpu_seconds
    with pytest.raises(OutOfTimeError):
        long_call(pool, seconds=0.5)
    assert len(set(pool.process_ids) & before) == 1
    assert len(pool.process_ids) == 2
    assert 0 < pool.cpu_seconds - began < 2
    assert "borda" in pool.run(rank_all, SMALL, ["borda"])


def test_a_call_that_needs_more_memory_than_a_child_may_have_ends_alone(pool):
    many = ScoreMatrix(np.random.default_rng(1).random((12_000, 2)))
    with pytest.raises(OutOfMemoryError):
        pool.run(Pairwise.of, many)
    assert "borda" in pool.run(rank_all, SMALL, ["borda"])


def test_nobody_computes_for_those_who_left(pool):
    pool.start()
    before, end = set(pool.process_ids), time.monotonic() + 0.3
    with pytest.raises(AbandonedError):
        long_call(pool, is_abandoned=lambda: time.monotonic() > end)
    assert len(set(pool.process_ids) & before) == 1


def test_so_many_at_once_one_more_waits_a_little_and_others_are_refused_at_once(pool):
    pool.start()
    is_over = False
    with ThreadPoolExecutor(3) as crowd:
        at_work = [crowd.submit(long_call, pool, is_abandoned=lambda: is_over) for _ in range(2)]
        while len(pool._busy) < 2:
            time.sleep(0.01)
        waiting = crowd.submit(pool.run, rank_all, SMALL, ["borda"])
        while not pool._n_waiting:
            time.sleep(0.01)
        with pytest.raises(NoTurnError):
            pool.run(rank_all, SMALL, ["borda"])
        assert len(pool.process_ids) == 2
        assert isinstance(waiting.exception(), NoTurnError)
        is_over = True
        assert [type(call.exception()) for call in at_work] == [AbandonedError] * 2
    assert (pool._n_taken, pool._n_waiting) == (0, 0)


def test_a_child_that_died_at_rest_is_replaced_without_a_word(pool):
    pool.start()
    for pid in pool.process_ids:
        os.kill(pid, 9)
    while any(child.is_alive for child in pool._idle):
        time.sleep(0.01)
    assert "borda" in pool.run(rank_all, SMALL, ["borda"])


def test_a_child_knows_no_secret_no_django_and_takes_little_memory(pool, monkeypatch):
    monkeypatch.setenv("PLURANK_SECRET_KEY", "a secret")
    monkeypatch.setenv("DATABASE_URL", "sqlite:///nowhere")
    pool.run(rank_all, SMALL, ["borda"])
    (child,) = pool.process_ids
    environment = Path(f"/proc/{child}/environ").read_bytes()
    assert b"PLURANK" not in environment
    assert b"DATABASE" not in environment
    assert pool._idle[0].peak_bytes < 60 * 2**20
    code = "import sys, leaderboard.computing.child as c, leaderboard.computing.tried; print('django' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


CALLER = """
import sys, numpy as np
from leaderboard.computing.pool import Limits, Pool
from tests.leaderboard.computing.test_pool import long_call
pool = Pool(Limits(1, 0, 0.1, 60.0, 2**29))
pool.start()
print(*pool.process_ids, flush=True)
long_call(pool)
"""


def test_no_child_outlives_its_parent_however_that_ends():
    caller = subprocess.Popen([sys.executable, "-c", CALLER], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    child = int(caller.stdout.readline())
    time.sleep(1)
    assert is_running(child)
    caller.kill()
    caller.wait()
    caller.stdout.close()
    end = time.monotonic() + 20
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(child)
