"""Logs of children make room while the children run, at the end of a line, and nothing is lost there."""

import sys

from config.processes import rotating_log
from config.processes.rotating_log import CHUNK, KEPT_LOGS, LARGEST_LOG, RotatingLog
from config.processes.supervisor import Supervisor

LINES = 300_000
WRITER = """
import sys, time
for number in range(int(sys.argv[1])):
    print(f"{number:08d} " + "x" * 90)
print("done", flush=True)
time.sleep(60)
"""


def kept(folder, name="web"):
    """What is left, the oldest file first."""
    files = [folder / f"{name}.log.{number}" for number in range(KEPT_LOGS + 1, 0, -1)] + [folder / f"{name}.log"]
    return [file for file in files if file.exists()]


def test_a_child_that_writes_30_mb_leaves_20_and_no_line_is_lost_between_two_files(tmp_path):
    written = LINES * 100
    assert written >= 30_000_000 > (KEPT_LOGS + 1) * LARGEST_LOG
    last = tmp_path / "log" / "web.log"
    command = [sys.executable, "-c", WRITER, str(LINES)]
    with Supervisor({"web": command}, var=tmp_path, folder=tmp_path) as supervisor:
        assert supervisor.watch(until=lambda: last.exists() and last.read_bytes().endswith(b"done\n"), seconds=120)
        is_running = supervisor.children[0].process.poll() is None
    files = kept(tmp_path / "log")
    sizes = [file.stat().st_size for file in files]
    assert is_running, "it was not started again for that"
    assert (len(files), max(sizes) <= LARGEST_LOG, sum(sizes) <= (KEPT_LOGS + 1) * LARGEST_LOG) == (4, True, True)
    lines = b"".join(file.read_bytes() for file in files).decode().splitlines()
    numbers = [int(line[:8]) for line in lines[:-1]]
    assert numbers == list(range(numbers[0], LINES)), "every line from the oldest that is kept to the last, in order"
    assert {len(line) for line in lines[:-1]} == {99}


def test_a_log_of_the_last_run_is_gone_on_with(tmp_path):
    (tmp_path / "web.log").write_text("from the last run\n")
    RotatingLog(tmp_path / "web.log").write(b"and from this one\n")
    assert (tmp_path / "web.log").read_text() == "from the last run\nand from this one\n"


def test_a_line_that_is_larger_than_a_file_is_cut_and_the_files_stay_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(rotating_log, "LARGEST_LOG", 200_000)
    log = RotatingLog(tmp_path / "web.log")
    whole = b"short\n" + b"y" * 900_000 + b"\nend\n"
    for at in range(0, len(whole), CHUNK):
        log.write(whole[at : at + CHUNK])
    files = kept(tmp_path)
    assert whole.endswith(b"".join(file.read_bytes() for file in files))
    assert max(file.stat().st_size for file in files) <= 200_000 + 2 * CHUNK
    assert len(files) == KEPT_LOGS + 1


def test_a_disk_that_takes_nothing_does_not_stop_the_child(tmp_path):
    (tmp_path / "log").write_text("a file where the folder of the logs should be")
    program = "print('x' * 1_000_000, flush=True); open('through', 'w').close(); import time; time.sleep(60)"
    with Supervisor({"web": [sys.executable, "-c", program]}, var=tmp_path, folder=tmp_path) as supervisor:
        assert supervisor.watch(until=(tmp_path / "through").exists, seconds=60)
