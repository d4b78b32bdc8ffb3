"""Teams: people who submit predictions to a benchmark together, and share one quota.

Members see all that their team submits. Once it submitted predictions no one can leave it, and who submitted anything
cannot join another team: so no one gets a new quota, or takes what they saw to another team.
"""

import secrets
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.locks import lock_benchmark
from leaderboard.common.hashing import secret_hash
from leaderboard.evaluation.notices import tell_of_invitation
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.models import Benchmark, PredictionSubmission, Team, TeamInvitation, TeamMembership, User
from ranking_engine.text.characters import refused_in_line
from ranking_engine.text.names import fold_name

MAX_MEMBERS, MAX_INVITATIONS, INVITATION_DAYS = 20, 20, 7  # of a team
MAX_NAME = 80  # characters
ONE_TEAM = gettext_noop(
    "You are already in a team of this benchmark. You can leave it as long as it has submitted no predictions."
)


def team_of(user: User, benchmark: Benchmark) -> Team | None:
    """The team that someone submits for."""
    return Team.objects.filter(benchmark=benchmark, memberships__user=user).first()


def members_of(team: Team) -> list[User]:
    """Who is in a team, in the order in which they joined."""
    return [row.user for row in team.memberships.select_related("user").order_by("pk")]


@transaction.atomic
def found_team(benchmark: Benchmark, user: User, name: str) -> Team:
    """Make a team with one member.

    Raises:
        EvaluationError: the name is empty, too long or taken, or they are in a team, or submitted predictions alone.
    """
    name = name.strip()
    if not 0 < len(name) <= MAX_NAME:
        raise EvaluationError(gettext("The name of a team has 1 to %(max_name)s characters.") % {"max_name": MAX_NAME})
    if character := refused_in_line(name):
        problem = gettext("The name holds the invisible or control character %(character)s; leave it out.")
        raise EvaluationError(problem % {"character": character})
    try:
        with transaction.atomic():
            team = Team.objects.create(benchmark=benchmark, name=name, name_folded=fold_name(name))
    except IntegrityError:
        raise EvaluationError(gettext("There is already a team of this name.")) from None
    _join(team, user)
    return team


def _join(team: Team, user: User) -> None:
    """Put someone into a team, in the caller's transaction.

    Raises:
        EvaluationError: they are in a team, submitted predictions alone, or the team is full.
    """
    # The lock on the benchmark keeps everyone who joins, leaves or submits one after the other.
    lock_benchmark(team.benchmark_id)
    if TeamMembership.objects.filter(benchmark=team.benchmark_id, user=user).exists():
        raise EvaluationError(gettext(ONE_TEAM))
    alone = PredictionSubmission.objects.filter(benchmark=team.benchmark_id, submitter=user, is_trial=False)
    if alone.exclude(team=team).exists():
        raise EvaluationError(
            gettext(
                "You submitted predictions to this benchmark before, alone or for another team. "
                "Everyone has one quota, so you can no longer join a team."
            )
        )
    if team.memberships.count() >= MAX_MEMBERS:
        raise EvaluationError(
            gettext("The team has %(max_members)s members, and no more can join.") % {"max_members": MAX_MEMBERS}
        )
    TeamMembership.objects.create(team=team, benchmark_id=team.benchmark_id, user=user)
    TeamInvitation.objects.filter(team__benchmark=team.benchmark_id, invited=user).delete()


def whom_text(team: Team | None) -> str:
    """For whom someone submits predictions, and what they can no longer do after that; None is themselves."""
    if team is None:
        return gettext("You submit for yourself. After this you can no longer join a team of this benchmark.")
    if has_submitted(team):
        return gettext("You submit for the team %(team)s.") % {"team": team.name}
    text = gettext("You submit for the team %(team)s. After this no member can leave the team.")
    return text % {"team": team.name}


def has_submitted(team: Team) -> bool:
    """Whether a team submitted predictions, whatever became of them; trial runs do not count."""
    return team.prediction_submissions.filter(is_trial=False).exists()


@transaction.atomic
def leave_team(team: Team, user: User) -> None:
    """Take someone out of a team that submitted nothing. Without members it is deleted, unless it has trial runs.

    Raises:
        EvaluationError: they are not in it, or it submitted predictions: outside they would have a new quota.
    """
    lock_benchmark(team.benchmark_id)
    if has_submitted(team) and TeamMembership.objects.filter(team=team, user=user).exists():
        raise EvaluationError(
            gettext(
                "The team %(team)s has submitted predictions, so its members can no longer leave it: everyone has one "
                "quota in this benchmark."
            )
            % {"team": team.name}
        )
    if not TeamMembership.objects.filter(team=team, user=user).delete()[0]:
        raise EvaluationError(gettext("This person is not in the team."))
    if not team.memberships.exists():
        team.invitations.all().delete()
        if not team.prediction_submissions.exists():
            Team.objects.filter(pk=team.pk).delete()


@transaction.atomic
def invite_by_link(team: Team, author: User) -> str:
    """Make an invitation for who has its link; it works once.

    Returns:
        Its secret, which no one can read again.

    Raises:
        EvaluationError: too many invitations are open.
    """
    if open_team_invitations(team).filter(name="").count() >= MAX_INVITATIONS:
        raise EvaluationError(
            gettext("%(max_invitations)s invitations are open; revoke some, or wait until they are used.")
            % {"max_invitations": MAX_INVITATIONS}
        )
    secret = secrets.token_urlsafe(24)
    TeamInvitation.objects.create(team=team, author=author, secret_hash=secret_hash(secret), expires_at=_end())
    return secret


@transaction.atomic
def invite_by_name(team: Team, author: User, name: str) -> None:
    """Invite the person of this display name, and notify them.

    Whether there is such a person is not said: else anyone could ask who has an account. Every name is in the list of
    open invitations.

    Raises:
        EvaluationError: no name is given.
    """
    name = name.strip()
    if not 0 < len(name) <= MAX_NAME or refused_in_line(name):
        raise EvaluationError(gettext("Write the display name of the person."))
    people = list(User.objects.filter(display_name=name, is_active=True).exclude(team_memberships__team=team)[:2])
    invited = people[0] if len(people) == 1 else None  # a name that several people have is of none of them
    is_same = Q(name=name) if invited is None else Q(name=name) | Q(invited=invited)
    TeamInvitation.objects.filter(is_same, team=team).delete()
    TeamInvitation.objects.create(
        team=team,
        invited=invited,
        name=name,
        secret_hash=None if invited else secret_hash(secrets.token_urlsafe(24)),  # of a secret that no one has
        author=author,
        expires_at=_end(),
    )
    if invited is not None:
        tell_of_invitation(team, invited)
    # An error would say how many of the names are someone's: the oldest invitations go instead.
    named = TeamInvitation.objects.filter(team=team).exclude(name="").order_by("-pk")
    TeamInvitation.objects.filter(pk__in=list(named.values_list("pk", flat=True)[MAX_INVITATIONS:])).delete()


@transaction.atomic
def revoke_team_invitation(team: Team, number: int) -> None:
    """End an open invitation.

    Raises:
        EvaluationError: the team has no such invitation.
    """
    if not TeamInvitation.objects.filter(team=team, pk=number).delete()[0]:
        raise EvaluationError(gettext("This invitation was used, revoked or expired already."))


def open_team_invitations(team: Team) -> QuerySet[TeamInvitation]:
    """The links that someone may still use, and the names of those invited, whether there are such people or not."""
    rows = TeamInvitation.objects.filter(team=team, expires_at__gt=timezone.now())
    return rows.exclude(invited__isnull=False, name="")  # of older releases, which did not list people


def team_invitations_of(user: User, benchmark: Benchmark) -> QuerySet[TeamInvitation]:
    """The invitations of one person to teams of a benchmark."""
    rows = TeamInvitation.objects.filter(invited=user, team__benchmark=benchmark, expires_at__gt=timezone.now())
    return rows.select_related("team")


def find_team_invitation(secret: str) -> TeamInvitation | None:
    """The open invitation of a link's secret."""
    rows = TeamInvitation.objects.select_related("team__benchmark")
    return rows.filter(secret_hash=secret_hash(secret), expires_at__gt=timezone.now()).first()


@transaction.atomic
def accept_team_invitation(invitation: TeamInvitation, user: User) -> Team:
    """Join the team. An invitation works once.

    Raises:
        EvaluationError: it was used or revoked, its author left the team, or they cannot join.
    """
    team = invitation.team
    rows = TeamInvitation.objects.filter(Q(invited=None) | Q(invited=user), pk=invitation.pk)
    is_member = TeamMembership.objects.filter(team=team, user=invitation.author_id, user__is_active=True).exists()
    if not is_member or not rows.delete()[0]:
        raise EvaluationError(gettext("This invitation was already used or revoked."))
    _join(team, user)
    return team


def _end() -> datetime:
    return timezone.now() + timedelta(days=INVITATION_DAYS)
