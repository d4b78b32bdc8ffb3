"""What a host sets up beside a board of scores: hidden tests with phases and teams, votes, an organisation, an address.

All of it is made up. What has to be scored or rated is, here and now.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from leaderboard.accounts.organisations.founding import found_organisation, move_in
from leaderboard.accounts.organisations.members import (
    find_organisation_invitation,
    invite_to_organisation,
    join_organisation,
)
from leaderboard.evaluation.phases import store_phase
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.teams import found_team
from leaderboard.models import Benchmark, Fetch, FollowedAddress, PredictionSubmission, User, VoteBatch
from leaderboard.submissions.following.addresses import follow_address
from tests.factories import Factory
from tests.leaderboard.evaluation.made import LABELS, hidden_benchmark, labels_file, numbers_file, score_all, upload
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines

DAY = timedelta(days=1)
FETCHES = (
    {"outcome": "accepted", "status_code": 200, "n_bytes": 18_204, "n_new": 2, "n_changed": 1},
    {"outcome": "unchanged", "status_code": 304},
    {"outcome": "failed", "status_code": 503, "error": "The answer was 503."},
    {"outcome": "unchanged", "status_code": 304},
)


@dataclass
class Hosted:
    """What the pages are asked for."""

    prediction: PredictionSubmission
    refused: PredictionSubmission
    vote_batch: VoteBatch
    organisation_secret: str


def set_up(make: Factory, owner: User, submitter: User) -> Hosted:
    """Make a benchmark with hidden tests, one that collects votes, an organisation, and addresses that GLUE follows."""
    hidden = hidden_benchmark(make, name="Hidden labels", key="hidden", owner=owner)
    organisation = _organisation(owner, submitter, hidden)
    prediction, refused = _predictions(make, hidden, owner, submitter)
    _follow(Benchmark.objects.get(key="glue"), owner)
    return Hosted(prediction, refused, _votes(make, owner, submitter), organisation)


def _organisation(owner: User, submitter: User, benchmark: Benchmark) -> str:
    text = "We measure what systems can do, and publish the predictions with the scores."
    fields = {"name": "Laboratory of Evaluation", "description": text, "url": "https://laboratory.example/"}
    organisation = found_organisation(owner, key="laboratory", **fields)
    secret = invite_to_organisation(organisation, author=owner, role="member")
    join_organisation(find_organisation_invitation(secret), submitter)
    move_in(benchmark, organisation, author=owner)
    return invite_to_organisation(organisation, author=owner, role="owner")


def _predictions(
    make: Factory, benchmark: Benchmark, owner: User, submitter: User
) -> tuple[PredictionSubmission, PredictionSubmission]:
    """Of a phase that is open: some that were scored, and some whose name others took meanwhile."""
    now = timezone.now()
    old = {"name": "Warm-up", "kind": "development", "split": "development"}
    store_phase(benchmark, old | {"opens_at": now - 60 * DAY, "closes_at": now - 30 * DAY}, author=owner)
    final = {"name": "Final", "opens_at": now - DAY, "closes_at": now + 30 * DAY, "daily_cap": 3, "total_cap": 20}
    store_phase(benchmark, final, author=owner)
    found_team(benchmark, submitter, "Owls")
    rows = []
    for name, animals in (("Deep Thought", ["cat", "dog", "dog", *LABELS[3:]]), ("Marvin", LABELS)):
        row, _ = submit_predictions(
            benchmark, submitter, upload(name, animals=labels_file(animals), numbers=numbers_file((1.5, 2.5, 7.0)))
        )
        rows.append(row)
    make.accepted(benchmark, {"Marvin": [0.5, 1.0]})
    score_all(benchmark)
    make.publish(benchmark)
    return rows[0], rows[1]


def _votes(make: Factory, owner: User, submitter: User) -> VoteBatch:
    """Six hundred votes on a board, and a batch that waits for a decision."""
    benchmark = collecting(make, name="Answers compared", key="answers", owner=owner)
    sent(benchmark, vote_lines(600))
    rate(benchmark)
    make.publish(benchmark)
    Benchmark.objects.filter(pk=benchmark.pk).update(submission_policy="moderated")
    benchmark.refresh_from_db()
    return sent(benchmark, vote_lines(120, seed=1), by=submitter)


def _follow(benchmark: Benchmark, owner: User) -> None:
    """Folders and files, none of which is fetched while pictures are taken."""
    folder = "https://gitlab.com/laboratory/results/-/tree/main/2026"
    follow_address(benchmark, author=owner, address=folder, kind="list", every_minutes=1440)
    board = follow_address(
        benchmark, author=owner, address="https://other.example/b/glue/", kind="board", every_minutes=60, is_direct=True
    )
    for fetch in FETCHES:
        Fetch.objects.create(followed=board, **fetch)
    FollowedAddress.objects.update(next_at=timezone.now() + 365 * DAY)
