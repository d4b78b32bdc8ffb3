"""Settings from the environment, each with an error that names the variable, its value and what it may be."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


def text(name: str, default: str) -> str:
    """The value of the variable `name`, or `default` where it is unset or empty."""
    return os.environ.get(name, "") or default


def boolean(name: str, *, default: bool) -> bool:
    """The variable `name` as a truth value.

    Raises:
        ImproperlyConfigured: it is set to something that is neither true nor false.
    """
    value = text(name, "true" if default else "false").lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name}={value!r} is not a truth value; allowed: true, false")
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


def choice(name: str, default: str, allowed: Sequence[str]) -> str:
    """The variable `name`, one of `allowed`.

    Raises:
        ImproperlyConfigured: it is something else.
    """
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name}={value!r} is none of what is allowed: {', '.join(allowed)}")
    return value


def listing(name: str, default: str) -> list[str]:
    """The variable `name` as a list: its values stand between commas."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


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


def secret_key(name: str, file: Path, *, is_production: bool) -> str:
    """The secret key: from the variable `name`, else from `file`, which is made on first use outside production.

    Raises:
        ImproperlyConfigured: in production the variable must be set.
    """
    if value := os.environ.get(name):
        return value
    if is_production:
        raise ImproperlyConfigured(f"{name} is not set; in production it must be a long random string")
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        # Several processes may start at once: the first to link its file wins, the others read it.
        candidate = file.with_name(f"{file.name}.{os.getpid()}")
        candidate.touch(mode=0o600)
        candidate.write_text(secrets.token_urlsafe(50))
        try:
            os.link(candidate, file)
        except FileExistsError:
            pass
        finally:
            candidate.unlink()
    return file.read_text().strip()
