"""Settings from the environment: what is accepted, and what the errors say."""

import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env


@pytest.mark.parametrize(
    ("value", "expected"),
    [("true", True), ("1", True), ("YES", True), ("false", False), ("0", False), ("No", False)],
)
def test_truth_values(monkeypatch, value, expected):
    monkeypatch.setenv("PLURANK_DEBUG", value)
    assert env.boolean("PLURANK_DEBUG", default=not expected) is expected


@pytest.mark.parametrize("default", [True, False])
def test_an_empty_variable_is_an_unset_one(monkeypatch, default):
    monkeypatch.setenv("PLURANK_DEBUG", "")
    assert env.boolean("PLURANK_DEBUG", default=default) is default
    assert env.number("PLURANK_DEBUG", 7) == 7
    assert env.text("PLURANK_DEBUG", "text") == "text"
    assert env.listing("PLURANK_DEBUG", "a, b,") == ["a", "b"]


@pytest.mark.parametrize(
    ("read", "value", "message"),
    [
        (
            lambda: env.boolean("PLURANK_X", default=False),
            "maybe",
            "PLURANK_X='maybe' is not a boolean; allowed: true, false",
        ),
        (
            lambda: env.choice("PLURANK_X", "every", ["every", "nightly"]),
            "never",
            "PLURANK_X='never' is not allowed; choose one of every, nightly",
        ),
        (lambda: env.number("PLURANK_X", 1), "ten", "PLURANK_X='ten' is not a whole number of at least 0"),
        (lambda: env.number("PLURANK_X", 1), "-1", "PLURANK_X='-1' is not a whole number of at least 0"),
        (lambda: env.number("PLURANK_X", 1), "1.5", "PLURANK_X='1.5' is not a whole number of at least 0"),
        (lambda: env.number("PLURANK_X", 1), "٣", "PLURANK_X='٣' is not a whole number of at least 0"),
        (
            lambda: env.number("PLURANK_X", 9, least=5),
            "4",
            "PLURANK_X='4' is not a whole number of at least 5",
        ),
        (
            lambda: env.rate("PLURANK_X", "1/s"),
            "many/min",
            "PLURANK_X='many/min' is not a rate; write 120/min, or another unit of s, min, hour, day",
        ),
        (
            lambda: env.database("PLURANK_X", ""),
            "mysql://root:secret@host/name",
            "PLURANK_X begins with 'mysql'; allowed: postgres://..., sqlite:///...",
        ),
        (
            lambda: env.redis("PLURANK_X"),
            "http://:secret@host",
            "PLURANK_X begins with 'http'; allowed: redis://..., rediss://...",
        ),
    ],
)
def test_an_error_names_variable_value_and_what_is_allowed(monkeypatch, read, value, message):
    monkeypatch.setenv("PLURANK_X", value)
    with pytest.raises(ImproperlyConfigured) as error:
        read()
    assert str(error.value) == message


def test_a_database_url_is_taken_apart(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://plurank:p%40ss@db.example:6543/boards")
    assert env.database("DATABASE_URL", "") == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "boards",
        "USER": "plurank",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": 6543,
    }


def test_an_sqlite_path_may_hold_spaces(monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    default = env.database("DATABASE_URL", "sqlite:////home/a b/plurank.sqlite3")
    assert default["NAME"] == "/home/a b/plurank.sqlite3"


def test_the_secret_key_is_made_once_and_only_its_owner_may_read_it(monkeypatch, tmp_path):
    monkeypatch.delenv("PLURANK_SECRET_KEY", raising=False)
    file = tmp_path / "new folder" / "secret_key"
    first = env.secret_key("PLURANK_SECRET_KEY", file, is_production=False)
    assert len(first) >= 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert env.secret_key("PLURANK_SECRET_KEY", file, is_production=False) == first
    assert [path.name for path in file.parent.iterdir()] == ["secret_key"]


def test_the_secret_key_of_the_environment_wins(monkeypatch, tmp_path):
    outside = "a long random string from outside, 0123456789 and more"
    monkeypatch.setenv("PLURANK_SECRET_KEY", outside)
    assert env.secret_key("PLURANK_SECRET_KEY", tmp_path / "key", is_production=True) == outside


def test_production_makes_no_secret_key_of_its_own(monkeypatch, tmp_path):
    monkeypatch.delenv("PLURANK_SECRET_KEY", raising=False)
    with pytest.raises(ImproperlyConfigured) as error:
        env.secret_key("PLURANK_SECRET_KEY", tmp_path / "key", is_production=True)
    assert str(error.value) == "PLURANK_SECRET_KEY is not set; in production it must be a long random string"
