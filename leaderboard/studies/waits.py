"""Why a study is not there yet, as a sentence: what it waits behind, or who plans it and when."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, Max, Min, Q

from leaderboard.models import Job, Publication, StudyChoice
from leaderboard.queue.jobs import IDLE
from leaderboard.queue.kinds import STUDY_PLAN, study_of
from leaderboard.studies.plans import NIGHT_BEGINS, NIGHT_ENDS, WITH_EVERY_REVISION
from leaderboard.studies.states import UNPLANNED, StudyState

S, When = Job.State, StudyChoice.When
OPEN = (S.WAITING, S.RUNNING)


def waiting_texts(publication: Publication, states: Iterable[StudyState], *, is_current: bool) -> dict[str, str]:
    """A sentence for each study that waits or is not planned, by its key.

    Args:
        publication: whose studies.
        states: as `study_states` gives them.
        is_current: it is what the benchmark has published now.
    """
    open_states = [state for state in states if state.state in (S.WAITING, UNPLANNED)]
    if not open_states:
        return {}
    first = _first_jobs(publication)
    fields = ("pk", "priority", "state", "parameters", "error")
    plans = list(_jobs_of(publication).filter(kind=STUDY_PLAN).order_by("-pk").values(*fields))
    plan_of = {state.key: _plan_of(state.choice, plans) for state in open_states if state.choice is not None}
    waiting_plans = {f"plan:{plan['pk']}": plan for plan in plan_of.values() if plan and plan["state"] == S.WAITING}
    ahead = _jobs_ahead(first | waiting_plans)
    texts = {}
    for state in open_states:
        plan = plan_of.get(state.key)
        if state.state == S.WAITING:
            is_idle = state.key in first and first[state.key]["priority"] < IDLE
            texts[state.key] = _waits(ahead.get(state.key, 0), is_idle=is_idle)
        elif plan is not None and plan["state"] == S.WAITING:
            n_ahead = ahead[f"plan:{plan['pk']}"]
            texts[state.key] = f"Not planned yet: {_before(n_ahead, 'its plan')}."
        else:
            texts[state.key] = _not_planned(state, plan, is_current=is_current)
    return texts


def _jobs_of(publication: Publication) -> Any:  # noqa: ANN401 -- a query set of jobs
    return Job.objects.filter(
        subject_kind="revision", subject_id=publication.revision_id, engine_version=publication.engine_version
    )


def _first_jobs(publication: Publication) -> dict[str, dict[str, Any]]:
    """The most urgent waiting job of each study, by its key: priority and number."""
    rows = (
        _jobs_of(publication)
        .exclude(kind=STUDY_PLAN)
        .filter(queue=Job.Queue.STUDIES, state=S.WAITING)
        .order_by()
        .values("kind")
        .annotate(priority=Max("priority"), pk=Min("pk"))
    )
    return {study_of(row["kind"]) or row["kind"]: row for row in rows}


def _plan_of(choice: StudyChoice | None, plans: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The newest plan that is about a study chosen so."""
    if choice is None:
        return None
    if choice.when in WITH_EVERY_REVISION:
        found = (plan for plan in plans if plan["parameters"].get("when", When.IDLE) == When.IDLE)
    elif choice.when == When.NIGHTLY:
        found = (plan for plan in plans if plan["parameters"].get("when") == When.NIGHTLY)
    else:
        found = (plan for plan in plans if plan["parameters"].get("study") == choice.study)
    return next(found, None)


def _jobs_ahead(jobs: dict[str, dict[str, Any]]) -> dict[str, int]:
    """How many jobs of the studies' queue go before each of `jobs`, in one query."""
    if not jobs:
        return {}
    counts = {}
    keys = list(jobs)
    for k, key in enumerate(keys):
        priority, pk = jobs[key]["priority"], jobs[key]["pk"]
        counts[f"n{k}"] = Count(
            "pk", filter=Q(state=S.RUNNING) | Q(priority__gt=priority) | Q(priority=priority, pk__lt=pk)
        )
    found = Job.objects.filter(queue=Job.Queue.STUDIES, state__in=OPEN).aggregate(**counts)
    return {key: found[f"n{k}"] for k, key in enumerate(keys)}


def _before(n: int, what: str) -> str:
    if not n:
        return f"{what} is the next job"
    return f"{n:,} job{'' if n == 1 else 's'} of studies {'goes' if n == 1 else 'go'} before {what}"


def _waits(n: int, *, is_idle: bool) -> str:
    when = " It runs only while no board waits to be ranked." if is_idle else ""
    return f"Waiting for a worker: {_before(n, 'it')}.{when}"


def _not_planned(state: StudyState, plan: dict[str, Any] | None, *, is_current: bool) -> str:
    if state.choice is None:
        return "Not planned: no job computes it for this revision."
    if plan is not None and plan["state"] in (S.RUNNING, S.FAILED):
        why = plan["error"].partition("\n")[0][:200] or "no reason is known"
        return "Being planned." if plan["state"] == S.RUNNING else f"It could not be planned: {why}."
    if not is_current:
        return "Not planned: another revision is published now."
    if plan is not None and state.choice.when in WITH_EVERY_REVISION:
        return "Not planned with this revision: it was chosen later, or there was nothing to study."
    return _NOT_PLANNED[StudyChoice.When(state.choice.when)]


_NOT_PLANNED = {
    When.DEMAND: "Not planned: it runs when an owner asks for it.",
    When.NIGHTLY: f"Not planned yet: that happens at night, between {NIGHT_BEGINS}:00 and {NIGHT_ENDS}:00 UTC.",
    When.EVERY: "Not planned: no job plans the studies of this revision.",
    When.IDLE: "Not planned: no job plans the studies of this revision.",
}
