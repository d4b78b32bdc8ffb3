"""From where something is fetched: public addresses alone, redirects too, and no more of it than was allowed."""

import gzip
import socket
import ssl
import threading
import time
import zlib
from contextlib import suppress

import pytest

from leaderboard.notifications.fetching import MAX_REDIRECTS, Validators, fetch
from leaderboard.notifications.posting import AddressError, PostError
from tests.leaderboard.notifications.served import served
from tests.leaderboard.notifications.test_posting import make_certificate

MANY = b"0" * 50_000_000


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def server(inside, running):
    running.forget()
    return running


def got(address: str, known: Validators | None = None, most_bytes: int = 1000, seconds: float = 2):
    return fetch(address, known=known, most_bytes=most_bytes, seconds=seconds)


def test_content_comes_with_its_validators_and_only_once(server):
    address = server.put("/a.csv", "a,b\n", etag='"1"', headers={"Last-Modified": "Fri, 27 Nov 2026 10:00:00 GMT"})
    first = got(address)
    assert (first.status, first.body) == (200, b"a,b\n")
    assert first.validators == Validators('"1"', "Fri, 27 Nov 2026 10:00:00 GMT")
    second = got(address, first.validators)
    assert (second.status, second.body) == (304, b"")
    headers = server.requests[1]["headers"]
    assert (headers["If-None-Match"], headers["If-Modified-Since"]) == ('"1"', "Fri, 27 Nov 2026 10:00:00 GMT")


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_what_is_compressed_is_unpacked_up_to_the_bound(server, encoding, pack):
    headers = {"Content-Encoding": encoding}
    assert got(server.put("/a", pack(b"a" * 1000), headers=headers)).body == b"a" * 1000
    with pytest.raises(PostError, match=r"^The content has more than 1,000 bytes\.$"):
        got(server.put("/b", pack(b"a" * 1001), headers=headers))
    began = time.process_time()
    with pytest.raises(PostError, match="more than 100,000 bytes"):
        got(server.put("/c", pack(MANY), headers=headers), most_bytes=100_000)
    assert time.process_time() - began < 1
    with pytest.raises(PostError, match="incomplete"):
        got(server.put("/d", pack(b"a" * 1000)[:-5], headers=headers))
    with pytest.raises(PostError, match="damaged"):
        got(server.put("/e", b"abc", headers=headers))


def test_all_members_of_a_compressed_file_are_read_up_to_the_bound(server):
    headers = {"Content-Encoding": "gzip"}
    three = gzip.compress(b"a" * 500) + gzip.compress(b"b" * 300) + gzip.compress(b"c" * 200)
    whole = b"a" * 500 + b"b" * 300 + b"c" * 200
    assert got(server.put("/a", three, headers=headers)).body == whole
    assert got(server.put("/b", three + bytes(512), headers=headers)).body == whole  # as on a tape
    with pytest.raises(PostError, match=r"^The content has more than 1,000 bytes\.$"):
        got(server.put("/c", three + gzip.compress(b"d"), headers=headers))
    with pytest.raises(PostError, match=r"^The compressed content is incomplete\.$"):
        got(server.put("/d", three[:-5], headers=headers))
    with pytest.raises(PostError, match=r"^The compressed content is damaged\.$"):
        got(server.put("/e", three + b"abc", headers=headers))
    many = b"".join(gzip.compress(bytes([65 + number % 26]) * 1000, 1) for number in range(1000))
    assert got(server.put("/f", many, headers=headers), most_bytes=10**6).body == b"".join(
        bytes([65 + number % 26]) * 1000 for number in range(1000)
    )
    began = time.process_time()
    with pytest.raises(PostError, match=r"^The compressed content has more than 10,000 parts\.$"):
        got(server.put("/g", gzip.compress(b"") * 500_000, headers=headers), most_bytes=10**7, seconds=20)
    assert time.process_time() - began < 3


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_an_answer_that_is_shorter_than_it_says_is_no_answer(server, encoding):
    body = gzip.compress(b"system,score\nA,91.15\n") if encoding == "gzip" else b"system,score\nA,91.15\n"
    address = server.put("/a.csv", body, etag='"1"', headers={"Content-Encoding": encoding}, cut=len(body) - 3)
    with pytest.raises(PostError) as error:
        got(address)
    assert str(error.value) == "The answer is incomplete: the connection ended before all of it arrived."


@pytest.mark.parametrize("says_length", [True, False])
@pytest.mark.parametrize("is_closed", [True, False])
def test_an_answer_over_tls_is_whole_by_its_length_or_by_the_end_of_tls(
    inside, tmp_path, monkeypatch, is_closed, says_length
):
    certificate = make_certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    length = b"Content-Length: 4\r\n" if says_length else b""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            plain, _ = listening.accept()
            with context.wrap_socket(plain, server_side=True) as connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + length + b"\r\na,b\n")
                if is_closed:
                    with suppress(OSError):  # the other side need not say the same
                        connection.unwrap()

        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        address = f"https://localhost:{listening.getsockname()[1]}/"
        if is_closed or says_length:
            assert got(address, seconds=10).body == b"a,b\n"
        else:
            with pytest.raises(PostError, match=r"^The answer is incomplete: the connection ended before"):
                got(address, seconds=10)
        answering.join(10)


def test_an_encoding_that_nobody_asked_for_is_refused(server):
    with pytest.raises(PostError, match="compressed in a way"):
        got(server.put("/a", b"x", headers={"Content-Encoding": "br"}))


@pytest.mark.parametrize("says_length", [True, False])
def test_what_is_too_large_is_not_read_to_its_end(server, says_length):
    with pytest.raises(PostError, match="more than 1,000 bytes"):
        got(server.put("/a", b"a" * 5_000_000, length=says_length))


@pytest.mark.parametrize("says_length", [True, False])
def test_who_answers_a_byte_at_a_time_is_cut_off(server, says_length):
    began = time.monotonic()
    with pytest.raises(PostError, match=r"No answer within 0\.5 seconds"):
        got(server.put("/a", b"a" * 100, slow=True, length=says_length), seconds=0.5)
    assert time.monotonic() - began < 5


def test_redirects_are_followed_a_few_times(server):
    end = server.put("/end", "here")
    address = end
    for number in range(MAX_REDIRECTS):
        address = server.put(f"/{number}", status=302, headers={"Location": address})
    assert got(address).body == b"here"
    with pytest.raises(PostError, match="redirects more than 3 times"):
        got(server.put("/more", status=301, headers={"Location": address}))


def test_a_redirect_leads_nowhere_that_an_address_may_not(server, settings, monkeypatch):
    for place in ("file:///etc/passwd", "ftp://a.example/", "https://user:word@a.example/"):
        with pytest.raises(AddressError):
            got(server.put("/a", status=302, headers={"Location": place}))
    # Outside, a host that is public may still send the site to one that is not.
    settings.WEBHOOKS_INSIDE = False
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, port, **_: [(2, 1, 6, "", ("127.0.0.1", port))] if host else []
    )
    with pytest.raises(AddressError, match="public internet"):
        got("https://a.example/")


@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 404, 429, 500])
def test_an_answer_without_content_is_an_error_with_its_status(server, status):
    with pytest.raises(PostError, match=f"^The answer was {status}\\.$") as error:
        got(server.put("/a", status=status))
    assert error.value.status == status


def test_a_validator_that_cannot_be_sent_back_is_forgotten(server):
    answer = got(server.put("/a", "a", headers={"ETag": "x" * 5000, "Last-Modified": "né"}))
    assert answer.validators == Validators()
