"""The list of the slowest tests, which docs/reliability.md repeats."""

import pytest

from tests.slowest import ProcessorTime, table


def test_the_table_has_the_slowest_first_with_the_case_beside_the_name():
    seconds = {"tests/a.py::test_b": 1.26, "tests/a.py::test_c[x-[y]]": 1200.0, "tests/d.py::test_e": 0.04}
    assert table(seconds, 2).splitlines() == [
        "| seconds | test |",
        "|---:|---|",
        "| 1200.0 | `tests/a.py::test_c`, x-[y] |",
        "| 1.3 | `tests/a.py::test_b` |",
        "",
        "All 3 tests: 1,201 s of a processor.",
    ]


def test_what_a_test_computes_is_counted(request):
    measured = ProcessorTime()
    measuring = measured.pytest_runtest_protocol(request.node)
    next(measuring)
    sum(number * number for number in range(2_000_000))
    with pytest.raises(StopIteration, match="the outcome"):
        measuring.send("the outcome")
    assert measured.seconds[request.node.nodeid] > 0
