"""From where something is fetched: public addresses alone, redirects too, and no more of it than was allowed."""

import gzip
import socket
import time
import zlib

import pytest

from leaderboard.notifications.fetching import MAX_REDIRECTS, Validators, fetch
from leaderboard.notifications.posting import AddressError, PostError
from tests.leaderboard.notifications.served import served

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
