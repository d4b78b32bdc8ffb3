"""A site gets another secret key, and people notice nothing."""

import json
import re
import subprocess
import sys
from datetime import timedelta
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.usersessions.models import UserSession
from cryptography.fernet import Fernet
from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config import env
from leaderboard.accounts.second_factor import SecondFactorAdapter
from leaderboard.models import Webhook
from leaderboard.notifications.deliveries import secret_of
from leaderboard.notifications.mails import read_unsubscribe, unsubscribe_link

OLD, NEW, SECRET = "the key of yesterday", "the key of today", "JBSWY3DPEHPK3PXP"
ENCRYPTED = "second factors and recovery codes encrypted with PLURANK_SECRET_KEY"


@pytest.fixture
def factors(make, settings):
    """The app and the recovery codes of one person, by the old key."""
    settings.SECRET_KEY = OLD
    user = make.user()
    return TOTP.activate(user, SECRET).instance, RecoveryCodes.activate(user).instance


def codes_of(recovery: Authenticator) -> list[str]:
    recovery.refresh_from_db()
    return RecoveryCodes(recovery).generate_codes()


def secret(app: Authenticator) -> str:
    app.refresh_from_db()
    return SecondFactorAdapter().decrypt(app.data["secret"])


def rotate() -> str:
    said = StringIO()
    call_command("rotate_secret_key", stdout=said)
    return said.getvalue()


def test_second_factors_work_with_both_keys_and_after_the_command_without_the_old_one(factors, settings, monkeypatch):
    monkeypatch.delenv("PLURANK_LASTING_KEY", raising=False)
    app, recovery = factors
    codes = codes_of(recovery)
    recovery.data["migrated_codes"] = [SecondFactorAdapter().encrypt("12345678")]
    recovery.save()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    assert secret(app) == SECRET
    assert rotate().startswith(f"2 {ENCRYPTED}\nBefore you remove")
    stored = app.data, recovery.data
    monkeypatch.setenv("PLURANK_LASTING_KEY", OLD)
    assert rotate().splitlines() == [f"0 {ENCRYPTED}", "no former key is needed"]
    settings.SECRET_KEY_FALLBACKS = []
    assert rotate().endswith("no former key is needed\n")
    assert secret(app) == SECRET
    assert codes_of(recovery) == ["12345678"]
    del recovery.data["migrated_codes"]
    recovery.save()
    assert codes_of(recovery) == codes
    assert stored != (app.data, recovery.data)


def test_what_no_known_key_encrypted_is_named_and_the_rest_is_encrypted(factors, make, settings, monkeypatch, capsys):
    monkeypatch.delenv("PLURANK_LASTING_KEY", raising=False)
    app, _ = factors
    lost = TOTP.activate(make.user(), SECRET).instance
    text = Fernet(Fernet.generate_key()).encrypt(b"x").decode()
    Authenticator.objects.filter(pk=lost.pk).update(data={"secret": text})
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    with pytest.raises(CommandError, match=f"delete these .*\ntotp of user {lost.user_id}$"):
        call_command("rotate_secret_key")
    assert capsys.readouterr().out.startswith(f"2 {ENCRYPTED}\nBefore you remove")
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(CommandError):
        call_command("rotate_secret_key")
    assert capsys.readouterr().out == f"0 {ENCRYPTED}\n"
    assert secret(app) == SECRET
    lost.refresh_from_db()
    assert lost.data == {"secret": text}


def test_sessions_and_links_of_the_old_key_go_on_and_a_session_that_was_used_outlives_it(make, settings):
    settings.SECRET_KEY = OLD
    user = make.user()
    link = unsubscribe_link(user, ["decision"])
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        UserSession.objects.create(
            user=user, session_key=client.session.session_key, ip="127.0.0.1", user_agent="a browser"
        )
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    used, unused = clients
    assert used.get(reverse("notices")).status_code == 200
    listed = {row.session_key for row in UserSession.objects.purge_and_list(user)}
    assert listed == {client.session.session_key for client in clients}
    assert read_unsubscribe(link.rstrip("/").rpartition("/")[2]) == (user, ["decision"])
    settings.SECRET_KEY_FALLBACKS = []
    assert [client.get(reverse("notices")).status_code for client in (used, unused)] == [200, 302]
    assert read_unsubscribe(link.rstrip("/").rpartition("/")[2]) is None


def test_requests_that_come_at_once_after_the_key_changed_are_of_one_session(make, settings):
    settings.SECRET_KEY = OLD
    user, browser = make.user(), Client()
    browser.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    name = browser.session.session_key
    UserSession.objects.create(user=user, session_key=name, ip="127.0.0.1", user_agent="a browser")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    for _ in range(3):
        at_once = Client()
        at_once.cookies[settings.SESSION_COOKIE_NAME] = name  # as it was before any of them was answered
        assert at_once.get(reverse("notices")).status_code == 200
        assert at_once.cookies[settings.SESSION_COOKIE_NAME].value == name
    assert [row.session_key for row in UserSession.objects.purge_and_list(user)] == [name]
    settings.SECRET_KEY_FALLBACKS = []
    assert browser.get(reverse("notices")).status_code == 200


def test_secrets_of_webhooks_and_numbers_of_hidden_systems_come_from_the_lasting_key(make, settings):
    benchmark = make.published(anonymous_until=timezone.now() + timedelta(days=1))
    webhook = Webhook.objects.create(benchmark=benchmark, address="https://hooks.example/", author=make.user())

    def derived():
        page = Client().get(f"/b/{benchmark.key}/").content.decode()
        return secret_of(webhook), set(re.findall("anonymous-[0-9a-f]{10}|System [0-9a-f]{10}", page))

    before = derived()
    assert len(before[1]) > 1
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, []
    assert derived() == before
    settings.LASTING_KEY = NEW
    secret, marks = derived()
    assert secret != before[0]
    assert not marks & before[1]


@pytest.mark.parametrize(
    ("former", "lasting", "expected"),
    [
        ("", "", [[], "now" * 20]),
        ("before,first", "", [["before", "first"], "first"]),
        ("before", "chosen", [["before"], "chosen"]),
        ("", "chosen", [[], "chosen"]),
    ],
)
def test_the_lasting_key_is_the_oldest_one_unless_it_is_set(tmp_path, former, lasting, expected):
    program = "import json; from config.settings.base import *; print(json.dumps([SECRET_KEY_FALLBACKS, LASTING_KEY]))"
    keys = {"PLURANK_SECRET_KEY": "now" * 20, "PLURANK_OLD_SECRET_KEYS": former, "PLURANK_LASTING_KEY": lasting}
    command = [sys.executable, "-c", program]
    environment = {"PLURANK_VAR": str(tmp_path), "PYTHONPATH": str(configured.ROOT)} | keys
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == expected


@pytest.mark.parametrize("former", ["now", "a,a"])
def test_a_key_that_is_named_twice_is_refused_without_its_text(monkeypatch, former):
    monkeypatch.setenv("X", former)
    with pytest.raises(ImproperlyConfigured, match=r"^X has a key twice, or the present one; [a-z ]+$"):
        env.former_keys("X", "now", is_production=False)
