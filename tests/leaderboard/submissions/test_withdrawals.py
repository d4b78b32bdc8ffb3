"""Submitters take accepted scores off the board, or ask for it: who may, what is kept of it, who is told."""

import re
from copy import deepcopy
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.dashboard import benchmarks_of
from leaderboard.models import Benchmark, Notice, Submission
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.withdrawals import cancel_request, decline_withdrawal, requests_at, withdraw_own
from tests.markup import compact

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def submitter(make):
    return make.user("Lab")


@pytest.fixture(scope="module")
def benchmark_once(make_once):
    return make_once.published({"A": [1.0, 2.0], "B": [2.0, 1.0]}, submission_policy="open")


@pytest.fixture
def benchmark(benchmark_once, make):
    return deepcopy(benchmark_once)


@pytest.fixture
def submission(make, benchmark, submitter):
    """Accepted scores of somebody who does not look after the benchmark."""
    return make.submitted(benchmark, "New", ["3", "3"], by=submitter).submissions.get()


def asks_only(benchmark):
    Benchmark.objects.filter(pk=benchmark.pk).update(submitters_withdraw=False)
    benchmark.refresh_from_db()


def kinds(submission):
    return list(submission.events.order_by("pk").values_list("kind", "reason"))


def step(client, user, row, **fields):
    client.force_login(user, backend=BACKEND)
    return client.post(reverse("batch_step", args=[row.batch.uuid]), fields, follow=True)


def test_a_submitter_withdraws_with_a_reason_and_the_page_says_so_first(client, benchmark, submission, submitter):
    page = compact(step(client, submitter, submission, action="withdraw", reason="A wrong checkpoint."))
    submission.refresh_from_db()
    assert (submission.state, kinds(submission)[-1]) == ("withdrawn", ("withdrawn", "A wrong checkpoint."))
    assert "New was withdrawn." in page
    assert '<li class="is-failed">' in page
    assert "by Lab: A wrong checkpoint." in page
    assert "Withdraw these scores" not in page
    benchmark.refresh_from_db()
    assert benchmark.last_revision_number == 3  # the scores of the first two, these, and their withdrawal


def test_where_the_owners_say_so_a_submitter_asks_and_a_moderator_decides(
    client, make, benchmark, submission, submitter
):
    asks_only(benchmark)
    page = compact(step(client, submitter, submission, action="withdraw", reason="Not ours."))
    assert "The moderators were asked to withdraw New." in page
    assert "“Not ours.” The moderators have not decided yet." in page
    submission.refresh_from_db()
    assert (submission.state, kinds(submission)[-1]) == ("accepted", ("asked", "Not ours."))
    assert requests_at(benchmark) == [submission]
    owner = benchmark.memberships.get(role="owner").user
    notice = Notice.objects.get(user=owner, kind="waiting")
    assert (notice.path, notice.words) == (reverse("batch", args=[submission.batch.uuid]), "Not ours.")
    client.force_login(owner, backend=BACKEND)
    queue = client.get(reverse("manage_queue", args=[benchmark.key])).content.decode()
    section = re.search(r'<section aria-labelledby="requests">.*?</section>', queue, re.DOTALL)
    heading, *words = re.findall(r"<(?:h2|p|td|a|th)\b.*?(?=</(?:h2|p|td|a|th)>)", section[0], re.DOTALL)
    texts = [" ".join(re.sub("<[^>]+>", " ", text).split()) for text in (heading, *words)]
    asked_at = submission.events.get(kind="asked").at.strftime("%-d %b %Y, %H:%M UTC")
    assert texts == [
        "Withdrawals requested",
        (
            "These scores are on the board, and their submitters ask to withdraw them. Open one to withdraw the scores "
            "or to decline."
        ),
        *("System", "Reason", "By, and when"),
        *("New", "Not ours.", f"Lab {asked_at}"),
    ]
    address = f"{reverse('batch', args=[submission.batch.uuid])}#request-of-{submission.uuid}"
    assert f'href="{address}"' in section[0]
    assert f'id="request-of-{submission.uuid}"' in compact(client.get(reverse("batch", args=[submission.batch.uuid])))
    page = compact(step(client, owner, submission, action="keep", reason="They are yours.", submission=submission.uuid))
    assert "New stays on the board; its submitter reads your reason." in page
    assert (kinds(submission)[-1], requests_at(benchmark)) == (("kept", "They are yours."), [])
    assert Notice.objects.get(user=submitter, kind="decision").words == "They are yours."
    withdraw_own(audience_of(submitter, benchmark), submission, reason="Still.")  # they may ask again
    step(client, owner, submission, action="withdraw", reason="Very well.")
    submission.refresh_from_db()
    assert (submission.state, requests_at(benchmark)) == ("withdrawn", [])


def test_a_submitter_cancels_a_request_that_is_not_decided(client, make, benchmark, submission, submitter):
    asks_only(benchmark)
    owner = benchmark.memberships.get(role="owner").user
    step(client, submitter, submission, action="withdraw", reason="Not ours.")
    client.force_login(owner, backend=BACKEND)
    assert "Cancel the request" not in compact(client.get(reverse("batch", args=[submission.batch.uuid])))
    page = compact(step(client, submitter, submission, action="cancel", submission=submission.uuid))
    submission.refresh_from_db()
    assert "You cancelled your request. New stays on the board." in page
    assert ">withdrawal request cancelled<" in page
    assert "Ask the moderators to withdraw these scores" in page
    assert (submission.state, kinds(submission)[-1]) == ("accepted", ("cancelled", ""))
    assert (requests_at(benchmark), benchmarks_of(owner)[0].n_waiting) == ([], 0)
    assert "There is no open request" in compact(step(client, submitter, submission, action="cancel"))
    stranger = make.member(benchmark, "moderator")
    withdraw_own(audience_of(submitter, benchmark), submission, reason="After all.")
    with pytest.raises(PermissionDenied):
        cancel_request(audience_of(stranger, benchmark), submission)
    assert requests_at(benchmark) == [submission]


def test_a_queue_with_a_request_counts_it_and_is_not_called_empty(client, benchmark, submission, submitter):
    asks_only(benchmark)
    owner = benchmark.memberships.get(role="owner").user
    client.force_login(owner, backend=BACKEND)
    seen = []
    for act in (
        lambda: None,
        lambda: withdraw_own(audience_of(submitter, benchmark), submission, reason="Not ours."),
        lambda: decline_withdrawal(submission, actor=owner, reason="They are yours."),
    ):
        act()
        page = compact(client.get(reverse("manage_queue", args=[benchmark.key])))
        counted = re.findall(r'class="unread">(\d+)<span class="visually-hidden"> waiting', page)
        line = benchmarks_of(owner)[0]
        counts = (line.n_waiting, line.n_requests)
        seen.append(("The queue is empty" in page, "Withdrawals requested" in page, counted, counts))
    assert seen == [(True, False, [], (0, 0)), (False, True, ["1"], (1, 1)), (True, False, [], (0, 0))]


def test_what_is_not_ones_own_not_accepted_without_a_reason_or_asked_twice_is_refused(
    make, benchmark, submission, submitter
):
    stranger = make.user("Stranger")
    with pytest.raises(PermissionDenied):
        withdraw_own(audience_of(stranger, benchmark), submission, reason="Why not.")
    audience = audience_of(submitter, benchmark)
    for is_asked in (False, True):
        if is_asked:
            asks_only(benchmark)
        with pytest.raises(SubmissionError, match="Give a reason"):
            withdraw_own(audience, submission, reason="  ")
    withdraw_own(audience, submission, reason="Please.")
    with pytest.raises(SubmissionError, match="already"):
        withdraw_own(audience, submission, reason="Please!")
    Submission.objects.filter(pk=submission.pk).update(state="withdrawn")
    with pytest.raises(SubmissionError, match="not on the board"):
        withdraw_own(audience, submission, reason="Again.")
    with pytest.raises(PermissionDenied):
        decline_withdrawal(submission, actor=stranger, reason="No.")
    moderator = make.member(benchmark, "moderator")
    with pytest.raises(SubmissionError, match="no open request"):
        decline_withdrawal(submission, actor=moderator, reason="No.")
    with pytest.raises(SubmissionError, match=r"^Give a reason: the submitter sees it\.$"):
        decline_withdrawal(submission, actor=moderator, reason=" ")


@pytest.mark.parametrize(
    ("fields", "is_withdrawn"),
    [
        ({"is_archived": True}, False),
        ({"submission_policy": "closed"}, False),
        ({"deadline": timezone.now() - timedelta(seconds=1)}, False),
        ({"deadline": timezone.now() + timedelta(days=1)}, True),
    ],
    ids=["archived", "closed", "deadline past", "deadline ahead"],
)
def test_a_submitter_asks_where_no_submissions_are_taken_any_more(
    client, benchmark, submission, submitter, fields, is_withdrawn
):
    Benchmark.objects.filter(pk=benchmark.pk).update(**fields)
    benchmark.refresh_from_db()
    client.force_login(submitter, backend=BACKEND)
    page = compact(client.get(reverse("batch", args=[submission.batch.uuid])))
    assert ("Ask the moderators to withdraw these scores" in page) is not is_withdrawn
    assert withdraw_own(audience_of(submitter, benchmark), submission, reason="Old.") is is_withdrawn


@pytest.mark.parametrize(("action", "status"), [("withdraw", 403), ("reinstate", 403), ("keep", 403), ("burn", 400)])
def test_who_submitted_something_else_takes_no_step(client, make, submission, action, status):
    stranger = make.user("Stranger")
    client.force_login(stranger, backend=BACKEND)
    response = client.post(
        reverse("batch_step", args=[submission.batch.uuid]), {"action": action, "reason": "x" * 100_000}
    )
    assert response.status_code == status


def test_a_submitter_neither_reinstates_nor_declines(client, submission, submitter):
    client.force_login(submitter, backend=BACKEND)
    for action in ("reinstate", "keep"):
        answer = client.post(reverse("batch_step", args=[submission.batch.uuid]), {"action": action, "reason": "Mine."})
        assert answer.status_code == 403


def lines(client, user, batch):
    """What happened to a batch, as its page and the API tell this user, who may be nobody."""
    client.logout()
    headers = {}
    if user:
        client.force_login(user, backend=BACKEND)
        headers = {"Authorization": f"Token {create_token(user, name='t', scopes=['read'], days=30)[1]}"}
    page = client.get(reverse("batch", args=[batch.uuid])).content.decode()
    answer = client.get(reverse("api:submission", args=[batch.uuid]), headers=headers).json()
    events = [(event["text"], event["reason"]) for event in answer["events"]][2:]
    assert all(reason in page for _, reason in events)
    return events, page + str(answer)


def test_requests_and_their_refusals_are_told_to_the_submitter_and_the_moderators_alone(
    client, make, benchmark, submission, submitter
):
    asks_only(benchmark)
    owner = benchmark.memberships.get(role="owner").user
    expected = []
    for n in (1, 2):
        withdraw_own(audience_of(submitter, benchmark), submission, reason=f"Leaked key {n}.")
        decline_withdrawal(submission, actor=owner, reason=f"Not leaked {n}.")
        expected += [("withdrawal requested", f"Leaked key {n}."), ("withdrawal declined", f"Not leaked {n}.")]
    for viewer in (submitter, owner):
        assert lines(client, viewer, submission.batch)[0] == expected
    for viewer in (None, make.user("Stranger")):
        events, everything = lines(client, viewer, submission.batch)
        assert events == []
        assert "eaked" not in everything


@pytest.mark.skipif(not settings.IS_SQLITE, reason="PostgreSQL reads small tables whole, whatever index there is")
def test_requests_are_looked_for_among_the_requests_and_not_among_all_that_was_accepted(benchmark):
    with CaptureQueriesContext(connection) as queries:
        requests_at(benchmark)
        benchmarks_of(benchmark.memberships.get(role="owner").user)
    statements = [query["sql"] for query in queries if "'asked'" in query["sql"]]
    assert len(statements) == 2
    for statement in statements:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
            plan = " ".join(row[-1] for row in cursor.fetchall())
        assert "USING INDEX withdrawal_requests" in plan
        assert "submissions_by_state (state=? AND benchmark_id=?)" not in plan  # without the submission's own id
