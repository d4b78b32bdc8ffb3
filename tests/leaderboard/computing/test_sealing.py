"""Sealed children: no network, no files, no other programs, and nothing that they say gets into a log."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from leaderboard.computing.pool import ROOT, Limits, Pool
from leaderboard.computing.sealing import OWN_NETWORK, REFUSED_SOCKETS, how_sealed
from ranking_engine import ScoreMatrix, rank_all

ATTEMPTS = {
    "a socket": "import socket; socket.socket()",
    "a connection": "import socket; socket.create_connection(('127.0.0.1', 9))",
    "a name": "import socket; socket.getaddrinfo('localhost', 80)",
    "a program": "import subprocess; subprocess.run(['true'])",
    "a shell": "import os; os.system('true')",
    "a fork": "import os; os.fork()",
    "a file": "import os; open('/tmp/sealed', 'w')",
}
SEALED = """
import os, sys
say = os.dup(1)
from leaderboard.computing import sealing
sealing.seal()
print("to a log"); print("to a log", file=sys.stderr)
try:
    exec({attempt!r})
    outcome = "went through"
except OSError as error:
    outcome = type(error).__name__
os.write(say, f"{{outcome}}|{{sealing.how_sealed()}}".encode())
"""
# As root of a namespace of its own a process may forbid further ones, as containers do.
WITHOUT_NAMESPACES = [
    "unshare", "--user", "--map-root-user", "sh", "-c",
    "for kind in user net; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done && exec \"$@\"", "sh",
]  # fmt: skip


def sealed(attempt: str, *before: str) -> list[str]:
    """What comes of an attempt in a sealed process, and what keeps that from the network."""
    command = [*before, sys.executable, "-c", SEALED.format(attempt=attempt)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("|")


@pytest.fixture(scope="module")
def forbids_namespaces() -> list[str]:
    """What is put before a command so that the kernel refuses it namespaces."""
    probe = [*WITHOUT_NAMESPACES, "true"]
    if not shutil.which("unshare") or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("no namespaces can be forbidden here")
    return WITHOUT_NAMESPACES


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_a_sealed_process_is_refused(attempt):
    assert sealed(attempt)[0] == "PermissionError"


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_a_sealed_process_is_refused_where_the_kernel_permits_no_network_of_its_own(attempt, forbids_namespaces):
    assert sealed(attempt, *forbids_namespaces) == ["PermissionError", REFUSED_SOCKETS]


def test_the_network_of_a_sealed_process_leads_nowhere():
    """As code in C would find out, which Python does not refuse anything."""
    read_routes = "routes = open('/proc/self/net/route').read(); raise OSError(len(routes.splitlines()))"
    code = SEALED.replace("type(error).__name__", "str(error)").format(attempt=read_routes)
    command = [sys.executable, "-c", code]
    parts = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("|")
    if parts[1] == REFUSED_SOCKETS:
        pytest.skip("the kernel permits no network of its own here")
    assert parts == ["0", OWN_NETWORK], "there is no route"


def test_a_pool_of_sealed_children_computes_as_any_other():
    pool = Pool(Limits(1, 0, 0.0, 30, 256 * 2**20, is_sealed=True))
    try:
        assert pool.run(how_sealed) in (OWN_NETWORK, REFUSED_SOCKETS)
        matrix = ScoreMatrix([[3.0, 1.0], [2.0, 2.0], [1.0, 0.0]])
        ranks = pool.run(rank_all, matrix, ["borda"])["borda"].ranks
        assert np.array_equal(ranks, rank_all(matrix, ["borda"])["borda"].ranks)
        limits = Path(f"/proc/{pool.process_ids[0]}/limits").read_text().splitlines()
        none = [line.split()[-3:-1] for line in limits if line.startswith(("Max core file size", "Max file size"))]
        assert none == [["0", "0"], ["0", "0"]]
    finally:
        pool.stop()
    assert how_sealed() == ""
