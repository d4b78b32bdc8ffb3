"""Clients of the API, who use any host, try again until they are answered, and keep what they were told."""

import http.client
import json
import random
import threading
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

from tests.faults.machine import Machine
from tests.faults.schedules import N_SUBMISSIONS, Answer, Schedule

PATIENCE = 300.0  # for a client until it is answered
TRIED_AGAIN = {0, 500, 502, 503, 504}  # 0: the connection broke, and nobody knows what became of it


def call(machine: Machine, method: str, path: str, token: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """One call of the API of some host: the status, 0 where the connection broke, and what was said."""
    host = random.choice(machine.hosts)
    connection = http.client.HTTPConnection(urlsplit(host.url).netloc, timeout=15)
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"} | headers
    try:
        connection.request(method, f"/api/v1/{path}", json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()


def submit_all(schedule: Schedule, machine: Machine, batches: list, draw: random.Random) -> None:
    """Submit one after the other; each until it is answered, under one idempotency key."""
    for name, scores in batches:
        time.sleep(draw.uniform(0, 4 * schedule.seconds / N_SUBMISSIONS))
        body = {
            "systems": [{"name": name, "scores": {f"task-{t}": s for t, s in enumerate(scores, start=1)}}],
            "create_systems": True,
        }
        schedule.accepted.append(Answer(submit(schedule, machine, body), name, scores))


def submit(schedule: Schedule, machine: Machine, body: dict) -> int:
    """Submit until it is answered; the number of the revision that it made."""
    key, end = uuid.uuid4().hex, time.monotonic() + PATIENCE
    path = f"benchmarks/{schedule.benchmark.key}/submissions/"
    while True:
        status, answer = call(machine, "POST", path, schedule.token, body, **{"Idempotency-Key": key})
        if status in (200, 201):
            return int(answer["revision"])
        assert status in TRIED_AGAIN, f"{schedule.title}: a submission was answered with {status}: {answer}"
        assert time.monotonic() < end, f"{schedule.title}: no answer to a submission\n{machine.logs()}"
        schedule.tried_again[status] += 1
        time.sleep(0.2)


def read_boards(schedule: Schedule, machine: Machine, is_over: threading.Event) -> None:
    """Read a ranking again and again, as readers do, and keep what it said by the revision that it named."""
    path = f"benchmarks/{schedule.benchmark.key}/rankings/borda/"
    while not is_over.wait(0.3):
        status, answer = call(machine, "GET", path, schedule.token)
        if status == 200 and answer.get("revision"):
            ranks = {row["system"]: row["rank"] for row in answer["results"]}
            schedule.seen.append((answer["revision"], json.dumps(ranks, sort_keys=True)))
