"""One benchmark of each visibility with everything on it, and the table of who gets what on every route."""

import fnmatch
from dataclasses import dataclass
from datetime import timedelta
from functools import cache as once
from itertools import accumulate
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver, resolve, reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.accounts.organisations.founding import found_organisation
from leaderboard.accounts.organisations.members import invite_to_organisation
from leaderboard.accounts.people import invite
from leaderboard.benchmarks.drafts import make_benchmark_draft
from leaderboard.benchmarks.forms import SettingsForm
from leaderboard.benchmarks.forms_tasks import ProposalForms
from leaderboard.benchmarks.identities.links import NEW, change_links
from leaderboard.benchmarks.meta_boards import MetaBoardSpec, save_meta_board
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.benchmarks.tasks import Proposal, TaskEdit, present_proposal
from leaderboard.evaluation.references import check_file, store_references
from leaderboard.evaluation.teams import found_team, invite_by_link
from leaderboard.models import Benchmark, FollowedAddress, User, Webhook
from leaderboard.models.submissions import Source
from leaderboard.notifications.mails import unsubscribe_link
from leaderboard.studies.forms import StudiesForm
from leaderboard.studies.plans import choices_of
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, take_batch
from leaderboard.submissions.rows import SubmittedRow
from tests.leaderboard.evaluation.made import add_predictions, numbers_file
from tests.leaderboard.site import voting
from tests.leaderboard.site.addresses import ARGUMENTS, FORMS, PATHS
from tests.leaderboard.site.labels import REFERENCES, tells
from tests.markup import ids_used_twice

# Kinds of user. The submitter uploaded an accepted batch, a pending batch and a draft; on the private benchmark they
# did so as a member and are none any more, so that what they once could see is closed to them too.
USERS = ["anonymous", "stranger", "submitter", "member", "moderator", "owner", "staff"]
# A number is the status; `login` is a redirect to signing in, `admin` one to the admin's own; a name after `->` is the
# route that the answer redirects to. `ruled` is whatever each model's admin says to staff (`test_admin.py`).
# A visibility may be `any`, `listed` (public and unlisted) or `-` where no benchmark is concerned. What stands behind
# `~` is a variant of the route: another batch, another policy. A `*` stands for the models of the admin, `=` for the
# answer on its left.
TYPED = ("task-3", "task-4", "task-5")  # tasks whose scores people can state: the others have references
TABLE = (Path(__file__).parent / "permissions" / "table.txt").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    route: str
    method: str
    visibility: str
    answers: tuple[str, ...]  # in the order of USERS
    is_of_a_benchmark: bool

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.visibility}"


VEILED = ("ranks", "embargoed")  # public, but not all of it
VISIBILITIES = {
    "any": ("public", "unlisted", "private"),
    "listed": ("public", "unlisted"),
    "veiled": VEILED,
    "-": ("public",),
}


def rows() -> list[Row]:
    lines = [line.split() for line in TABLE.strip().splitlines()[1:]]
    return [
        Row(
            route,
            method,
            visibility,
            tuple(accumulate(answers, lambda left, cell: left if cell == "=" else cell)),
            seen != "-",
        )
        for named, method, seen, *answers in lines
        for route in (fnmatch.filter(sorted(routes()), named) if "_*" in named or ":*" in named else [named])
        for visibility in VISIBILITIES.get(seen, (seen,))
    ]


def as_on_the_left(left: str, cell: str) -> str:
    return left if cell == "=" else cell


def rows_of(*visibilities: str) -> list[Row]:
    """Those that are about a benchmark of one of these visibilities."""
    return [row for row in rows() if row.is_of_a_benchmark and row.visibility in visibilities]


@once
def routes() -> frozenset[str]:
    """The name of every route of the site, admin and accounts included; the API has a matrix of its own."""
    return frozenset(name for name in _routes(get_resolver()) if not name.startswith("api:"))


def _routes(resolver, namespace=""):
    for pattern in resolver.url_patterns:
        if hasattr(pattern, "url_patterns"):
            yield from _routes(pattern, f"{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            yield namespace + (pattern.name or str(pattern.pattern))


class World:
    """One benchmark of one visibility with everything on it, and a client for every kind of user."""

    def __init__(self, make, visibility: str) -> None:
        self.make = make
        visibility_of_page = "public" if visibility in VEILED else visibility
        self.benchmark = make.benchmark(visibility=visibility_of_page, submission_policy="moderated")
        people = {role: make.member(self.benchmark, role) for role in ("member", "moderator")}
        people["owner"] = self.benchmark.memberships.get(role="owner").user
        people["stranger"], people["staff"] = make.user(), make.user(is_staff=True, is_superuser=True)
        people["submitter"] = make.user("submitter")
        # A password that fits nothing, where one without any would be asked to set one.
        User.objects.filter(pk__in=[user.pk for user in people.values()]).update(password="set")
        for user in people.values():
            user.refresh_from_db()
        self.people = people
        submitter = people["submitter"]
        membership = submitter.memberships.create(benchmark=self.benchmark, role="member")
        self.accepted = make.pending(self.benchmark, {"E": [1.0, 2.0, 3.0, 4.0, 5.0]}, by=submitter)
        accept_batch(self.accepted, actor=people["owner"])
        self.pending = make.pending(self.benchmark, {"Secret": [1.0] * 5}, by=submitter)
        row = SubmittedRow("Draft system", dict.fromkeys(TYPED, "3"))
        self.draft = make_draft(audience_of(submitter, self.benchmark), [row], source=Source.FORM)
        self.predictions = add_predictions(self.benchmark, by=submitter)
        membership.delete()
        self.secret = invite(self.benchmark, author=people["owner"], role="member")
        self.approved = make.pending(self.benchmark, {"Under embargo": [1.0] * 5}, by=submitter)
        if visibility == "embargoed":
            self.benchmark.embargo_until = timezone.now() + timedelta(days=1)
            self.benchmark.save(update_fields=["embargo_until"])
            take_batch(self.approved, actor=people["owner"])
        self.benchmark = make.publish(self.benchmark)
        if visibility == "ranks":
            self.benchmark.score_view = "ranks"
            self.benchmark.save(update_fields=["score_view"])
        freeze_revision(self.benchmark, author=people["owner"], number=2, name="Frozen")
        self.model_key = change_links(self.benchmark, {"e": NEW}, author=people["owner"])[0].after
        self.other = make.benchmark(owner=people["owner"], visibility=visibility_of_page)
        fields = {"name": "Both", "is_public": visibility_of_page == "public"}
        both = MetaBoardSpec([self.benchmark.key, self.other.key], fields)
        self.meta_key = save_meta_board(both, author=people["owner"]).key
        self.experiment = make.experiment(self.benchmark, by=submitter)
        self.webhook = Webhook.objects.create(
            benchmark=self.benchmark, address="https://hooks.example/", events=["revision"]
        )
        task = self.benchmark.tasks.get(key="task-1")
        store_references(task, check_file(REFERENCES, "labels.csv", "accuracy", {}), author=people["owner"])
        self.team_secret = invite_by_link(found_team(self.benchmark, people["member"], "Owls"), people["member"])
        founder = make.user("founder")
        self.organisation = found_organisation(founder, key=f"people-{founder.pk}", name="People")
        for member, role in (("owner", "owner"), ("moderator", "member")):
            row = {"organisation": self.organisation, "role": role}
            people[member].organisation_members.create(**row)
        self.organisation_secret = invite_to_organisation(self.organisation, author=founder, role="member")
        self.followed = FollowedAddress.objects.create(
            benchmark=self.benchmark, address="https://results.example/", kind="file", every_minutes=60,
            next_at=timezone.now(), author=people["owner"],
        )  # fmt: skip
        self.new_draft = make_benchmark_draft(submitter, name="Draft", table=b"system,Task 1,Task 2\nA,1,2\nB,2,1\n")

        self.voting = voting.Voting(make, people, self.benchmark, visibility)
        self._sessions = {kind: self._session(user) for kind, user in people.items()}
        self._handler = Client().handler  # one for all, as a site has one: each makes the middleware of its own

    @staticmethod
    def _session(user: User) -> str:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client.cookies[settings.SESSION_COOKIE_NAME].value

    def client(self, kind: str) -> Client:
        """A browser in which a user of this kind is signed in."""
        client = Client(raise_request_exception=False)
        client.handler = self._handler
        if kind in self._sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self._sessions[kind]
        return client

    def path(self, route: str) -> str:
        name, _, variant = route.partition("~")
        if name in voting.ROUTES:
            return self.voting.path(route)
        values = {
            "key": self.benchmark.key,
            "rule_key": "borda",
            "task": "task-1",
            "system_key": {"pending": "secret", "approved": "under-embargo"}.get(variant, "e"),
            "release_key": "frozen",
            "model_key": self.model_key,
            "meta_key": self.meta_key,
            "number": self.experiment.pk if name.startswith("experiment") else 1,
            "study": "missing_scores",
            "split": "test",
            "organisation_key": self.organisation.key,
            "secret": {"join_team": self.team_secret, "join_organisation": self.organisation_secret}.get(
                name, self.secret
            ),
            "table": variant or "scores",
            "extension": {"folder": "zip", "records": "zip", "orders": "preflib"}.get(variant, "json"),
            "token": unsubscribe_link(self.people["stranger"], ["overtaken"]).split("/")[-2],
            "uuid": self.number(name, variant),
        }
        if name in PATHS:
            return PATHS[name]
        arguments = [values[key] for key in ARGUMENTS.get(name, ())]
        query = {"asked": "?conditions=Task+1+%3E%3D+0.5", "weighed": "?weights=task-1:3"}.get(variant, "")
        return reverse(name, args=arguments or (["1"] if has_object(name) else [])) + query

    def number(self, name: str, variant: str) -> UUID:
        if name == "correct":
            return self.accepted.submissions.get().uuid
        rows = {"draft": self.draft, "new_draft": self.new_draft}
        rows |= dict.fromkeys(("prediction", "prediction_progress", "prediction_step"), self.predictions)
        batches = {"pending": self.pending, "approved": self.approved}
        if name == "takedown":
            return batches.get(variant, self.accepted).submissions.get().uuid
        variant = "pending" if name == "manage_decide" else variant
        return rows.get(name, batches.get(variant, self.accepted)).uuid

    def form(self, route: str) -> dict[str, object]:
        if route.partition("~")[0] in voting.ROUTES:
            return voting.FORMS.get(route, voting.FORMS["send_votes"])
        if route.startswith("upload"):
            return {"text": "system,Task 3,Task 5\nNew system,1,2\nOther system,3,\n"}
        if route.startswith("submit"):
            return {"system_name": "New system"} | {f"score-{key}": "5" for key in TYPED}
        if route == "manage_task_references":
            return {"metric": "accuracy", "file": SimpleUploadedFile("labels.csv", REFERENCES)}
        if route == "manage_following~fetch":
            return {"action": "fetch", "followed": str(self.followed.uuid)}
        if route == "manage_webhooks~test":
            return {"action": "test", "webhook": str(self.webhook.uuid)}
        if route in FORMS or route == "new_draft":
            return FORMS.get(route) or new_draft_form()
        filled = {"manage": settings_form, "manage_tasks": tasks_form, "manage_studies": studies_form}
        filled |= {f"new_predictions{policy}": predictions_form for policy in ("", "~owners", "~closed")}
        if route in filled:
            return filled[route](self.benchmark)
        if route == "notice_choices":
            ways = {"decision": "site", "overtaken": "mail", "first_place": "off", "waiting": "mail", "token": "mail"}
            ways |= {"webhook": "site", "followed": "site", "predictions": "mail", "team": "mail"}
            return ways | {"organisation": "site"}
        if route in ("new_meta_board", "manage_meta_board"):
            keys = [self.benchmark.key, self.other.key]
            ways = {"worth": "share", "missing_policy": "median", "default_rule": "borda", "least": "2"}
            return {"name": "Both", "benchmarks": keys, "rule": "", "action": "save", **ways}
        if route == "tokens":
            return {"name": "laptop", "scopes": "read", "days": "30"}
        if route.endswith("draft~discard"):
            return {"action": "discard"}
        if route == "draft":
            number = str(self.benchmark.last_revision_number)
            return {"action": "confirm", "previewed_number": number, "create_system": "1"}
        return {}

    def answer(self, row: Row, kind: str) -> str:
        """What a user of this kind gets; whatever it changed is taken back."""
        before = transaction.savepoint()
        try:
            if row.route.endswith(("~owners", "~closed")):
                policy = row.route.partition("~")[2]
                both = Benchmark.objects.filter(pk__in=[self.benchmark.pk, self.voting.benchmark.pk])
                both.update(submission_policy=policy)
            client, path = self.client(kind), self.path(row.route)
            response = client.post(path, self.form(row.route)) if row.method == "POST" else client.get(path)
            # No cache that others share keeps a page: it may tell who reads it, and what they may see. Badges and feeds
            # of public benchmarks, and pictures of the documentation, are the same for everybody.
            kept = set(response.get("Cache-Control", "").replace(",", " ").split())
            is_open = (row.is_of_a_benchmark and self.benchmark.visibility == "public") or row.route in OF_THE_SITE
            # The list has public benchmarks alone for readers who are not signed in.
            is_open = is_open or (row.route.partition("~")[0], kind) == ("home", "anonymous")
            assert {"private", "no-store"} & kept or ("public" in kept and is_open)
            assert not tells(response.getvalue())
            # A label of a field whose id another has leads to the other.
            assert ids_used_twice(response) == []
            assert not tells(str(response.headers).encode())
            return said(response)
        finally:
            transaction.savepoint_rollback(before)


OF_THE_SITE = {"feed_of_all", "document_file", "robots", "sitemap"}  # about no benchmark, or about public ones alone


def settings_form(benchmark):
    """The settings as the owner's page shows them."""
    form = SettingsForm(instance=benchmark)
    return {name: form[name].value() or "" for name in form.fields} | {"tags": "one, two"}


def predictions_form(benchmark):
    """Predictions for the task that `add_predictions` gave references."""
    return {"system_name": "New", "file-task-2": SimpleUploadedFile("numbers.csv", numbers_file())}


def studies_form(benchmark):
    """The choices as the owner's page shows them."""
    return {bound.name: bound.value() for bound in StudiesForm(choices_of(benchmark))}


def tasks_form(benchmark):
    """A weight changed, and everything else as the owner's page shows it."""
    return sent(ProposalForms(present_proposal(benchmark))) | {"task-0-weight": "3", "action": "preview"}


def new_draft_form():
    """A draft of a benchmark, created as it stands."""
    tasks = [TaskEdit("Task 1"), TaskEdit("Task 2")]
    counting = {"missing_policy": "drop_systems", "aggregation": "basic", "replacement": "row"}
    parts = sent(ProposalForms(Proposal(tasks=tasks, groups=[], **counting), new_tasks=0))
    about = {"name": "Made", "visibility": "public", "submission_policy": "open", "default_rule": "borda"}
    return parts | about | {"action": "create"}


def sent(parts):
    """What a browser sends of the three parts when nothing is typed."""
    forms = [parts.counting, parts.tasks.management_form, parts.groups.management_form, *parts.tasks, *parts.groups]
    fields = [form[name] for form in forms for name in form.fields if name != "is_archived"]
    return {field.html_name: "" if field.value() is None else str(field.value()) for field in fields}


def has_object(name: str) -> bool:
    """Whether an admin route is about one row."""
    is_about_one = name.endswith(("_change", "_delete", "_history", "_user_password_change"))
    return name.startswith("admin:") and is_about_one and name != "admin:password_change"


def said(response: HttpResponse) -> str:
    """An answer in the table's words."""
    if response.status_code != 302:
        return str(response.status_code)
    path = response["Location"].split("?")[0]
    if path in (reverse("account_login"), reverse("admin:login")):
        return "login" if path == reverse("account_login") else "admin"
    name = resolve(path).view_name
    return f"->{name.removeprefix('account_').removeprefix('admin:')}"
