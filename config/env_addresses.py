"""Settings from the environment that are addresses: of hosts, sites, services and people.

What is wrong with one is said as in `config/env.py`, but no URL that may have a password is repeated.
"""

import ipaddress
import re
from email.utils import getaddresses
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from config.env import listing, text

LABEL = r"\w(?:[\w-]*\w)?"
HOST_NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
VISIBLE = re.compile("[!-~]+")
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
EMAIL = re.compile(r"[^@\s:/?#]+@[^@\s:/?#]+")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}")
ESCAPES = "%2F for /, %40 for @, %3A for :, %23 for #, %3F for ? and %25 for %"
SSL_MODES = ("prefer", "disable", "allow", "require", "verify-ca", "verify-full")  # of libpq, its default first


def database(name: str, default: str) -> dict:
    """A Django database from a URL such as `postgres://user:password@host:5432/name` or `sqlite:////a/b.sqlite3`.

    Raises:
        ImproperlyConfigured: it is another URL or none. The message does not repeat it: it may hold a password.
    """
    url = text(name, default)
    if not url.startswith(("sqlite://", "postgres://", "postgresql://")):
        raise ImproperlyConfigured(f"{name} {_beginning(url)}; allowed: postgres://..., sqlite:///...")
    try:
        parts = urlsplit(url)
        if url.startswith("sqlite") and parts.netloc not in {"", ":memory:"}:
            raise ImproperlyConfigured(f"{name} is no URL of an SQLite file; write sqlite:////folder/plurank.sqlite3")
        config = dict(environ.Env.db_url_config(url))
    except ValueError:
        config = {}
    if url.startswith("sqlite"):
        return config
    if not config.get("NAME") or "@" in parts.path:
        raise ImproperlyConfigured(
            f"{name} is no URL of a database; write postgres://user:password@host:5432/name, and in the user and the "
            f"password {ESCAPES}"
        )
    if (mode := config.get("OPTIONS", {}).get("sslmode", SSL_MODES[0])) not in SSL_MODES:
        raise ImproperlyConfigured(f"{name} has sslmode={str(mode)[:40]!r}; choose one of {', '.join(SSL_MODES)}")
    return config


def _beginning(url: str) -> str:
    """What a message says of a URL that is of another kind, or of a secret where a URL belongs."""
    scheme, is_url, _ = url.partition("://")
    return f"begins with {scheme!r}" if is_url and SCHEME.fullmatch(scheme) else "is no URL"


def redis(name: str) -> str:
    """The URL of a Redis such as `redis://host:6379/0`, or nothing.

    Raises:
        ImproperlyConfigured: it is another URL or none. The message does not repeat it: it may hold a password.
    """
    url = text(name, "")
    if url and not url.startswith(("redis://", "rediss://")):
        raise ImproperlyConfigured(f"{name} {_beginning(url)}; allowed: redis://..., rediss://...")
    try:
        parts = urlsplit(url)
        is_right = parts.port != 0 and re.fullmatch(r"/?[0-9]*", parts.path, re.ASCII) is not None and "#" not in url
    except ValueError:
        is_right = False
    if not is_right:
        raise ImproperlyConfigured(
            f"{name} is no URL of a Redis; write redis://:password@host:6379/0, and in the password {ESCAPES}"
        )
    return url


def site_url(name: str, default: str) -> str:
    """The URL of another site, without a slash at its end, or nothing.

    Raises:
        ImproperlyConfigured: it is not https, except on this machine: secrets would be readable on the way.
    """
    url = text(name, default).rstrip("/")
    host = _host_of(url)
    if url and not (host and (url.startswith("https://") or host in LOOPBACK)):
        raise ImproperlyConfigured(f"{_shown(name, url)} must be an https:// URL")
    return url


def hosts(name: str, default: str, *, is_production: bool) -> list[str]:
    """The host names that the site answers to, between commas.

    Raises:
        ImproperlyConfigured: one is no host name, such as a URL: no request would have it. In production they must be
            named, and `*` is none: with it any name that a client sends would be in links of mails and pages.
    """
    names = listing(name, "" if is_production else default)
    if is_production and not names:
        raise ImproperlyConfigured(f"{name} is not set; in production it must name the hosts the site answers to")
    if is_production and any(host in {"*", ".", "*."} for host in names):
        raise ImproperlyConfigured(f"{name}={','.join(names)!r} would answer to any name; in production name each host")
    for host in names:
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host.removeprefix(".")
        is_name = _is_host(bare) and host.isascii() and "_" not in host and (":" in host) == ("[" in host)
        if host != "*" and not is_name:
            raise ImproperlyConfigured(
                f"{name} has {host!r}, which is no host name; write boards.example, without https:// and without a port"
            )
    return names


def origins(name: str) -> list[str]:
    """The origins from which forms are accepted, between commas, as browsers write them.

    Raises:
        ImproperlyConfigured: one is none, such as a host name alone.
    """
    urls = [url.rstrip("/").lower() for url in listing(name, "")]
    for url in urls:
        if not _is_origin(url.replace("://*.", "://", 1)):
            raise ImproperlyConfigured(f"{_shown(name, url)} is no origin such as https://boards.example")
    return urls


def own_url(name: str, default: str) -> str:
    """The URL of this site, without a path.

    Raises:
        ImproperlyConfigured: it is none, such as a host name alone: every link in mails begins with it.
    """
    url = text(name, default).rstrip("/")
    if not _is_origin(url):
        raise ImproperlyConfigured(f"{_shown(name, url)} is no URL such as https://boards.example, without a path")
    return url


def frame_sites(name: str) -> list[str]:
    """The sites that may show this one in a frame, between commas, as `frame-ancestors` has them.

    Raises:
        ImproperlyConfigured: one is none; it would change the policy of all pages.
    """
    sites = listing(name, "")
    for site in sites:
        bare = site.removesuffix("/").replace("://*.", "://", 1).removeprefix("*.")
        if site not in {"*", "'self'", "https:"} and not _is_origin(bare if "://" in bare else f"https://{bare}"):
            raise ImproperlyConfigured(f"{_shown(name, site)} is no site such as https://huggingface.co")
    return sites


def prefix(name: str) -> str:
    """The path below which the site is, such as `/boards`, without a slash at its end; empty for the whole host.

    Raises:
        ImproperlyConfigured: it is no path.
    """
    value = text(name, "").rstrip("/")
    if value and not (PATH.fullmatch(value) and {".", ".."}.isdisjoint(value.split("/"))):
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
    if not value or (value.startswith("https://") and _host_of(value)):
        return value
    if not EMAIL.fullmatch(value):
        raise ImproperlyConfigured(f"{name}={value!r} is neither an email address nor an https:// URL")
    return f"mailto:{value}"


def sender(name: str, default: str) -> str:
    """The sender of mails: one email address, with or without the name of its owner before it.

    Raises:
        ImproperlyConfigured: it is neither, and every mail would fail.
    """
    value = text(name, default)
    # Several addresses are no sender: mail servers refuse them.
    addresses = getaddresses([value])
    if not value.isprintable() or len(addresses) != 1 or not EMAIL.fullmatch(addresses[0][1]):
        raise ImproperlyConfigured(
            f"{name}={value!r} is no sender; write plurank@boards.example or Plurank <plurank@boards.example>"
        )
    return value


def sender_of(url: str) -> str:
    """The sender of mails of a site with this URL, unless the operator names another one."""
    name = _host_of(url)
    _, dot, last = name.rpartition(".")
    return f"plurank@{name}" if dot and not last.isdigit() else "plurank@localhost"  # the latter: an IP address


def host(name: str, default: str) -> str:
    """The variable `name` as the name or the address of a host, without a port.

    A dot at the end of the name and the brackets of an IPv6 address are taken off.

    Raises:
        ImproperlyConfigured: it is neither.
    """
    value = text(name, default)
    is_bracketed = value.startswith("[") and value.endswith("]")
    bare = value[1:-1] if is_bracketed else value.removesuffix(".")
    if not _is_host(bare) or (is_bracketed and ":" not in bare):
        raise ImproperlyConfigured(f"{name}={value!r} is no name of a host, such as mail.example, without a port")
    return bare


def mail_domains(name: str) -> list[str]:
    """The domains of email addresses, between commas, with or without an @ before it.

    Raises:
        ImproperlyConfigured: one is no domain, and no address could have it.
    """
    domains = []
    for part in listing(name, ""):
        domains.append(part.lower().removeprefix("@"))
        if not _is_host(domains[-1]):
            raise ImproperlyConfigured(f"{name} has {part!r}, which is no domain such as university.example")
    return domains


def _shown(name: str, url: str) -> str:
    """A variable with its URL, unless a password may be in there."""
    return name if "@" in url else f"{name}={url!r}"


def _is_origin(url: str) -> bool:
    parts = urlsplit(url) if _host_of(url) else None
    return parts is not None and not parts.path and not set("?#") & set(url)


def _is_host(name: str) -> bool:
    """Whether this is the name or the address of a host, without a port; IPv6 is without its brackets."""
    try:
        return bool(HOST_NAME.fullmatch(name) or ipaddress.ip_address(name))
    except ValueError:
        return False


def _host_of(url: str) -> str:
    """The host of an http:// or https:// URL without a password; empty for anything else."""
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in {"http", "https"} and parts.port != 0 and _is_host(parts.hostname or "")
    except ValueError:
        return ""
    is_right = is_right and VISIBLE.fullmatch(url) is not None and not re.search("@|:$", parts.netloc)
    return parts.hostname or "" if is_right else ""
