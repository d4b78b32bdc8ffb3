"""How far the studies of a revision have come: what they were estimated to take, and what they took."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Avg, Case, Count, F, FloatField, Max, Q, Value, When

from leaderboard.models import Benchmark, Job, Publication, Report, StudyChoice
from leaderboard.queue.kinds import MERGE, STUDIES_WITH_BOARDS, STUDY, STUDY_PLAN, study_of
from leaderboard.queue.queries import error_line, jobs_about
from leaderboard.studies.plans import choices_of
from ranking_engine.stability import catalogue
from ranking_engine.stability.catalogue import Study

S = Job.State
UNPLANNED, LEFT_OUT = "unplanned", "left_out"


@dataclass(frozen=True)
class StudyState:
    """One study of one revision.

    Attributes:
        key: of the study.
        name: for readers.
        question: what it asks.
        source: the publication that it follows.
        choice: when it runs, and its budget; None where it comes with every board.
        state: a state of its jobs, or `unplanned`, or `left_out`.
        reason: why it is left out, or why it failed.
        n_chunks: how many jobs it is cut into.
        progress: the share that is done, 0 to 1.
        estimate: seconds on one core, before it ran; None before it is planned.
        seconds: what it took; None before it is done.
        steps: how many steps its budget bought; None where it counts none.
    """

    key: str
    name: str
    question: str
    source: str
    choice: StudyChoice | None
    state: str = UNPLANNED
    reason: str = ""
    n_chunks: int = 0
    progress: float = 0.0
    estimate: float | None = None
    seconds: float | None = None
    steps: int | None = None


def study_states(benchmark: Benchmark, publication: Publication | None) -> list[StudyState]:
    """Every study of the catalogue, as it is for what is published."""
    # Those that come with every board, each one job.
    with_board: dict[str, dict[str, Any]] = {key: {} for key in STUDIES_WITH_BOARDS if key in catalogue.STUDIES}
    if publication is not None:
        this = {"engine_version": publication.engine_version}
        jobs = jobs_about(publication.revision_id).filter(kind__in=list(with_board), **this)
        for job in jobs.order_by("pk"):
            reason = error_line(job.error) if job.state == S.FAILED else ""
            with_board[job.kind] |= {"state": job.state, "progress": job.progress, "reason": reason, "n_chunks": 1}
        reports = Report.objects.filter(revision_id=publication.revision_id, kind__in=list(with_board), **this)
        for report in reports.defer("arrays", "summary"):
            with_board[report.kind] |= {"state": S.DONE, "progress": 1.0, "reason": "", "seconds": report.seconds}
    states = {state.key: state for state in chosen_states(benchmark, publication)}
    states |= {key: _named(catalogue.STUDIES[key], choice=None, **known) for key, known in with_board.items()}
    return [states[key] for key in catalogue.STUDIES]


def chosen_states(benchmark: Benchmark, publication: Publication | None) -> list[StudyState]:
    """The studies whose time and budget owners choose, as they are for what is published."""
    choices = choices_of(benchmark)
    if publication is None:
        return [_state(choice, {}, {}, None) for choice in choices]
    stored_plans = Report.objects.filter(
        revision_id=publication.revision_id, engine_version=publication.engine_version, kind=STUDY_PLAN
    )
    plans: dict[str, dict[str, Any]] = {}  # the newest of each study
    for summary in stored_plans.order_by("pk").values_list("summary", flat=True):
        plans |= summary
    # How many jobs of each study are in which state, how far they are, and the error of one that failed.
    is_state = {state: Count("pk", filter=Q(state=state)) for state in Job.State.values}
    done = Case(When(state=S.DONE, then=Value(1.0)), default=F("progress"), output_field=FloatField())
    rows = (
        jobs_about(publication.revision_id)
        .filter(
            Q(kind__startswith=f"{STUDY}:") | Q(kind__startswith=f"{MERGE}:"),
            engine_version=publication.engine_version,
        )
        .order_by()
        .values("kind", "parameter_hash")
        .annotate(share=Avg(done), error=Max("error", filter=Q(state=S.FAILED)), **is_state)
    )
    jobs: dict[tuple[str, str], dict[str, Any]] = defaultdict(lambda: dict.fromkeys(Job.State.values, 0))
    for row in cast("Iterable[dict[str, Any]]", rows):
        of_study = jobs[study_of(row["kind"]), row["parameter_hash"]]
        for state in Job.State.values:
            of_study[state] += row[state]
        of_study["error"] = of_study.get("error") or row["error"] or ""
        if row["kind"].startswith(f"{STUDY}:"):
            of_study["share"] = row["share"]
    reports = {
        report.parameter_hash: report
        for report in Report.objects.filter(
            revision_id=publication.revision_id, engine_version=publication.engine_version, kind=STUDY
        ).defer("arrays", "summary")
    }
    return [
        _state(
            choice,
            plan := plans.get(choice.study, {}),
            jobs.get((choice.study, plan.get("parameter_hash", "")), {}),
            reports.get(plan.get("parameter_hash", "")),
        )
        for choice in choices
    ]


def _named(study: Study, **known: Any) -> StudyState:  # noqa: ANN401 -- the fields of a state
    return StudyState(study.key, study.name, study.question, study.source, **known)


def _state(choice: StudyChoice, plan: dict[str, Any], jobs: dict[str, Any], report: Report | None) -> StudyState:
    study = catalogue.STUDIES[choice.study]
    state, reason = UNPLANNED, plan.get("reason", "")
    if report is not None:
        state = S.DONE
    elif reason:
        state = LEFT_OUT
    elif jobs:
        state = next((name for name in (S.FAILED, S.RUNNING, S.SUPERSEDED) if jobs[name]), S.WAITING)
        reason = error_line(jobs["error"]) if state == S.FAILED else ""
    return _named(
        study,
        choice=choice,
        state=state,
        reason=reason,
        n_chunks=plan.get("n_chunks", 0),
        progress=1.0 if report is not None else float(jobs.get("share") or 0.0),
        estimate=plan.get("estimate"),
        seconds=report.seconds if report is not None else None,
        steps=plan["parameters"].get(study.steps) if study.steps and "parameters" in plan else None,
    )
