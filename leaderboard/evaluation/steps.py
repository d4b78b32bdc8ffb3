"""What people do with predictions that were submitted: cancel them, have a job that failed tried again."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.locks import lock_as_moderator, lock_benchmark
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.queries import jobs_of_predictions
from leaderboard.evaluation.quotas import give_back_prediction
from leaderboard.models import Job, PredictionSubmission, User
from leaderboard.queue.retry import retry_job
from leaderboard.submissions.quotas import give_back_quota

State = PredictionSubmission.State


@transaction.atomic
def cancel_predictions(row: PredictionSubmission) -> None:
    """Take predictions back that are not scored yet; they no longer count in any quota.

    Raises:
        EvaluationError: they are scored, or are being scored, already.
    """
    benchmark = lock_benchmark(row.benchmark_id)
    waiting = PredictionSubmission.objects.filter(pk=row.pk, state=State.WAITING, submission=None)
    if not waiting.update(state=State.CANCELLED):
        raise EvaluationError(gettext("Only predictions that still wait can be cancelled."))
    jobs = jobs_of_predictions(row).filter(state=Job.State.WAITING)
    Job.objects.filter(pk__in=list(jobs.values_list("pk", flat=True))).update(
        state=Job.State.SUPERSEDED, finished_at=timezone.now()
    )
    if row.phase is not None:
        give_back_prediction(row.phase, row.submitter, row.team, submitted_at=row.created_at)
    if not row.is_trial:
        give_back_quota(benchmark, row.submitter, 1, submitted_at=row.created_at)


@transaction.atomic
def retry_predictions(row: PredictionSubmission, *, actor: User) -> None:
    """Have jobs that were given up tried again.

    Args:
        row: what was submitted.
        actor: who asks for it, a moderator or an owner.

    Raises:
        PermissionDenied: `actor` is neither now.
        EvaluationError: none was.
    """
    lock_as_moderator(row.benchmark_id, actor)
    failed = list(jobs_of_predictions(row).filter(state=Job.State.FAILED))
    if not sum(map(retry_job, failed)):
        raise EvaluationError(gettext("No job of these predictions failed."))
