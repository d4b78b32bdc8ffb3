"""Submissions by their public numbers."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import UNDECIDED, Audience
from leaderboard.common.language.numbers import in_language
from leaderboard.common.text import value_text
from leaderboard.models import Batch, Benchmark, PredictionFile, PredictionSubmission, Score, Submission, Task, User
from leaderboard.submissions.problems import SubmissionError
from ranking_engine.evaluation.metrics import METRICS

# What pages call the state of a submission; `retracted` is a word of the API alone.
STATE_WORDS = {
    Submission.State.PENDING: gettext_noop("waiting for a moderator"),
    Submission.State.APPROVED: gettext_noop("approved, waiting for the embargo to end"),
    Submission.State.ACCEPTED: gettext_noop("accepted"),
    Submission.State.REJECTED: gettext_noop("rejected"),
    Submission.State.WITHDRAWN: gettext_noop("withdrawn"),
    Submission.State.RETRACTED: gettext_noop("withdrawn before a decision"),
}
REPLACED_WORDS = gettext_noop("replaced by a later submission")  # of accepted submissions (`replaced_among`)
OFF_BOARD = (Submission.State.REJECTED, Submission.State.WITHDRAWN, Submission.State.RETRACTED)
SHOWN_SUBMITTED = 50  # systems of one submission whose scores are listed


def batch_naming(uuid: UUID) -> tuple[UUID, Submission | None]:
    """The number of the batch that `uuid` names, and which submission of it where it names one.

    Whether anyone may know of it is for `visible_batch` to say.
    """
    submission = Submission.objects.select_related("batch", "system", "benchmark").filter(uuid=uuid).first()
    return (submission.batch.uuid, submission) if submission else (uuid, None)


def is_undecided(batch: Batch) -> bool:
    """Whether the batch still waits for a decision, or for the end of an embargo."""
    decided = batch.submissions.exclude(state__in=UNDECIDED)
    return batch.submissions.exists() and not decided.exists()


def lone_submission(batch: Batch, submission: Submission | None) -> Submission:
    """The submission that was named; the only one of the batch where none was: scores of one system are meant.

    Raises:
        SubmissionError: the batch has several, and none of them was named.
    """
    if submission is not None:
        return submission
    rows = list(batch.submissions.select_related("batch", "system", "benchmark")[:2])
    if len(rows) > 1:
        n_systems = batch.submissions.count()
        raise SubmissionError(
            gettext("This submission has %(n_systems)s systems; name one of them by its own `submission`.")
            % {"n_systems": n_systems}
        )
    return rows[0]


def require_whole(batch: Batch, submission: Submission | None) -> None:
    """Go on where the whole batch was named, which is decided about as a whole, or its only submission.

    Raises:
        SubmissionError: one of several was named.
    """
    if submission is not None and batch.submissions.count() > 1:
        raise SubmissionError(
            gettext("This system came with others, and they are decided together: name %(uuid)s.")
            % {"uuid": batch.uuid}
        )


def other_submitters(audience: Audience, keys: Collection[str]) -> dict[str, str]:
    """Names of those whose accepted scores another user would replace, by the key of the system.

    Args:
        audience: who would replace them; restricted ones are told of no one.
        keys: of systems on the board.
    """
    if audience.is_restricted or not keys:
        return {}
    others = latest_submitters(audience.benchmark, keys, but=audience.viewer.pk)
    return {key: other.shown_name for key, other in others.items()}


def latest_submitters(benchmark: Benchmark, keys: Collection[str], *, but: int | None = None) -> dict[str, User]:
    """Who submitted the newest accepted scores of systems, by the key of the system.

    Args:
        benchmark: whose.
        keys: of the systems.
        but: a user whose own are left out.
    """
    accepted = Submission.objects.filter(benchmark=benchmark, state=Submission.State.ACCEPTED)
    latest = dict(accepted.filter(system__key__in=keys).order_by("pk").values_list("system__key", "batch__uploader"))
    users = User.objects.in_bulk(set(latest.values()) - {but})
    return {key: users[pk] for key, pk in latest.items() if pk in users}


@dataclass(frozen=True)
class ScoredFile:
    """A file of predictions that scores were computed from, and what computed them.

    Attributes:
        system_name: whose predictions they are.
        task_key: of the task that they are for.
        task_name: of the same.
        sha256: of the file.
        metric: its key.
        metric_name: what people call it.
        library: with its version; empty where no library computed the score.
        references: the number of the references' version.
    """

    system_name: str
    task_key: str
    task_name: str
    sha256: str
    metric: str
    metric_name: str
    library: str
    references: int


def scored_files(batch: Batch) -> list[ScoredFile]:
    """What the scores of a batch were computed from; empty where someone else computed them."""
    files = PredictionFile.objects.filter(prediction_submission__submission__batch=batch).order_by("pk")
    scored = []
    for file in files.select_related("task", "prediction_submission").defer("content", "instance_values"):
        if by := file.scored_by:
            metric = METRICS.get(by["metric"])
            scored.append(
                ScoredFile(
                    system_name=file.prediction_submission.system_name,
                    task_key=file.task.key,
                    task_name=file.task.name,
                    sha256=file.sha256,
                    metric=by["metric"],
                    metric_name=metric.name if metric else "the owners’ own program",
                    library=" ".join(filter(None, (by.get("library"), by.get("library_version")))),
                    references=by["references"],
                )
            )
    return scored


@dataclass(frozen=True)
class OffBoardRow:
    """One system of a submission, and its scores as texts, one per task; empty where there is none."""

    uuid: UUID
    name: str
    texts: list[str]


@dataclass(frozen=True)
class SubmittedScores:
    """The first systems of a submission that are not on the board."""

    task_names: list[str]
    rows: list[OffBoardRow]
    n_more: int
    may_send_again: bool  # whether the viewer submitted them and can submit
    has_withdrawn: bool  # whether some were on the board


def submitted_scores(audience: Audience, batch: Batch) -> SubmittedScores | None:
    """The scores that a submission has, as far as they were rejected or withdrawn: for its submitter and moderators.

    None for anyone else, and for the submitter where the site computed them: the benchmark decides what they see.

    Args:
        audience: who asks.
        batch: with its benchmark.
    """
    is_own = audience.viewer.is_authenticated and batch.uploader_id == audience.viewer.pk
    is_computed = PredictionSubmission.objects.filter(submission__batch=batch).exists()
    if not (audience.may_moderate or (is_own and not is_computed)):
        return None
    gone = batch.submissions.filter(state__in=OFF_BOARD).select_related("system").order_by("position")
    rows = list(gone[:SHOWN_SUBMITTED])
    scores = Score.objects.filter(submission__in=rows)
    values = {(row, task): value for row, task, value in scores.values_list("submission_id", "task_id", "value")}
    if all(value is None for value in values.values()):  # there are none, or they were taken down
        return None
    task_ids = {task for _, task in values}
    tasks = list(Task.objects.filter(benchmark=batch.benchmark, pk__in=task_ids).values_list("pk", "name"))
    texts = {place: in_language(value_text(value)) for place, value in values.items() if value is not None}
    return SubmittedScores(
        [name for _, name in tasks],
        [OffBoardRow(row.uuid, row.shown_name, [texts.get((row.pk, task), "") for task, _ in tasks]) for row in rows],
        gone.count() - len(rows),
        may_send_again=is_own and not is_computed and audience.may_submit,
        has_withdrawn=any(row.state == Submission.State.WITHDRAWN for row in rows),
    )


def submission_to_repeat(audience: Audience, number: str) -> Submission | None:
    """The submission of this number, where its submitter asks and it is not on the board."""
    try:
        uuid = UUID(number)
    except ValueError:
        return None
    own = Submission.objects.filter(benchmark=audience.benchmark, batch__uploader=audience.user, state__in=OFF_BOARD)
    computed = PredictionSubmission.objects.filter(submission=OuterRef("pk"))
    return own.filter(~Exists(computed), uuid=uuid).select_related("system", "batch").first()
