"""Which kinds of job there are, and the rows that a new revision brings with it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Min, Model, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_noop

from config.monitoring.logs import current_request
from leaderboard.common.hashing import content_hash
from leaderboard.models import Job, Revision
from leaderboard.queue.priorities import IDLE, NOBODY_WAITS
from leaderboard.queue.rows import job_row
from leaderboard.queue.turns import want_after_submission
from leaderboard.queue.wake_ups import wake_on_commit
from ranking_engine import __version__ as engine_version

RANKINGS = "rankings"
SLOW_RANKINGS = "slow_rankings"
BOOTSTRAP = "bootstrap"
RANKS_AGAIN = "ranks_again"
PROSPECTS = "prospects"
AXIOMS = "axioms"
SIGNIFICANCE = "significance"
INSTANCES = "instances"
EXPERIMENT = "experiment"  # a study with parameters that someone chose
SCORING = "scoring"  # predictions against references
EVALUATION = "evaluation"  # the same by a program of the owners, outside: no worker of the site takes it
EVALUATORS = "evaluators"  # the queue of these; `Job.Queue` lists those that have workers here
NEVER_SUPERSEDED = (EXPERIMENT, RANKS_AGAIN, SCORING, EVALUATION)  # about one thing that someone asked for
STUDY_PLAN = "study_plan"
VOTES = "votes"  # ratings of votes, from which the scores of a board are made
# A study of the catalogue that a job of its own computes with every revision, because boards show what it found.
STUDIES_WITH_BOARDS = (SIGNIFICANCE,)
# A study's jobs are called `study:missing_scores`, one a chunk, and `merge:missing_scores`.
STUDY, MERGE = "study", "merge"
# One limit for the whole queue: on a wake-up a worker takes only what may not take longer than the job that it names.
# With several limits it would have to pass over whose turn it is.
STUDIES_SECONDS = 1800
STUDIES_QUIET_MOST = 600.0  # seconds for which a plan of studies is put off at most


@dataclass(frozen=True)
class JobKind:
    """What a kind of job is: its queue, its parameters by default, and how long one may take."""

    key: str
    name: str
    queue: str
    limit_seconds: int  # the lease is never renewed beyond this
    budget_seconds: int  # a superseded study goes on when none was finished for longer than this
    parameters: dict[str, Any] = field(default_factory=dict)
    priority: int = 0  # greater goes first
    comes_with_revision: bool = True  # whether every new revision brings one


JOB_KINDS = {
    kind.key: kind
    for kind in (
        JobKind(
            RANKINGS,
            gettext_noop("rankings"),
            Job.Queue.RANKINGS,
            limit_seconds=settings.BOARD_SECONDS,
            budget_seconds=0,
        ),
        JobKind(
            SLOW_RANKINGS,
            gettext_noop("slow rankings"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=120,
            priority=10,
            comes_with_revision=False,  # inserted with the board, where a rule is slow at its size
        ),
        JobKind(
            VOTES,
            gettext_noop("ratings of votes"),
            # Not the queue of rankings, although the board is made of them: other boards, which take less than a
            # second, would wait for these. 200,000 votes take 3 to 4 s of a core, a million 4 to 8, and 100 resamples
            # of 200,000 about 20. Here they go before all studies, and take turns with what comes with other boards
            # that someone waits for: a busy benchmark keeps no one from theirs.
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=60,
            priority=12,
            comes_with_revision=False,  # inserted when votes are accepted or withdrawn: the revision comes of it
        ),
        JobKind(
            RANKS_AGAIN,
            gettext_noop("ranks that retention removed"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=120,
            priority=6,
            comes_with_revision=False,  # inserted when someone asks for them
        ),
        JobKind(
            PROSPECTS,
            gettext_noop("who can win"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=120,
            # `max_steps`: linear programs; what they do not reach is undecided.
            parameters={"n_draws": 10_000, "seed": 0, "max_steps": 100_000},
            priority=5,
        ),
        JobKind(
            SIGNIFICANCE,
            gettext_noop("significance"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=120,
            parameters={"level": 0.05, "top": 10, "seed": 0},
            priority=4,
        ),
        JobKind(
            INSTANCES,
            gettext_noop("single instances"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=120,
            priority=4,
            parameters={"level": 0.05, "n_resamples": 1000, "seed": 0},
            comes_with_revision=False,  # inserted with the board, where systems have scores of single instances
        ),
        JobKind(
            BOOTSTRAP,
            gettext_noop("rank intervals"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=300,
            priority=3,
            # `n_resamples`: of boards of up to 300 systems, larger ones get 1,000. `budget`: seconds, as costs are
            # estimated, for rules that must be ranked again for every resample; each gets `least` resamples in any
            # case.
            parameters={"n_resamples": 4000, "level": 0.95, "seed": 0, "budget": 3, "least": 100},
        ),
        JobKind(
            AXIOMS,
            gettext_noop("rules: properties"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=300,
            # A search ranks so many boards at most, and all searches under a rule together no more than `seconds` allow
            # as the catalogue estimates costs.
            parameters={"seed": 0, "max_steps": 100, "seconds": 2},
        ),
        JobKind(
            STUDY_PLAN,
            gettext_noop("stability: plan of the studies"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=60,
            priority=2,
        ),
        JobKind(
            STUDY,
            gettext_noop("stability: study"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=600,
            comes_with_revision=False,  # the plan inserts them
        ),
        JobKind(
            EXPERIMENT,
            gettext_noop("experiment"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=0,
            comes_with_revision=False,  # inserted when someone asks for it
        ),
        JobKind(
            SCORING,
            gettext_noop("scoring of predictions"),
            Job.Queue.SCORING,
            limit_seconds=settings.SCORING_JOB_SECONDS,
            budget_seconds=0,
            comes_with_revision=False,  # inserted when someone submits predictions
        ),
        JobKind(
            EVALUATION,
            gettext_noop("evaluation by the owners' program"),
            EVALUATORS,
            limit_seconds=settings.EVALUATION_SECONDS,
            budget_seconds=0,
            comes_with_revision=False,  # inserted when someone submits predictions
        ),
        JobKind(
            MERGE,
            gettext_noop("stability: study, last step"),
            Job.Queue.STUDIES,
            limit_seconds=STUDIES_SECONDS,
            budget_seconds=600,
            priority=1,  # before other chunks: it ends what is all but done
            comes_with_revision=False,
        ),
    )
}


def kind_of(key: str) -> JobKind:
    """The kind of a job row's `kind`, which for a study's chunks and merge also says which study.

    Raises:
        KeyError: there is no such kind.
    """
    return JOB_KINDS[key.partition(":")[0]]


def is_known(key: str) -> bool:
    """Whether this release can compute a job row's `kind`: another one may have left rows that it cannot."""
    return key.partition(":")[0] in JOB_KINDS


def study_of(key: str) -> str:
    """The study that a job row's `kind` names; empty where it is about none."""
    return key.partition(":")[2]


def insert_revision_jobs(revision: Revision) -> None:
    """Insert the job rows of a new revision, in the transaction that accepts it, and wake workers afterwards."""
    now, request_id = timezone.now(), current_request()
    jobs = []
    for kind in JOB_KINDS.values():
        if kind.comes_with_revision:
            # Of a board that no one has submitted to, violations wait like its studies: other boards' come first.
            is_idle = kind.key == AXIOMS and revision.number == 1
            job = new_job(kind, revision, lowered_by=2 * IDLE - 1 if is_idle else 0)
            job.not_before, job.woken_at, job.request_id = now, now, request_id
            if kind.key == STUDY_PLAN and (pause := seconds_until_quiet(revision, now)):
                job.not_before, job.woken_at = now + timedelta(seconds=pause), None  # the sweep wakes for it
            jobs.append(job)
    # The revision is not committed yet, so no one else can have made one of its jobs.
    for job in Job.objects.bulk_create(jobs):
        if job.woken_at is not None:
            wake_on_commit(job, limit_seconds=JOB_KINDS[job.kind].limit_seconds)
    want_after_submission(revision)


def seconds_until_quiet(revision: Revision, now: datetime) -> float:
    """How long the studies of a new revision are not planned yet: until nothing more was submitted for a while.

    A submission that comes alone has its studies planned at once. Of ten in a minute the first one has, and the others
    end with one set of studies. A benchmark that is never quiet has its studies planned when that was put off for
    `STUDIES_QUIET_MOST` since the first revision that has none.
    """
    quiet = timedelta(seconds=settings.STUDIES_QUIET_SECONDS)
    revisions = Revision.objects.filter(benchmark=revision.benchmark_id, number__lt=revision.number)
    if not revisions.filter(number__gt=1, created_at__gt=revision.created_at - quiet).exists():  # 1 is no submission
        return 0.0
    planned = Job.objects.filter(benchmark=revision.benchmark_id, kind=STUDY_PLAN, state=Job.State.DONE)
    last = Coalesce(Subquery(planned.order_by("-sequence").values("sequence")[:1]), 0)
    since = Revision.objects.filter(benchmark=revision.benchmark_id, number__gt=last, created_at__lte=now)
    first = since.aggregate(at=Min("created_at"))["at"]  # of those from a wrong clock, far ahead, none counts
    waited = (now - first).total_seconds() if first else 0.0
    return max(0.0, min(quiet.total_seconds(), STUDIES_QUIET_MOST - waited))


def new_job(kind: JobKind, revision: Revision, *, lowered_by: int = 0) -> Job:
    """A row of `kind` for `revision` that is not stored yet: due now, and no worker woken.

    Args:
        kind: what to compute, with its own parameters.
        revision: from which inputs.
        lowered_by: added to the kind's priority; below 0 for work that is less urgent, such as `RECOMPUTATION`.
    """
    return Job(
        kind=kind.key,
        subject_kind="revision",
        subject_id=revision.pk,
        parameter_hash=content_hash(kind.parameters),
        engine_version=engine_version,
        benchmark_id=revision.benchmark_id,
        sequence=revision.number,
        parameters=kind.parameters,
        queue=kind.queue,
        priority=kind.priority + lowered_by,
        not_before=timezone.now(),
    )


def lowered_by(job: Job) -> int:
    """What was added to the priority of a job's kind: `RECOMPUTATION`, which its follow-ups inherit, or 0."""
    return min(0, job.priority - kind_of(job.kind).priority)


def insert_job(
    kind: JobKind, revision: Revision, parameters: dict[str, Any] | None = None, *, lowered_by: int = 0
) -> Job:
    """The job row of `kind` for `revision`, made where there is none, and a wake-up for it.

    A row that waits as a recomputation is raised to the priority asked for. The sweep wakes for what no one waits for,
    so that the broker gets few messages at a time.

    Args:
        kind: what to compute.
        revision: from which inputs.
        parameters: in place of the kind's own.
        lowered_by: added to the kind's priority; `RECOMPUTATION` or 0.
    """
    chosen = kind.parameters if parameters is None else parameters
    priority = kind.priority + lowered_by
    is_waited_for = priority >= NOBODY_WAITS
    job, _ = job_row(
        kind.key,
        ("revision", revision.pk),
        chosen,
        parameter_hash=content_hash(chosen),
        benchmark_id=revision.benchmark_id,
        sequence=revision.number,
        queue=kind.queue,
        priority=priority,
    )
    if job.state == Job.State.WAITING and is_waited_for:
        if job.priority < priority:
            Job.objects.filter(pk=job.pk, priority__lt=priority).update(priority=priority)
        wake_on_commit(job, limit_seconds=kind.limit_seconds)
    return job


def insert_job_about(kind: JobKind, subject: Model, benchmark_id: int, parameters: dict[str, Any]) -> Job:
    """The job row of `kind` about something that is no revision, made where there is none, and a wake-up for it.

    Args:
        kind: what to compute.
        subject: a stored row; jobs name its table and its number.
        benchmark_id: the benchmark that it belongs to.
        parameters: what it is computed with. Another job of the same kind is about other ones.
    """
    job, _ = job_row(
        kind.key,
        (type(subject).__name__.lower(), subject.pk),
        parameters,
        parameter_hash=content_hash(parameters),
        benchmark_id=benchmark_id,
        queue=kind.queue,
        priority=kind.priority,
    )
    if job.state == Job.State.WAITING and kind.queue in Job.Queue.values:
        wake_on_commit(job, limit_seconds=kind.limit_seconds)
    return job
