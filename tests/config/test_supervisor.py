"""The supervisor, with real processes: each test runs one in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config.processes.supervisor import AlreadyRunningError, Supervisor, refuse_second, sole_supervisor

ROOT = Path(__file__).resolve().parents[2]
SUPERVISE = """
import json, sys
from pathlib import Path
from config.processes.supervisor import Supervisor, sole_supervisor
var, commands = Path(sys.argv[1]), json.loads(sys.argv[2])
with sole_supervisor(var, "http://127.0.0.1:8000/"), Supervisor(commands, var=var, folder=var) as supervisor:
    supervisor.watch()
"""
SLEEP = [sys.executable, "-c", "import time; print('awake', flush=True); time.sleep(60)"]
STUBBORN_PROGRAM = """
import signal, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print("awake", flush=True)
while True:
    time.sleep(1)
"""
STUBBORN = [sys.executable, "-c", STUBBORN_PROGRAM]
PARENT_PROGRAM = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
time.sleep(60)
"""
PARENT = [sys.executable, "-c", PARENT_PROGRAM]


@pytest.fixture
def supervise(tmp_path):
    """Starts a supervisor of the given commands; kills what a failed test leaves."""
    started = []

    def start(**commands):
        command = [sys.executable, "-c", SUPERVISE, str(tmp_path), json.dumps(commands)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        started.append(process)
        wait_until(lambda: set(children(tmp_path)) == set(commands))
        return process

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=30)


def children(var):
    """The children's process ids by name."""
    try:
        return json.loads((var / "supervisor.json").read_text())["children"]
    except FileNotFoundError:
        return {}


def is_running(pid):
    """Whether a process is there and no zombie."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


def log(var, name):
    file = var / "log" / f"{name}.log"
    return file.read_text() if file.exists() else ""


def test_a_killed_child_is_started_again_and_its_death_is_told(supervise, tmp_path):
    supervisor = supervise(web=SLEEP, sweep=SLEEP)
    before = children(tmp_path)
    os.kill(before["web"], signal.SIGKILL)
    wait_until(lambda: children(tmp_path).get("web", before["web"]) != before["web"])
    after = children(tmp_path)
    assert is_running(after["web"])
    assert after["sweep"] == before["sweep"]
    assert supervisor.stdout.readline() == (
        f"web was killed by SIGKILL; starting it again in 0.5 s (see {tmp_path}/log/web.log)\n"
    )


def test_a_list_that_cannot_be_written_ends_nobody_and_is_written_later(supervise, tmp_path):
    supervisor = supervise(sleep=SLEEP)
    before = children(tmp_path)["sleep"]
    wait_until(lambda: "awake" in log(tmp_path, "sleep"))
    in_the_way = tmp_path / "supervisor.json.new"
    in_the_way.mkdir()  # as a full disk: the file cannot be written
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: log(tmp_path, "sleep").count("awake") == 2)
    assert (supervisor.poll(), children(tmp_path)) == (None, {"sleep": before})
    in_the_way.rmdir()
    wait_until(lambda: children(tmp_path)["sleep"] != before)
    assert is_running(children(tmp_path)["sleep"])


def test_the_pause_grows_while_a_child_keeps_dying(supervise, tmp_path):
    supervisor = supervise(web=SLEEP, sweep=[sys.executable, "-c", "raise SystemExit(3)"])
    lines = [supervisor.stdout.readline() for _ in range(2)]
    assert [line.split(" (")[0] for line in lines] == [
        "sweep ended with status 3; starting it again in 0.5 s",
        "sweep ended with status 3; starting it again in 1 s",
    ]


def test_the_end_of_a_log_is_its_last_twenty_lines(tmp_path):
    program = "for k in range(25): print(k)\nimport time; time.sleep(60)"
    with Supervisor({"counts": [sys.executable, "-c", program]}, var=tmp_path, folder=tmp_path) as supervisor:
        assert supervisor.end_of_log("counts") == ""
        assert supervisor.watch(until=lambda: supervisor.end_of_log("counts").endswith("24"), seconds=20)
        assert supervisor.end_of_log("counts").splitlines() == [str(k) for k in range(5, 25)]


def test_a_command_that_does_not_exist_is_told_and_tried_again(tmp_path):
    said = []
    commands = {"web": ["/no/such/program"]}
    with Supervisor(commands, var=tmp_path, folder=tmp_path, say=said.append) as supervisor:
        supervisor.watch(until=lambda: len(said) == 2, seconds=3)
    assert len(said) == 2
    assert said[0].startswith("web could not start: [Errno 2] No such file or directory")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_stop_ends_all_children(supervise, tmp_path, number):
    supervisor = supervise(web=SLEEP, parent=PARENT)
    wait_until(lambda: log(tmp_path, "parent"))
    pids = [*children(tmp_path).values(), int(log(tmp_path, "parent"))]
    began = time.monotonic()
    supervisor.send_signal(number)
    assert supervisor.wait(timeout=5) == 0
    assert time.monotonic() - began < 2
    assert not any(is_running(pid) for pid in pids)
    assert not (tmp_path / "supervisor.json").exists()


def test_a_child_that_ignores_every_request_is_killed_within_five_seconds(supervise, tmp_path):
    # Takes 3 s: so long the supervisor waits before it uses force.
    supervisor = supervise(web=STUBBORN)
    wait_until(lambda: log(tmp_path, "web"))
    pid = children(tmp_path)["web"]
    began = time.monotonic()
    supervisor.send_signal(signal.SIGINT)
    assert supervisor.wait(timeout=6) == 0
    assert time.monotonic() - began < 5
    assert not is_running(pid)


def test_children_and_their_children_die_with_a_killed_supervisor(supervise, tmp_path):
    supervisor = supervise(web=STUBBORN, parent=PARENT)
    wait_until(lambda: log(tmp_path, "parent") and log(tmp_path, "web"))
    pids = [*children(tmp_path).values(), int(log(tmp_path, "parent"))]
    supervisor.kill()
    wait_until(lambda: not any(is_running(pid) for pid in pids))


def test_what_a_dead_child_leaves_behind_is_killed(supervise, tmp_path):
    supervise(parent=PARENT)
    wait_until(lambda: log(tmp_path, "parent"))
    orphan = int(log(tmp_path, "parent"))
    os.kill(children(tmp_path)["parent"], signal.SIGKILL)
    wait_until(lambda: not is_running(orphan))


def test_a_second_supervisor_of_the_same_folder_is_refused(supervise, tmp_path):
    supervisor = supervise(web=SLEEP)
    expected = (
        "Plurank already runs from this folder at http://127.0.0.1:8000/. "
        f"Stop it with Ctrl-C in its terminal, or with: kill {supervisor.pid}"
    )
    with pytest.raises(AlreadyRunningError) as refusal, sole_supervisor(tmp_path, "http://127.0.0.1:8001/"):
        pass
    assert str(refusal.value) == expected
    with pytest.raises(AlreadyRunningError):
        refuse_second(tmp_path)


def test_the_folder_is_free_after_a_killed_supervisor(supervise, tmp_path):
    supervisor = supervise(web=SLEEP)
    supervisor.kill()
    supervisor.wait()
    refuse_second(tmp_path)
