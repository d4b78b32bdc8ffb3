"""The history says what happened, and who did it."""

import pytest
from django.contrib.auth.models import AnonymousUser

from leaderboard.access.audience import audience_of
from leaderboard.comparisons.history import history_page
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, confirm_draft
from leaderboard.submissions.rows import SubmittedRow
from tests.markup import compact

ANYONE = AnonymousUser()


@pytest.mark.parametrize(("fields", "names"), [({}, ("Bob", "Cat")), ({"score_view": "own"}, ("", ""))])
def test_a_revision_names_who_submitted_and_who_accepted(make, client, fields, names):
    benchmark = make.published(submission_policy="moderated", **fields)
    waiting = make.pending(benchmark, {"E": [9.0] * 5}, by=make.user("Bob"))
    accept_batch(waiting, actor=make.member(benchmark, "moderator", "Cat"))
    lines, _ = history_page(benchmark, audience_of(ANYONE, benchmark), None)
    assert [(line.who, line.accepted_by) for line in lines] == [names, ("owner" if names[0] else "", "")]
    assert lines[0].cause == "scores accepted"
    if not fields:
        page = compact(client.get(f"/b/{benchmark.key}/history/"))
        assert 'Bob <small class="because">accepted by Cat</small>' in page


def test_a_note_is_not_called_a_reason(make, client):
    benchmark = make.published()
    rows = [SubmittedRow("E", {"task-1": "9"})]
    draft = make_draft(audience_of(make.user("Bob"), benchmark), rows, source="form", note="my note")
    batch = confirm_draft(draft, actor=draft.owner, previewed_number=1, creates_systems=True)
    page = compact(client.get(f"/submissions/{batch.uuid}/"))
    assert '<th scope="col">Reason or note</th>' in page
    assert '<td data-label="Reason or note">my note</td>' in page
