"""States, roles and the like, which are stored as words, in the pseudo-language."""

import re

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.audit_page import AuditQuery, Position, audit_lines
from leaderboard.benchmarks.forms import NewBenchmarkForm
from leaderboard.models import AuditEntry, Job, Membership, Submission, User
from leaderboard.operations.retention import DESCRIPTIONS
from leaderboard.queue.heartbeats import ROLES, Process
from leaderboard.submissions.lifecycle import accept_batch, reject_batch
from tests.factories import owner_of
from tests.languages.pseudo import pseudo
from tests.languages.test_pages import english_in, unmarked_words_in
from tests.markup import compact
from tests.signing_in import signed_in


def tables_of(page: bytes) -> bytes:
    """The bodies of the tables of a page."""
    return b"".join(part.split(b"</tbody>")[0] for part in page.split(b"<tbody>")[1:])


def test_the_status_page_says_states_of_jobs_in_the_language_of_the_site(make, pseudo_language):
    benchmark = make.published({"A": [1.0], "B": [2.0]}, name="Bench")
    jobs = list(Job.objects.order_by("pk"))
    assert len(jobs) >= 5
    for job, state in zip(jobs, Job.State.values, strict=False):
        Job.objects.filter(pk=job.pk).update(state=state, progress=0.5, started_at=timezone.now())
    answer = signed_in(owner_of(benchmark)).get(reverse("status"))
    assert english_in(answer.content) == []
    assert unmarked_words_in(tables_of(answer.content), "Bench", "UTC", "minutes") == []
    page = compact(answer)
    for state in Job.State.values:
        word = pseudo("queued" if state == Job.State.WAITING else state)
        assert re.search(f'<span class="badge[^"]*"> ?{re.escape(word)}</span>', page)


def test_operators_see_processes_in_the_language_of_the_site(make, pseudo_language):
    for number, role in enumerate(ROLES):
        Process(role, name=f"p{number}", host="h", pid=number).beat()
    page = signed_in(make.user("Ada", is_staff=True)).get(reverse("status")).content
    assert english_in(page) == []
    assert unmarked_words_in(tables_of(page), "UTC") == []


def test_what_was_deleted_is_said_in_the_language_of_the_site(pseudo_language):
    assert [text for text in DESCRIPTIONS.values() if gettext(text) != pseudo(text)] == []


def test_the_dashboard_says_states_of_submissions_in_the_language_of_the_site(make, pseudo_language):
    benchmark = make.published({"A": [1.0], "B": [2.0]}, name="Bench", submission_policy="moderated")
    owner, user = owner_of(benchmark), make.user("Ada")
    batches = [make.submitted(benchmark, name, ["3"], by=user) for name in ("S1", "S2", "S3", "S4", "S5", "S6")]
    accept_batch(batches[0], actor=owner)
    reject_batch(batches[1], actor=owner, reason="Typo")
    for batch, state in zip(batches[2:], ("approved", "withdrawn", "retracted"), strict=False):
        Submission.objects.filter(batch=batch).update(state=state)
    Membership.objects.create(user=user, benchmark=benchmark, role="moderator")
    page = signed_in(user).get(reverse("dashboard")).content
    assert english_in(page) == []
    names = [f"S{k}" for k in range(1, 7)]
    assert unmarked_words_in(tables_of(page), "Bench", "UTC", *names) == []


def test_someone_without_a_name_is_called_the_same_in_every_language(client, make, pseudo_language):
    benchmark = make.benchmark()
    record_changes(
        benchmark, changes_between(AuditEntry.Subject.PERSON, "98765", {"role": ""}, {"role": "moderator"}), actor=None
    )
    assert User(pk=98765).shown_name == "user 98765"
    lines, *_ = audit_lines(benchmark, AuditQuery(subject="person"), Position(), most=10)
    assert [line.of for line in lines] == ["user 98765"]
    assert "“user”" in client.get(reverse("account_signup")).content.decode()


def test_a_benchmark_for_votes_without_a_name_is_refused_in_the_language_of_the_site(pseudo_language):
    form = NewBenchmarkForm({"action": "votes"})
    assert form.errors["name"] == [pseudo("Enter a name.")]
