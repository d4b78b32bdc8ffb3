"""Settings from the environment: what is accepted, and what the errors say."""

import runpy
import stat
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config import env

GERMAN = "/site/de/LC_MESSAGES/django.mo"


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
        (lambda: env.number("PLURANK_X", 1), "ten", "PLURANK_X='ten' is not a whole number from 0 to 1000000000"),
        (lambda: env.number("PLURANK_X", 1), "-1", "PLURANK_X='-1' is not a whole number from 0 to 1000000000"),
        (lambda: env.number("PLURANK_X", 1), "1.5", "PLURANK_X='1.5' is not a whole number from 0 to 1000000000"),
        (lambda: env.number("PLURANK_X", 1), "٣", "PLURANK_X='٣' is not a whole number from 0 to 1000000000"),
        (
            lambda: env.number("PLURANK_X", 9, least=5),
            "4",
            "PLURANK_X='4' is not a whole number from 5 to 1000000000",
        ),
        (
            lambda: env.rate("PLURANK_X", "1/s"),
            "many/min",
            "PLURANK_X='many/min' is not a rate; write 120/min, or another unit of s, min, hour, day",
        ),
    ],
)
def test_an_error_names_variable_value_and_what_is_allowed(monkeypatch, read, value, message):
    monkeypatch.setenv("PLURANK_X", value)
    with pytest.raises(ImproperlyConfigured) as error:
        read()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("read", "values", "message"),
    [
        (lambda: env.number("X", 1), ["1000000001", "9" * 20], "X='{}' is not a whole number from 0 to 1000000000"),
        (lambda: env.number("X", 1, most=7), ["8"], "X='{}' is not a whole number from 0 to 7"),
        (lambda: env.seconds("X", 1), ["2000001"], "X='{}' is not a whole number from 0 to 2000000"),
        (lambda: env.days("X", 9, least=7), ["6", "99999999"], "X='{}' is not a whole number from 7 to 36500"),
        (
            lambda: env.folder("X", Path("/")),
            ["var", "-1", "./var", "~/var"],
            "X='{}' is no absolute path of a folder, such as /var/lib/plurank",
        ),
        (
            lambda: env.language("X", "en", [Path("/site")]),
            ["xx", "../..", "nonsense!"],
            f"X='{{}}' is no language with a catalogue; write one such as de, and put its catalogue into {GERMAN}",
        ),
        (
            lambda: env.module_path("X", "a.B"),
            ["smtp", "django.core.mail.backends.smtpp.EmailBackend", "nowhere.at.all.Class", ".x", "os.a b"],
            "X='{}' is no class of a module that is installed, such as a.B",
        ),
    ],
)
def test_what_cannot_work_is_refused(monkeypatch, read, values, message):
    assert refusals(monkeypatch, read, values) == [message.format(value) for value in values]


def refusals(monkeypatch, read, values: list[str]) -> list[str]:
    """What is said of the variable `X` with each of these values."""
    messages = []
    for value in values:
        monkeypatch.setenv("X", value)
        with pytest.raises(ImproperlyConfigured) as error:
            read()
        messages.append(str(error.value))
    return messages


def test_a_very_long_number_and_a_control_character_are_refused_in_one_short_line(monkeypatch):
    numbers = refusals(monkeypatch, lambda: env.number("X", 1), ["9" * 5000])
    assert numbers == [f"X='{'9' * 80}' is not a whole number from 0 to 1000000000"]
    folders = refusals(monkeypatch, lambda: env.folder("X", Path("/")), ["/a\nb"])
    assert folders == ["X='/a\\nb' is no absolute path of a folder, such as /var/lib/plurank"]


def test_a_folder_that_cannot_be_made_is_named_with_its_variable(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.touch()
    for folder, reason in {Path("/proc/x"): "No such file or directory", file: "File exists"}.items():
        with pytest.raises(ImproperlyConfigured) as error:
            env.make_folders(folder, name="PLURANK_VAR")
        assert str(error.value) == f"PLURANK_VAR: the folder {folder} cannot be made: {reason}"
    monkeypatch.delenv("X", raising=False)
    with pytest.raises(ImproperlyConfigured) as error:
        env.secret_key("X", Path("/proc/secret_key"), is_production=False)
    assert str(error.value) == "X is not set, and /proc/secret_key cannot hold it: No such file or directory"


@pytest.mark.parametrize("value", ["en", "de", "pt-br", "de-at"])
def test_a_language_with_a_catalogue_is_accepted(monkeypatch, value):
    monkeypatch.setenv("X", value)
    assert env.language("X", "en", []) == value


@pytest.mark.parametrize(
    ("module", "variables", "message"),
    [
        (
            "mails",
            {"PLURANK_EMAIL_STARTTLS": "true", "PLURANK_EMAIL_TLS": "true"},
            "PLURANK_EMAIL_STARTTLS and PLURANK_EMAIL_TLS are both true; set the one that fits the port",
        ),
        (
            "database",
            {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "PLURANK_IDLE_SECONDS": "60"},
            "PLURANK_IDLE_SECONDS='60' is neither 0, for never, nor more than 60",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(monkeypatch, module, variables, message):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as error:
        runpy.run_path(str(settings.ROOT / "config" / "settings" / f"{module}.py"))
    assert str(error.value) == message


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
