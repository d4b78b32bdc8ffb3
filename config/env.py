"""Settings from the environment, each with an error that names the variable, its value and what it may be."""

import base64
import gettext
import os
import re
import secrets
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from django.utils.translation import to_locale

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}
REFERENCES_KEY_BYTES = 32
KEY_LENGTH, KEY_LETTERS = 50, 10  # what Django's own check of deployments asks for, and more variety
MOST = 10**9  # for numbers of anything; what is computed from them fits 64 bits, and seconds are no end of all dates
MOST_SECONDS = 2_000_000  # some three weeks
MOST_DAYS = 36_500
DIGITS = 20  # beyond them nothing is read as a number
asked_for: set[str] = set()  # the names of the variables that were read
LANGUAGE = re.compile(r"[a-z]{1,8}(-[a-z0-9]{1,8})*(@[a-z0-9]{1,20})?", re.IGNORECASE)
RATE = re.compile(r"[1-9][0-9]{0,8}/(s|sec|m|min|h|hour|d|day)")


def text(name: str, default: str) -> str:
    """The value of the variable `name`, or `default` where it is unset or empty."""
    asked_for.add(name)
    return os.environ.get(name, "") or default


def boolean(name: str, *, default: bool) -> bool:
    """The variable `name` as a truth value.

    Raises:
        ImproperlyConfigured: it is set to something that is neither true nor false.
    """
    value = text(name, "true" if default else "false").lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name}={value!r} is not a boolean; allowed: true, false")
    return value in TRUE


def number(name: str, default: int, *, least: int = 0, most: int = MOST) -> int:
    """The variable `name` as a whole number from `least` to `most`.

    Raises:
        ImproperlyConfigured: it is set to something else.
    """
    value = text(name, str(default))
    is_number = len(value) <= DIGITS and value.isascii() and value.isdigit()
    if not is_number or not least <= int(value) <= most:
        raise ImproperlyConfigured(f"{name}={value[:80]!r} is not a whole number from {least} to {most}")
    return int(value)


def seconds(name: str, default: int, *, least: int = 0) -> int:
    """The variable `name` as seconds that something may take or waits.

    Raises:
        ImproperlyConfigured: it is something else, or as milliseconds more than 32 bits.
    """
    return number(name, default, least=least, most=MOST_SECONDS)


def days(name: str, default: int, *, least: int = 0) -> int:
    """The variable `name` as days that something is kept.

    Raises:
        ImproperlyConfigured: it is something else, or more than a century: dates end somewhere.
    """
    return number(name, default, least=least, most=MOST_DAYS)


def rate(name: str, default: str) -> str:
    """The variable `name` as how often something may be done: `120/min`, by second, minute, hour or day.

    Raises:
        ImproperlyConfigured: it is something else.
    """
    value = text(name, default)
    if not RATE.fullmatch(value):
        raise ImproperlyConfigured(
            f"{name}={value!r} is not a rate; write 120/min, or another unit of s, min, hour, day"
        )
    return value


def choice(name: str, default: str, allowed: Sequence[str]) -> str:
    """The variable `name`, one of `allowed`.

    Raises:
        ImproperlyConfigured: it is something else.
    """
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name}={value!r} is not allowed; choose one of {', '.join(allowed)}")
    return value


def module_path(name: str, default: str) -> str:
    """The variable `name` as the path of a class in a module of Python that is there; the module is not imported.

    Raises:
        ImproperlyConfigured: it is something else, and would fail when it is first used.
    """
    value = text(name, default)
    module, _, own_name = value.rpartition(".")
    try:
        is_there = own_name.isidentifier() and find_spec(module) is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        raise ImproperlyConfigured(f"{name}={value!r} is no class of a module that is installed, such as {default}")
    return value


def require_class(name: str, path: str) -> None:
    """Import the class that the variable `name` names, once every application is there.

    Args:
        name: of the variable.
        path: its value.

    Raises:
        ImproperlyConfigured: there is no such class, or its module cannot be imported.
    """
    try:
        is_class = isinstance(import_string(path), type)
    except Exception as error:  # whatever somebody's module does
        problem = f"{type(error).__name__}: {error}"
        raise ImproperlyConfigured(f"{name}={path!r} cannot be imported: {problem}") from error
    if not is_class:
        raise ImproperlyConfigured(f"{name}={path!r} is no class")


def language(name: str, default: str, folders: Sequence[Path]) -> str:
    """The variable `name` as a language, such as `de` or `pt-br`, that Django or one of `folders` has a catalogue of.

    Raises:
        ImproperlyConfigured: it is something else.
    """
    value = text(name, default)
    all_folders = [*folders, Path(django.__file__).parent / "conf" / "locale"]
    is_known = LANGUAGE.fullmatch(value) and any(
        gettext.find("django", each, [to_locale(value)]) for each in all_folders
    )
    if not is_known:
        raise ImproperlyConfigured(
            f"{name}={value!r} is no language with a catalogue; write one such as de, and put its catalogue into "
            f"{folders[-1] / 'de' / 'LC_MESSAGES' / 'django.mo'}"
        )
    return value


def listing(name: str, default: str) -> list[str]:
    """The variable `name` as a list: its values are between commas."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def folder(name: str, default: Path) -> Path:
    """The folder that the variable `name` names, or `default`; it need not be there.

    Raises:
        ImproperlyConfigured: it depends on where a process starts, so that each could have another one.
    """
    value = text(name, str(default))
    if not value.isprintable() or not Path(value).is_absolute():
        raise ImproperlyConfigured(f"{name}={value!r} is no absolute path of a folder, such as /var/lib/plurank")
    return Path(value).resolve()


def make_folders(*folders: Path, name: str) -> None:
    """Make the folder that the variable `name` names, and others in it.

    Raises:
        ImproperlyConfigured: one cannot be made.
    """
    for each in folders:
        try:
            each.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ImproperlyConfigured(f"{name}: the folder {each} cannot be made: {error.strerror}") from error


def debug(name: str, *, is_production: bool) -> bool:
    """Whether pages show what went wrong inside.

    Raises:
        ImproperlyConfigured: in production they must not: they show settings and source.
    """
    value = boolean(name, default=False)
    if value and is_production:
        raise ImproperlyConfigured(f"{name}=true shows settings and source to readers; unset it in production")
    return value


def secret(name: str, *, least: int) -> str:
    """A secret that may be unset, and then is empty.

    Raises:
        ImproperlyConfigured: it is too short to be one. The message does not say what it is.
    """
    value = text(name, "")
    if value and len(value) < least:
        raise ImproperlyConfigured(f"{name} has {len(value)} characters; a secret needs {least}, best random ones")
    return value


def secret_key(name: str, file: Path, *, is_production: bool) -> str:
    """The secret key: from the variable `name`, else from `file`, which is made on first use outside production.

    Raises:
        ImproperlyConfigured: in production the variable must be set, to something that no one guesses.
    """
    if value := text(name, ""):
        return _strong(name, value, is_production=is_production)
    if is_production:
        raise ImproperlyConfigured(f"{name} is not set; in production it must be a long random string")
    try:
        return secret_file(file, lambda: secrets.token_urlsafe(50))
    except OSError as error:
        raise ImproperlyConfigured(f"{name} is not set, and {file} cannot hold it: {error.strerror}") from error


def former_keys(name: str, present: str, *, is_production: bool) -> list[str]:
    """The secret keys before the present one, from the variable `name`, between commas, the newest first.

    Raises:
        ImproperlyConfigured: one is there twice, or is the present one: then the wrong key would be kept. Or in
            production one is easy to guess, such as a piece of a key that has a comma in it.
    """
    keys = listing(name, "")
    if len({present, *keys}) <= len(keys):
        raise ImproperlyConfigured(f"{name} has a key twice, or the present one; write the former keys alone")
    for place, key in enumerate(keys, start=1):
        _strong(f"{name}: key {place} of {len(keys)}, which are between commas,", key, is_production=is_production)
    return keys


def lasting_key(name: str, default: str, *, is_production: bool) -> str:
    """The key that outlives the secret keys, from the variable `name`; else `default`, which is one of them.

    Raises:
        ImproperlyConfigured: in production it is easy to guess.
    """
    return _strong(name, text(name, default), is_production=is_production)


def _strong(what: str, key: str, *, is_production: bool) -> str:
    """A key that signs or encrypts, which in production no one must guess. The error does not say what it is."""
    if is_production and (len(key) < KEY_LENGTH or len(set(key)) < KEY_LETTERS):
        raise ImproperlyConfigured(
            f"{what} has {len(key)} characters, {len(set(key))} of them different; in production it must be "
            f'a random one of at least {KEY_LENGTH}: python -c "import secrets; print(secrets.token_urlsafe(50))"'
        )
    return key


def secret_file(file: Path, made: Callable[[], str]) -> str:
    """The text of a file that only its owner can read; it is made on first use.

    Args:
        file: where.
        made: what is in a new one.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        # Several processes and threads may come at once: the first to link its file wins, the others read it.
        candidate = file.with_name(f"{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
        candidate.touch(mode=0o600)
        candidate.write_text(made())
        try:
            os.link(candidate, file)
        except FileExistsError:
            pass
        finally:
            candidate.unlink()
    return file.read_text().strip()


def references_keys(name: str) -> list[str]:
    """The keys that encrypt references, from the variable `name`, between commas; none where it is not set.

    Raises:
        ImproperlyConfigured: one is not `REFERENCES_KEY_BYTES` bytes in base64.
    """
    keys = [key for part in text(name, "").split(",") if (key := part.strip())]
    for place, key in enumerate(keys, start=1):
        try:
            n_bytes = len(base64.b64decode(key, altchars=b"-_", validate=True))
        except ValueError:
            n_bytes = 0
        if n_bytes != REFERENCES_KEY_BYTES:
            raise ImproperlyConfigured(
                f"key {place} of {name} is not {REFERENCES_KEY_BYTES} bytes in base64; make one: python -c "
                '"import base64, secrets; print(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())"'
            )
    if len(set(keys)) < len(keys):
        raise ImproperlyConfigured(f"{name} has a key twice")
    return keys
