"""A site with something of everything, in the database of the settings; a process of its own for tests that move it.

python -m tests.whole_site make     migrate, and fill it
python -m tests.whole_site tell     what is in it, as JSON
python -m tests.whole_site go-on    accept one more submission on each board, and publish it
"""

import hashlib
import json
import sys
from typing import Any

import django

if __name__ == "__main__":
    django.setup()

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.test import Client

from leaderboard.access.audience import audience_of
from leaderboard.accounts.organisations.founding import found_organisation, move_in
from leaderboard.accounts.organisations.members import invite_to_organisation
from leaderboard.accounts.people import invite
from leaderboard.accounts.tokens import create_token, find_token
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.models import Benchmark, Revision, Submission, User
from leaderboard.notifications.webhooks import add_webhook
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.following.addresses import follow_address
from leaderboard.submissions.moderation.takedowns import take_down
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.factories import Factory

PASSWORD = "a password of ten letters"
INSTANCES = "system,task,instance,score\nAda,Task 1,a,0.5\nAda,Task 1,b,1\nBert,Task 1,a,0\nBert,Task 1,b,0.25\n"


def make() -> str:
    """Fill the database; the secret of a token that reads and submits."""
    call_command("migrate", interactive=False, verbosity=0)
    factory = Factory()
    staff = factory.user("staff", is_staff=True)
    staff.set_password(PASSWORD)
    staff.save()
    moderators = Group.objects.create(name="moderators")
    moderators.permissions.set(Permission.objects.filter(codename__endswith="_job"))
    staff.groups.add(moderators)
    Client().force_login(staff, backend="django.contrib.auth.backends.ModelBackend")

    toy = factory.publish(factory.benchmark(name="Tö, \U0001f3c6"), studies=True)
    owner = toy.memberships.get(role="owner").user
    factory.accepted(toy, {"E": [0.1, None, -0.0, 1e-300, 92.19999999999999], "F": [1.0] * 5})
    factory.publish(toy)
    factory.pending(toy, {"G": [2.0] * 5}, by=factory.user("waiting"))
    make_draft(audience_of(owner, toy), [SubmittedRow(system_name="H", scores={"task-1": "1"})], source="form")
    invite(toy, author=owner, role="moderator")
    add_webhook(toy, author=owner, address="https://example.org/hook", events=["revision", "publication"])
    people = found_organisation(owner, key="people", name="People")
    invite_to_organisation(people, author=owner, role="member")
    move_in(toy, people, author=owner)
    follow_address(toy, author=owner, address="https://example.org/scores.csv", kind="file", every_minutes=60)
    factory.experiment(factory.publish(toy), by=owner)
    freeze_revision(toy, author=owner, number=1, name="Spring")
    _, secret = create_token(owner, name="script", scopes=["read", "submit"], days=30)

    gone = factory.published({"A": [1.0, 2.0], "B": [2.0, 1.0]}, name="Taken down")
    submission = Submission.objects.get(benchmark=gone, system__name="B")
    take_down(submission, actor=gone.memberships.get(role="owner").user, reason="not ours")
    factory.publish(gone)

    instances = factory.benchmark({}, n_tasks=1, name="Instances")
    upload = Upload(table=INSTANCES.encode(), is_of_instances=True, creates_systems=True)
    submit_upload(instances, instances.memberships.get(role="owner").user, upload)
    factory.publish(instances)
    return secret


def tell(secret: str) -> dict[str, Any]:
    """Everything that must not change when a site moves: rows, hashes, ranks, and who may come in."""
    models = [m for m in apps.get_models(include_auto_created=True) if m._meta.managed and not m._meta.proxy]
    token, staff = find_token(secret), User.objects.get(is_staff=True)
    return {
        "vendor": settings.DATABASES["default"]["ENGINE"].rpartition(".")[2],
        "rows": {model._meta.db_table: model._base_manager.count() for model in models},
        "values": {model._meta.db_table: _digest(model) for model in models},
        "hashes": list(Revision.objects.order_by("pk").values_list("benchmark__key", "number", "input_hash")),
        "ranks": {key: ranks(key) for key in Benchmark.objects.order_by("pk").values_list("key", flat=True)},
        "token": token is not None and token.user.display_name,
        "password": staff.check_password(PASSWORD),
        "permissions": sorted(staff.get_group_permissions()),
    }


def _digest(model: type) -> str:
    """Tells apart any two contents of a table, whatever database it is in."""
    fields = [field.attname for field in model._meta.concrete_fields]
    rows = model._base_manager.order_by("pk").values_list(*fields)
    # JSON of PostgreSQL has its keys in another order.
    texts = [
        json.dumps(row, sort_keys=True, default=lambda v: v.hex() if isinstance(v, bytes | memoryview) else str(v))
        for row in rows
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def ranks(key: str) -> dict[str, dict[str, Any]]:
    """Each rule's ranks by the names of the systems, as the API tells anybody."""
    client, ranks_of = Client(), {}
    for ranking in client.get(f"/api/v1/benchmarks/{key}/rankings/").json()["results"]:
        rows = client.get(f"/api/v1/benchmarks/{key}/rankings/{ranking['rule']}/").json()["results"]
        ranks_of[ranking["rule"]] = {row["name"]: row["rank"] for row in rows}
    return ranks_of


def go_on() -> dict[str, list[int]]:
    """One more accepted submission on each board; the revision that it made, and the one that is published then."""
    factory, numbers = Factory(), {}
    for benchmark in Benchmark.objects.order_by("pk"):
        revision = factory.accepted(benchmark, {"Later": [3.0] * benchmark.tasks.count()})
        numbers[benchmark.key] = [revision.number, factory.publish(benchmark).published_number]
    return numbers


if __name__ == "__main__":
    settings.ALLOWED_HOSTS = ["*"]
    what, *arguments = sys.argv[1:]
    print(json.dumps({"make": make, "tell": tell, "go-on": go_on}[what](*arguments)))
