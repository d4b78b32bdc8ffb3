"""Settings from the environment, each with an error that names the variable, its value and what it may be."""

import base64
import os
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}
REFERENCES_KEY_BYTES = 32
KEY_LENGTH, KEY_LETTERS = 50, 10  # what Django's own check of deployments asks for, and more variety
asked_for: set[str] = set()  # the names of the variables that were read
PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
EMAIL = re.compile(r"[^@\s:/?#]+@[^@\s:/?#]+")
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


def number(name: str, default: int, *, least: int = 0) -> int:
    """The variable `name` as a whole number of at least `least`.

    Raises:
        ImproperlyConfigured: it is set to something else.
    """
    value = text(name, str(default))
    if not value.isascii() or not value.isdigit() or int(value) < least:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number of at least {least}")
    return int(value)


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


def listing(name: str, default: str) -> list[str]:
    """The variable `name` as a list: its values are between commas."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def folder(name: str, default: Path) -> Path:
    """The folder that the variable `name` names, or `default`; it need not be there."""
    return Path(text(name, str(default))).resolve()


def database(name: str, default: str) -> dict:
    """A Django database from a URL such as `postgres://user:password@host:5432/name` or `sqlite:////a/b.sqlite3`.

    Raises:
        ImproperlyConfigured: the URL's scheme is neither sqlite nor postgres.
    """
    url = text(name, default)
    if not url.startswith(("sqlite:", "postgres:", "postgresql:")):
        scheme = url.split(":", 1)[0]
        raise ImproperlyConfigured(f"{name} begins with {scheme!r}; allowed: postgres://..., sqlite:///...")
    return dict(environ.Env.db_url_config(url))


def site_url(name: str, default: str) -> str:
    """The URL of another site, without a slash at its end, or nothing.

    Raises:
        ImproperlyConfigured: it is not https, except on this machine: secrets would be readable on the way.
    """
    url = text(name, default).rstrip("/")
    parts = urlsplit(url)
    if url and not (parts.hostname and (parts.scheme == "https" or parts.hostname in LOOPBACK)):
        raise ImproperlyConfigured(f"{name}={url!r} must be an https:// URL")
    return url


def prefix(name: str) -> str:
    """The path below which the site is, such as `/boards`, without a slash at its end; empty for the whole host.

    Raises:
        ImproperlyConfigured: it is no path.
    """
    value = text(name, "").rstrip("/")
    if value and not PATH.fullmatch(value):
        raise ImproperlyConfigured(f"{name}={value!r} is no path such as /boards")
    return value


def contact(name: str) -> str:
    """Where people can be reached, as a URI: an email address or an https:// URL, or nothing.

    Raises:
        ImproperlyConfigured: it is neither.
    """
    value = text(name, "").removeprefix("mailto:")
    if value and not value.isprintable():
        raise ImproperlyConfigured(f"{name}={value!r} has characters that cannot be shown")
    if not value or (value.startswith("https://") and urlsplit(value).hostname and " " not in value):
        return value
    if not EMAIL.fullmatch(value):
        raise ImproperlyConfigured(f"{name}={value!r} is neither an email address nor an https:// URL")
    return f"mailto:{value}"


def redis(name: str) -> str:
    """The URL of a Redis such as `redis://host:6379/0`, or nothing.

    Raises:
        ImproperlyConfigured: it is another URL or none. The message does not repeat it: it may hold a password.
    """
    url = text(name, "")
    if url and not url.startswith(("redis://", "rediss://")):
        scheme = url.split(":", 1)[0]
        raise ImproperlyConfigured(f"{name} begins with {scheme!r}; allowed: redis://..., rediss://...")
    return url


def hosts(name: str, default: str, *, is_production: bool) -> list[str]:
    """The host names that the site answers to, between commas.

    Raises:
        ImproperlyConfigured: in production they must be named, and `*` is none: with it any name that a client sends
            would be in links of mails and pages.
    """
    names = listing(name, "" if is_production else default)
    if is_production and not names:
        raise ImproperlyConfigured(f"{name} is not set; in production it must name the hosts the site answers to")
    if is_production and any(host in {"*", ".", "*."} for host in names):
        raise ImproperlyConfigured(f"{name}={','.join(names)!r} would answer to any name; in production name each host")
    return names


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
        if is_production and (len(value) < KEY_LENGTH or len(set(value)) < KEY_LETTERS):
            raise ImproperlyConfigured(
                f"{name} has {len(value)} characters, {len(set(value))} of them different; in production it must be "
                f'a random one of at least {KEY_LENGTH}: python -c "import secrets; print(secrets.token_urlsafe(50))"'
            )
        return value
    if is_production:
        raise ImproperlyConfigured(f"{name} is not set; in production it must be a long random string")
    return secret_file(file, lambda: secrets.token_urlsafe(50))


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
