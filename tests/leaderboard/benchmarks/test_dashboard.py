"""One's own page: what is on it, what is not of it, and how often it asks the database."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.access.roles import benchmark_of
from leaderboard.accounts.organisations.founding import found_organisation
from leaderboard.benchmarks.drafts import make_benchmark_draft
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.steps import cancel_predictions
from leaderboard.models import Benchmark, Membership, OrganisationMember
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.withdrawals import withdraw_own
from leaderboard.votes.content import SentVotes, checked_votes
from leaderboard.votes.lifecycle import confirm_votes, draft_votes
from tests.leaderboard.evaluation.made import texts_benchmark, upload
from tests.leaderboard.votes.sent import collecting, rate, sent, vote_lines
from tests.markup import compact

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def me(make, client):
    user = make.user("Me")
    client.force_login(user, backend=BACKEND)
    return user


def rated(make, **fields):
    """A benchmark with votes of its owner, so that others can send some of the same categories."""
    benchmark = collecting(make, **fields)
    sent(benchmark, vote_lines(6, categories=["code"]))
    rate(benchmark)
    return benchmark


def vote_draft(benchmark, user, n_votes):
    text = vote_lines(n_votes, categories=["code"])
    audience = audience_of(user, benchmark)
    return draft_votes(audience, checked_votes(audience, SentVotes(text.encode(), {})))


def page_of(client, query=""):
    return compact(client.get(reverse("dashboard") + query))


def part(page, name):
    return page.partition(f'id="{name}"')[2].partition("</section>")[0]


def states(page, name="submissions"):
    """{systems: state} of a list of what was sent, whose cells have labels for narrow screens."""
    row = (
        r'<th scope="row"><a [^>]*>([^<]*)</a></th><td data-label="Benchmark"><a [^>]*>[^<]*</a></td>'
        r'<td data-label="State">(.*?)</td><td data-label="Sent">'
    )
    return {name: re.sub("<[^>]*>", "", state).strip() for name, state in re.findall(row, part(page, name))}


def test_an_empty_page_says_what_to_do(client, me):
    page = page_of(client)
    assert "You have submitted nothing yet." in page
    assert "You do not own or moderate a benchmark." in page
    assert 'id="drafts"' not in page


def test_it_has_drafts_submissions_with_their_states_and_notices(client, make, me):
    benchmark = make.published({"A": [1.0]}, submission_policy="open", name="Open one")
    make_draft(audience_of(me, benchmark), [SubmittedRow(system_name="Draft", scores={"task-1": "3"})], source="form")
    make_benchmark_draft(me, name="To be", table=b"system,t\nA,1\n")
    one = make.submitted(benchmark, "First", ["2"], by=me)
    two = make.submitted(benchmark, "Second", ["3"], by=me)
    make.submitted(benchmark, "Foreign", ["4"], by=make.user())
    make.pending(benchmark, {"P1": [1.0], "P2": [2.0]}, by=me)
    withdraw_own(audience_of(me, benchmark), one.submissions.get(), reason="Wrong.")
    Benchmark.objects.filter(pk=benchmark.pk).update(submitters_withdraw=False)
    benchmark.refresh_from_db()
    withdraw_own(audience_of(me, benchmark), two.submissions.get(), reason="Wrong, too.")
    collected = rated(make, submission_policy="moderated", name="Answers")
    vote_draft(collected, me, 12)
    confirm_votes(vote_draft(collected, me, 24), actor=me)
    hidden = texts_benchmark(make, submission_policy="open", name="Hidden")
    cancel_predictions(submit_predictions(hidden, me, upload("Wrong"))[0])
    submit_predictions(hidden, me, upload("New"))
    page = page_of(client)
    assert states(page, "votes") == {"24 votes": "open waiting for a moderator"}
    assert states(page, "predictions") == {"New": "open waiting", "Wrong": "cancelled"}
    assert states(page) == {
        "First": "withdrawn",
        "Second": "open accepted; withdrawal requested",
        "P1 and P2": "open waiting for a moderator",
    }
    assert re.findall(r"<a href=\"[^\"]*\">([^<]*)</a>", part(page, "drafts")) == [
        "Votes for Answers",
        "Benchmark To be",
        "Scores of Draft for Open one",
    ]
    assert f'href="{reverse("dashboard")}"' in page.partition("</header>")[0]


def test_it_lists_votes_alone_where_nothing_else_was_sent(client, make, me):
    confirm_votes(vote_draft(rated(make, submission_policy="open"), me, 6), actor=me)
    page = page_of(client)
    assert states(page, "votes") == {"6 votes": "accepted"}
    assert 'id="submissions"' not in page


def test_it_has_the_benchmarks_one_looks_after_with_what_waits(client, make, me):
    busy = make.published({"A": [1.0]}, owner=me, name="Busy", submission_policy="moderated", submitters_withdraw=False)
    make.benchmark({"A": [1.0]}, owner=me, name="Quiet")
    make.published({"A": [1.0]}, name="Foreign")
    other = make.user()
    for name in ("P", "Q"):
        make.pending(busy, {name: [1.0]}, by=other)
    accepted = make.pending(busy, {"R": [2.0]}, by=other)
    accept_batch(accepted, actor=me)
    withdraw_own(audience_of(other, busy), accepted.submissions.get(), reason="Wrong.")
    collected = rated(make, owner=me, submission_policy="moderated", name="Collected")
    for n_votes in (6, 12):
        confirm_votes(vote_draft(collected, other, n_votes), actor=other)
    page = page_of(client)
    lines = re.findall(r"<tr><th.*?</tr>", part(page, "benchmarks"))
    texts = [re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", line)).strip() for line in lines]
    assert [text.lower() for text in texts[1:]] == [
        "busy owner public 3 1 manage",
        "collected owner public 2 0 manage",
        "quiet owner public 0 0 manage",
    ]
    assert "<strong>5</strong> things to decide." in page
    # The boards say the same of each.
    waiting = [benchmark_of(row.key, user=me.pk, counts_queue=True).n_undecided for row in (busy, collected)]
    assert waiting == [3, 2]


def test_what_is_closed_to_one_now_is_not_on_it(client, make, me):
    benchmark = make.published({"A": [1.0]}, submission_policy="open", name="Secret plan")
    make_draft(audience_of(me, benchmark), [SubmittedRow(system_name="Draft", scores={"task-1": "3"})], source="form")
    make.submitted(benchmark, "Mine", ["2"], by=me)
    batch = benchmark.batches.get(uploader=me)
    hidden = texts_benchmark(make, submission_policy="open", name="Secret plan B")
    submit_predictions(hidden, me, upload("New"))
    Benchmark.objects.filter(pk__in=[benchmark.pk, hidden.pk]).update(visibility="private")
    page = page_of(client)
    assert all(text not in page for text in ("Secret plan", "Mine", benchmark.key, str(batch.uuid)))
    cells = (
        '<td data-label="Benchmark">a benchmark that is private now</td>'
        '<td data-label="State">no longer shown to you</td>'
    )
    assert f'<th scope="row">1 system</th>{cells}' in part(page, "submissions")
    assert f'<th scope="row">New</th>{cells}' in part(page, "predictions")


def test_a_member_finds_the_organisations_and_the_benchmarks_that_are_open_to_them(client, make, me):
    owner = make.user()
    organisation = found_organisation(owner, key="vision-lab", name="Vision Lab")
    organisation.members.create(user=me, role=OrganisationMember.Role.MEMBER)
    benchmark = make.published({"A": [1.0]}, visibility="private", name="Board of members", owner=owner)
    make.published({"A": [1.0]}, visibility="private", name="Board of others")
    page = page_of(client)
    assert f'<a href="{reverse("organisation", args=["vision-lab"])}">Vision Lab</a>' in part(page, "organisations")
    assert 'id="opened"' not in page
    Membership.objects.create(user=me, benchmark=benchmark, role=Membership.Role.MEMBER)
    page = page_of(client)
    opened = part(page, "opened")
    assert f'<a href="{reverse("board", args=[benchmark.key])}">Board of members</a>' in opened
    assert "private" in opened
    assert "Board of others" not in page
    assert "You do not own or moderate a benchmark." in page


def test_nobody_sees_the_page_without_an_account(client):
    assert client.get(reverse("dashboard")).headers["Location"].startswith(reverse("account_login"))


@pytest.mark.parametrize("n", [1, 4])
def test_the_page_asks_the_database_so_often_whatever_is_on_it(client, make, me, n):
    for k in range(n):
        benchmark = make.published({"A": [1.0]}, owner=me, name=f"B{k}", submission_policy="open")
        make.submitted(benchmark, "Mine", ["2"], by=me)
        make.pending(benchmark, {"P": [1.0]}, by=make.user())
    with CaptureQueriesContext(connection) as queries:
        page_of(client)
    # The account with its unread notices, those here and the newest; batches and how many they are, the
    # states, names and requests of these; votes and predictions; three kinds of drafts; roles, and what waits:
    # submissions, votes, requests; benchmarks of which one is a member, and organisations.
    assert len(queries) == 22
