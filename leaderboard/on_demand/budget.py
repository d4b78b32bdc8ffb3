"""Computations for a waiting reader: in a child process, within a budget, for those who have permission.

Everything that is not stored comes through `compute`. It counts the request against its reader's rate, waits for a turn
among the few children of this process, and ends what takes too long or is not waited for any more.
"""

import atexit
import hashlib
import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import uuid4

from django.conf import settings
from django.core.cache import cache
from django.utils.translation import get_language, gettext, gettext_noop

from leaderboard.common.language.numbers import localise
from leaderboard.computing.pool import (
    AbandonedError,
    Limits,
    NoTurnError,
    OutOfMemoryError,
    OutOfTimeError,
    Pool,
)
from leaderboard.computing.rankings import MajorityFacts, Outcomes, board_in_turn
from ranking_engine import ScoreMatrix
from ranking_engine.core.aggregation import weight_bits

T = TypeVar("T")
logger = logging.getLogger(__name__)

RETRY_SECONDS = 5  # after which anyone who found no turn may try again
KEPT_SECONDS = 3600  # how long an answer is kept
PARTLY_KEPT_SECONDS = 60  # how long one is kept from which rules are missing: at a quieter time they may be there
FEW_STEPS = 500_000  # comparisons that take some ten milliseconds at most, each of numpy's a few nanoseconds
LONG_STEPS = 30  # what a comparison counts for where numpy has no integers of its length, for every 53 bits
ANSWER_BYTES = 2**20  # a larger answer is not kept
COMMAND_LINE = gettext_noop(
    "Download the scores and use the command line, python -m ranking_engine, which has no limit."
)


class BusyError(Exception):
    """So much is being computed for others that this could not begin; the same again may go through in a moment."""


class TooOftenError(Exception):
    """This reader had too much computed of late; `seconds` until they may ask again."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(
            gettext("You, or someone at your IP address, asked for too many computations. Try again in %(n)s seconds.")
            % {"n": seconds}
        )


class TooLargeError(ValueError):
    """What a reader asked for exceeds the budget of an answer on demand."""


class TookTooLongError(TooLargeError):
    """What a reader asked for was begun and not finished within its seconds."""


@dataclass
class Reader:
    """Who waits for what a request has computed.

    Attributes:
        may_ask: counts the request; the seconds to wait where this reader asked too often of late, else 0.
        is_gone: whether the client has hung up.
        seconds: of computing that are left to the request.
        is_counted: whether the request was counted already.
    """

    may_ask: Callable[[], int]
    is_gone: Callable[[], bool]
    seconds: float
    is_counted: bool = False

    def count(self) -> None:
        """Count the request, once.

        Raises:
            TooOftenError: this reader asked too often of late.
        """
        if not self.is_counted:
            self.is_counted = True
            if seconds := self.may_ask():
                raise TooOftenError(seconds)


_reader: ContextVar[Reader | None] = ContextVar("reader", default=None)
_pool: Pool | None = None
_pool_lock = threading.Lock()


@contextmanager
def asked_by(reader: Reader) -> Iterator[None]:
    """What is computed within was asked for by this reader."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def reader_now() -> Reader | None:
    """Who waits; None outside of a request."""
    return _reader.get()


def count_request() -> None:
    """Count what is asked for and not stored, whether it is computed now or was for someone else a moment ago.

    Raises:
        TooOftenError: this reader asked too often of late.
    """
    if reader := _reader.get():
        reader.count()


def children() -> Pool:
    """The child processes of this process, as many and as large as the settings say."""
    global _pool  # noqa: PLW0603 -- one for the process
    limits = Limits(
        n_children=settings.ON_DEMAND_CHILDREN,
        n_waiting=settings.ON_DEMAND_WAITING,
        patience=settings.ON_DEMAND_PATIENCE_SECONDS,
        seconds=settings.ON_DEMAND_SECONDS,
        memory_bytes=settings.ON_DEMAND_MEMORY_BYTES,
    )
    with _pool_lock:
        if _pool is None or _pool.limits != limits:
            if _pool is not None:
                _pool.stop()
            _pool = Pool(limits)
            atexit.register(_pool.stop)
        return _pool


def compute(
    function: Callable[..., Any],
    *arguments: object,
    on_part: Callable[[Any], None] | None = None,
    keywords: Mapping[str, object] | None = None,
    n_steps: int | None = None,
) -> Any:  # noqa: ANN401 -- what the function returns
    """Run a function of the engine, or of `leaderboard.computing`, in a child process.

    What is known to take no more than a few milliseconds is run here, and not counted.

    Args:
        function: at the top of its module.
        arguments: its own; checked already, as far as they come from outside.
        on_part: takes each value that the function yields.
        keywords: further arguments, by name.
        n_steps: how many comparisons of two scores it makes at most, where that is known beforehand; those of weights
            that are longer than 53 bits count for as many as they take.

    Raises:
        TooOftenError: this reader had too much computed of late.
        BusyError: too much is being computed for others.
        TookTooLongError: the seconds of the request are used up.
        TooLargeError: it needs more memory than there is for it.
        AbandonedError: the client has hung up.
        Exception: whatever the function raised.
    """
    if n_steps is not None and n_steps <= FEW_STEPS:
        return function(*arguments, **(keywords or {}))
    reader = _reader.get()
    seconds = float(settings.ON_DEMAND_SECONDS)
    if reader is not None:
        reader.count()
        seconds = min(seconds, reader.seconds)
    started = time.monotonic()
    try:
        return children().run(
            function,
            *arguments,
            keywords=keywords or {},
            on_part=on_part,
            is_abandoned=reader.is_gone if reader else lambda: False,
            seconds=seconds,
        )
    except NoTurnError as error:
        raise BusyError from error
    except OutOfTimeError as error:
        raise TookTooLongError(
            gettext("This took longer than the %(n)s seconds allowed for an answer on demand. %(command_line)s")
            % {"n": settings.ON_DEMAND_SECONDS, "command_line": gettext(COMMAND_LINE)}
        ) from error
    except OutOfMemoryError as error:
        logger.warning("a computation on demand ended without an answer: %s", error)
        raise TooLargeError(
            gettext("This needs more memory than the %(n)s MB allowed for an answer on demand. %(command_line)s")
            % {"n": settings.ON_DEMAND_MEMORY_BYTES // 2**20, "command_line": gettext(COMMAND_LINE)}
        ) from error
    finally:
        if reader is not None:
            reader.seconds -= time.monotonic() - started


@dataclass
class RankedInTime:
    """What a board is made of, as far as it was done in time.

    Attributes:
        outcomes: by rule, its ranking or the exception that it raised.
        majority: the Condorcet winner and the Smith set.
        too_long: the rules that were not done in time.
    """

    outcomes: Outcomes = field(default_factory=dict)
    majority: MajorityFacts | None = None
    too_long: list[str] = field(default_factory=list)


def n_comparisons(matrix: ScoreMatrix, n_rows: int) -> int:
    """How many steps it takes to compare some systems with all the others on every task, for `compute`."""
    bits = weight_bits(matrix, "basic")
    return n_rows * matrix.n_systems * matrix.n_tasks * (1 if bits <= 53 else LONG_STEPS * -(-bits // 53))


def rank_in_time(
    matrix: ScoreMatrix, missing: str, aggregation: str, rules: Sequence[str], ties: str = ""
) -> RankedInTime:
    """Rank a matrix under some rules; those that are not done in time are left out.

    Args:
        matrix: what is ranked.
        missing: the missing-score policy.
        aggregation: how tasks and groups count together.
        rules: keys of RULES.
        ties: the convention for ties within a task; each rule's own where empty.

    Raises:
        TookTooLongError: not one rule was done in time.
        TooLargeError, BusyError, TooOftenError, AbandonedError: as `compute` and `refuse_beyond_budget`.
    """
    refuse_beyond_budget(matrix.n_systems, matrix.n_tasks, len(rules), bits=weight_bits(matrix, aggregation))
    ranked = RankedInTime()

    def take(part: MajorityFacts | Outcomes) -> None:
        if isinstance(part, dict):
            ranked.outcomes |= part
        else:
            ranked.majority = part

    try:
        settings_of_board = (str(missing), str(aggregation))  # a child knows no choices of our models
        compute(board_in_turn, matrix, *settings_of_board, list(rules), ties or None, on_part=take)
    except TooLargeError:  # no time or no memory is left: what is there counts
        if ranked.majority is None or not ranked.outcomes:
            raise
    ranked.outcomes = {rule: ranked.outcomes[rule] for rule in rules if rule in ranked.outcomes}
    ranked.too_long = [rule for rule in rules if rule not in ranked.outcomes]
    return ranked


def too_long_reason() -> str:
    """Why a rule has no ranking that was not done in time."""
    return f"It takes more time or memory than allowed for an answer on demand: {settings.ON_DEMAND_SECONDS} seconds."


def refuse_beyond_budget(n_systems: int, n_tasks: int, n_rules: int = 1, *, bits: int = 0, times: int = 1) -> None:
    """Refuse what is too large before anything is computed.

    Args:
        n_systems, n_tasks: of the table.
        n_rules: under how many rules it is ranked.
        bits: of the sum of the weights over their common denominator; beyond 53 every step takes several.
        times: how often it is ranked.

    Raises:
        TooLargeError: the product is beyond the budget.
    """
    size = n_systems * n_tasks * n_rules * times * max(1, -(-bits // 53))
    if size > settings.ON_DEMAND_BUDGET:
        factors = [
            gettext("%(n)s systems") % {"n": localise(n_systems, ",")},
            gettext("%(n)s tasks") % {"n": localise(n_tasks, ",")},
        ]
        factors += [gettext("%(n)s rules") % {"n": n_rules}] * (n_rules > 1)
        factors += [gettext("%(n)s rankings") % {"n": times}] * (times > 1)
        factors += [gettext("%(n)s words per weight") % {"n": -(-bits // 53)}] * (bits > 53)
        raise TooLargeError(
            gettext("This is %(product)s = %(size)s; up to %(most)s can be computed on demand. %(command_line)s")
            % {
                "product": " x ".join(factors),
                "size": localise(size, ","),
                "most": localise(settings.ON_DEMAND_BUDGET, ","),
                "command_line": gettext(COMMAND_LINE),
            }
        )


def single_flight(key: str, make: Callable[[], T], kept_seconds: Callable[[T], int] = lambda _: KEPT_SECONDS) -> T:
    """An answer from the cache, or made once while others wait for it a little.

    Anyone who waited in vain makes it for themselves: a reader gets an answer even where the first one died. A mark in
    the cache says that someone makes it, and only who set it removes it: the mark of another says that they still do.

    Args:
        key: of the answer.
        make: makes it.
        kept_seconds: how long an answer is kept.

    Raises:
        BusyError: too many wait already.
    """
    key = f"on-demand:{hashlib.sha256(f'{get_language()} {key}'.encode()).hexdigest()}"
    flight, own_mark = f"{key}:flight", uuid4().hex
    answer = _ask_cache(lambda: cache.get(key), None)
    if answer is not None:
        return answer
    if not _ask_cache(lambda: cache.add(flight, own_mark, 2 * settings.ON_DEMAND_SECONDS), otherwise=True):
        answer = _answer_of_another(key, flight, own_mark)
        if answer is not None:
            return answer
    try:
        answer = make()
        if len(pickle.dumps(answer)) <= ANSWER_BYTES:
            _ask_cache(lambda: cache.set(key, answer, kept_seconds(answer)), None)
    finally:
        if _ask_cache(lambda: cache.get(flight), None) == own_mark:
            _ask_cache(lambda: cache.delete(flight), otherwise=False)
    return answer


def _answer_of_another(key: str, flight: str, own_mark: str) -> Any:  # noqa: ANN401 -- what is kept under the key
    """What another request makes at this moment; None where it was not made in time.

    Where that request ended without an answer, `own_mark` is set in place of its mark.
    """
    reader = _reader.get()
    patience = time.monotonic() + settings.ON_DEMAND_SECONDS
    try:
        with children().waiting():
            while time.monotonic() < patience:
                answer = _ask_cache(lambda: cache.get(key), None)
                if answer is not None:
                    return answer
                if _ask_cache(lambda: cache.add(flight, own_mark, 2 * settings.ON_DEMAND_SECONDS), otherwise=True):
                    return None  # the other one is done, and left no answer
                if reader is not None and reader.is_gone():
                    raise AbandonedError
                time.sleep(0.05)
    except NoTurnError as error:
        raise BusyError from error
    return None


def _ask_cache(ask: Callable[[], Any], otherwise: Any) -> Any:  # noqa: ANN401
    """What the cache says; `otherwise` where it is out of reach, for which no reader should go without an answer."""
    try:
        return ask()
    except Exception:
        logger.warning("the cache is out of reach", exc_info=True)
        return otherwise
