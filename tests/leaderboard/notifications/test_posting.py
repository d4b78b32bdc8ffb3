"""To where webhooks post: public addresses alone, and certificates that are trusted."""

import socket
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import Webhook
from leaderboard.notifications.outbox import send_due_webhooks
from leaderboard.notifications.posting import (
    AddressError,
    PinnedConnection,
    PostError,
    Target,
    is_allowed,
    post,
    read_address,
    resolve,
)
from tests.factories import owner_of
from tests.hook_sink import hook_sink
from tests.leaderboard.notifications.hooks import add_hook, put_own_test
from tests.signing_in import confirm_password


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example/", "ftp://hooks.example/", "https://", "https:///x", "hooks.example", "javascript:x",
        "https://user:word@hooks.example/", "https://hooks.example:8000/", "https://hooks.example:22/",
        "https://hooks.example/#x", "https://hooks.example/a b", "https://hooks.example/\r\nHost: x",
        "https://127.0.0.1/", "https://[::1]/", "https://10.1.2.3/", "https://[::ffff:127.0.0.1]/",
        "https://169.254.169.254/latest/meta-data/", "https://localhost/", "https://a.localhost/",
        "https://db.internal/", "https://hooks.example:99999/", "https://[fe80::1%25eth0]/",
        f"https://a.example/{'x' * 500}", "https://2130706433/", "https://0x7f.1/", "https://0177.0.0.1/",
        "https://127.1/", "https://127.0.0.1./", "https://localhost./", "https://ip6-localhost/", "https://[v1.a]/",
        "https://localhost.localdomain/", "https://xn--/", "https://xn--a.example/",
    ],
)  # fmt: skip
def test_an_address_that_is_not_of_the_public_web_is_refused_when_it_is_typed(make, address):
    with pytest.raises(AddressError):
        read_address(address)
    benchmark = make.benchmark({}, n_tasks=1)
    client = Client()
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    path = reverse("manage_webhooks", args=[benchmark.key])
    confirm_password(client, owner_of(benchmark))
    assert client.post(path, {"address": address, "events": ["publication"]}).status_code == 400
    assert not Webhook.objects.exists()


def test_an_address_of_a_public_host_is_accepted_in_every_spelling_of_its_name():
    hosts = ["hooks.example", "hooks.example.", "b\u00fccher.example", "8.8.8.8", "[2606:4700::1111]", "1.2.example"]
    expected = ["hooks.example", "hooks.example", "xn--bcher-kva.example", "8.8.8.8", "2606:4700::1111", "1.2.example"]
    assert [read_address(f"https://{host}/").host for host in hosts] == expected


NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1",
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1",
    "2001::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
]  # fmt: skip


def test_only_public_numbers_are_connected_to():
    assert [text for text in NOT_PUBLIC if is_allowed(text)] == []
    public = ["8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1"]
    assert [text for text in public if not is_allowed(text)] == []


@pytest.mark.parametrize("private", ["10.0.0.7", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1"])
def test_a_name_that_leads_inside_even_once_is_refused_and_nobody_is_asked_twice(monkeypatch, private):
    lookups = []

    def names(host, port, **_kwargs):
        lookups.append(host)
        return [(0, 0, 0, "", (number, port)) for number in ("93.184.216.34", private)]

    monkeypatch.setattr(socket, "getaddrinfo", names)
    with pytest.raises(AddressError, match="does not lead to the public internet"):
        post("https://hooks.example/", b"{}", {})
    assert lookups == ["hooks.example"]


def test_the_connection_goes_to_the_number_that_was_checked(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: [(0, 0, 0, "", ("93.184.216.34", 443))])
    reached = []

    def connect(address, *_args, **_kwargs):
        reached.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(PostError, match="ConnectionRefusedError"):
        post("https://hooks.example/x", b"{}", {})
    assert reached == [("93.184.216.34", 443)]


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://hooks.example/", "hooks.example"),
        ("https://hooks.example:443/", "hooks.example"),
        ("https://hooks.example:8443/", "hooks.example:8443"),
        ("http://hooks.example/", "hooks.example"),
        ("http://hooks.example:443/", "hooks.example:443"),
    ],
)
def test_the_host_is_said_without_the_usual_port_of_its_scheme(inside, address, host):
    connection = PinnedConnection(read_address(address), "127.0.0.1", 1)
    here, there = socket.socketpair()
    with here, there:
        connection.sock = here
        connection.request("POST", "/", b"{}")
        head = there.recv(65_536).decode().split("\r\n")
    assert [line for line in head if line.startswith("Host:")] == [f"Host: {host}"]


def test_the_default_delivers_nothing_to_this_machine(make, settings, tmp_path):
    benchmark = make.benchmark({}, n_tasks=1)
    with hook_sink(tmp_path) as sink:
        settings.WEBHOOKS_INSIDE = True
        webhook, _ = add_hook(benchmark, sink.port)
        put_own_test(webhook)
        settings.WEBHOOKS_INSIDE = False
        Webhook.objects.update(address="https://localhost:8443/")
        assert send_due_webhooks() == 0
        assert resolve_fails("localhost")
        assert sink.taken == []
    assert webhook.deliveries.get().message.last_error == "The URL does not lead to the public internet."


def resolve_fails(host: str) -> bool:
    with pytest.raises(AddressError):
        resolve(Target(host, 443, "/", is_tls=True), 5)
    return True


def make_certificate(folder, name: str):
    """A certificate that signs itself, with its key, for a name."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    file = folder / f"{name}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return str(file)


def test_the_certificate_is_one_of_those_trusted_and_of_the_name(db, inside, tmp_path, monkeypatch):
    inside.WEBHOOK_SECONDS = 5
    for name, trusts, message in (
        ("localhost", True, ""), ("localhost", False, "certificate"), ("other.example", True, "certificate"),
    ):  # fmt: skip
        certificate = make_certificate(tmp_path, name)
        if trusts:
            monkeypatch.setenv("SSL_CERT_FILE", certificate)
        else:
            monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with hook_sink(tmp_path, certificate=certificate) as sink:
            address = f"https://localhost:{sink.port}/"
            if not message:
                assert post(address, b"{}", {}) == 204
            else:
                with pytest.raises(PostError, match=message):
                    post(address, b"{}", {})


def test_a_resolver_that_does_not_answer_ends_with_the_seconds_of_the_post(inside, monkeypatch):
    inside.WEBHOOK_SECONDS = 0.1
    answers = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: answers.wait(60) and [])
    with pytest.raises(PostError, match=r"was not resolved within 0\.1 seconds"):
        post("http://hooks.example/", b"{}", {})
    assert not answers.is_set()  # nobody has waited for it
    answers.set()
