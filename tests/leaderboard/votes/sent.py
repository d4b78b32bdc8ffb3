"""Votes to send, and benchmarks that collect them."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from django.test import override_settings

from jobs.runner import run_job
from leaderboard.access.audience import audience_of
from leaderboard.models import Benchmark, Job, User, VoteBatch
from leaderboard.queue.kinds import VOTES
from leaderboard.votes.content import CheckedVotes, SentVotes, checked_votes
from leaderboard.votes.lifecycle import send_votes
from leaderboard.votes.settings import start_collecting
from tests.factories import Factory, owner_of

STRENGTHS = {"Ash": 1.2, "Birch": 0.4, "Cedar": 0.0, "Dogwood": -0.7}


def vote_lines(n_votes: int, *, seed: int = 0, categories: Sequence[str] = ("code", "text"), n_voters: int = 9) -> str:
    """A table of random votes on pairs of STRENGTHS, of which every pair has some."""
    random = np.random.default_rng(seed)
    pairs = list(combinations(STRENGTHS, 2))
    lines = ["model_a,model_b,winner,category,voter,prompt_id"]
    for k in range(n_votes):
        first, second = pairs[k % len(pairs)]
        draw = random.random()
        chance = 1 / (1 + np.exp(STRENGTHS[second] - STRENGTHS[first]))
        winner = "tie" if draw > 0.9 else "model_a" if draw < 0.9 * chance else "model_b"
        category, voter = (
            categories[k // len(pairs) % len(categories)],
            f"person{random.integers(n_voters)}@example.org",
        )
        lines.append(f"{first},{second},{winner},{category},{voter},prompt {random.integers(20)}")
    return "\n".join(lines) + "\n"


def collecting(make: Factory, **fields: Any) -> Benchmark:
    """A benchmark that collects votes and has none."""
    benchmark = make.benchmark({}, n_tasks=1, **fields)
    benchmark.tasks.all().delete()
    start_collecting(benchmark, author=owner_of(benchmark))
    benchmark.refresh_from_db()
    return benchmark


def check(benchmark: Benchmark, data: bytes, *, by: User | None = None, **columns: str) -> CheckedVotes:
    """A file of votes as it is checked before it is stored."""
    return checked_votes(audience_of(by or owner_of(benchmark), benchmark), SentVotes(data, columns))


def sent(benchmark: Benchmark, text: str, *, by: User | None = None) -> VoteBatch:
    """A batch that came in by a program."""
    by = by or owner_of(benchmark)
    return send_votes(benchmark, by, SentVotes(text.encode(), {}))[0]


def rate(benchmark: Benchmark) -> None:
    """Run the waiting jobs that rate votes, here and now."""
    with override_settings(JOB_LEASE_SECONDS=600):
        for job in Job.objects.filter(benchmark=benchmark, kind=VOTES, state="waiting").order_by("pk"):
            run_job(job.pk, worker="test")
