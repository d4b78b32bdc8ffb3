"""Where a batch stands: its stages, its events, and the ranks it led to."""

from dataclasses import dataclass
from typing import Any

from leaderboard.models import Batch, Benchmark, Job, Publication, Report, Revision, Submission, SubmissionEvent
from leaderboard.selectors.audience import Viewer, audience
from leaderboard.selectors.reports import unpack_arrays
from leaderboard.services.rankings import BOARD, RANKING
from leaderboard.services.wording import in_words, shortened
from ranking_engine import RULES

DONE, RUNNING, WAITING, FAILED = "done", "running", "waiting", "failed"
SHOWN_STEPS = 200
DECISIONS = (SubmissionEvent.Kind.ACCEPTED, SubmissionEvent.Kind.REJECTED, SubmissionEvent.Kind.RETRACTED)


@dataclass(frozen=True)
class Standing:
    """Where a batch stands."""

    submissions: list[Submission]
    stages: list[dict[str, str]]
    is_final: bool  # nothing will change by itself any more
    revision_number: int | None  # the revision that accepted it
    publication: Publication | None  # what is published, once that includes it
    events: list[dict[str, Any]]

    @property
    def state(self) -> str:
        """In one word: pending, approved, rejected, retracted, accepted, failed or published."""
        last = self.stages[-1]
        if last["name"] in {"rejected", "retracted"} or last["state"] == DONE:
            return last["name"]
        if any(stage["state"] == FAILED for stage in self.stages):
            return "failed"
        if self.revision_number is None:
            return "approved" if any(stage["name"] == "approved" for stage in self.stages) else "pending"
        return "accepted"


def batch_page(batch: Batch) -> dict[str, Any]:
    """Everything that the page of a batch shows beside its links."""
    found = batch_standing(batch)
    is_single = len(found.submissions) == 1
    ranks = _ranks(found.publication, found.submissions[0]) if found.publication and is_single else []
    return {
        "batch": {
            "uuid": batch.uuid,
            "title": f"Submission of {in_words([shortened(row.system.name) for row in found.submissions])}",
            "state_text": _state_text(found.stages),
            "events": found.events,
        },
        "stages": found.stages,
        "is_final": found.is_final,
        "ranks": ranks,
    }


def batch_steps(viewer: Viewer, batch: Batch) -> dict[str, Any]:
    """What the viewer may do to a batch now: take it back, decide about it, withdraw or reinstate its systems."""
    rows = list(batch.submissions.select_related("system"))
    is_waiting = bool(rows) and all(row.state in {"pending", "approved"} for row in rows)
    decides = audience(viewer, batch.benchmark).may_moderate
    return {
        "may_retract": is_waiting and batch.uploader_id == viewer.pk,
        "may_decide": is_waiting and decides,
        "to_withdraw": [row for row in rows[:SHOWN_STEPS] if decides and row.state == "accepted"],
        "to_reinstate": [row for row in rows[:SHOWN_STEPS] if decides and row.state == "withdrawn"],
    }


def batch_standing(batch: Batch) -> Standing:
    """Where a batch stands: its systems, its stages, and what happened to it."""
    submissions = list(batch.submissions.select_related("system"))
    events = list(
        SubmissionEvent.objects.filter(submission__batch=batch)
        .select_related("actor", "revision", "submission__system")
        .order_by("pk")
    )
    decision = next((event for event in events if event.kind in DECISIONS), None)
    stages, is_final, publication = _stages(batch, decision, is_approved=bool(events) and decision is None)
    return Standing(
        submissions=submissions,
        stages=stages,
        is_final=is_final,
        revision_number=decision.revision.number if decision and decision.revision else None,
        publication=publication,
        events=_events(batch, submissions, events),
    )


def _stages(
    batch: Batch, decision: SubmissionEvent | None, *, is_approved: bool
) -> tuple[list[dict[str, str]], bool, Publication | None]:
    stages = [_stage("submitted", DONE, f"{batch.created_at:%Y-%m-%d %H:%M:%S} UTC")]
    if decision is None:
        if is_approved:
            stages.append(_stage("approved", DONE, ""))
        stages.append(_stage("accepted", WAITING, _embargo_text(batch) if is_approved else _queue_text(batch)))
        return [*stages, _stage("computed", WAITING, ""), _stage("published", WAITING, "")], True, None
    if decision.kind != SubmissionEvent.Kind.ACCEPTED or decision.revision is None:
        return [*stages, _stage(decision.kind, FAILED, decision.reason)], True, None
    revision = decision.revision
    stages.append(_stage("accepted", DONE, f"as revision {revision.number}"))
    benchmark = Benchmark.objects.select_related("publication__revision").get(pk=batch.benchmark_id)
    if benchmark.publication and benchmark.published_number >= revision.number:
        text = f"revision {benchmark.published_number}"
        if benchmark.published_number > revision.number:
            text += f", which includes revision {revision.number}"
        stages += [_stage("computed", DONE, ""), _stage("published", DONE, text)]
        return stages, True, benchmark.publication
    job = _job_for(benchmark, revision)
    state, text = _job_stage(job)
    stages += [_stage("computed", state, text), _stage("published", WAITING, "")]
    return stages, state == FAILED, None


def _embargo_text(batch: Batch) -> str:
    until = batch.benchmark.embargo_until
    return f"It joins the board when the embargo ends{f', on {until:%Y-%m-%d %H:%M} UTC' if until else ''}."


def _queue_text(batch: Batch) -> str:
    """What a submission waits for, and how many wait before it."""
    pending = Batch.objects.filter(benchmark=batch.benchmark_id, submissions__state=Submission.State.PENDING)
    n_before = pending.filter(pk__lt=batch.pk).distinct().count()
    before = f"{n_before} {'is' if n_before == 1 else 'are'} before it" if n_before else "it is the next"
    return f"A moderator decides; {before}. You can close this page and come back."


def _job_for(benchmark: Benchmark, revision: Revision) -> Job | None:
    """The job that will publish the revision: its own, or the newest one where that was superseded."""
    jobs = Job.objects.filter(benchmark=benchmark, kind="rankings", sequence__gte=revision.number)
    live = jobs.filter(state__in=[Job.State.RUNNING, Job.State.WAITING]).order_by("-state", "sequence").first()
    return live or jobs.order_by("sequence").first()


def _job_stage(job: Job | None) -> tuple[str, str]:
    if job is None:
        return WAITING, ""
    error = job.error.split("\n", 1)[0]
    if job.state == Job.State.FAILED:
        return FAILED, f"{error or 'it failed'}. No score is lost."
    if job.state == Job.State.RUNNING:
        return RUNNING, "" if job.attempts == 1 else f"attempt {job.attempts}"
    if job.state == Job.State.DONE:  # it ended after the benchmark was read: the next look finds the publication
        return RUNNING, ""
    return WAITING, f"for another attempt after: {error}" if error else "for a worker"


def _stage(name: str, state: str, text: str) -> dict[str, str]:
    return {"name": name, "state": state, "text": text}


def _state_text(stages: list[dict[str, str]]) -> str:
    """How far it has come: the last stage that is done, or the first that is not and why."""
    if stages[-1]["state"] == DONE:
        return stages[-1]["name"]
    pending = next(stage for stage in stages if stage["state"] != DONE)
    return f"{pending['name']}: {pending['state']}"


def _events(batch: Batch, submissions: list[Submission], events: list[SubmissionEvent]) -> list[dict[str, Any]]:
    """What happened, once for the whole batch where it happened to all of it."""
    first = {"at": batch.created_at, "who": batch.uploader.shown_name, "reason": batch.note}
    names = ", ".join(submission.system.name for submission in submissions[:3])
    more = f" and {len(submissions) - 3} more" if len(submissions) > 3 else ""
    told = [first | {"text": f"submitted {names}{more}"}]
    seen: set[tuple[str, int | None]] = set()
    for event in events:
        of_whole = (event.kind, event.revision_id)
        if of_whole in seen:
            continue
        seen.add(of_whole)
        told.append(
            {
                "at": event.at,
                "who": event.actor.shown_name if event.actor else "",
                "text": event.get_kind_display() + (f", revision {event.revision.number}" if event.revision else ""),
                "reason": event.reason,
            }
        )
    return told


def _ranks(publication: Publication, submission: Submission) -> list[dict[str, Any]]:
    """The system's ranks on the published board, and on the publication before its revision where there is one."""
    now = _ranks_at(publication, submission.system_id)
    accepted = submission.events.filter(kind=SubmissionEvent.Kind.ACCEPTED).select_related("revision").first()
    if accepted is None or accepted.revision is None:
        return []
    earlier = (
        Publication.objects.filter(benchmark_id=submission.benchmark_id, revision__number__lt=accepted.revision.number)
        .order_by("-revision__number", "-pk")
        .first()
    )
    before = _ranks_at(earlier, submission.system_id) if earlier else {}
    return [{"rule_name": RULES[rule].name, "rank": rank, "before": before.get(rule)} for rule, rank in now.items()]


def _ranks_at(publication: Publication, system_id: int) -> dict[str, int | None]:
    reports = list(
        Report.objects.filter(
            revision_id=publication.revision_id,
            engine_version=publication.engine_version,
            kind__in=[BOARD, RANKING],
        ).order_by("pk")
    )
    board = next(report for report in reports if report.kind == BOARD)
    places = unpack_arrays(board.arrays).get("system_ids")
    if places is None or system_id not in places:
        return {}
    i = int((places == system_id).argmax())
    found: dict[str, int | None] = {}
    for report in reports:
        if report.kind == RANKING:
            rank = int(unpack_arrays(report.arrays)["ranks"][i])
            found[report.summary["rule"]] = rank if rank >= 1 else None
    return found
