"""Two thousand submissions by eight clients at once: nothing is lost, no cap exceeded, and the order did not matter."""

import json
from functools import partial

import pytest
from django.conf import settings as django_settings
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from leaderboard.models import Benchmark, Submission, SubmissionCount
from leaderboard.services.score_matrix import input_hash, revision_matrix
from leaderboard.services.tokens import create_token
from tests.concurrency import at_once

N_CLIENTS, N_EACH, N_BEYOND = 8, 250, 5


def latest_hash(benchmark):
    revision = benchmark.revisions.select_related("configuration").latest("number")
    return input_hash(revision_matrix(revision), revision.configuration.content)


@pytest.mark.slow  # 2,040 requests, each a transaction of its own: minutes
@pytest.mark.skipif(django_settings.IS_SQLITE, reason="who waits for SQLite's one lock may wait for ever behind others")
def test_many_submissions_at_once_end_in_the_board_of_one_bulk_import(make_committed, settings):
    settings.API_RATES = dict.fromkeys(settings.API_RATES, "1000000/min")
    cache.clear()
    benchmark = make_committed.benchmark({}, n_tasks=3, daily_cap=N_EACH)
    users = [make_committed.user() for _ in range(N_CLIENTS)]
    pairs = [(c, i) for c in range(N_CLIENTS) for i in range(N_EACH + N_BEYOND)]
    scores = {f"System {c}-{i}": [float(c), float(i), i / 7] for c, i in pairs}
    path = reverse("api:submit", args=[benchmark.key])

    def submit_all(c: int) -> list[int]:
        _, secret = create_token(users[c], name="load", scopes=["submit"], days=30)
        client, answers = Client(), []
        for i in range(N_EACH + N_BEYOND):
            name = f"System {c}-{i}"
            cells = {f"task-{t + 1}": value for t, value in enumerate(scores[name])}
            body = {"systems": [{"name": name, "key": f"s-{c}-{i}", "scores": cells}], "create_systems": True}
            headers = {"Authorization": f"Token {secret}", "Idempotency-Key": name.replace(" ", "-")}
            answer = client.post(path, json.dumps(body), content_type="application/json", headers=headers)
            answers.append(answer.status_code)
        return answers

    outcomes = at_once([partial(submit_all, c) for c in range(N_CLIENTS)], seconds=1800)
    assert outcomes == [[201] * N_EACH + [429] * N_BEYOND] * N_CLIENTS
    accepted = Submission.objects.filter(benchmark=benchmark, state="accepted")
    assert accepted.count() == N_CLIENTS * N_EACH
    assert Benchmark.objects.get(pk=benchmark.pk).last_revision_number == N_CLIENTS * N_EACH
    assert set(SubmissionCount.objects.values_list("n_submitted", flat=True)) == {N_EACH}

    bulk = make_committed.benchmark({}, n_tasks=3)
    whole = {f"S {c} {i}": scores[f"System {c}-{i}"] for c in range(N_CLIENTS) for i in range(N_EACH)}
    make_committed.accepted(bulk, whole)
    assert latest_hash(bulk) == latest_hash(benchmark)
