"""Which kinds of job there are."""

from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop

from leaderboard.models import Job

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
REVISION = "revision"  # what most jobs are about
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


def may_be_superseded(key: str) -> bool:
    """Whether a newer job can make one with this `kind` unwanted.

    Not what someone asked of one revision, which is about no newer one, and not a merge, which is cheap and all but
    done.
    """
    return key not in NEVER_SUPERSEDED and not key.startswith(f"{MERGE}:")
