"""Which studies a revision gets: chosen by the benchmark's owners, cut to a budget, inserted as chunks."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.hashing import content_hash
from leaderboard.computing.rankings import site_rules
from leaderboard.computing.stopwatch import Stopwatch
from leaderboard.models import AuditEntry, Benchmark, Job, Report, Revision, StudyChoice, User
from leaderboard.queue.chunks import chunks_of
from leaderboard.queue.kinds import JOB_KINDS, STUDIES_WITH_BOARDS, STUDY, STUDY_PLAN
from leaderboard.queue.priorities import IDLE, LARGEST, NOBODY_WAITS
from leaderboard.queue.rows import about_revision, inherited_offset, insert, insert_missing, requeue, row_of
from leaderboard.queue.wake_ups import wake_on_commit
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.reports import make_report
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.studies.chunks import study_matrix
from ranking_engine import ScoreMatrix, __version__ as engine_version
from ranking_engine.catalogue.registry import in_order
from ranking_engine.stability import catalogue
from ranking_engine.stability.catalogue import Study

When = StudyChoice.When
BUDGET_IDLE = 20  # of each study of a benchmark whose studies run while nothing else waits
SLOW_SHARE = 0.5  # of a study's seconds that slow rules get at least
MORE_REPEATS = 0.04  # of what slow rules get, for more repeats than the least: studies should be there soon
_TRIES = 5
WITH_EVERY_REVISION = (When.EVERY, When.IDLE)
NIGHT_BEGINS, NIGHT_ENDS = 1, 5  # hours, UTC
SEED = 0


@dataclass(frozen=True)
class PlannedStudy:
    """One study of one revision, before it runs.

    Attributes:
        study: its key.
        parameters: of its jobs, the study and the seed among them; the steps are cut to the budget.
        n_chunks: how many jobs.
        estimate: seconds on one core.
        priority: of its jobs.
        reason: why it does not run on these scores; empty where it does.
    """

    study: str
    parameters: dict[str, Any] = field(default_factory=dict)
    n_chunks: int = 0
    estimate: float = 0.0
    priority: int = 0
    reason: str = ""


def compute_plan(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Plan the studies that the job asks for; the returned function inserts their jobs and stores the plan."""
    revision = Revision.objects.select_related("configuration", "benchmark").get(pk=job.subject_id)
    stopwatch = Stopwatch()
    choices = choices_of(revision.benchmark)
    # Those for a new revision, those for the night, or the one that someone asks for now.
    moment = job.parameters.get("when", "")
    if moment == When.DEMAND:
        choices = [choice for choice in choices if choice.study == job.parameters["study"]]
    else:
        choices = [choice for choice in choices if choice.when in ((moment,) if moment else WITH_EVERY_REVISION)]
    planned: list[PlannedStudy] = []
    if choices and revision_matrix(revision) is not None:
        matrix, variants = study_matrix(revision), configuration_of(revision).variants
        for done, choice in enumerate(choices):
            checkpoint(done / len(choices))
            study = catalogue.STUDIES[choice.study]
            is_first = revision.number == 1
            planned.append(plan_study(study, matrix, choice, is_first_revision=is_first, variants=variants))
    summary: dict[str, dict[str, Any]] = {plan.study: {"reason": plan.reason} for plan in planned}
    for plan in planned:
        if not plan.reason:
            summary[plan.study] |= {
                "parameters": plan.parameters,
                "parameter_hash": content_hash(plan.parameters),
                "n_chunks": plan.n_chunks,
                "estimate": round(plan.estimate, 3),
            }
    report = make_report(
        revision,
        STUDY_PLAN,
        parameters=job.parameters,
        summary=summary,
        arrays={},
        seconds=stopwatch.seconds,
    )

    def write() -> None:
        Report.objects.bulk_create([report], ignore_conflicts=True)  # it may have been planned before
        for plan in planned:
            if not plan.reason:
                insert_study(revision, replace(plan, priority=plan.priority + inherited_offset(job)))

    return write


def study_name(key: str) -> str:
    """What pages call a study, one that the catalogue no longer has among them."""
    return gettext(catalogue.STUDIES[key].name) if key in catalogue.STUDIES else key.replace("_", " ")


def chosen_studies() -> list[str]:
    """The studies whose time and budget owners choose: all but those that every board needs."""
    return [key for key in catalogue.STUDIES if key not in STUDIES_WITH_BOARDS]


def choices_of(benchmark: Benchmark) -> list[StudyChoice]:
    """When each study that is chosen runs for this benchmark, in the catalogue's order; some rows are not stored."""
    stored = {choice.study: choice for choice in StudyChoice.objects.filter(benchmark=benchmark)}
    return [
        stored.get(key)
        or StudyChoice(benchmark=benchmark, study=key, when=settings.STUDIES_RUN, budget_seconds=settings.STUDY_SECONDS)
        for key in chosen_studies()
    ]


def plan_study(
    study: Study,
    matrix: ScoreMatrix,
    choice: StudyChoice,
    *,
    is_first_revision: bool = False,
    variants: Sequence[str] = (),
) -> PlannedStudy:
    """What a study of this matrix will be: its steps cut to the budget, its chunks, its priority.

    Args:
        study: of the catalogue.
        matrix: what it perturbs.
        choice: when it runs, and its budget.
        is_first_revision: no one has submitted to the board since it was made.
        variants: those that are columns of the board; a study of all rules takes them, too.
    """
    own = dict(study.parameters)
    if variants and "rules" in own and own["rules"] is None:
        own["rules"] = in_order([*site_rules(), *variants])
    if reason := study.why_not(matrix, own):
        return PlannedStudy(study.key, reason=reason)
    own = within_budget(study, matrix, own, choice.budget_seconds)
    estimate = study.estimate(matrix, own)
    if estimate > choice.budget_seconds:
        needed, budget = f"{math.ceil(estimate)} s", f"{choice.budget_seconds} s"
        reason = f"it needs at least {needed}, and the limit is {budget}; owners can raise it"
        return PlannedStudy(study.key, reason=reason)
    # The smallest first; what runs while nothing else waits comes after everything else, and of that a board that
    # someone has just submitted to before boards that lie as they were made.
    priority = -1 - min(int(estimate), LARGEST)
    if choice.when == When.IDLE:
        priority += 2 * IDLE if is_first_revision else IDLE
    return PlannedStudy(
        study=study.key,
        parameters={"study": study.key, "seed": SEED, **own},
        n_chunks=study.n_chunks(matrix, own),
        estimate=estimate,
        priority=priority,
    )


def within_budget(study: Study, matrix: ScoreMatrix, parameters: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The parameters with as many steps, at least 1, as the seconds are estimated to buy; never more than stated.

    Many studies have a `budget` of their own, in seconds as costs are estimated, for slow rules, which rank as many of
    the steps as it buys. Those get what the other rules leave of the seconds, half at least. Steps and budget are
    stored with the job and the report, so that the same figures come out on any machine.
    """
    own = dict(parameters)
    has_slow = "budget" in own
    if has_slow:
        own["more_repeats"] = MORE_REPEATS
    left = seconds * (1 - SLOW_SHARE) if has_slow else seconds

    def seconds_of_others() -> float:
        return study.estimate(matrix, {**own, "budget": 0} if has_slow else own)

    def cut_steps(steps: int) -> None:
        own[study.steps] = max(1, steps)
        for name in study.cut_along:
            most = int(parameters[name])
            own[name] = min(most, max(2, round(most * own[study.steps] / parameters[study.steps])))

    others = seconds_of_others()
    if study.steps and others > left:
        cut_steps(int(own[study.steps] * left / others) or own[study.steps] * 9 // 10)
        while seconds_of_others() > left and own[study.steps] > 1:
            cut_steps(own[study.steps] * 9 // 10)  # where time does not grow in proportion
        others = seconds_of_others()
    if has_slow:
        own["budget"] = min(float(own["budget"]), max(0.0, seconds - others))
        for _ in range(_TRIES):  # a slow rule costs what it adds to the others' time, too
            beyond = study.estimate(matrix, own) - seconds
            own["budget"] = math.floor(1000 * max(0.0, own["budget"] - 1.2 * max(0.0, beyond))) / 1000
        while study.steps and own[study.steps] > 1 and study.estimate(matrix, own) > seconds:
            cut_steps(own[study.steps] * 9 // 10)  # the least of slow rules is more than the others leave
    return own


def insert_study(revision: Revision, plan: PlannedStudy) -> None:
    """Insert a job for every chunk of a study that has no report yet; what was given up before waits again."""
    digest = content_hash(plan.parameters)
    is_there = Report.objects.filter(
        revision=revision, kind=STUDY, parameter_hash=digest, engine_version=engine_version
    ).exists()
    if is_there:
        return
    kind, subject, offset = JOB_KINDS[STUDY], about_revision(revision), plan.priority
    rows = [
        row_of(kind, subject, plan.parameters, study=plan.study, chunk=chunk, priority_offset=offset, is_woken=False)
        for chunk in range(plan.n_chunks)
    ]
    insert_missing(rows)
    chunks = chunks_of(rows[0])
    requeue(chunks.filter(state__in=[Job.State.SUPERSEDED, Job.State.FAILED]))
    if plan.priority < NOBODY_WAITS:
        return  # the sweep wakes for it
    # One message sets a worker going; the sweep wakes for the others, the most urgent first.
    first = chunks.filter(state=Job.State.WAITING).order_by("chunk").first()
    if first is not None:
        wake_on_commit(first)


@transaction.atomic
def choose_studies(benchmark: Benchmark, chosen: Mapping[str, tuple[str, int]], *, author: User) -> int:
    """Store when studies run and what they may take, with what changed in the trail.

    Args:
        benchmark: whose.
        chosen: (when, budget in seconds) by study; studies that are left out stay as they are.
        author: who chooses.

    Returns:
        How many studies changed.

    Raises:
        KeyError: there is no such study.
    """
    lock_as_owner(benchmark.pk, author)
    present = {choice.study: choice for choice in choices_of(benchmark)}
    before_by_study = {study: (present[study].when, present[study].budget_seconds) for study in chosen}
    changed = {study: values for study, values in chosen.items() if values != before_by_study[study]}
    changes = []
    for study, (when, budget) in changed.items():
        StudyChoice.objects.update_or_create(
            benchmark=benchmark, study=study, defaults={"when": when, "budget_seconds": budget}
        )
        before = dict(zip(("when", "budget"), before_by_study[study], strict=True))
        after = {"when": when, "budget": budget}
        changes += changes_between(AuditEntry.Subject.SETTING, f"study {study}", before, after)
    record_changes(benchmark, changes, actor=author)
    return len(changed)


@transaction.atomic
def request_study(benchmark: Benchmark, study: str) -> Job | None:
    """Have a study of the published revision run now, with the budget that is chosen; None where nothing is published.

    Args:
        benchmark: with its publication.
        study: the study's key.
    """
    if benchmark.publication is None:
        return None
    choice = next(choice for choice in choices_of(benchmark) if choice.study == study)
    parameters = {"when": When.DEMAND.value, "study": study, "budget": choice.budget_seconds}
    job = insert(row_of(JOB_KINDS[STUDY_PLAN], about_revision(benchmark.publication.revision), parameters))
    # Asked for again, it is planned again: chunks that were given up or failed are then taken up.
    requeue(Job.objects.filter(pk=job.pk).exclude(state__in=[Job.State.WAITING, Job.State.RUNNING]))
    return job


def plan_nightly_studies(now: datetime) -> None:
    """At night, have planned what benchmarks want at night for what they have published.

    A plan is once a revision: what did not change is not computed again.
    """
    if not NIGHT_BEGINS <= now.hour < NIGHT_ENDS:
        return
    wanted = Benchmark.objects.filter(study_choices__when=When.NIGHTLY).exclude(publication=None).distinct()
    for benchmark in wanted.select_related("publication__revision"):
        if benchmark.publication is not None:
            revision = benchmark.publication.revision
            insert(row_of(JOB_KINDS[STUDY_PLAN], about_revision(revision), {"when": When.NIGHTLY.value}))


def study_when_idle(benchmark: Benchmark) -> None:
    """Have every study of a new benchmark run for each revision, while nothing else waits.

    Call inside the transaction that makes the benchmark: the plan that comes with its first revision follows it.
    """
    StudyChoice.objects.bulk_create(
        StudyChoice(benchmark=benchmark, study=key, when=When.IDLE, budget_seconds=BUDGET_IDLE)
        for key in chosen_studies()
    )
