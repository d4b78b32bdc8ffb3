"""The web server with clients that send slowly, or never end: a real server with eight threads, and real sockets."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from select import select

import pytest
from django.conf import settings

from config.processes import web_worker
from config.processes.commands import web
from tests.config.web.echo import PART
from tests.running_site import free_port

pytestmark = pytest.mark.services
HALF = b"GET /half HTTP/1.1\r\nHost: here\r\n"
NOTHING = hashlib.sha256(b"").hexdigest()[:8]
PATIENCE = 30  # of the test; nothing is measured in seconds


@contextmanager
def server(folder: Path, *more: str) -> Iterator[tuple[int, subprocess.Popen]]:
    """Where a web server listens that was started as that of the site is, with another application; and its process."""
    number = free_port()
    command = ["tests.config.web.echo" if part == "config.wsgi" else part for part in web(sys.executable, number)]
    environment = os.environ | {"PLURANK_VAR": str(folder)}
    process = subprocess.Popen([*command, *more], cwd=settings.ROOT, env=environment, start_new_session=True)
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", number)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        yield number, process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def port(tmp_path_factory) -> Iterator[int]:
    with server(tmp_path_factory.mktemp("var")) as (number, _):
        yield number


@contextmanager
def clients(port: int, n: int, *sent: bytes) -> Iterator[list[socket.socket]]:
    """Connections that have sent something."""
    with ExitStack() as stack:
        connections = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)) for _ in range(n)]
        for connection in connections:
            connection.sendall(b"".join(sent))
        yield connections


def head(path: str, *, method: str = "GET", length: int = 0, more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: here\r\nContent-Length: {length}\r\n{more}\r\n".encode()


def answer(connection: socket.socket) -> str:
    """The next answer: its text, or its status where that is not 200; empty where the server has closed."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (byte := connection.recv(1)):
            return ""
        received += byte
    fields = dict(line.lower().split(b": ", 1) for line in received.split(b"\r\n")[1:] if line)
    text = connection.recv(int(fields[b"content-length"]), socket.MSG_WAITALL)
    status = received.split(b" ")[1]
    return text.decode() if status == b"200" else status.decode()


def expect_answers(port: int, n: int = 8) -> None:
    """Others are answered, as many at once as there are threads."""
    with clients(port, n, head("/other")) as others:
        assert [answer(one) for one in others] == [f"GET /other 0 {NOTHING}"] * n


def test_half_heads_take_no_thread_and_are_closed_whether_or_not_bytes_go_on_arriving(port):
    """Takes eleven seconds, in which it waits."""
    with clients(port, 50, HALF) as half, clients(port, 12) as silent, clients(port, 1, HALF) as [trickle]:
        expect_answers(port)
        began, is_open = time.monotonic(), True
        trickle.settimeout(1)
        while is_open and time.monotonic() - began < PATIENCE:
            try:
                trickle.sendall(b"X")
                is_open = trickle.recv(1) != b""
            except TimeoutError:
                continue
            except OSError:
                is_open = False
        assert not is_open
        assert [answer(one) for one in half + silent] == [""] * 62
        expect_answers(port)


def test_more_half_heads_than_the_server_watches_close_the_oldest_and_leave_room_for_others(port):
    n_more = 20
    with clients(port, web_worker.MOST_WAITING + n_more, HALF) as half:
        expect_answers(port)
        assert [answer(one) for one in half[:n_more]] == [""] * n_more
        half[-1].sendall(b"\r\n")
        assert answer(half[-1]) == f"GET /half 0 {NOTHING}"


def test_clients_that_do_not_close_keep_no_one_from_being_answered(port):
    """The server closes its side, and does not wait for theirs."""
    with clients(port, 60, head("/last", more="Connection: close\r\n")) as clients_that_stay:
        expect_answers(port)
        assert [answer(one) for one in clients_that_stay] == [f"GET /last 0 {NOTHING}"] * 60
        assert [answer(one) for one in clients_that_stay] == [""] * 60


def test_clients_whose_unread_body_never_arrives_keep_no_one_from_being_answered(port):
    with clients(port, 100, head("/unread", method="POST", length=10**6), b"a=") as posts:
        expect_answers(port)
        assert [answer(one) for one in posts] == [f"POST /unread 0 {NOTHING}"] * 100


@pytest.mark.parametrize(("length", "outcome"), [(5, b"keep-alive"), (10**6, b"close")])
def test_an_answer_says_that_the_connection_ends_where_most_of_a_body_was_not_read(port, length, outcome):
    with clients(port, 1, head("/unread", method="POST", length=length), b"12345") as [one]:
        received = b""
        while b"\r\n\r\n" not in received:
            received += one.recv(1)
    assert [line for line in received.split(b"\r\n") if line.startswith(b"Connection")] == [b"Connection: " + outcome]


def test_a_server_that_stops_answers_what_is_under_way_and_waits_for_no_one_else(tmp_path):
    """Takes six seconds: an upload of four, and then the rest of the two for requests that may be on their way."""
    with server(tmp_path) as (port, process), clients(port, 5), clients(port, 5, HALF) as half:
        with clients(port, 1, head("/slow", method="POST", length=4), b"a") as [one]:
            expect_answers(port)
            process.terminate()
            for _ in range(3):
                time.sleep(1.3)
                one.sendall(b"a")
            assert answer(one) == f"POST /slow 4 {hashlib.sha256(b'aaaa').hexdigest()[:8]}"
            assert process.wait(timeout=10) == 0
        assert [answer(one) for one in half] == [""] * 5
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


# --- Clients that read slowly, or nothing -----------------------------------------------------------------------------

LARGE = 320  # times PART: 20 MB


@contextmanager
def readers(port: int, n: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Connections that have sent something, whose system takes only little before they read."""
    with ExitStack() as stack:
        connections = [stack.enter_context(socket.socket()) for _ in range(n)]
        for connection in connections:
            connection.settimeout(PATIENCE)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**12)
            connection.connect(("127.0.0.1", port))
            connection.sendall(sent)
        yield connections


def read(connection: socket.socket, n_bytes: int) -> bytes:
    """So many bytes, fewer where the server has closed."""
    received = bytearray()
    try:
        while len(received) < n_bytes and (part := connection.recv(min(2**16, n_bytes - len(received)))):
            received += part
    except ConnectionResetError:
        pass
    return bytes(received)


def read_head(connection: socket.socket) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(1)


def test_clients_that_read_nothing_keep_no_one_from_being_answered(port):
    """Answers at once and in parts, and further requests behind them."""
    with (
        readers(port, 30, head(f"/large/{LARGE // 10}") * 60),
        readers(port, 30, head(f"/parts/{LARGE // 10}") * 60) as unread,
    ):
        expect_answers(port)
        read_head(unread[-1])  # later it reads on
        assert read(unread[-1], LARGE // 10 * len(PART)) == PART * (LARGE // 10)
        read_head(unread[-1])


@pytest.mark.parametrize("path", ["/large", "/parts"])
def test_a_client_that_reads_slowly_gets_all_and_one_that_reads_nothing_is_closed(path, tmp_path):
    """Takes ten seconds, in which it reads slowly: three times as long as a client may read nothing."""
    sent, whole = head(f"{path}/{LARGE}"), PART * LARGE
    with (
        server(tmp_path, "--worker-class", "tests.config.web.echo.Impatient") as (port, _),
        readers(port, 1, sent) as [slow],
        readers(port, 4, sent) as unread,
    ):
        read_head(slow)
        received = b""
        for _ in range(20):
            received += read(slow, 2**17)
            time.sleep(0.5)
        n_read = [len(read(one, len(whole))) for one in unread]
        assert [n < len(whole) // 2 for n in n_read] == [True] * 4
        assert received + read(slow, len(whole) - len(received)) == whole
        slow.sendall(head("/next"))
        assert answer(slow) == f"GET /next 0 {NOTHING}"


def test_where_there_is_no_room_for_more_answers_those_give_way_that_were_read_least(port):
    """Nine answers of 20 MB, of which six have room: one that is read slowly, and five others."""
    assert web_worker.MOST_KEPT_BYTES // (LARGE * len(PART)) == 6
    sent, whole = head(f"/large/{LARGE}"), PART * LARGE
    with readers(port, 1, sent) as [slow]:
        read_head(slow)
        received = read(slow, 2**20)
        with readers(port, 8, sent) as unread:
            for _ in range(20):
                received += read(slow, 2**17)
                time.sleep(0.1)
            assert sorted(len(read(one, len(whole))) == len(whole) for one in unread) == [False] * 3 + [True] * 5
        assert received + read(slow, len(whole) - len(received)) == whole


def test_bodies_that_do_not_arrive_take_half_of_the_threads_and_more_of_them_are_told_that_it_is_busy(port):
    body = b"a" * 100_000
    with clients(port, 40, head("/slow", method="POST", length=len(body)), body[1:]) as slow:
        expect_answers(port)
        waiting = list(slow)
        while len(waiting) > 4:  # the first four have waited for longer than any other can
            ended = select(waiting, [], [], PATIENCE)[0]
            assert [answer(one) for one in ended] == ["503"] * len(ended) != []
            assert [answer(one) for one in ended] == [""] * len(ended)
            waiting = [one for one in waiting if one not in ended]
        waiting[0].sendall(body[:1])
        assert answer(waiting[0]) == f"POST /slow {len(body)} {hashlib.sha256(body).hexdigest()[:8]}"


def test_what_clients_do_that_are_slow_busy_or_wrong_is_answered_as_before(port):
    body = os.urandom(3_000_000)
    uploaded = f"POST /up {len(body)} {hashlib.sha256(body).hexdigest()[:8]}"
    with clients(port, 1) as [one]:
        for part in (b"\r\nGET /sl", b"ow HTTP/1.1\r\nHost: here\r", b"\n\r", b"\n"):  # an empty line may come first
            one.sendall(part)
            time.sleep(0.05)
        assert answer(one) == f"GET /slow 0 {NOTHING}"
        one.sendall(head("/again") + head("/pipelined") + HALF)  # the same connection, more than one request at once
        assert [answer(one) for _ in range(2)] == [f"GET /again 0 {NOTHING}", f"GET /pipelined 0 {NOTHING}"]
        one.sendall(b"\r\n" + head("/up", method="POST", length=len(body)) + body)
        assert [answer(one) for _ in range(2)] == [f"GET /half 0 {NOTHING}", uploaded]
        one.sendall(head("/up", method="POST", length=len(body)))
        for start in range(0, len(body), 10**6):
            time.sleep(0.05)
            one.sendall(body[start : start + 10**6])
        assert answer(one) == uploaded
        one.sendall(head("/unread", method="POST", length=5) + b"12345" + head("/next"))
        assert [answer(one) for _ in range(2)] == [f"POST /unread 0 {NOTHING}", f"GET /next 0 {NOTHING}"]
    refused = {
        b"GET / HTTP/1.1\nHost: here\n\n": "400",
        b"\r\n\r\n": "400",
        b"GET / HTTP/1.1\r\nHost: here\r\n" + b"X: 1\r\n" * 200 + b"\r\n": "431",
        HALF + (b"X: " + b"x" * 4000 + b"\r\n") * 17: "431",
        b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\n\r\n": "414",
    }
    for sent, status in refused.items():
        with clients(port, 1, sent) as [one]:
            assert (answer(one), answer(one)) == (status, "")
