"""What tests of hostile readers share."""

from django.test import Client

from leaderboard.access.audience import audience_of
from leaderboard.models import Draft, User
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow

BACKEND = "django.contrib.auth.backends.ModelBackend"
SCRIPT = "<script>alert(1)</script>"


def signed_in(user: User | None = None, **options) -> Client:
    client = Client(raise_request_exception=False, **options)
    if user:
        client.force_login(user, backend=BACKEND)
    return client


def form_of(benchmark, name: str, score: str = "5", **fields: str) -> dict[str, str]:
    return {"system_name": name} | {f"score-{task.key}": score for task in benchmark.tasks.all()} | fields


def draft_of(make, benchmark, owner, name="Newcomer") -> Draft:
    row = SubmittedRow(name, {task.key: "3" for task in benchmark.tasks.all()})
    return make_draft(audience_of(owner, benchmark), [row], source=Source.FORM)


def confirmation(benchmark, **fields: str) -> dict[str, str]:
    benchmark.refresh_from_db()
    number = str(benchmark.last_revision_number)
    return {"action": "confirm", "previewed_number": number, "create_system": "1"} | fields
