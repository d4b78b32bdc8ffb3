"""Notices about predictions: their submitter hears that they were scored, or refused."""

from django.urls import reverse

from leaderboard.common.language.sentences import Sentence
from leaderboard.common.text import shortened
from leaderboard.models import NoticeKind, PredictionSubmission, Team, User
from leaderboard.notifications.notices import tell


def tell_of_scoring(row: PredictionSubmission) -> None:
    """Tell the submitter that predictions were scored or refused, once, in the transaction that ends it.

    Scores and reasons are on the page alone: a mail is read by others more easily.

    Args:
        row: with its benchmark, in the state that it has from now on.
    """
    if row.state == PredictionSubmission.State.REFUSED:
        sentence = Sentence("Your predictions of %(system)s for %(benchmark)s were refused; their page says why.")
    elif row.is_trial:
        sentence = Sentence("The trial run of your predictions of %(system)s for %(benchmark)s was scored.")
    else:
        sentence = Sentence("Your predictions of %(system)s for %(benchmark)s were scored.")
    tell(
        [row.submitter_id],
        NoticeKind.PREDICTIONS,
        key=f"predictions {row.pk} {row.state}",
        sentence=sentence.of(system=shortened(row.system_name), benchmark=row.benchmark.name),
        path=reverse("prediction", args=[row.uuid]),
        benchmark=row.benchmark,
    )


def tell_of_entering(row: PredictionSubmission) -> None:
    """Tell the submitter that predictions which were scored before count now. Call in the transaction that does it.

    Args:
        row: with its benchmark, and the submission that came of it.
    """
    tell(
        [row.submitter_id],
        NoticeKind.PREDICTIONS,
        key=f"predictions {row.pk} submission {row.submission_id}",
        sentence=Sentence(
            "The references of %(benchmark)s were corrected; now your predictions of %(system)s count."
        ).of(system=shortened(row.system_name), benchmark=row.benchmark.name),
        path=reverse("prediction", args=[row.uuid]),
        benchmark=row.benchmark,
    )


def tell_of_invitation(team: Team, user: User) -> None:
    """Tell someone that a team invites them, once for each team. Call in the transaction that does it."""
    tell(
        [user.pk],
        NoticeKind.TEAM,
        key=f"team {team.pk} invites",
        sentence=Sentence("The team %(team)s invites you to submit predictions to %(benchmark)s with it.").of(
            team=team.name, benchmark=team.benchmark.name
        ),
        path=reverse("team", args=[team.benchmark.key]),
        benchmark=team.benchmark,
    )
