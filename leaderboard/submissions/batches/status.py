"""How far a batch has come: its stages and its events."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Min
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import Audience
from leaderboard.common.language.reasons import reason_in_page_language
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import as_sentence, in_words
from leaderboard.models import Batch, Benchmark, Job, Publication, Revision, Submission, SubmissionEvent
from leaderboard.queue.kinds import RANKINGS
from leaderboard.queue.queries import visible_error
from leaderboard.submissions.batches.states import (
    ACCEPTED,
    APPROVED,
    COMPUTED,
    DECISIONS,
    DONE,
    FAILED,
    PUBLISHED,
    REQUESTS,
    RUNNING,
    SUBMITTED,
    WAITING,
    WITHDRAWN,
    publishing_job,
    state_of,
)
from leaderboard.submissions.queries import STATE_WORDS
from leaderboard.submissions.quotas import after_deadline

SHOWN_STEPS = 200
SHOWN_NAMES = 3


@dataclass(frozen=True)
class BatchStatus:
    """The state of a batch.

    Attributes:
        state: in one word, by `state_of`.
        names: of its first systems.
        n_systems: how many it has.
        stages: each with its `name`, its `state` and its `text`.
        revision_number: the revision that accepted it.
        publication: what is published, once that includes it.
        events: what happened, oldest first, each with `at`, `who`, `text` and `reason`.
    """

    state: str
    names: list[str]
    n_systems: int
    stages: list[dict[str, str]]
    revision_number: int | None
    publication: Publication | None
    events: list[dict[str, Any]]

    @property
    def is_final(self) -> bool:
        """Whether nothing will change by itself any more."""
        return self.state != ACCEPTED


def is_own(batch: Batch, audience: Audience) -> bool:
    """Whether its uploader asks."""
    return audience.viewer.is_authenticated and batch.uploader_id == audience.viewer.pk


def batch_standing(batch: Batch, audience: Audience | None = None) -> BatchStatus:
    """The state of a batch: its first systems, its stages, and what happened to it.

    Pages ask for it every second, so it reads a few rows however many systems there are.

    Args:
        batch: with its benchmark and uploader.
        audience: who asks. Requests to withdraw scores and their refusals, the newest of many, are for the uploader
            and the moderators alone: where None, they are left out.
    """
    # Of what happened to all of the batch at once the first event; of the rest every one.
    of_batch = SubmissionEvent.objects.filter(submission__batch=batch).order_by()
    firsts = of_batch.exclude(kind__in=REQUESTS).values("kind", "revision_id").annotate(first=Min("pk"))
    ids = list(firsts.values_list("first", flat=True))
    if audience and (audience.may_moderate or is_own(batch, audience)):
        requests = of_batch.filter(kind__in=REQUESTS).order_by("-pk")
        ids += requests.values_list("pk", flat=True)[:SHOWN_STEPS]
    rows = SubmissionEvent.objects.filter(pk__in=ids).select_related("actor", "revision")
    events = list(rows.order_by("pk"))
    decision = next((event for event in events if event.kind in DECISIONS), None)
    is_approved = decision is None and any(event.kind == SubmissionEvent.Kind.APPROVED for event in events)
    names = [row.shown_name for row in batch.submissions.select_related("system")[:SHOWN_NAMES]]
    n_systems = batch.submissions.count()
    revision = decision.revision if decision else None
    publication, job = _publication_or_job(batch, revision) if revision else (None, None)
    state = state_of(
        decision.kind if decision else None,
        is_approved=is_approved,
        is_any_left=decision is None or batch.submissions.exclude(state=Submission.State.WITHDRAWN).exists(),
        revision_number=revision.number if revision else None,
        published_number=publication.revision.number if publication else 0,
        jobs=[job] if job else [],
    )
    stages = [_stage(SUBMITTED, DONE, moment_in_words(batch.created_at))]
    if decision is None:
        stages += [_stage(APPROVED, DONE, "")] if is_approved else []
        stages.append(_stage(ACCEPTED, WAITING, _waiting_text(batch, is_approved=is_approved)))
        stages += [_stage(COMPUTED, WAITING, ""), _stage(PUBLISHED, WAITING, "")]
    elif decision.kind != SubmissionEvent.Kind.ACCEPTED or revision is None:
        stages.append(_stage(decision.kind, FAILED, _reason(decision)))
    else:
        stages.append(_stage(ACCEPTED, DONE, gettext("as revision %(number)s") % {"number": revision.number}))
        if publication is None:
            stages += [_stage(COMPUTED, *_job_stage(job)), _stage(PUBLISHED, WAITING, "")]
        else:
            text = gettext("revision %(number)s")
            if publication.revision.number > revision.number:
                text = gettext("revision %(number)s, which includes revision %(own)s")
            text %= {"number": publication.revision.number, "own": revision.number}
            stages += [_stage(COMPUTED, DONE, ""), _stage(PUBLISHED, DONE, text)]
    if state == WITHDRAWN:
        # Nothing of it is on the board any more; the ranks of its systems are not what it led to.
        last = SubmissionEvent.objects.filter(submission__batch=batch, kind=SubmissionEvent.Kind.WITHDRAWN)
        withdrawal = last.select_related("actor", "revision").order_by("-pk").first()
        if publication and withdrawal and withdrawal.revision:
            has_left = publication.revision.number >= withdrawal.revision.number
            stages = [*stages[:-1], _stage(PUBLISHED, DONE, "")] if has_left else stages
        text = ""
        if withdrawal is not None:
            text = gettext("on %(at)s by %(person)s") if withdrawal.actor else gettext("on %(at)s")
            person = withdrawal.actor.shown_name if withdrawal.actor else ""
            text %= {"at": moment_in_words(withdrawal.at), "person": person}
            text = f"{text}: {_reason(withdrawal)}" if withdrawal.reason else text
        stages, publication = [*stages, _stage(WITHDRAWN, FAILED, text)], None
    beginning = {
        "at": batch.created_at,
        "who": batch.uploader.shown_name,
        "reason": batch.note,
        "text": gettext("submitted %(systems)s") % {"systems": in_words(names, len(names), n_systems)},
    }
    return BatchStatus(
        state=state,
        names=names,
        n_systems=n_systems,
        stages=stages,
        revision_number=revision.number if revision else None,
        publication=publication,
        events=[beginning]
        + [
            {
                "at": event.at,
                "who": event.actor.shown_name if event.actor else "",
                "text": gettext("%(event)s, revision %(number)s")
                % {"event": event.get_kind_display(), "number": event.revision.number}
                if event.revision
                else gettext(STATE_WORDS[Submission.State.RETRACTED])
                if event.kind == SubmissionEvent.Kind.RETRACTED
                else event.get_kind_display(),
                "reason": _reason(event),
            }
            for event in events
        ],
    )


def _publication_or_job(batch: Batch, revision: Revision) -> tuple[Publication | None, Job | None]:
    """What is published, where that includes a revision; else the job that will publish it."""
    benchmark = Benchmark.objects.select_related("publication__revision").get(pk=batch.benchmark_id)
    if benchmark.publication and benchmark.published_number >= revision.number:
        return benchmark.publication, None
    jobs = Job.objects.filter(benchmark=benchmark, kind=RANKINGS, sequence__gte=revision.number)
    jobs = jobs.select_related("benchmark").order_by("sequence", "pk")
    first = jobs.filter(state__in=[Job.State.RUNNING, Job.State.WAITING])[:1] or jobs[:1]
    return None, publishing_job(first, revision.number)


def _waiting_text(batch: Batch, *, is_approved: bool) -> str:
    """What a submission waits for: the end of an embargo, or a decision, and how many wait for one before it."""
    if is_approved:
        if until := batch.benchmark.embargo_until:
            day = moment_in_words(until)
            return gettext("It joins the board when the embargo ends, on %(until)s.") % {"until": day}
        return gettext("It joins the board when the embargo ends.")
    pending = Batch.objects.filter(benchmark=batch.benchmark_id, submissions__state=Submission.State.PENDING)
    n_before = pending.filter(pk__lt=batch.pk).distinct().count()
    before = gettext("it is first in the queue")
    if n_before:
        before = ngettext("%(n)s is before it", "%(n)s are before it", n_before) % {"n": n_before}
    due = moment_in_words(batch.decide_by) if batch.decide_by else ""
    is_overdue = batch.decide_by is not None and batch.decide_by <= timezone.now()
    first, then = gettext("A moderator decides; %(before)s."), ""
    if is_overdue:
        then = gettext("The decision was due on %(due)s; the moderators see that it is overdue.") % {"due": due}
    elif due:
        first = gettext("A moderator decides by %(due)s; %(before)s.")
        then = as_sentence(after_deadline(batch.benchmark))
    last = gettext("You can close this page and come back.")
    return " ".join(filter(None, (first % {"due": due, "before": before}, then, last)))


def _job_stage(job: Job | None) -> tuple[str, str]:
    if job is None:
        return WAITING, ""
    error = visible_error(job, sees_all=False)
    if job.state == Job.State.FAILED:
        return FAILED, gettext("%(error)s. No scores are lost.") % {"error": error or gettext("it failed")}
    if job.state == Job.State.RUNNING:
        return RUNNING, "" if job.attempts == 1 else gettext("attempt %(number)s") % {"number": job.attempts}
    if job.state == Job.State.DONE:  # it ended after the benchmark was read: the next look finds the publication
        return RUNNING, ""
    again = gettext("for another attempt after: %(error)s") % {"error": error}
    return WAITING, again if error else gettext("queued")


def _stage(name: str, state: str, text: str) -> dict[str, str]:
    return {"name": name, "state": state, "text": text}


def _reason(event: SubmissionEvent) -> str:
    """Why: as someone wrote it, or what the site wrote in the language of the page."""
    return event.reason if event.actor_id else reason_in_page_language(event.reason)
