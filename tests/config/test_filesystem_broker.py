"""The folder as a broker: messages are whole, taken once, and do not pile up."""

import multiprocessing
import os
import resource
import subprocess
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection
from kombu.exceptions import ChannelError

N_MESSAGES = 400


def connect(folder: Path, **options) -> Connection:
    options = {"folder": str(folder), "stale_seconds": 300, "polling_interval": 0.01} | options
    return Connection("folder://", transport="config.backends.filesystem_broker:Transport", transport_options=options)


def put_many(folder: Path) -> None:
    channel = connect(folder).default_channel
    for number in range(N_MESSAGES):
        channel._put("rankings", {"number": number, "padding": "x" * 800})


def take_many(folder: Path, results) -> None:
    channel, taken = connect(folder).default_channel, []
    last = time.monotonic()
    while time.monotonic() < last + 1:
        try:
            taken.append(channel._get("rankings")["number"])
            last = time.monotonic()
        except Empty:
            continue
    results.put(taken)


def test_two_readers_beside_two_writers_take_every_message_whole_and_once(tmp_path):
    """Takes some seconds: kombu's own transport hands out some of the messages half written when run like this."""
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    writers = [spawn.Process(target=put_many, args=(tmp_path,)) for _ in range(2)]
    readers = [spawn.Process(target=take_many, args=(tmp_path, results)) for _ in range(2)]
    for process in readers + writers:
        process.start()
    taken = [number for _ in readers for number in results.get(timeout=60)]
    for process in readers + writers:
        process.join(timeout=30)
    assert [process.exitcode for process in readers + writers] == [0, 0, 0, 0]
    assert Counter(taken) == dict.fromkeys(range(N_MESSAGES), 2)
    assert list(tmp_path.iterdir()) == []


def test_messages_are_taken_in_the_order_they_were_put_and_from_their_own_queue_only(tmp_path):
    channel = connect(tmp_path).default_channel
    for number in range(3):
        channel._put("rankings", {"number": number})
        time.sleep(0.002)
    channel._put("studies", {"number": 9})
    assert [channel._get("rankings")["number"] for _ in range(3)] == [0, 1, 2]
    assert (channel._size("rankings"), channel._size("studies")) == (0, 1)
    with pytest.raises(Empty):
        channel._get("rankings")


def test_a_message_that_cannot_be_read_is_dropped_and_the_next_one_taken(tmp_path):
    (tmp_path / "000_half.rankings.msg").write_text('{"body": "W1td')
    (tmp_path / "000_none.rankings.msg").write_text("")
    (tmp_path / "000_number.rankings.msg").write_text("7")
    channel = connect(tmp_path).default_channel
    channel._put("rankings", {"number": 1})
    assert channel._get("rankings") == {"number": 1}
    assert list(tmp_path.iterdir()) == []


def test_old_files_are_deleted_whether_or_not_anybody_reads_their_queue(tmp_path):
    channel = connect(tmp_path, stale_seconds=60).default_channel
    names = ["1_a.rankings.msg", "1_b.nobody.msg", ".1_c.rankings.msg.new", ".1_d.rankings.msg.77.taken"]
    for name in [*names, "2_young.nobody.msg", "keep.txt"]:
        (tmp_path / name).write_text("{}")
    for name in [*names, "keep.txt"]:
        os.utime(tmp_path / name, (time.time() - 61,) * 2)
    with pytest.raises(Empty):
        channel._get("rankings")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2_young.nobody.msg", "keep.txt"]


def test_without_its_folder_reading_finds_nothing_and_writing_makes_it_anew(tmp_path):
    channel = connect(tmp_path / "broker" / "messages").default_channel
    with pytest.raises(Empty):
        channel._get("rankings")
    channel._put("rankings", {"number": 1})
    assert channel._get("rankings") == {"number": 1}


def test_writing_where_no_folder_can_be_is_an_error_of_the_channel(tmp_path):
    (tmp_path / "file").write_text("")
    channel = connect(tmp_path / "file" / "messages").default_channel
    with pytest.raises(ChannelError, match="cannot add a message"):
        channel._put("rankings", {"number": 1})


@contextmanager
def no_more_room(folder: Path):
    """Nothing more can be written: the disk, if it is a small one, is full; else no file may grow beyond 10 bytes."""
    if folder.is_mount():
        filler = folder / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 1024)
        yield "No space left on device"
        filler.unlink()
        return
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        yield "File too large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_fails_the_wake_up_leaves_no_half_of_it_and_takes_the_next_once_there_is_room(tmp_path):
    # Where nobody may mount a disk that is small enough to fill, writing stops at a limit instead.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], check=False, capture_output=True)
    try:
        channel = connect(tmp_path / "messages").default_channel
        channel._put("rankings", {"number": 1})
        with no_more_room(tmp_path) as reason, pytest.raises(ChannelError, match=reason):
            channel._put("rankings", {"number": 2})
        assert channel._get("rankings")["number"] == 1, "what lay there can still be taken"
        channel._put("rankings", {"number": 3})
        assert channel._get("rankings")["number"] == 3
        with pytest.raises(Empty):
            channel._get("rankings")
    finally:
        if tmp_path.is_mount():
            subprocess.run(["umount", "--lazy", tmp_path], check=True)
