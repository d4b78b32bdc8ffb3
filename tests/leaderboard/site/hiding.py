"""A benchmark that hides scores or names, somebody of every kind, and every address that could tell them."""

from datetime import timedelta

from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from leaderboard.accounts.organisations.founding import found_organisation, move_in
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.models import ApiToken, Benchmark, Membership, User
from leaderboard.submissions.following.addresses import follow_address
from leaderboard.submissions.lifecycle import accept_batch
from tests.factories import Factory

# Figures and names that stand nowhere else.
SECRET = {"Zebrafish": [71.31007, 62.11003], "Axolotl": [12.73009, 93.17001]}
OWN = [33.57011, 44.91013]
HIDING = {
    "ranks": {"score_view": "ranks"},
    "own": {"score_view": "own"},
    "anonymous": {"anonymous_until": True},
}


def people_of_every_kind(make: Factory) -> dict[str, User]:
    """Users who are something to a benchmark, and one who is nothing."""
    people = {kind: make.user() for kind in ("owner", "stranger", "member", "moderator", "proposer")}
    return people | {"submitter": make.user("Sub"), "staff": make.user(is_staff=True)}


class Hidden:
    """A benchmark that hides something, and somebody of every kind."""

    def __init__(
        self, make: Factory, hiding: str, people: dict[str, User] | None = None, *, studies: bool = True
    ) -> None:
        self.people = people or people_of_every_kind(make)
        owner = self.people["owner"]
        self.benchmark = make.benchmark(SECRET, n_tasks=2, submission_policy="moderated", owner=owner)
        for role in ("member", "moderator"):
            Membership.objects.create(user=self.people[role], benchmark=self.benchmark, role=role)
        mine = make.pending(self.benchmark, {"Mine": OWN}, by=self.people["submitter"])
        accept_batch(mine, actor=owner)
        # A submission that waits gives no right to the system that it names.
        make.pending(self.benchmark, {"Zebrafish": [1.0, 1.0]}, by=self.people["proposer"])
        self.mine = mine
        self.benchmark = make.publish(self.benchmark, studies=studies)
        freeze_revision(self.benchmark, author=owner, number=2, name="Frozen")
        self.organisation = found_organisation(owner, key=f"people-{self.benchmark.pk}", name="People")
        move_in(self.benchmark, self.organisation, author=owner)
        address = {"address": "https://results.example/scores.csv", "kind": "file", "every_minutes": 60}
        self.followed = follow_address(self.benchmark, author=owner, **address)
        fields = {name: timezone.now() + timedelta(days=1) if v is True else v for name, v in HIDING[hiding].items()}
        Benchmark.objects.filter(pk=self.benchmark.pk).update(**fields)
        self.benchmark.refresh_from_db()

    def client(self, kind: str) -> Client:
        client = Client(raise_request_exception=False)
        if kind != "anonymous":
            client.force_login(self.people[kind], backend="django.contrib.auth.backends.ModelBackend")
        return client

    def token(self, kind: str) -> dict[str, str]:
        if kind == "anonymous":
            return {}
        name = f"t{ApiToken.objects.count()}"
        _, secret = create_token(self.people[kind], name=name, scopes=["read", "submit", "manage"], days=30)
        return {"HTTP_AUTHORIZATION": f"Token {secret}"}

    def paths(self) -> list[str]:
        """Every address that names a benchmark, a system, a rule or a submission, and the lists."""
        foreign = self.benchmark.batches.exclude(pk=self.mine.pk).earliest("pk")
        paths = []
        for name, keys in routes():
            for system in ("zebrafish", "mine"):
                values = {"key": self.benchmark.key, "system_key": system, "rule_key": "borda", "rule": "borda",
                          "release_key": "frozen", "number": 2, "uuid": foreign.uuid,
                          "extension": "json", "table": "scores", "task": "task-1",
                          "organisation_key": self.organisation.key}  # fmt: skip
                if set(keys) <= set(values):
                    paths.append(reverse(name, kwargs={key: values[key] for key in keys}))
        board = reverse("board", args=[self.benchmark.key])
        queries = ["scores=1", "sort=name", "q=zebra", "policy=median", "revision=1", "group=baseline", "mark=baseline"]
        # Downloads, comparisons and what is computed on demand, asked for as the pages ask for them.
        here = {"history": ["format=csv"], "history_compare": ["from=1&to=2", "from=1&to=2&format=csv"],
                "head_to_head": ["a=Zebrafish&b=Mine", "a=Zebrafish&b=Mine&format=csv", "format=csv"],
                "agreement": ["format=csv&table=ranks", "format=csv&table=tau", "format=csv&table=figures",
                              "pin=zebrafish"],
                "what_if": ["weights=task-1:3", "weights=task-1:0&rule=mean"], "prospects": ["format=csv"],
                "feed": ["digest=week"], "api:scores": ["format=csv", "format=csv&long=true", "revision=1"],
                "api:rankings": ["missing=worst", "weights=task-1:0", "revision=1"],
                "api:agreement": ["top=1&least=1", "format=csv"],
                "api:prospects": ["format=csv"], "api:systems": ["q=zebra", "revision=1"]}  # fmt: skip
        key = self.benchmark.key
        paths += [f"{reverse(name, args=[key])}?{query}" for name, questions in here.items() for query in questions]
        paths += [f"{reverse('system', args=[key, 'mine'])}?rival=zebrafish",
                  reverse("api:followed", args=[key, self.followed.uuid]),
                  f"{reverse('api:ranking', args=[key, 'mean'])}?format=csv&weights=task-1:0"]  # fmt: skip
        files = [f"/api/v1/benchmarks/{self.benchmark.key}/{route}/?format={kind}"
                 for route in ("scores", "board", "systems", "rankings/borda", "margins")
                 for kind in ("csv", "tex", "md", "preflib")]  # fmt: skip
        return sorted({*paths, *files, *(f"{board}?{query}" for query in queries),
                       f"{board}board.csv?scores=1&revision=2",
                       f"{board}board.md?scores=1", f"{board}board.tex?pin=zebrafish&tag=x"})  # fmt: skip


def routes():
    """(name, arguments) of every route but the admin's and the accounts'."""

    def walk(resolver, prefix="", before=()):
        for pattern in resolver.url_patterns:
            here = (*before, *pattern.pattern.regex.groupindex)
            if hasattr(pattern, "url_patterns"):
                yield from walk(pattern, f"{pattern.namespace}:" if pattern.namespace else prefix, here)
            elif pattern.name and not prefix.startswith("admin") and not pattern.name.startswith("account"):
                yield prefix + pattern.name, here

    return list(walk(get_resolver()))
