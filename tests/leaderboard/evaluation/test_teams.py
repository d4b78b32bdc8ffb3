"""Teams: founding, inviting by link and by name, joining, leaving; one team of a benchmark for each person."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from leaderboard.evaluation.phases import store_phase
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.teams import (
    MAX_INVITATIONS,
    accept_team_invitation,
    find_team_invitation,
    found_team,
    invite_by_link,
    invite_by_name,
    leave_team,
    members_of,
    open_team_invitations,
    revoke_team_invitation,
    team_invitations_of,
    team_of,
)
from leaderboard.models import NoticeChoice, PredictionSubmission, Team, TeamInvitation
from leaderboard.notifications.notices import choose_ways, notice_text
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import hidden_benchmark, upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(make):
    return found_team(make.benchmark({}, n_tasks=1), make.user("Ada"), "Owls")


def test_a_link_works_once_and_only_while_it_is_open(make, team):
    ada, bob, cyd = members_of(team)[0], make.user("Bob"), make.user("Cyd")
    secret = invite_by_link(team, ada)
    assert secret not in str(list(TeamInvitation.objects.values()))
    invitation = find_team_invitation(secret)
    assert accept_team_invitation(invitation, bob) == team
    with pytest.raises(EvaluationError, match="already used or revoked"):
        accept_team_invitation(invitation, cyd)
    late = find_team_invitation(invite_by_link(team, ada))
    revoke_team_invitation(team, late.pk)
    with pytest.raises(EvaluationError, match="already used or revoked"):
        accept_team_invitation(late, cyd)
    secret = invite_by_link(team, ada)
    TeamInvitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert find_team_invitation(secret) is None
    assert members_of(team) == [ada, bob]


def test_who_is_invited_by_name_gets_a_notice_and_no_one_learns_whether_a_name_exists(make, team):
    ada, bob = members_of(team)[0], make.user("Bob")
    invite_by_name(team, ada, "Bob")
    invite_by_name(team, ada, "Nobody of this name")
    invite_by_name(team, ada, "Bob")
    invite_by_name(team, ada, "Nobody of this name")
    assert [invitation.name for invitation in open_team_invitations(team)] == ["Bob", "Nobody of this name"]
    (notice,) = bob.notices.all()
    assert (notice_text(notice), notice.kind, notice.path) == (
        f"The team Owls invites you to submit predictions to {team.benchmark.name} with it.",
        "team",
        f"/b/{team.benchmark.key}/team/",
    )
    (invitation,) = team_invitations_of(bob, team.benchmark)
    with pytest.raises(EvaluationError, match="already used or revoked"):
        accept_team_invitation(invitation, make.user("Cyd"))
    accept_team_invitation(invitation, bob)
    assert team_of(bob, team.benchmark) == team
    eve = make.user("Eve"), make.user("Eve")
    invite_by_name(team, ada, "Eve")
    assert [invitation.name for invitation in open_team_invitations(team)] == ["Nobody of this name", "Eve"]
    assert [list(team_invitations_of(one, team.benchmark)) for one in eve] == [[], []]
    for invitation in open_team_invitations(team):
        revoke_team_invitation(team, invitation.pk)
    assert not TeamInvitation.objects.exists()


def test_invitations_of_who_left_the_team_no_longer_work(make, team):
    ada, bob, cyd = members_of(team)[0], make.user("Bob"), make.user("Cyd")
    accept_team_invitation(find_team_invitation(invite_by_link(team, ada)), bob)
    invitation = find_team_invitation(invite_by_link(team, bob))
    leave_team(team, bob)
    with pytest.raises(EvaluationError, match="already used or revoked"):
        accept_team_invitation(invitation, cyd)


def test_everyone_is_in_one_team_of_a_benchmark(make, team):
    ada = members_of(team)[0]
    with pytest.raises(EvaluationError, match="already in a team"):
        found_team(team.benchmark, ada, "Hawks")
    with pytest.raises(EvaluationError, match="already a team of this name"):
        found_team(team.benchmark, make.user(), "OWLS")
    assert found_team(make.benchmark({}, n_tasks=1), ada, "Owls").memberships.count() == 1
    assert Team.objects.filter(benchmark=team.benchmark).count() == 1


def test_who_submitted_predictions_cannot_join_another_team_to_get_its_quota(make, team):
    ada, bob = members_of(team)[0], make.user("Bob")
    PredictionSubmission.objects.create(benchmark=team.benchmark, submitter=bob, source="form", statement={"name": "B"})
    with pytest.raises(EvaluationError, match="Everyone has one quota"):
        accept_team_invitation(find_team_invitation(invite_by_link(team, ada)), bob)
    with pytest.raises(EvaluationError, match="Everyone has one quota"):
        found_team(team.benchmark, bob, "Hawks")
    assert not Team.objects.filter(name="Hawks").exists()


@pytest.mark.parametrize("has_trials", [True, False])
def test_a_team_without_members_stays_only_if_it_has_trial_runs(make, team, has_trials):
    ada = members_of(team)[0]
    if has_trials:
        PredictionSubmission.objects.create(
            benchmark=team.benchmark, submitter=ada, team=team, source="form", statement={"name": "A"}, is_trial=True
        )
    invite_by_link(team, ada)
    leave_team(team, ada)
    assert Team.objects.filter(pk=team.pk).exists() is has_trials
    assert not TeamInvitation.objects.exists()
    with pytest.raises(EvaluationError, match="not in the team"):
        leave_team(team, ada)


def test_leaving_a_team_that_submitted_gives_no_new_quota(make):
    benchmark, ada, bob = hidden_benchmark(make), make.user("Ada"), make.user("Bob")
    values = {"name": "Final", "opens_at": timezone.now() - timedelta(days=1), "total_cap": 1}
    store_phase(benchmark, values, author=owner_of(benchmark))
    owls = found_team(benchmark, ada, "Owls")
    accept_team_invitation(find_team_invitation(invite_by_link(owls, ada)), bob)
    submit_predictions(benchmark, ada, upload("First"))
    hawks = found_team(benchmark, make.user("Cyd"), "Hawks")
    for member in (ada, bob):  # Bob submitted nothing, and saw what Ada did
        with pytest.raises(EvaluationError, match="1 time in all; your team has submitted 1"):
            submit_predictions(benchmark, member, upload("Second"))
        with pytest.raises(EvaluationError, match="can no longer leave it: everyone has one quota"):
            leave_team(owls, member)
        with pytest.raises(EvaluationError, match="already in a team"):
            accept_team_invitation(find_team_invitation(invite_by_link(hawks, members_of(hawks)[0])), member)
        with pytest.raises(EvaluationError, match="already in a team"):
            found_team(benchmark, member, "Kites")
    assert (members_of(owls), len(members_of(hawks))) == ([ada, bob], 1)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "two\nlines", "\u202eowls"])
def test_names_that_are_no_line_of_text_are_refused(make, team, name):
    with pytest.raises(EvaluationError):
        found_team(team.benchmark, make.user(), name)


def test_only_so_many_invitations_are_open(make, team):
    ada = members_of(team)[0]
    for _ in range(MAX_INVITATIONS):
        invite_by_link(team, ada)
    with pytest.raises(EvaluationError, match="invitations are open"):
        invite_by_link(team, ada)
    for number in range(MAX_INVITATIONS + 2):
        invited = f"Person {number}"
        if number % 2:
            make.user(invited)
        invite_by_name(team, ada, invited)
    names = TeamInvitation.objects.exclude(name="").order_by("pk").values_list("name", flat=True)
    assert list(names) == [f"Person {number}" for number in range(2, MAX_INVITATIONS + 2)]


def test_going_back_to_an_older_release_leaves_what_that_knows_and_asks_for_names_while_they_are_there(make, team):
    ada, bob = members_of(team)[0], make.user("Bob")
    for name in ("Bob", "Nobody of this name"):
        invite_by_name(team, ada, name)
    invite_by_link(team, ada)
    choose_ways(bob, {"team": "site", "token": "off"})
    migration = import_module("leaderboard.migrations.0057_invitations_by_name")
    assert migration.Migration.operations[-1].reverse_code is migration.without_kind  # undone first
    migration.without_kind(apps, None)
    assert [(row.invited, row.name) for row in TeamInvitation.objects.order_by("pk")] == [(bob, "Bob"), (None, "")]
    assert (bob.notices.count(), list(NoticeChoice.objects.values_list("kind", flat=True))) == (0, ["token"])
