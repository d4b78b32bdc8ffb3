"""The tests that take a processor longest: `python -m tests.slowest`, with arguments of pytest to choose among them.

Processor time, because the clock says more of what else a machine does. That of processes which a test started counts
where the test, or what it started, waited for their end; a browser's counts for the last test that uses it.
"""

import resource
import sys
from collections.abc import Generator

import pytest

LISTED = 20


class ProcessorTime:
    """A plugin of pytest that measures each test, with the fixtures that it was the first to ask for."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure one test."""
        before = _processor_seconds()
        result = yield
        self.seconds[item.nodeid] = _processor_seconds() - before
        return result


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def table(seconds: dict[str, float], listed: int = LISTED) -> str:
    """The slowest tests as a table of Markdown, and what all of them take.

    Args:
        seconds: processor time by the id of a test.
        listed: how many rows the table has.
    """
    lines = ["| seconds | test |", "|---:|---|"]
    for test, cost in sorted(seconds.items(), key=lambda item: -item[1])[:listed]:
        name, _, case = test.partition("[")
        lines.append(f"| {cost:.1f} | `{name}`{f', {case[:-1]}' if case else ''} |")
    return "\n".join([*lines, "", f"All {len(seconds):,} tests: {sum(seconds.values()):,.0f} s of a processor."])


def main(arguments: list[str]) -> int:
    """Run the tests in this process and print the table."""
    measured = ProcessorTime()
    status = pytest.main(["-q", *arguments], plugins=[measured])
    print(table(measured.seconds))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
