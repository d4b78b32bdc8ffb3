"""Who gets what on every route of the API: one table, held against the site. A route without a row fails by name.

A private benchmark is, for whoever has no role on it, byte for byte the 404 of one that does not exist.
"""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.organisations.founding import found_organisation
from leaderboard.accounts.organisations.members import invite_to_organisation
from leaderboard.accounts.tokens import create_token
from leaderboard.api.urls import urlpatterns
from leaderboard.benchmarks.identities.links import NEW, change_links
from leaderboard.benchmarks.meta_boards import MetaBoardSpec, save_meta_board
from leaderboard.models import ApiToken, FollowedAddress, Phase, SubmissionEvent, Webhook
from leaderboard.submissions.lifecycle import accept_batch, withdraw_submission
from tests.factories import Factory
from tests.leaderboard.evaluation.made import add_predictions, numbers_file
from tests.leaderboard.site.voting import Voting

# `unscoped` is the owner with a token that lacks the scope; `expired` is the owner with a token whose time is over.
ASKERS = ["anonymous", "stranger", "member", "moderator", "owner", "unscoped", "expired"]
# What everybody reads who sees the benchmark: the rows `(read)` of the table hold for each of these routes.
READ = """
benchmark tasks systems system scores scores~csv scores~preflib scores~eee folder rankings ranking
rule_properties
ranking~csv ranking~miss board margins head_to_head separability agreement time submitters changes system_history
prospects prospects~csv prospect studies experiments experiment study instances revisions revision
releases tasks_file systems_file scores_file ranking_file board_file margins_file head_to_head_file separability_file
agreement_file time_file changes_file system_history_file prospects_file studies_file study_file experiment_file
phases
"""
TABLE = (Path(__file__).parent / "permissions.txt").read_text(encoding="utf-8")
MANAGED = (
    "metadata", "withdraw", "accept", "reject", "reinstate", "retract", "archive", "editions", "people", "person",
    "cancel_own_withdrawal", "keep", "withdraw_own", "withdrawal_requests", "take_down", "close_account", "invitations",
    "audit", "audit_file", "queue", "decisions", "webhooks", "webhook", "test_webhook", "renew_secret",
    "delete_webhook", "followed_addresses", "followed", "fetch_followed", "delete_followed",
    "models_of_benchmark", "delete_meta_board", "references", "task_references", "phase", "delete_phase",
    "vote_step", "vote_settings",
    "rescore_predictions",
    "delete_organisation", "organisation_people", "organisation_member", "organisation_invitations",
    "revoke_organisation_invitation", "organisation_of_benchmark",
)  # fmt: skip
# What reads needs no more than reading.
ALSO_MANAGED = ("system", "experiments", "benchmarks", "benchmark", "tasks", "releases", "meta_boards", "meta_board")
ALSO_MANAGED += ("phases", "team", "organisations", "organisation")
WITHOUT_BENCHMARK = (
    "experiment_studies",
    "benchmarks",
    "rules",
    "rules_file",
    "schema",
    "docs",
    "landscape",
    "close_account",
)
WITHOUT_BENCHMARK += ("versions", "root", "me", "own_submissions", "own_drafts", "meta_boards", "organisations")
OF_ORGANISATION = ("organisation", "delete_organisation", "organisation_people", "organisation_member")
OF_ORGANISATION += ("organisation_invitations", "revoke_organisation_invitation")
VISIBILITIES = {"any": ("public",), "open": ("public", "unlisted")}
# Whom an `open` row asks about the benchmark that is on no list: visibility is nothing to whoever has a role on it, and
# tokens are looked at before any benchmark is.
WITHOUT_ROLE = ("anonymous", "stranger")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    route: str
    method: str
    visibility: str
    answers: dict[str, str] = field(hash=False)

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.visibility}"


ROWS = [
    Row(route, method, visibility, {
        asker: answer
        for asker, answer in zip(ASKERS, answers, strict=True)
        if (seen, visibility) != ("open", "unlisted") or asker in WITHOUT_ROLE
    })
    for name, method, seen, *answers in (line.split() for line in TABLE.strip().splitlines()[1:])
    for route in (READ.split() if name == "(read)" else [name])
    for visibility in VISIBILITIES.get(seen, (seen,))
]  # fmt: skip


class World:
    """A benchmark of one visibility, with a token for every kind of asker."""

    def __init__(self, make: Factory, visibility: str) -> None:
        self.benchmark = make.benchmark(visibility=visibility, submission_policy="moderated")
        owner = self.benchmark.memberships.get(role="owner").user
        people = {"owner": owner, "stranger": make.user(), "unscoped": owner, "expired": owner}
        people |= {role: make.member(self.benchmark, role) for role in ("member", "moderator")}
        self.member = people["member"]
        gone = make.user("gone")  # who uploaded, and asks nothing
        self.accepted = make.pending(self.benchmark, {"E": [1.0, 2.0, 3.0, 4.0, 5.0]}, by=gone)
        accept_batch(self.accepted, actor=owner)
        self.withdrawn = make.pending(self.benchmark, {"F": [1.0, 2.0, 3.0, 4.0, 5.0]}, by=gone)
        accept_batch(self.withdrawn, actor=owner)
        withdraw_submission(self.withdrawn.submissions.get(), actor=owner, reason="An error.")
        self.requested = make.pending(self.benchmark, {"G": [1.0, 2.0, 3.0, 4.0, 5.0]}, by=gone)
        accept_batch(self.requested, actor=owner)
        request = {"submission": self.requested.submissions.get(), "actor": gone, "reason": "An error."}
        SubmissionEvent.objects.create(kind=SubmissionEvent.Kind.ASKED, **request)
        self.pending = make.pending(self.benchmark, {"Secret": [1.0] * 5}, by=gone)
        joined = gone.memberships.create(benchmark=self.benchmark, role="member")
        self.predictions = add_predictions(self.benchmark, by=gone)
        joined.delete()
        self.benchmark = make.publish(self.benchmark)
        self.model_key = change_links(self.benchmark, {"e": NEW}, author=owner)[0].after
        self.other = make.benchmark()
        fields = {"name": "Both", "is_public": visibility == "public"}
        self.meta_key = save_meta_board(MetaBoardSpec(self.both, fields), author=owner).key
        self.experiment = make.experiment(self.benchmark, by=people["stranger"])
        self.webhook = Webhook.objects.create(
            benchmark=self.benchmark, address="https://hooks.example/", events=["revision"]
        )
        self.followed = FollowedAddress.objects.create(
            benchmark=self.benchmark, address="https://results.example/", kind="file", every_minutes=60,
            next_at=timezone.now(), author=owner,
        )  # fmt: skip
        self.phase = Phase.objects.create(benchmark=self.benchmark, name="Final", opens_at=timezone.now())
        self.organisation = found_organisation(owner, key=f"lab-{visibility}", name="Lab")
        self.organisation.members.create(user=self.member, role="member")
        invite_to_organisation(self.organisation, author=owner, role="member")
        self.organisation_invitation = self.organisation.invitations.get()
        self.voting = Voting(make, people | {"submitter": gone}, self.benchmark, visibility)
        self._tokens = {}
        for kind, user in people.items():
            scopes = ["manage"] if kind == "unscoped" else list(ApiToken.Scope.values)
            token, self._tokens[kind] = create_token(user, name=kind, scopes=scopes, days=30)
            if kind == "expired":
                ApiToken.objects.filter(pk=token.pk).update(expiry=timezone.now() - timedelta(seconds=1))
        _, self._reader = create_token(owner, name="reader", scopes=["read"], days=30)
        # So that no request notes it anew, which each would: what it changes is taken back.
        ApiToken.objects.update(last_used_at=timezone.now() + timedelta(hours=1))
        self._answers: dict[tuple[Row, str], HttpResponse] = {}
        self._handler = Client().handler  # one for all, as a site has one: each makes the middleware of its own

    def answer(self, row: Row, kind: str) -> HttpResponse:
        """What somebody of this kind gets, who is asked once."""
        if (row, kind) not in self._answers:
            self._answers[row, kind] = self.ask(row, kind)
        return self._answers[row, kind]

    def ask(self, row: Row, kind: str, key: str = "") -> HttpResponse:
        """What somebody of this kind gets; whatever it changed is taken back."""
        name, _, variant = row.route.partition("~")
        before = transaction.savepoint()
        try:
            if variant == "owned":
                both = type(self.benchmark).objects.filter(pk__in=[self.benchmark.pk, self.voting.benchmark.pk])
                both.update(submission_policy="owners")
            secret = self._tokens.get(kind, "")
            is_managing = name in MANAGED or (name in ALSO_MANAGED and row.method != "GET")
            if kind == "unscoped" and is_managing:
                secret = self._reader
            headers = {"Authorization": f"Token {secret}"} if secret else {}
            client = Client(raise_request_exception=False, headers=headers)
            client.handler = self._handler
            queries = {
                "csv": "?format=csv",
                "preflib": "?format=preflib",
                "eee": "?format=eee",
                "miss": "?missing=worst",
            }
            queries |= {"": "?a=e&b=a"} if name.startswith("head_to_head") else {}
            path = self.path(name, variant, key) + queries.get(variant, "")
            if row.method == "GET":
                return client.get(path)
            if name == "predictions":
                file = SimpleUploadedFile("numbers.csv", numbers_file())
                return client.post(path, {"system": "New", "file:task-2": file})
            path += "?dry_run=true" if variant == "dry" else ""
            scores = {"task-3": 1}
            content = {"systems": [{"name": "New", "scores": scores}], "create_systems": True}
            weights = {"weights": {"task-1": 3}}
            bodies = {"submit": content, "rankings": weights, "ranking": weights, **self.bodies()}
            body = bodies.get(name, {"reason": "Because."})
            body = {"uses_ladder": True} if (name, row.method) == ("phases", "PATCH") else body
            send = client.patch if row.method == "PATCH" else client.post
            return send(path, json.dumps(body), content_type="application/json")
        finally:
            transaction.savepoint_rollback(before)

    @property
    def both(self) -> list[str]:
        return [self.benchmark.key, self.other.key]

    def bodies(self) -> dict[str, object]:
        return {
            "models_of_benchmark": {"links": {"a": "new"}, "reason": "Known."},
            "meta_boards": {"name": "Others", "benchmarks": self.both, "is_public": False},
            "meta_board": {"missing_policy": "median"},
            "imports": {"files": [{"name": "scores.csv", "text": "model,task-3,task-4\nE,1,2\n"}]},
            "prospects": {"conditions": ["task-1 >= 0.5"]},
            "benchmarks": {"name": "Another", "tasks": [{"name": "T"}]},
            "benchmark": {"description": "New."},
            "tasks": {"tasks": [{"key": "task-1", "weight": "2"}]},
            "metadata": {"metadata_fields": [{"name": "Parameters", "kind": "number"}]},
            "claim_evaluation": {"program": "A"},
            "report_evaluation": {"value": 1},
            "archive": {"archived": True},
            "votes": [{"model_a": "Ash", "model_b": "Birch", "winner": "tie", "category": "code"}],
            "vote_settings": {"tie_model": "davidson"},
            "vote_step": {"step": "withdraw", "reason": "A broken log."},
            "system": {"baseline": "human"},
            "experiments": {"study": "diversity", "seed": 1},
            "editions": {"name": "Second edition"},
            "releases": {"revision": self.benchmark.published_number, "name": "2026.1"},
            "task_references": {"metric": "accuracy", "files": [{"name": "a.csv", "text": "id,reference\na,x\n"}]},
            "phases": {"name": "Old", "opens_at": "2020-01-01T00:00:00Z", "closes_at": "2020-01-02T00:00:00Z"},
            "phase": {"daily_cap": 3},
            "delete_phase": {},
            "organisations": {"key": "another-lab", "name": "Another lab"},
            "organisation": {"url": "https://lab.example/"},
            "organisation_member": {"role": "owner"},
            "organisation_invitations": {"role": "member"},
            "organisation_of_benchmark": {"organisation": self.organisation.key},
            "team": {"action": "found", "name": "Owls"},
            "person": {"role": "moderator"},
            "invitations": {"role": "member"},
            "take_down": {"reason": "A request.", "is_sure": True},
            "close_account": {"password": "not the password", "is_sure": True},
            "webhooks": {"address": "https://hooks.example/", "events": ["publication"]},
            "webhook": {"is_active": False},
            "followed_addresses": {"address": "https://results.example/", "kind": "file", "every_minutes": 60},
            "followed": {"is_active": False},
            "decisions": {"submissions": [str(self.pending.uuid)], "decision": "accept"},
        }

    def path(self, name: str, variant: str, key: str) -> str:
        if name == "nothing":
            return "/api/v1/nothing/"
        if name in ("vote_batch", "vote_step"):
            batch = self.voting.pending if variant == "p" else self.voting.accepted
            return reverse(f"api:{name}", args=[batch.uuid])
        if name in ("votes", "vote_settings"):
            return reverse(f"api:{name}", args=[key or self.voting.benchmark.key])
        if name in WITHOUT_BENCHMARK:
            return reverse(f"api:{name}")
        if name in ("model", "meta_board", "delete_meta_board"):
            return reverse(f"api:{name}", args=[key or (self.model_key if name == "model" else self.meta_key)])
        if name in OF_ORGANISATION:
            more = {"organisation_member": [self.member.pk]}.get(name, [])
            more += [self.organisation_invitation.pk] if name == "revoke_organisation_invitation" else []
            return reverse(f"api:{name}", args=[self.organisation.key, *more])
        if name in ("renew_evaluation", "report_evaluation", "evaluated_predictions"):
            return reverse(f"api:{name}", args=[key or self.benchmark.key, self.predictions.uuid])
        if name in ("prediction", "cancel_prediction"):
            return reverse(f"api:{name}", args=[self.predictions.uuid])
        if name in BY_NUMBER:
            is_pending = variant == "p" or name in ("accept", "reject", "retract")
            batch = self.pending if is_pending else self.accepted
            batch = {"reinstate": self.withdrawn, "keep": self.requested}.get(name, batch)
            return reverse(f"api:{name}", args=[batch.uuid])
        places = {
            **dict.fromkeys(("system", "prospect", "system_history"), "e"),
            **dict.fromkeys(("webhook", "test_webhook", "renew_secret", "delete_webhook"), self.webhook.uuid),
            **dict.fromkeys(("followed", "fetch_followed", "delete_followed"), self.followed.uuid),
            "ranking": "borda",
            "rule_properties": "borda",
            "study": "missing_scores",
            "instance_scores": "task-1",
            "revision": 1,
            "changes": 2,
            "experiment": self.experiment.pk,
            "person": self.member.pk,
            "task_references": "task-1",
            **dict.fromkeys(("phase", "delete_phase"), self.phase.pk),
        }
        of = name.removesuffix("_file")
        more = [places[of]] if of in places else []
        return reverse(f"api:{name}", args=[key or self.benchmark.key, *more])


@pytest.fixture(scope="module")
def worlds(django_db_setup, django_db_blocker):
    """A world of each visibility, made once in a transaction that is rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        make = Factory()
        yield {visibility: World(make, visibility) for visibility in ("public", "unlisted", "private")}
        transaction.set_rollback(True)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_asker_gets_the_answer_of_the_table(worlds, row):
    world = worlds[row.visibility]
    answer_of = {}
    for kind in row.answers:
        answer = world.answer(row, kind)
        answer_of[kind] = str(answer.status_code)
        kept = answer["Cache-Control"]
        is_open = (kind == "anonymous" and row.visibility == "public") or row.route in ("schema", "versions")
        assert kept.split(",")[0] in (("public", "private", "no-store") if is_open else ("private", "no-store"))
    assert answer_of == {kind: answer_of[kind] if answer == "-" else answer for kind, answer in row.answers.items()}


def test_every_route_has_a_row():
    names = {pattern.name for part in urlpatterns for pattern in getattr(part, "url_patterns", [part])}
    assert names == {row.route.partition("~")[0] for row in ROWS}


# They have a number that nobody can guess.
BY_NUMBER = ("submission", "submission~p", "withdraw", "accept", "reject", "reinstate", "retract", "take_down")
BY_NUMBER += ("withdraw_own", "cancel_own_withdrawal", "keep", "vote_batch", "vote_batch~p", "vote_step")
BY_KEY = [row for row in ROWS if row.visibility == "private" and row.route not in BY_NUMBER]


@pytest.mark.parametrize("row", BY_KEY, ids=str)
def test_a_private_benchmark_answers_a_stranger_as_one_that_does_not_exist(worlds, row):
    world = worlds["private"]
    for kind in ("anonymous", "stranger"):
        there, nowhere = world.answer(row, kind), world.ask(row, kind, key="no-such-benchmark")
        assert there.status_code == nowhere.status_code
        assert there.content == nowhere.content
        # An id is of one request, and there is one fewer left after it.
        headers = ({**answer.headers, "X-Request-ID": "", "RateLimit": ""} for answer in (there, nowhere))
        assert next(headers) == next(headers)


def test_lists_name_a_private_benchmark_to_members_only(worlds):
    row = Row("benchmarks", "GET", "private", {})
    world, named = worlds["private"], {}
    for kind in ("anonymous", "stranger", "member", "moderator", "owner"):
        named[kind] = world.benchmark.key in [line["key"] for line in world.ask(row, kind).json()["results"]]
    assert named == {"anonymous": False, "stranger": False, "member": True, "moderator": True, "owner": True}


@pytest.mark.parametrize("method", ["put", "patch", "delete", "trace", "post"])
def test_what_a_route_does_not_do_it_refuses(worlds, method):
    world = worlds["public"]
    response = getattr(Client(headers={"Authorization": f"Token {world._tokens['owner']}"}), method)(
        reverse("api:scores", args=[world.benchmark.key])
    )
    assert response.status_code == 405
    assert response.json()["error"]["code"] == "method_not_allowed"
    assert response["Allow"] == "GET, HEAD"


def test_a_session_counts_for_nothing(worlds):
    world = worlds["private"]
    client = Client(raise_request_exception=False)
    owner = world.benchmark.memberships.get(role="owner").user
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(reverse("api:scores", args=[world.benchmark.key])).status_code == 404
    path = reverse("api:submit", args=[world.benchmark.key])
    assert client.post(path, "{}", content_type="application/json").status_code == 401
