"""What became of submissions that moderators were to decide about, in words."""

from django.utils.translation import gettext

from leaderboard.access.audience import UNDECIDED
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import in_words, shortened
from leaderboard.models import Batch, SubmissionEvent

Kind = SubmissionEvent.Kind
NAMED = 3  # systems of a batch


def title_of(batch: Batch) -> str:
    """The systems of a batch, the first of them by name."""
    rows = batch.submissions.select_related("system").order_by("position")
    return in_words([shortened(row.shown_name) for row in rows[:NAMED]], NAMED, batch.submissions.count())


def is_decided(batch: Batch) -> bool:
    """Whether none of a batch waits for a decision or for the end of an embargo."""
    return not batch.submissions.filter(state__in=UNDECIDED).exists()


def decided_sentence(batch: Batch) -> str:
    """What was decided about a batch, by whom and when: for people who come to decide about it, too."""
    decisions = [Kind.ACCEPTED, Kind.APPROVED, Kind.REJECTED, Kind.RETRACTED]
    events = SubmissionEvent.objects.filter(submission__batch=batch, kind__in=decisions).select_related("actor")
    event = events.order_by("pk").last()
    if event is None:  # its history was taken down with it
        return gettext("This submission was already decided.")
    if event.kind == Kind.RETRACTED:
        text = gettext("%(systems)s: the submitter withdrew this submission on %(when)s.")
    elif event.kind == Kind.REJECTED:
        text = gettext("%(systems)s: already rejected by %(person)s on %(when)s.")
        if event.actor is None:
            text = gettext("%(systems)s: already rejected on %(when)s, because no moderator decided in time.")
    else:
        text = gettext("%(systems)s: already accepted by %(person)s on %(when)s.")
        if event.actor is None:
            text = gettext("%(systems)s: already accepted on %(when)s.")
    return text % {
        "systems": title_of(batch),
        "person": event.actor.shown_name if event.actor else "",
        "when": moment_in_words(event.at),
    }
