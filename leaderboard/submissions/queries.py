"""Submissions by their public numbers."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from leaderboard.access.audience import UNDECIDED, Audience
from leaderboard.models import Batch, PredictionFile, Submission, User
from leaderboard.submissions.problems import SubmissionError
from ranking_engine.evaluation.metrics import METRICS


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
    accepted = Submission.objects.filter(benchmark=audience.benchmark, state=Submission.State.ACCEPTED)
    latest = dict(accepted.filter(system__key__in=keys).order_by("pk").values_list("system__key", "batch__uploader"))
    others = User.objects.in_bulk(set(latest.values()) - {audience.viewer.pk})
    return {key: others[pk].shown_name for key, pk in latest.items() if pk in others}


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
