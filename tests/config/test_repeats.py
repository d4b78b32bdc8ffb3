"""An error that comes again and again is logged once with its traceback, and then counted."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config.monitoring.logs import JsonFormatter, LineFormatter
from config.monitoring.repeats import MOST_ERRORS, RepeatedErrors

ROOT = Path(__file__).resolve().parent.parent.parent


class Lines(logging.Handler):
    """What a handler with the filter before it would have written, without the times."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.repeats = RepeatedErrors(3600)  # its own thread says nothing as long as a test runs
        self.minutes = 0
        self.addFilter(self.repeats)
        self.setFormatter(formatter)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))

    def minute_goes_by(self) -> bool:
        self.minutes += 1
        return self.repeats.tell(time.monotonic() + 3601 * self.minutes)


@pytest.fixture
def logged():
    """A logger of its own, with what passes the filter."""
    logger = logging.getLogger("tests.repeats")
    handler = Lines(LineFormatter())
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, handler
    logger.removeHandler(handler)
    logger.propagate = True


def fail(logger: logging.Logger, what: str, error: Exception) -> None:
    try:
        raise error
    except type(error):
        logger.exception("%s failed", what)


def wait_for(condition) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it was never said"
        time.sleep(0.05)


def test_what_the_surroundings_do_is_logged_once_then_counted_and_its_end_is_told(logged):
    logger, handler = logged
    for number in range(200):
        fail(logger, f"step {number}", ConnectionRefusedError("no such server"))
    first = handler.texts.copy()
    assert len(first) == 1
    assert ("step 0 failed" in first[0], "Traceback" in first[0]) == (True, True)
    assert handler.minute_goes_by(), "it may come again"
    assert not handler.minute_goes_by(), "nothing is left to be said"
    counted, ended = (text.split(": ", 1)[1] for text in handler.texts[1:])
    error = r"step 199 failed: ConnectionRefusedError: no such server "
    assert re.fullmatch(error + r"\[200 times within \d+ seconds?, and goes on\]", counted)
    assert re.fullmatch(error + r"\[it has ended: 200 times within \d+ seconds?\]", ended)
    fail(logger, "step", ConnectionRefusedError("no such server"))
    assert "Traceback" in handler.texts[3], "what ended and comes again is logged whole again"


def test_an_error_that_came_once_is_told_of_once(logged):
    logger, handler = logged
    fail(logger, "step", ConnectionRefusedError("no such server"))
    assert (handler.minute_goes_by(), len(handler.texts)) == (False, 1)


def test_errors_of_the_program_are_told_apart_by_what_they_say(logged):
    logger, handler = logged
    for number in (1, 2, 1):
        fail(logger, f"job {number}", ValueError("wrong"))
    fail(logger, "job 1", KeyError("wrong"))
    assert [text.split("\n")[0].split(": ")[1] for text in handler.texts] == [
        "job 1 failed", "job 2 failed", "job 1 failed"
    ]  # fmt: skip


def test_what_is_no_error_and_what_is_about_one_request_always_passes(logged):
    logger, handler = logged
    for _ in range(3):
        logger.info("a job is done")
        logger.warning("Not Found: home", extra={"status_code": 404})
        logger.error("Service Unavailable: board", extra={"status_code": 503})
        logger.warning("the broker does not answer")
    texts = [text.split(": ", 1)[1] for text in handler.texts]
    assert sorted(texts) == sorted(
        3 * ["a job is done", "Not Found: home"] + ["Service Unavailable: board", "the broker does not answer"]
    )


def test_no_more_than_so_many_errors_are_remembered(logged):
    logger, handler = logged
    for number in range(3 * MOST_ERRORS):
        logger.warning("number %s", number)
    assert (len(handler.texts), len(handler.repeats._known)) == (3 * MOST_ERRORS, MOST_ERRORS)


def test_programs_read_the_count_as_a_number(logged):
    logger, handler = logged
    handler.setFormatter(JsonFormatter())
    for _ in range(3):
        fail(logger, "step", TimeoutError("too long"))
    handler.minute_goes_by(), handler.minute_goes_by()
    lines = [json.loads(text) for text in handler.texts]
    assert [(line.get("repeats"), "error" in line) for line in lines] == [(None, True), (3, False), (3, False)]


def test_a_child_process_tells_of_its_own_errors(logged):
    logger, handler = logged
    fail(logger, "step", TimeoutError("too long"))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        fail(logger, "step", TimeoutError("too long"))
        fail(logger, "step", TimeoutError("too long"))
        os.write(writing, str(len(handler.texts)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 10) == b"2", "the one that it inherited, and the first of its own two"


def test_the_line_of_a_minute_comes_by_itself():
    logger = logging.getLogger("tests.repeats.thread")
    handler = Lines(LineFormatter())
    handler.repeats.every_seconds = 0.1
    logger.addHandler(handler)
    for _ in range(2):
        fail(logger, "step", TimeoutError("too long"))
    wait_for(lambda: any("it has ended: 2 times" in text for text in handler.texts))
    wait_for(lambda: handler.repeats._teller is None)


def test_a_sweep_whose_database_is_away_writes_a_bounded_number_of_lines(tmp_path):
    environment = os.environ | {
        "PLURANK_VAR": str(tmp_path), "DATABASE_URL": "postgres://nobody@127.0.0.1:9/none", "REDIS_URL": "",
        "PLURANK_SECRET_KEY": "x" * 50,
    }  # fmt: skip
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    log = tmp_path / "log"
    with log.open("wb") as stream:
        command = [sys.executable, "manage.py", "sweep", "--every", "0.02"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stream, stderr=stream)
    try:
        wait_for(lambda: b"Traceback" in log.read_bytes())
        time.sleep(8)  # some hundred attempts
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    finally:
        process.kill()
    text = log.read_text()
    # One traceback each of the few ways in which it fails.
    assert 1 <= text.count("Traceback (most recent call last)") <= 16
    assert len(text.splitlines()) <= 800
