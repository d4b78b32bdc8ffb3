"""The folder in which the processes of one web server count."""

import os
import resource
import subprocess
import sys

import pytest
from django.conf import settings
from prometheus_client.mmap_dict import MmapedDict

from config.processes import web_server

COUNT = """
import os, sys
os.environ["PROMETHEUS_MULTIPROC_DIR"] = sys.argv[1]
from prometheus_client import Counter, Histogram
Counter("c", "told", ["route"]).labels("board").inc(int(sys.argv[2]))
Histogram("h", "told").observe(0.2)
print(os.getpid())
"""


def count(folder, n: int) -> int:
    """Count in a process of its own that ends; its number."""
    command = [sys.executable, "-c", COUNT, str(folder), str(n)]
    return int(subprocess.run(command, cwd=settings.ROOT, capture_output=True, text=True, check=True).stdout)


def counts(file) -> list[float]:
    return [value for _, value, _, _ in MmapedDict.read_all_values_from_file(str(file))]


@pytest.fixture
def _no_locks(monkeypatch):
    monkeypatch.setattr(web_server, "_locks", [])
    yield
    for descriptor in web_server._locks:
        os.close(descriptor)


@pytest.mark.usefixtures("_no_locks")
def test_a_server_deletes_what_ended_servers_left_and_nothing_of_those_that_live(tmp_path):
    first, second = web_server.own_folder(tmp_path), web_server.own_folder(tmp_path)
    assert {first, second} == set(tmp_path.iterdir())
    os.close(web_server._locks.pop(0))  # as the kernel does when the first server ends
    third = web_server.own_folder(tmp_path)
    assert {second, third} == set(tmp_path.iterdir())


def test_what_processes_counted_that_have_ended_is_added_up_and_their_files_go(tmp_path):
    web_server.allocate(tmp_path, web_server.ENDED)
    pids = [count(tmp_path, 3), count(tmp_path, 4)]
    assert web_server.pids(tmp_path) == sorted(pids)
    for pid in pids:
        web_server.fold(tmp_path, pid)
        web_server.fold(tmp_path, pid)  # a second time there is nothing to add
    assert web_server.pids(tmp_path) == []
    assert counts(tmp_path / "counter_0.db") == [7]
    assert sum(counts(tmp_path / "histogram_0.db")) == pytest.approx(2 * 0.2 + 2 * 1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_has_all_its_room_before_anything_is_counted(tmp_path):
    web_server.allocate(tmp_path, 7)
    sizes = {file.name: (file.stat().st_size, file.stat().st_blocks * 512) for file in tmp_path.iterdir()}
    assert sizes.keys() == {"counter_7.db", "histogram_7.db"}
    assert all(size == web_server.FILE_BYTES <= taken for size, taken in sizes.values())


def test_where_there_is_no_room_a_process_counts_alone_and_goes_on(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv(web_server.FOLDER_VARIABLE, str(tmp_path))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        web_server.post_fork(None, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert web_server.FOLDER_VARIABLE not in os.environ
    assert "no room for counts" in caplog.text


def test_where_no_folder_can_be_made_each_process_counts_alone(tmp_path, monkeypatch, caplog):
    (tmp_path / "metrics").write_text("a file in its place")
    monkeypatch.setenv("PLURANK_VAR", str(tmp_path))
    monkeypatch.delenv(web_server.FOLDER_VARIABLE, raising=False)
    web_server.on_starting(None)
    assert web_server.FOLDER_VARIABLE not in os.environ
    assert "no folder for counts" in caplog.text
