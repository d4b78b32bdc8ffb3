"""How much time a computation takes."""

import time

from leaderboard.computing.stopwatch import Stopwatch


def test_waiting_takes_no_processor_time_and_computing_does():
    stopwatch = Stopwatch()
    time.sleep(0.2)
    assert stopwatch.seconds < 0.1
    while stopwatch.seconds < 0.2:
        sum(range(1000))
    assert stopwatch.seconds >= 0.2


def test_no_report_states_another_time(settings):
    """One list shows the seconds of all studies beside each other."""
    clocks = ("perf_counter", "process_time")
    with_clock = {
        path.name
        for folder in ("rankings", "studies", "votes")
        for path in (settings.ROOT / "leaderboard" / folder).rglob("*.py")
        if any(clock in path.read_text(encoding="utf-8") for clock in clocks)
    }
    assert with_clock == set()
