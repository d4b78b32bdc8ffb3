"""The state of a batch: its stages, its events, and the ranks it led to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Min
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.access.audience import UNDECIDED, Audience
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.reasons import reason_in_page_language
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import as_sentence, in_words, shortened
from leaderboard.models import Batch, Benchmark, Job, Publication, Report, Submission, SubmissionEvent
from leaderboard.queue.queries import visible_error
from leaderboard.rankings.reports import BOARD, RANKING, unpack_arrays
from leaderboard.submissions.corrections import holding, may_correct, related_batches, replaced_among
from leaderboard.submissions.queries import STATE_WORDS, is_undecided
from leaderboard.submissions.quotas import after_deadline
from leaderboard.submissions.statements import statements_of
from leaderboard.submissions.withdrawals import requested, withdraws_alone

# States and names of stages are keys, which the API has, too; pages translate them where they show them.
DONE, RUNNING = gettext_noop("done"), gettext_noop("running")
WAITING, FAILED = gettext_noop("waiting"), gettext_noop("failed")
SKIPPED = gettext_noop("skipped")  # of predictions that count for nothing, though nothing failed
SUBMITTED, APPROVED, ACCEPTED = gettext_noop("submitted"), gettext_noop("approved"), gettext_noop("accepted")
COMPUTED, PUBLISHED = gettext_noop("computed"), gettext_noop("published")
REJECTED, RETRACTED = gettext_noop("rejected"), gettext_noop("retracted")
WITHDRAWN = gettext_noop("withdrawn")  # the stage of a batch of which nothing is on the board any more
ENDED = {REJECTED, RETRACTED, WITHDRAWN}  # stages after which nothing of a batch is on the board
SHOWN_STEPS = 200
SHOWN_NAMES = 3
SHOWN_RANKS = 20  # systems of one submission whose ranks are listed
# Between the submitter and the moderators alone.
REQUESTS = (SubmissionEvent.Kind.ASKED, SubmissionEvent.Kind.KEPT, SubmissionEvent.Kind.CANCELLED)
DECISIONS = (SubmissionEvent.Kind.ACCEPTED, SubmissionEvent.Kind.REJECTED, SubmissionEvent.Kind.RETRACTED)


@dataclass(frozen=True)
class BatchStatus:
    """The state of a batch."""

    names: list[str]  # of its first systems
    n_systems: int
    stages: list[dict[str, str]]
    is_final: bool  # nothing will change by itself any more
    revision_number: int | None  # the revision that accepted it
    publication: Publication | None  # what is published, once that includes it
    events: list[dict[str, Any]]

    @property
    def state(self) -> str:
        """In one word: pending, approved, rejected, retracted, accepted, failed, published or withdrawn."""
        last = self.stages[-1]
        if last["name"] in ENDED or last["state"] == DONE:
            return last["name"]
        if any(stage["state"] == FAILED for stage in self.stages):
            return "failed"
        if self.revision_number is None:
            return APPROVED if any(stage["name"] == APPROVED for stage in self.stages) else "pending"
        return ACCEPTED


def batch_page(batch: Batch, audience: Audience | None = None) -> dict[str, Any]:
    """Everything that the page of a batch shows beside its links, to every reader where no audience is named."""
    status = batch_standing(batch, audience)
    is_single = status.n_systems == 1
    # A tie would tell of others what is hidden.
    hides_ties = audience is not None and audience.is_restricted
    ranks = []
    if status.publication and is_single:
        ranks = _ranks(status.publication, batch.submissions.get(), hides_ties=hides_ties)
    several, withdrawn = [], ""
    replaced = replaced_among(batch.submissions.all()) if status.publication else []
    if status.publication and not is_single:
        gone = batch.submissions.filter(state=Submission.State.WITHDRAWN).select_related("system")
        if n_gone := gone.count():
            withdrawn = in_words([shortened(row.shown_name) for row in gone[:SHOWN_NAMES]], total=n_gone)
        submissions = list(batch.submissions.select_related("system")[:SHOWN_RANKS])
        replaced_ids = {one.submission_id for one in replaced}
        default_rule = batch.benchmark.default_rule
        ranks_of = _ranks_by_system(status.publication, [submission.system_id for submission in submissions])
        for submission in submissions:
            own = ranks_of[submission.system_id]
            ranked = [held.rank for held in own.values() if held.rank is not None]
            several.append(
                {
                    "name": submission.shown_name,
                    "rank": own[default_rule].rank if default_rule in own else None,
                    "best": min(ranked, default=None),
                    "worst": max(ranked, default=None),
                    "n_unranked": len(own) - len(ranked),
                    "is_withdrawn": submission.state == Submission.State.WITHDRAWN,
                    "is_replaced": submission.pk in replaced_ids,
                }
            )
    # Where scores were corrected since, the ranks are not what this submission alone led to.
    accepted = Submission.objects.filter(corrects__batch=batch, state=Submission.State.ACCEPTED)
    heading = gettext("Current state of %(systems)s")
    if accepted.exists():
        heading = gettext("Current state of %(systems)s (through the correction)")
    elif ranks and replaced:
        heading = gettext("Current state of %(systems)s (through a later submission)")
    # How far it has come: the last stage that is done, or the first that is not and why.
    has_ended = status.state in ENDED
    state_text = gettext(STATE_WORDS[Submission.State(status.state)] if has_ended else status.stages[-1]["name"])
    if status.stages[-1]["state"] != DONE and not has_ended:
        unfinished = next(stage for stage in status.stages if stage["state"] != DONE)
        state_text = f"{gettext(unfinished['name'])}: {gettext(unfinished['state'])}"
        if status.state in UNDECIDED:
            state_text = gettext(STATE_WORDS[Submission.State(status.state)])
    return {
        "batch": {
            "uuid": batch.uuid,
            "title": gettext("Submission of %(systems)s") % {"systems": _in_words(status)},
            "state": status.state,
            "state_text": state_text,
            "has_ended": has_ended,
            "events": status.events,
            "related": related_batches(batch, replaced, names_others=not hides_ties),
            "withdrawn": withdrawn,
        },
        "stages": status.stages,
        "is_final": status.is_final,
        "ranks": ranks,
        "several": several,
        "default_rule": rule_name(batch.benchmark.default_rule),
        "n_not_listed": status.n_systems - len(several) if several else 0,
        "ranks_heading": heading % {"systems": _in_words(status)},
        "has_before": any(rank["before"] for rank in ranks),
    }


def _in_words(status: BatchStatus) -> str:
    return in_words([shortened(name) for name in status.names], total=status.n_systems)


def batch_steps(audience: Audience, batch: Batch) -> dict[str, Any]:
    """What they may do to a batch now: withdraw it, decide about it, withdraw or reinstate its systems.

    Its uploader withdraws what is on the board, or asks for it, as the owners set.
    """
    rows = list(batch.submissions.select_related("system", "batch", "benchmark")[:SHOWN_STEPS])
    is_waiting = bool(rows) and is_undecided(batch)
    decides = audience.may_moderate
    may_erase = audience.may_administer and not is_waiting
    may_correct_them = bool(rows) and may_correct(audience, rows[0])  # all have the same submitter and benchmark
    held = holding(batch.benchmark, [row.system_id for row in rows]) if may_correct_them else {}
    taken_down = SubmissionEvent.objects.filter(submission__in=rows, kind=SubmissionEvent.Kind.TAKEN_DOWN)
    is_own = _is_own(batch, audience)
    requests = requested(rows) if is_own or decides else {}
    gone = set(taken_down.values_list("submission_id", flat=True)) if may_erase else set()
    return {
        "may_retract": is_waiting and batch.uploader_id == audience.viewer.pk,
        "may_decide": is_waiting and decides,
        "statements": statements_of(rows) if is_waiting else [],
        "to_withdraw": [row for row in rows if decides and row.state == "accepted"],
        "own_to_withdraw": [
            row for row in rows if is_own and not decides and row.state == "accepted" and row.pk not in requests
        ],
        "withdraws_alone": withdraws_alone(batch.benchmark),
        "requests": [
            {"submission": row, "reason": requests[row.pk].reason, "at": requests[row.pk].at}
            for row in rows
            if row.pk in requests
        ],
        "may_decline": decides,
        "may_cancel": is_own and not decides,
        "to_reinstate": [row for row in rows if decides and row.state == "withdrawn" and row.pk not in gone],
        "to_correct": [row for row in rows if row.pk in held],
        "to_take_down": [row for row in rows if may_erase and row.pk not in gone],
    }


def _is_own(batch: Batch, audience: Audience) -> bool:
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
    if audience and (audience.may_moderate or _is_own(batch, audience)):
        requests = of_batch.filter(kind__in=REQUESTS).order_by("-pk")
        ids += requests.values_list("pk", flat=True)[:SHOWN_STEPS]
    rows = SubmissionEvent.objects.filter(pk__in=ids).select_related("actor", "revision")
    events = list(rows.order_by("pk"))
    decision = next((event for event in events if event.kind in DECISIONS), None)
    is_approved = decision is None and any(event.kind == SubmissionEvent.Kind.APPROVED for event in events)
    names = [row.shown_name for row in batch.submissions.select_related("system")[:SHOWN_NAMES]]
    n_systems = batch.submissions.count()
    stages, is_final, publication = _stages(batch, decision, is_approved=is_approved)
    if decision and not batch.submissions.exclude(state=Submission.State.WITHDRAWN).exists():
        # Nothing of it is on the board any more; the ranks of its systems are not what it led to.
        last = SubmissionEvent.objects.filter(submission__batch=batch, kind=SubmissionEvent.Kind.WITHDRAWN)
        withdrawal = last.select_related("actor", "revision").order_by("-pk").first()
        if publication and withdrawal and withdrawal.revision:
            has_left = publication.revision.number >= withdrawal.revision.number
            stages = [*stages[:-1], _stage(PUBLISHED, DONE, "")] if has_left else stages
        stages, is_final, publication = [*stages, _withdrawal_stage(withdrawal)], True, None
    beginning = {
        "at": batch.created_at,
        "who": batch.uploader.shown_name,
        "reason": batch.note,
        "text": gettext("submitted %(systems)s") % {"systems": in_words(names, len(names), n_systems)},
    }
    return BatchStatus(
        names=names,
        n_systems=n_systems,
        stages=stages,
        is_final=is_final,
        revision_number=decision.revision.number if decision and decision.revision else None,
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


def _stages(
    batch: Batch, decision: SubmissionEvent | None, *, is_approved: bool
) -> tuple[list[dict[str, str]], bool, Publication | None]:
    stages = [_stage(SUBMITTED, DONE, moment_in_words(batch.created_at))]
    if decision is None:
        text = "" if is_approved else _queue_text(batch)
        if is_approved:
            stages.append(_stage(APPROVED, DONE, ""))
            until = batch.benchmark.embargo_until
            text = gettext("It joins the board when the embargo ends.")
            if until:
                text = gettext("It joins the board when the embargo ends, on %(until)s.") % {
                    "until": moment_in_words(until)
                }
        stages.append(_stage(ACCEPTED, WAITING, text))
        return [*stages, _stage(COMPUTED, WAITING, ""), _stage(PUBLISHED, WAITING, "")], True, None
    if decision.kind != SubmissionEvent.Kind.ACCEPTED or decision.revision is None:
        return [*stages, _stage(decision.kind, FAILED, _reason(decision))], True, None
    revision = decision.revision
    stages.append(_stage(ACCEPTED, DONE, gettext("as revision %(number)s") % {"number": revision.number}))
    benchmark = Benchmark.objects.select_related("publication__revision").get(pk=batch.benchmark_id)
    if benchmark.publication and benchmark.published_number >= revision.number:
        text = gettext("revision %(number)s")
        if benchmark.published_number > revision.number:
            text = gettext("revision %(number)s, which includes revision %(own)s")
        text %= {"number": benchmark.published_number, "own": revision.number}
        stages += [_stage(COMPUTED, DONE, ""), _stage(PUBLISHED, DONE, text)]
        return stages, True, benchmark.publication
    # The job that will publish the revision: its own, or the next one that is under way where its own was superseded.
    jobs = Job.objects.filter(benchmark=benchmark, kind="rankings", sequence__gte=revision.number)
    jobs = jobs.select_related("benchmark").order_by("sequence")
    job = jobs.filter(state__in=[Job.State.RUNNING, Job.State.WAITING]).first() or jobs.first()
    state, text = _job_stage(job)
    stages += [_stage(COMPUTED, state, text), _stage(PUBLISHED, WAITING, "")]
    return stages, state == FAILED, None


def _withdrawal_stage(event: SubmissionEvent | None) -> dict[str, str]:
    """The stage that says when it was withdrawn, by whom and why."""
    if event is None:
        return _stage(WITHDRAWN, FAILED, "")
    text = gettext("on %(at)s by %(person)s") if event.actor else gettext("on %(at)s")
    text %= {"at": moment_in_words(event.at), "person": event.actor.shown_name if event.actor else ""}
    return _stage(WITHDRAWN, FAILED, f"{text}: {_reason(event)}" if event.reason else text)


def _queue_text(batch: Batch) -> str:
    """What a submission waits for, and how many wait before it."""
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


def _ranks(publication: Publication, submission: Submission, *, hides_ties: bool) -> list[dict[str, Any]]:
    """The system's ranks on the published board, and on the publication before its revision where there is one."""
    system = submission.system_id
    now = _ranks_by_system(publication, [system])[system]
    accepted = submission.events.filter(kind=SubmissionEvent.Kind.ACCEPTED).select_related("revision").first()
    if accepted is None or accepted.revision is None:
        return []
    earlier = (
        Publication.objects.filter(benchmark_id=submission.benchmark_id, revision__number__lt=accepted.revision.number)
        .filter(revision__withdrawn_at=None)
        .order_by("-revision__number", "-pk")
        .first()
    )
    before = _ranks_by_system(earlier, [system])[system] if earlier else {}
    return [
        {
            "rule_name": rule_name(rule),
            "rank": held.rank,
            "n_tied_with": 0 if hides_ties else held.n_tied_with,
            "before": before[rule].rank if rule in before else None,
        }
        for rule, held in now.items()
    ]


@dataclass(frozen=True)
class _HeldRank:
    """The rank of a system under a rule, None where it has none, and how many others share it."""

    rank: int | None
    n_tied_with: int = 0


def _ranks_by_system(publication: Publication, system_ids: Sequence[int]) -> dict[int, dict[str, _HeldRank]]:
    """For each system its rank by rule; nothing where it is not on the board."""
    reports = list(
        Report.objects.filter(
            revision_id=publication.revision_id,
            engine_version=publication.engine_version,
            kind__in=[BOARD, RANKING],
        ).order_by("pk")
    )
    board = next((report for report in reports if report.kind == BOARD), None)  # retention may have removed it
    places = unpack_arrays(board.arrays).get("system_ids") if board else None
    place_of = {} if places is None else {int(system_id): i for i, system_id in enumerate(places)}
    ranks: dict[int, dict[str, _HeldRank]] = {system_id: {} for system_id in system_ids}
    for report in reports:
        if report.kind == RANKING:
            column = unpack_arrays(report.arrays)["ranks"]
            for system_id in ranks.keys() & place_of.keys():
                rank = int(column[place_of[system_id]])
                held = _HeldRank(rank, int((column == rank).sum()) - 1) if rank >= 1 else _HeldRank(None)
                ranks[system_id][report.summary["rule"]] = held
    return ranks


def _reason(event: SubmissionEvent) -> str:
    """Why: as someone wrote it, or what the site wrote in the language of the page."""
    return event.reason if event.actor_id else reason_in_page_language(event.reason)
