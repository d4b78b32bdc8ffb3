"""Posting to a URL that a user entered: only to the public internet, whatever its host name resolves to.

A site that calls addresses of strangers can be made to call what only it can reach. So the name is resolved once, every
address that it leads to is checked, and the connection goes to the checked address itself: a name that leads elsewhere
when it is asked again gains nothing. TLS is verified against the name; redirects are not followed; the whole attempt
has an end. `settings.WEBHOOKS_INSIDE` takes these limits off for an operator whose receivers are inside.
"""

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from leaderboard.models.webhooks import ADDRESS_LENGTH

PORTS = {443, 8443}
INSIDE = (".localhost", ".localdomain", ".local", ".internal")  # names of no public host
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # no domain at the top is one
NOT_PUBLIC = "The URL does not lead to the public internet."
INCOMPLETE = "The answer is incomplete: the connection ended before all of it arrived."
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# What `ipaddress` takes for global and is not, or may lead to what is not: relays and translations of IPv4, IPv4 in
# IPv6 in all its spellings, and the deprecated site-local addresses.
NEVER: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
        "2002::/16", "fec0::/10", "ff00::/8",
    )
)  # fmt: skip


class AddressError(ValueError):
    """An address that nothing is posted to; the message says why, in words for anyone who typed it."""


class PostError(Exception):
    """A post that did not arrive; the message says why."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status  # of the answer, where there was one


@dataclass(frozen=True)
class Target:
    """Where an address leads, as it says itself."""

    host: str
    port: int
    path: str
    is_tls: bool


def read_address(address: str) -> Target:
    """The parts of an address, without asking anyone where its name leads.

    Raises:
        AddressError: it is none that is posted to.
    """
    try:
        parts = urlsplit(address)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode().removesuffix(".")
        host.encode().decode("idna")  # not all that begins with xn-- is a name
    except (ValueError, UnicodeError) as error:
        raise AddressError("This is not a URL.") from error
    schemes = ("https", "http") if settings.WEBHOOKS_INSIDE else ("https",)
    if parts.scheme not in schemes or not host:
        raise AddressError("The URL must begin with https:// and a host name.")
    if len(address) > ADDRESS_LENGTH or any(letter <= " " or letter > "~" for letter in parts.path + parts.query):
        sentence = f"The URL can have at most {ADDRESS_LENGTH} characters, and only ASCII after the host name."
        raise AddressError(sentence)
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressError("The URL must not contain a user name, a password or a #.")
    is_tls = parts.scheme == "https"
    port = port if port is not None else 443 if is_tls else 80
    if not settings.WEBHOOKS_INSIDE:
        if port not in PORTS:
            raise AddressError(f"The port must be one of {', '.join(map(str, sorted(PORTS)))}.")
        # A name without a dot, or of a number in another spelling, such as 127.1 or 0x7f.1, is none of a public host.
        last = host.rpartition(".")[2]
        is_name = "." in host and ":" not in host and "[" not in parts.netloc and not NUMBER.fullmatch(last)
        if not (is_name and not host.endswith(INSIDE)) and not is_allowed(host):
            raise AddressError(NOT_PUBLIC)
    return Target(host, port, f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}", is_tls)


def is_allowed(text: str) -> bool:
    """Whether something may be posted to a numeric address."""
    if settings.WEBHOOKS_INSIDE:
        return True
    try:
        address = ipaddress.ip_address(text)
    except ValueError:  # with a zone, such as fe80::1%eth0
        return False
    is_odd = address.is_multicast or address.is_reserved or address.is_loopback or address.is_link_local
    return address.is_global and not is_odd and not any(address in network for network in NEVER)


def resolve(target: Target, seconds: float) -> str:
    """The numeric address to connect to: the first that the name leads to, all of which may be posted to.

    The system's resolver knows no end of its own, and who owns a name may let it wait: a thread asks, and is left
    behind where it takes too long.

    Raises:
        AddressError: one of them may not.
        PostError: the name leads nowhere, or to nowhere in time.
    """
    addresses: list[str] = []

    def ask() -> None:
        with suppress(OSError, UnicodeError):
            answers = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
            addresses.extend(str(entry[4][0]) for entry in answers)

    asking = threading.Thread(target=ask, daemon=True, name="resolver")
    asking.start()
    asking.join(seconds)
    if asking.is_alive():
        raise PostError(f"The host name was not resolved within {seconds:g} seconds.")
    if not addresses:
        raise PostError("The host name could not be resolved.")
    if not all(map(is_allowed, addresses)):
        raise AddressError(NOT_PUBLIC)
    return addresses[0]


class PinnedConnection(http.client.HTTPConnection):
    """A connection to the address that was checked, in the name that was asked for."""

    def __init__(self, target: Target, address: str, seconds: float) -> None:
        super().__init__(target.host, target.port, timeout=seconds)
        if target.is_tls:
            self.default_port = http.client.HTTPS_PORT  # which `Host` does not say
        self.target, self.address = target, address
        self.is_cut_off = False
        # The base class forgets its own once an answer has begun that ends with the connection.
        self.opened: socket.socket | None = None

    def connect(self) -> None:
        """Connect to the checked address; the name is for TLS alone."""
        self.sock = socket.create_connection((self.address, self.target.port), self.timeout)
        if self.target.is_tls:
            # A connection that just breaks off is an error: without a length nothing else says that an answer is whole.
            context, name = ssl.create_default_context(), self.target.host
            self.sock = context.wrap_socket(self.sock, server_hostname=name, suppress_ragged_eofs=False)
        self.opened = self.sock
        if self.is_cut_off:
            raise TimeoutError


@contextmanager
def connected(target: Target, seconds: float) -> Iterator[PinnedConnection]:
    """A connection to a target, after every address that its name leads to was checked. All in it ends in time.

    Raises:
        AddressError: nothing is asked of this address.
        PostError: whatever else goes wrong between this site and that one.
    """
    began = time.monotonic()
    address_number = resolve(target, seconds)
    left = max(0.1, seconds - (time.monotonic() - began))
    connection = PinnedConnection(target, address_number, left)
    # A timeout of the socket holds for each step; anyone who answers a byte at a time is cut off here.
    ends = threading.Timer(left, _cut_off, [connection])
    ends.daemon = True
    ends.start()
    late = f"No answer within {seconds:g} seconds."
    try:
        yield connection
    except ssl.SSLCertVerificationError as error:
        raise PostError(f"The certificate does not match the host name: {error.verify_message}.") from error
    except TimeoutError as error:
        raise PostError(late) from error
    except (OSError, http.client.HTTPException) as error:
        is_part = isinstance(error, http.client.IncompleteRead)
        reason = INCOMPLETE if is_part else f"No answer: {type(error).__name__}."
        raise PostError(late if connection.is_cut_off else reason) from error
    finally:
        ends.cancel()
        connection.close()
    if connection.is_cut_off:  # an answer without a length ends as if it were whole
        raise PostError(late)


def post(address: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Post a body and return the status of the answer, one of 200 to 299; what the answer says is not read.

    Raises:
        AddressError: nothing is posted to this address.
        PostError: it did not arrive, or the answer has another status.
    """
    target = read_address(address)
    with connected(target, float(settings.WEBHOOK_SECONDS)) as connection:
        connection.request("POST", target.path, body, dict(headers))
        status = connection.getresponse().status
    if 300 <= status < 400:
        raise PostError(f"The answer was {status}; redirects are not followed.", status)
    if not 200 <= status < 300:
        raise PostError(f"The answer was {status}.", status)
    return status


def _cut_off(connection: PinnedConnection) -> None:
    connection.is_cut_off = True  # first: anyone who waits for an answer goes on at once, and asks
    sock = connection.opened or connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
