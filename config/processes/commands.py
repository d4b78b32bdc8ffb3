"""The processes that make up a running site; any may be killed at any time. docker-compose.yml runs the same."""

import http.client
import ipaddress
import os
from contextlib import closing
from urllib.parse import urlsplit

from config.processes.container import memory_limit

QUEUES = ("rankings", "studies", "scoring")  # apart, so that none of them delays another
ALL_ADDRESSES = ("0.0.0.0", "::")  # noqa: S104 -- not bound to here
OWN_HOSTS = "127.0.0.1,localhost,[::1]"
MAX_STUDY_WORKERS = 4  # by themselves: each takes some 200 MB
# For requests that are under way when the web server is told to stop. A statement may take 15 seconds (`config.wsgi`).
WEB_STOP_SECONDS = 20
SECONDS_TO_ANSWER = 10
STUDY_WORKER_BYTES = 2 << 30  # what a study may take where memory is limited, with room for the others


def default_host() -> str:
    """Where the web server listens by default: the address in `HOST`, else this machine alone.

    Compilers of conda use a variable of the same name for something else, so what is no address does not count.
    """
    host = os.environ.get("HOST", "")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "127.0.0.1"
    return host


def address_of(host: str, port: int) -> str:
    """The URL at which this machine reaches a web server of its own.

    Args:
        host: where the server listens; it may stand for all addresses of the machine.
        port: of the server.
    """
    name = "127.0.0.1" if host in ALL_ADDRESSES else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def status_of(url: str) -> int:
    """The status of the answer that the site of this machine gives at a URL; 0 where it does not answer."""
    where = urlsplit(url)
    with closing(http.client.HTTPConnection(where.netloc, timeout=SECONDS_TO_ANSWER)) as connection:
        try:
            connection.request("GET", where.path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0


def hosts_of(host: str) -> str:
    """What `PLURANK_HOSTS` is where people only try the site: the names by which they may ask.

    Args:
        host: where the server listens; if it stands for all addresses of the machine, any name will do.
    """
    if host in ("127.0.0.1", "localhost", "::1"):
        return OWN_HOSTS
    name = "*" if host in ALL_ADDRESSES else f"[{host}]" if ":" in host else host
    return f"{OWN_HOSTS},{name}"


def study_workers() -> int:
    """How many workers for studies a machine has by default: one a processor, MAX_STUDY_WORKERS at most.

    Where memory is limited, as in a container, there is one for each STUDY_WORKER_BYTES. They yield to pages and boards
    (`jobs.limits.yield_to_boards`), so that these need no processor set aside.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = memory_limit()
    by_memory = usable if memory is None else memory // STUDY_WORKER_BYTES
    return max(1, min(MAX_STUDY_WORKERS, usable, by_memory))


def processes(
    python: str, port: int, *, host: str = "127.0.0.1", n_web: int = 1, n_workers: dict[str, int] | None = None
) -> dict[str, list[str]]:
    """Each process's name and command line.

    Args:
        python: the interpreter that has the packages.
        port: where the web server listens.
        host: the address of this machine on which it listens; `0.0.0.0` for all of them.
        n_web: how many processes the web server has.
        n_workers: how many workers a queue has, where that is not one.
    """
    commands = {"web": web(python, port, host=host, n_workers=n_web)}
    for queue in QUEUES:
        for number in range(1, (n_workers or {}).get(queue, 1) + 1):
            name = queue if number == 1 else f"{queue}{number}"
            commands[name] = worker(python, queue, name=name)
    return commands | {"sweep": [python, "manage.py", "sweep"]}


def web(python: str, port: int, *, host: str = "127.0.0.1", n_workers: int = 1) -> list[str]:
    """The web server. One process by default, so that a cache in its memory is everyone's; with threads."""
    command = [
        python,
        "-m",
        "gunicorn",
        "config.wsgi",
        "--bind",
        f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
    ]
    command += ["--workers", str(n_workers), "--threads", "8"]
    return [*command, "--graceful-timeout", str(WEB_STOP_SECONDS), "--no-control-socket"]


def worker(python: str, queue: str, *, name: str = "") -> list[str]:
    """A Celery worker of one queue. It need not talk to others: messages only wake it."""
    command = [python, "-m", "celery", "--app", "config.celery", "worker", "--queues", queue]
    command += ["--hostname", f"{name or queue}@%h", "--pool", "prefork", "--concurrency", "1"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return [*command, "--loglevel", "INFO"]
