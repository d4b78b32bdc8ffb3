"""Why a study is not done yet, as a sentence: its place in the queue, or when it will be planned."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.language.numbers import localise
from leaderboard.models import Job, Publication, StudyChoice
from leaderboard.queue.kinds import STUDY_PLAN, study_of
from leaderboard.queue.places import MAX_JOBS, Place, places
from leaderboard.queue.priorities import IDLE
from leaderboard.queue.queries import jobs_about
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
    line = places(Job.Queue.STUDIES)
    # What waits of each study: the place and the priority of each job, without what is too far back in the line.
    waiting: dict[str, list[tuple[Place, int]]] = defaultdict(list)
    about = jobs_about(publication.revision_id).filter(engine_version=publication.engine_version)
    jobs = about.exclude(kind=STUDY_PLAN).filter(queue=Job.Queue.STUDIES, state=S.WAITING)
    for pk, kind, priority in jobs.values_list("pk", "kind", "priority"):
        if pk in line:
            waiting[study_of(kind) or kind].append((line[pk], priority))
    fields = ("pk", "state", "parameters", "error", "not_before")
    plans = list(about.filter(kind=STUDY_PLAN).order_by("-pk").values(*fields))
    plan_of = {state.key: _plan_of(state.choice, plans) for state in open_states if state.choice is not None}
    texts = {}
    for state in open_states:
        plan = plan_of.get(state.key)
        if state.state == S.WAITING:
            texts[state.key] = gettext("Queued: more than %(max_jobs)s jobs are before it.") % {
                "max_jobs": f"{MAX_JOBS:,}"
            }
            if state.key in waiting:
                in_line = sorted((place for place, _ in waiting[state.key]), key=lambda place: place.n_ahead)
                is_idle = max(priority for _, priority in waiting[state.key]) < IDLE
                when = gettext(" It runs only while no board is waiting to be ranked.") if is_idle else ""
                queued = gettext("Queued: %(before)s; expect it in %(time)s.") % {
                    "before": _before(in_line[0].n_ahead, gettext("it")), "time": in_line[-1].text,
                }  # fmt: skip
                texts[state.key] = f"{queued}{when}"
        elif plan is not None and plan["state"] == S.WAITING:
            place = line.get(plan["pk"])
            before = _before(place.n_ahead if place else MAX_JOBS, gettext("its plan"))
            texts[state.key] = gettext("Not planned yet: %(before)s.") % {"before": before}
            if plan["not_before"] > timezone.now() and not plan["error"]:
                texts[state.key] = gettext(
                    "Not planned yet: it starts some seconds after the last of several submissions."
                )
        else:
            texts[state.key] = _not_planned(state, plan, is_current=is_current)
    return texts


def _plan_of(choice: StudyChoice | None, plans: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The newest plan that is about a study chosen so."""
    if choice is None:
        return None
    if choice.when in WITH_EVERY_REVISION:
        fitting = (plan for plan in plans if plan["parameters"].get("when", When.IDLE) == When.IDLE)
    elif choice.when == When.NIGHTLY:
        fitting = (plan for plan in plans if plan["parameters"].get("when") == When.NIGHTLY)
    else:
        fitting = (plan for plan in plans if plan["parameters"].get("study") == choice.study)
    return next(fitting, None)


def _before(n: int, what: str) -> str:
    if not n:
        return gettext("%(what)s is the next job") % {"what": what}
    before = ngettext("%(n)s job is before %(what)s", "%(n)s jobs are before %(what)s", n)
    return before % {"n": localise(n, ","), "what": what}


def _not_planned(state: StudyState, plan: dict[str, Any] | None, *, is_current: bool) -> str:
    if state.choice is None:
        return gettext("Not planned: no job computes it for this revision.")
    if plan is not None and plan["state"] in (S.RUNNING, S.FAILED):
        why = plan["error"].partition("\n")[0][:200] or gettext("no reason is known")
        return (
            gettext("Being planned.")
            if plan["state"] == S.RUNNING
            else gettext("It could not be planned: %(why)s.") % {"why": why}
        )
    if not is_current:
        return gettext("Not planned: another revision is published now.")
    if plan is not None and state.choice.when in WITH_EVERY_REVISION:
        return gettext("Not planned for this revision: it was switched on later, or there was nothing to study.")
    hours = {"begin": NIGHT_BEGINS, "end": NIGHT_ENDS}
    return gettext(_NOT_PLANNED[StudyChoice.When(state.choice.when)]) % hours


_NOT_PLANNED = {
    When.DEMAND: gettext_noop("Not planned: it runs when an owner asks for it."),
    When.NIGHTLY: gettext_noop("Not planned yet: it runs at night, between %(begin)s:00 and %(end)s:00 UTC."),
    When.EVERY: gettext_noop("Not planned: no job plans the studies of this revision."),
    When.IDLE: gettext_noop("Not planned: no job plans the studies of this revision."),
}
