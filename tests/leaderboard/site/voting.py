"""A benchmark that collects votes, with everything on it, for the table of who gets what on which route."""

from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import Benchmark, User
from leaderboard.votes.content import SentVotes, checked_votes
from leaderboard.votes.lifecycle import draft_votes
from leaderboard.votes.settings import start_collecting
from tests.factories import Factory
from tests.leaderboard.votes.sent import rate, sent, vote_lines

ROUTES = ("votes", "send_votes", "votes_file", "vote_batch", "manage_votes")
SETTINGS = {"tie_model": "davidson", "cluster": "voter", "n_resamples": "0", "covariates": "", "reason": ""}
FORMS = {
    "send_votes": {"text": vote_lines(12), "columns": "", "note": ""},
    "vote_batch": {"action": "withdraw", "reason": "A broken log."},
    "vote_batch~pending": {"action": "accept"},
    "vote_batch~mine": {"action": "retract"},
    "vote_batch~draft": {"action": "confirm"},
    "manage_votes": SETTINGS,
    "manage_votes~forget": {"action": "forget", "voter": "person1@example.org", "reason": "They asked for it."},
}


class Voting:
    """A benchmark of one visibility. The submitter sent what is accepted, what waits, and what is not confirmed."""

    def __init__(self, make: Factory, people: dict[str, User], like: Benchmark, visibility: str) -> None:
        fields = {"visibility": like.visibility, "submission_policy": "moderated"}
        self.benchmark = make.benchmark({}, n_tasks=1, owner=people["owner"], **fields)
        self.benchmark.tasks.all().delete()
        for role in ("member", "moderator"):
            people[role].memberships.create(benchmark=self.benchmark, role=role)
        start_collecting(self.benchmark, author=people["owner"])
        self.benchmark.refresh_from_db()
        self.accepted = sent(self.benchmark, vote_lines(24), by=people["owner"])
        rate(self.benchmark)
        membership = people["submitter"].memberships.create(benchmark=self.benchmark, role="member")
        self.pending = sent(self.benchmark, vote_lines(24, seed=1), by=people["submitter"])
        audience = audience_of(people["submitter"], self.benchmark)
        self.draft = draft_votes(audience, checked_votes(audience, SentVotes(vote_lines(24).encode(), {})))
        membership.delete()
        if visibility == "ranks":
            Benchmark.objects.filter(pk=self.benchmark.pk).update(score_view="ranks")
        if visibility == "embargoed":
            Benchmark.objects.filter(pk=self.benchmark.pk).update(embargo_until=timezone.now() + timedelta(days=1))

    def path(self, route: str) -> str:
        name, _, variant = route.partition("~")
        if name == "vote_batch":
            batches = {"pending": self.pending, "mine": self.pending, "draft": self.draft}
            return reverse(name, args=[batches.get(variant, self.accepted).uuid])
        return reverse(name, args=[self.benchmark.key, *(["csv"] if name == "votes_file" else [])])
