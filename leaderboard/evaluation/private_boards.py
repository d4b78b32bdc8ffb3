"""The moment at which a board goes over from scores on the public split to those on the private one.

All systems change at once, in one revision: every submission on the board that came of predictions of the phase is
corrected with its scores on the private split, which were computed with the public ones and shown to no one.
"""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.access.audience import UNDECIDED, audience_of
from leaderboard.access.locks import lock_benchmark
from leaderboard.evaluation.board_moves import figures_of
from leaderboard.evaluation.phases import PRIVATE
from leaderboard.models import Benchmark, Membership, Phase, PredictionSubmission, Revision
from leaderboard.models.submissions import Source
from leaderboard.submissions.checks import check_rows
from leaderboard.submissions.corrections import holding
from leaderboard.submissions.lifecycle import accept_batch, store_batch
from leaderboard.submissions.rows import SubmittedRow

State = PredictionSubmission.State
NOTE = "The board now shows scores on the private split."


def open_private_boards() -> int:
    """Show the private scores of every phase whose moment has come. Any number of sweepers is harmless.

    A phase waits until all its predictions are scored and decided on: the board never mixes both splits.

    Returns:
        How many boards went over.
    """
    due = Phase.objects.filter(private_at__lte=timezone.now(), went_private_at=None).order_by("private_at")
    n_opened = 0
    for number, benchmark in list(due.values_list("pk", "benchmark")):
        with transaction.atomic():
            locked = lock_benchmark(benchmark)
            phase = Phase.objects.get(pk=number)
            rows = PredictionSubmission.objects.filter(phase=phase, is_trial=False)
            waiting = Q(state__in=[State.WAITING, State.SCORING]) | Q(submission__state__in=UNDECIDED)
            if phase.went_private_at is None and not rows.filter(waiting).exists():
                n_opened += _open_private_board(locked, phase) is not None
    return n_opened


def _open_private_board(benchmark: Benchmark, phase: Phase) -> Revision | None:
    """Show the private scores of a phase. Call in a transaction that has locked the benchmark.

    Returns:
        The revision, or None where nothing of the phase is on the board.
    """
    phase.went_private_at = timezone.now()
    phase.save(update_fields=["went_private_at"])
    rows = PredictionSubmission.objects.filter(phase=phase, is_trial=False, state=State.SCORED)
    entered = [(row, row.submission) for row in rows.select_related("submission__system") if row.submission]
    held = holding(benchmark, {submission.system_id for _, submission in entered})
    corrected = []
    for row, submission in entered:
        if submission.pk in held:
            files = list(row.files.select_related("task"))
            figures = figures_of(files, PRIVATE, with_values=False)
            scored = [(file.task.key, figures[file.task_id]) for file in files if file.task_id in figures]
            corrected.append(
                SubmittedRow(
                    submission.system.name,
                    corrects=str(submission.uuid),
                    scores={key: figure.value for key, figure in scored},
                    details={key: (figure.standard_error, figure.n_instances) for key, figure in scored},
                )
            )
    owner = Membership.objects.filter(benchmark=benchmark, role=Membership.Role.OWNER).order_by("pk").first()
    if not corrected or owner is None:
        return None
    checked = check_rows(audience_of(owner.user, benchmark), corrected, suggests=False)
    batch = store_batch(
        benchmark, owner.user, checked, source=Source.CORRECTION, note=f"{phase.name}: {NOTE}", is_limited=False
    )
    revision = accept_batch(batch, actor=None, reason=NOTE)
    corrections = {one.corrects_id: one for one in batch.submissions.all()}
    for row, submission in entered:
        if submission.pk in corrections:  # what is on the board now is scored again once references are corrected
            row.submission = corrections[submission.pk]
            row.save(update_fields=["submission"])
    return revision
