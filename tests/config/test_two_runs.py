"""Two runs of the tests at once in one checkout, and two workers of one run, share neither a folder nor a database."""

import json
import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from tests.config.redis_server import redis_server, wait_for_redis
from tests.running_site import free_port
from tests.workers import TOGETHER, unit_of

# What a run would use; it goes on until its input ends, so that two of them overlap.
PROGRAM = """
import json, sys
import pytest
from config.settings import tests
tests._is_empty = lambda url: int(url[-1]) > 2
redis = "redis://127.0.0.1:1/9"
things = [str(tests.own_folder()), tests.own_database("here:5432", "plurank"), tests.own_redis(redis)]
print(json.dumps(things), flush=True)
sys.stdin.read()
"""


def start_run(folder, program: str = PROGRAM) -> tuple[subprocess.Popen, list[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=settings.ROOT,
        env=os.environ | {"TMPDIR": str(folder), "PLURANK_VAR": str(folder), "DATABASE_URL": "", "REDIS_URL": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, json.loads(process.stdout.readline())


def end(process: subprocess.Popen) -> None:
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_two_runs_at_once_share_nothing(tmp_path):
    first, of_first = start_run(tmp_path)
    second, of_second = start_run(tmp_path)
    assert not set(of_first) & set(of_second)
    assert of_first[1:] == ["test_plurank", "redis://127.0.0.1:1/9"]
    assert of_second[1:] == ["test_plurank_2", "redis://127.0.0.1:1/3"]
    end(first)
    end(second)


def test_what_a_run_had_is_deleted_and_free_once_it_has_ended(tmp_path):
    first, of_first = start_run(tmp_path)
    folder = Path(of_first[0])
    assert folder.is_dir()
    end(first)
    assert not folder.exists()
    second, of_second = start_run(tmp_path)
    end(second)
    assert of_second == of_first


def test_a_run_that_was_killed_leaves_an_empty_folder_to_the_next(tmp_path):
    first, of_first = start_run(tmp_path)
    (Path(of_first[0]) / "left").touch()
    first.kill()
    first.communicate()
    second, of_second = start_run(tmp_path)
    assert of_second == of_first
    assert list(Path(of_second[0]).iterdir()) == []
    end(second)


def test_a_run_empties_its_redis_at_the_end_and_takes_none_that_others_filled(tmp_path):
    from redis import Redis

    port = free_port()
    program = f"""
import json, sys
import pytest
from config.settings import tests
print(json.dumps(tests.own_redis("redis://127.0.0.1:{port}/9")), flush=True)
sys.stdin.read()
"""
    with redis_server(port, tmp_path), Redis(port=port, db=0) as other, Redis(port=port, db=9) as named:
        wait_for_redis(other)
        other.set("theirs", 1)
        named.set("left", 1)
        first, of_first = start_run(tmp_path, program)
        second, of_second = start_run(tmp_path, program)
        assert [of_first, of_second] == [f"redis://127.0.0.1:{port}/9", f"redis://127.0.0.1:{port}/1"]
        end(first)
        end(second)
        assert [named.keys(), other.keys()] == [[], [b"theirs"]]


def test_two_runs_that_are_told_one_folder_have_a_part_of_it_each(tmp_path):
    program = """
import json, sys
import pytest
from config.settings import VAR
print(json.dumps(str(VAR)), flush=True)
sys.stdin.read()
"""
    first, of_first = start_run(tmp_path, program)
    second, of_second = start_run(tmp_path, program)
    assert [of_first, of_second] == [str(tmp_path / "var-1"), str(tmp_path / "var-2")]
    end(first)
    end(second)


def test_a_worker_is_given_whole_files_and_the_folders_whose_tests_share_a_site_or_measure_one():
    assert unit_of("tests/leaderboard/boards/test_board.py::test_a[b::c]") == "tests/leaderboard/boards/test_board.py"
    assert unit_of("tests/browser/test_board.py::test_a") == "tests/browser/"
    assert unit_of("tests/browser/test_every_page.py::test_a[b]") == "tests/browser/test_every_page.py"
    assert [unit for unit in TOGETHER if not (settings.ROOT / unit).exists()] == []
