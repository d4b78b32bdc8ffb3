"""Roles on a benchmark while they are being taken away: two transactions at the same moment."""

import pytest
from django.core.exceptions import PermissionDenied

from leaderboard.access.audience import audience_of
from leaderboard.accounts.people import PeopleError, accept_invitation, ban, change_role, find_invitation, invite
from leaderboard.benchmarks.settings import change_settings
from leaderboard.explore.profiles import delete_profile
from leaderboard.models import Ban, Benchmark, Membership, WeightProfile
from leaderboard.submissions.lifecycle import reject_batch, take_batch
from tests.concurrency import before_it_ends
from tests.factories import owner_of


@pytest.mark.parametrize("role", ["owner", "moderator"])
def test_who_is_being_removed_changes_nothing_any_more(make_committed, role):
    benchmark = make_committed.benchmark(submission_policy="moderated")
    owner, going, friend = owner_of(benchmark), *(make_committed.member(benchmark, r) for r in (role, "member"))
    waiting = make_committed.pending(benchmark, {"E": [1.0] * 5}, by=friend)
    (secret,) = [invite(benchmark, author=going, role="owner")] if role == "owner" else [""]
    published = WeightProfile.objects.create(benchmark=benchmark, author=owner, name="Ours", is_published=True)
    by_moderators = {
        "accept": lambda: take_batch(waiting, actor=going),
        "reject": lambda: reject_batch(waiting, actor=going, reason="No."),
        "ban": lambda: ban(benchmark, friend, author=going, reason="No."),
    }
    by_owners = {
        "promote": lambda: change_role(benchmark, friend, author=going, role="owner"),
        "invite": lambda: invite(benchmark, author=going, role="owner"),
        "settings": lambda: change_settings(benchmark, {"description": "Mine."}, author=going),
        "delete weights": lambda: delete_profile(audience_of(going, benchmark), published.pk),
    }
    for step in (by_moderators | (by_owners if role == "owner" else {})).values():
        outcomes = before_it_ends(lambda: change_role(benchmark, going, author=owner, role=""), step)
        assert (outcomes[0], type(outcomes[1])) == (True, PermissionDenied)
        Membership.objects.create(benchmark=benchmark, user=going, role=role)
    if role == "owner":
        invitation = find_invitation(secret)
        outcomes = before_it_ends(
            lambda: change_role(benchmark, going, author=owner, role=""),
            lambda: accept_invitation(invitation, friend),
        )
        assert (outcomes[0], type(outcomes[1])) == (True, PeopleError)
    assert {row.state for row in waiting.submissions.all()} == {"pending"}
    assert Membership.objects.get(user=friend).role == "member"
    assert not Ban.objects.exists()
    assert WeightProfile.objects.filter(pk=published.pk).exists()
    assert Benchmark.objects.get(pk=benchmark.pk).description == ""
