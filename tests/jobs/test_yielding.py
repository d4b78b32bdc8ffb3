"""Workers for studies leave the processors to pages and boards that need them."""

import os

from jobs.limits import NICE


def niceness(site, name: str) -> list[int]:
    return sorted({os.getpriority(os.PRIO_PROCESS, pid) for pid in site.processes(name)})


def test_a_worker_for_studies_yields_and_one_for_boards_does_not(committed_db, site):
    """Takes about five seconds: two workers start."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    site.start("rankings", "studies")
    site.wait_until(lambda: own + NICE in niceness(site, "studies"), 30, "the process that takes studies yields")
    site.wait_until(lambda: len(site.processes("rankings")) > 1, 30, "the worker for boards has a process that works")
    assert niceness(site, "rankings") == [own]
