"""What confirming a draft asks the database: at most 40 queries, the session's and the user's among them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.models import Ban, Benchmark, Membership
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow


def confirm(make, client, benchmark, user, name) -> list[str]:
    """The queries of the request by which `user` confirms a draft of one system."""
    keys = [task.key for task in benchmark.tasks.all()]
    draft = make_draft(audience_of(user, benchmark), [SubmittedRow(name, dict.fromkeys(keys, "1"))], source=Source.FORM)
    client.force_login(user)
    sent = {"previewed_number": benchmark.last_revision_number, "create_system": "1"}
    with CaptureQueriesContext(connection) as queries:
        answer = client.post(reverse("draft", args=[draft.uuid]), sent)
    assert answer.status_code == 302
    assert benchmark.batches.filter(idempotency_key=f"draft {draft.uuid}").exists()
    return [query["sql"] for query in queries]


@pytest.mark.parametrize(
    ("policy", "who", "name", "n_queries"),
    [
        ("open", "owner", "A", 36),
        ("open", "owner", "New", 40),
        ("open", "somebody", "New", 40),
        ("moderated", "owner", "New", 40),
        ("moderated", "somebody", "A", 27),
        ("moderated", "somebody", "New", 28),
    ],
)
def test_confirming_takes_forty_queries_at_most(make, client, policy, who, name, n_queries):
    benchmark = make.published(submission_policy=policy)
    user = benchmark.memberships.get(role="owner").user if who == "owner" else make.user()
    queries = confirm(make, client, benchmark, user, name)
    assert len(queries) == n_queries, "\n".join(queries)


def test_who_confirms_is_looked_up_once(make, client):
    benchmark = make.published()
    queries = confirm(make, client, benchmark, make.user(), "New")
    queries = [sql for sql in queries if 'FROM "leaderboard_notice"' not in sql]  # they leave out closed boards
    for model in (Membership, Ban):
        assert sum(f'FROM "{model._meta.db_table}"' in sql for sql in queries) == 1


def test_who_may_not_see_the_benchmark_any_more_confirms_nothing(make, client):
    benchmark = make.published(submission_policy="moderated")
    user = make.user()
    keys = [task.key for task in benchmark.tasks.all()]
    draft = make_draft(
        audience_of(user, benchmark), [SubmittedRow("New", dict.fromkeys(keys, "1"))], source=Source.FORM
    )
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="private")
    client.force_login(user)
    assert client.post(reverse("draft", args=[draft.uuid]), {"previewed_number": 1}).status_code == 404
    assert benchmark.batches.count() == 1
