"""How the tests are divided among the processes of pytest-xdist: a file at a time, and what must be alone as one.

A worker has a folder, a database and a Redis of its own (`config/settings/tests.py`); ports are free ones.
"""

import os

from xdist.scheduler import LoadScopeScheduling

TOGETHER = {
    "tests/browser/test_every_page.py": "as long as all others of its folder",
    "tests/browser/": "one site and one browser for all of them",
    "tests/cost/": "they measure what a running site takes",
    "tests/faults/": "they starve a running site",
}
WAITING = 2  # processes more than processors: tests that wait for other processes leave these room


def n_processes() -> int:
    """How many processes `make test` has: each takes some 1.3 GB."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return usable + WAITING


class FileByFile(LoadScopeScheduling):
    """Gives each worker a file of tests at a time, and what is named above whole."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """What a test is given to a worker with: the first of `TOGETHER` that it is in, or its file."""
    file = nodeid.partition("::")[0]
    return next((unit for unit in TOGETHER if file.startswith(unit)), file)
