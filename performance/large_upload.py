"""How long a large table takes through the real pages: sending it, its preview, confirming it, and its board.

Starts the site's real processes on a database of its own with an empty benchmark, and sends a random table of
5,000 systems x 57 tasks as a browser would; then a second one that changes every system. By default on SQLite and a
folder; DATABASE_URL and REDIS_URL choose PostgreSQL and Redis (a Redis database that no site uses).

    PYTHONPATH=. python performance/large_upload.py [--systems 5000] [--tasks 57]
"""

import argparse
import http.client
import os
import re
import sys
import tempfile
import time
import uuid
from pathlib import Path

import numpy as np

from performance.publish_delay import database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--systems", type=int, default=5000, metavar="N")
    parser.add_argument("--tasks", type=int, default=57, metavar="N")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plurank-bench-") as folder, database(Path(folder)) as url:
        os.environ |= {"PLURANK_VAR": folder, "DATABASE_URL": url, "PLURANK_LOG_LEVEL": "WARNING"}
        os.environ["PLURANK_UPLOAD_CELLS"] = str(arguments.systems * arguments.tasks)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        measure(Path(folder), url, arguments.systems, arguments.tasks)


def measure(folder: Path, url: str, n_systems: int, n_tasks: int) -> None:
    import django

    import config.celery  # noqa: F401 -- acceptance wakes workers through it

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections

    from tests.factories import Factory
    from tests.running_site import RunningSite

    call_command("migrate", verbosity=0)
    benchmark = Factory().benchmark({}, n_tasks=n_tasks)
    owner = benchmark.memberships.get(role="owner").user
    site = RunningSite(folder, url, lease_seconds=30)
    try:
        site.start("web", "rankings", "studies", "sweep")
        site.wait_for_web()
        print(f"{n_systems} systems x {n_tasks} tasks on {'SQLite' if settings.IS_SQLITE else 'PostgreSQL'}")
        browser = Browser(site.port, owner)
        tasks = [task.name for task in benchmark.tasks.order_by("order")]
        for what, seed in (("a table of new systems", 0), ("the same systems again", 1)):
            print(what)
            upload(browser, benchmark.key, table(tasks, n_systems, seed))
    except AssertionError as error:
        sys.exit(str(error))
    finally:
        site.stop_all()
        connections.close_all()


def table(tasks: list[str], n_systems: int, seed: int) -> str:
    draw = np.random.default_rng(seed)
    skill = draw.normal(50, 10, n_systems)
    values = np.round(skill[:, None] + draw.normal(0, 8, (n_systems, len(tasks))), 2)
    lines = [f"System {i}," + ",".join(map(str, row)) for i, row in enumerate(values.tolist())]
    return "\n".join(["system," + ",".join(tasks), *lines])


class Browser:
    """A signed-in browser of the running site: cookies, a CSRF token, and the time of every request."""

    def __init__(self, port: int, user) -> None:
        from django.test import Client
        from django.utils.crypto import get_random_string

        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        self.port, self.token = port, get_random_string(32)
        self.cookies = f"sessionid={client.cookies['sessionid'].value}; csrftoken={self.token}"

    def ask(self, method: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, str, str, float]:
        """Status, text, where it leads, and seconds."""
        mark, body = uuid.uuid4().hex, None
        headers = {"Cookie": self.cookies}
        if fields is not None:
            headers["Content-Type"] = f"multipart/form-data; boundary={mark}"
            body = "".join(part(mark, *item) for item in {"csrfmiddlewaretoken": self.token, **fields}.items())
            body += f"--{mark}--\r\n"
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, path, body and body.encode(), headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text, response.headers.get("Location", ""), time.monotonic() - started


def part(mark: str, name: str, value: str) -> str:
    file = '; filename="scores.csv"' if name == "file" else ""
    return f'--{mark}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n{value}\r\n'


def expect(answer: tuple[int, str, str, float], *statuses: int) -> tuple[int, str, str, float]:
    if answer[0] not in statuses:
        raise AssertionError(f"status {answer[0]}: {answer[1][:3000]}")
    return answer


def upload(browser: Browser, key: str, text: str) -> None:
    """Send a table, wait for its preview, confirm it, and wait for its board."""
    started = time.monotonic()
    _, _, draft, sent = expect(browser.ask("POST", f"/b/{key}/upload/", {"file": text}), 302)
    page, seen = "", 0
    while 'name="previewed_number"' not in page:
        _, page, _, _ = expect(browser.ask("GET", draft), 200)
        seen += 1
    print(f"  sent in {sent:.1f} s, previewed {time.monotonic() - started:.1f} s after sending began")
    number = re.search(r'name="previewed_number" value="(\d+)"', page)
    fields = {"action": "confirm", "create_system": "1", "previewed_number": number[1] if number else ""}
    started = time.monotonic()
    _, _, batch, confirmed = expect(browser.ask("POST", draft, fields), 302)
    _, page, _, _ = expect(browser.ask("GET", batch), 200)
    print(f"  confirmed in {confirmed:.1f} s, its page {time.monotonic() - started:.1f} s after that began")
    while 'hx-trigger="every' in page:
        time.sleep(0.2)
        _, page, _, _ = expect(browser.ask("GET", f"{batch}progress/"), 200, 286)
    print(f"  its board was there {time.monotonic() - started:.1f} s after confirming began")


if __name__ == "__main__":
    main()
