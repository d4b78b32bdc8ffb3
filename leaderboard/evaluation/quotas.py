"""How many predictions a team, or a person without one, may submit in a phase, and of how many systems.

As in `submissions.quotas`, a count is one row, taken with one conditional UPDATE in the transaction that stores the
predictions.
"""

from datetime import datetime

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from leaderboard.evaluation.problems import EvaluationError
from leaderboard.models import Phase, PredictionCount, PredictionSubmission, Team, User
from leaderboard.submissions.quotas import TOTAL, day_of
from ranking_engine.text.names import fold_name

State = PredictionSubmission.State


def take_prediction(phase: Phase, user: User, team: Team | None, *, system_name: str, is_limited: bool) -> None:
    """Count predictions that are being submitted. Call inside the transaction that stores them.

    Args:
        phase: in which.
        user: who submits.
        team: theirs in this benchmark, which shares one quota; None where they have none.
        system_name: of which system.
        is_limited: whether the caps apply; what moderators submit is counted and not limited.

    Raises:
        EvaluationError: a cap would be exceeded; it says which and how many were submitted.
    """
    whose = gettext("your team has") if team else gettext("you have")
    if is_limited and phase.max_systems is not None:
        names = {fold_name(name) for name in systems_of(phase, user, team)}
        if fold_name(system_name) not in names and len(names) >= phase.max_systems:
            raise EvaluationError(
                ngettext(
                    "Each can have %(max_systems)s system in %(phase)s, and %(whose)s %(n_names)s. Submit these "
                    "predictions for one of them, or wait for the next phase.",
                    "Each can have %(max_systems)s systems in %(phase)s, and %(whose)s %(n_names)s. Submit these "
                    "predictions for one of them, or wait for the next phase.",
                    phase.max_systems,
                )
                % {"max_systems": phase.max_systems, "phase": phase.name, "whose": whose, "n_names": len(names)}
            )
    caps = {day_of(timezone.now()): phase.daily_cap, TOTAL: phase.total_cap}
    owner = _owner(phase, user, team)
    PredictionCount.objects.bulk_create(
        [PredictionCount(**owner, period=period) for period in caps], ignore_conflicts=True
    )
    for period, cap in caps.items():
        rows = PredictionCount.objects.filter(**owner, period=period)
        free = rows if cap is None or not is_limited else rows.filter(n_submitted__lt=cap)
        if not free.update(n_submitted=F("n_submitted") + 1):
            if period == TOTAL:
                sentence = ngettext(
                    "In %(phase)s you can submit predictions %(cap)s time in all; %(whose)s submitted %(n_used)s.",
                    "In %(phase)s you can submit predictions %(cap)s times in all; %(whose)s submitted %(n_used)s.",
                    cap or 0,
                )
            else:
                sentence = ngettext(
                    "In %(phase)s you can submit predictions %(cap)s time a day; %(whose)s submitted %(n_used)s. The "
                    "day ends at 00:00 UTC.",
                    "In %(phase)s you can submit predictions %(cap)s times a day; %(whose)s submitted %(n_used)s. The "
                    "day ends at 00:00 UTC.",
                    cap or 0,
                )
            values = {"phase": phase.name, "cap": cap, "whose": whose, "n_used": rows.get().n_submitted}
            raise EvaluationError(sentence % values)


def give_back_prediction(phase: Phase, user: User, team: Team | None, *, submitted_at: datetime) -> None:
    """No longer count predictions that were cancelled or refused unscored. Call inside a transaction."""
    for period in (day_of(submitted_at), TOTAL):
        rows = PredictionCount.objects.filter(**_owner(phase, user, team), period=period, n_submitted__gte=1)
        rows.update(n_submitted=F("n_submitted") - 1)


def predictions_left(phase: Phase, user: User, team: Team | None) -> dict[str, int]:
    """How many predictions may still be submitted: `today`, `in all`; only where there is a cap."""
    today = day_of(timezone.now())
    rows = PredictionCount.objects.filter(**_owner(phase, user, team), period__in=[today, TOTAL])
    used = dict(rows.values_list("period", "n_submitted"))
    caps = (("today", today, phase.daily_cap), ("in all", TOTAL, phase.total_cap))
    return {label: max(0, cap - used.get(period, 0)) for label, period, cap in caps if cap is not None}


def systems_of(phase: Phase, user: User, team: Team | None) -> set[str]:
    """The names of the systems that a team, or a person without one, submitted predictions of in a phase."""
    rows = PredictionSubmission.objects.filter(phase=phase, is_trial=False).exclude(
        state__in=[State.REFUSED, State.CANCELLED]
    )
    rows = rows.filter(team=team) if team else rows.filter(team=None, submitter=user)
    return set(rows.order_by().values_list("statement__name", flat=True).distinct())


def _owner(phase: Phase, user: User, team: Team | None) -> dict[str, object]:
    return {"phase": phase, "team": team, "user": None if team else user}
