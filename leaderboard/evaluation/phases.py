"""Phases of a benchmark: when predictions are accepted, on which instances they count, and how many are allowed.

A benchmark without phases accepts predictions whenever it accepts submissions; all instances count that are not of the
development split, and there are no caps but its own.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audit import Change, as_text, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.moments import moment_in_words
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.models import AuditEntry, Benchmark, EvaluationMode, Phase, PredictionFile, TaskReferences, User
from ranking_engine.evaluation import quota
from ranking_engine.evaluation.metrics import METRICS

MAX_PHASES = 20  # of a benchmark
EVALUATOR_KEY = "evaluator"  # of the metric where a program of the owners computes the scores
DEVELOPMENT, PUBLIC, PRIVATE, TEST = "development", "public", "private", "test"
KNOWN_QUOTA = ("accuracy", "f1_micro")  # both are the accuracy, for which the rule was derived
READ_FOR_QUOTA = ("task__name", "task_id", "n_by_split", "n_effective", "number", "metric")
FIELDS = (
    "name", "kind", "opens_at", "closes_at", "split", "private_at", "daily_cap", "total_cap", "max_systems", "counts",
)  # fmt: skip


def phase_now(benchmark: Benchmark, at: datetime | None = None) -> Phase | None:
    """The phase in which predictions are accepted at a moment, with its benchmark; None where there is none.

    Args:
        benchmark: whose.
        at: the moment; now where None.
    """
    moment = at or timezone.now()
    is_open = Q(closes_at=None) | Q(closes_at__gt=moment)
    return benchmark.phases.filter(is_open, opens_at__lte=moment).order_by("-opens_at", "-pk").first()


def closed_and_coming(benchmark: Benchmark) -> tuple[Phase | None, Phase | None]:
    """Where no phase is open: the one that closed last, and the one that opens next."""
    phases, now = Phase.objects.filter(benchmark=benchmark), timezone.now()
    closed = phases.filter(closes_at__lte=now).order_by("-closes_at").first()
    return closed, phases.filter(opens_at__gt=now).order_by("opens_at").first()


def why_no_phase(benchmark: Benchmark) -> str:
    """Why no predictions are accepted that count.

    Returns:
        A sentence, which says when the next phase opens; empty where one is open, or the benchmark has none.
    """
    if phase_now(benchmark) is not None:
        return ""
    closed, coming = closed_and_coming(benchmark)
    if coming is not None:
        return gettext("No phase is open: %(coming)s opens on %(opens_at)s.") % {
            "coming": coming.name, "opens_at": moment_in_words(coming.opens_at),
        }  # fmt: skip
    if closed is not None and closed.closes_at is not None:
        return gettext("No phase is open: %(last)s closed on %(closes_at)s.") % {
            "last": closed.name, "closes_at": moment_in_words(closed.closes_at),
        }  # fmt: skip
    return ""


def phase_for_predictions(benchmark: Benchmark) -> Phase | None:
    """The phase that predictions submitted now belong to; None where the benchmark has no phases.

    Raises:
        EvaluationError: it has phases, and none is open.
    """
    phase = phase_now(benchmark)
    if phase is None and (why := why_no_phase(benchmark)):
        raise EvaluationError(why)
    return phase


def why_no_trials(benchmark: Benchmark) -> str:
    """Why there are no trial runs: they would tell scores on the instances that count, as often as one likes.

    Returns:
        A sentence; empty where no phase that is open, or is still to open, counts the development split.
    """
    goes_on = Q(closes_at=None) | Q(closes_at__gt=timezone.now())
    phases = Phase.objects.filter(goes_on, benchmark=benchmark, split=DEVELOPMENT)
    phase = phases.order_by("opens_at", "pk").first()
    if phase is None:
        return ""
    return gettext(
        "There are no trial runs: %(phase)s counts the development split. Submit the predictions instead."
    ) % {"phase": phase.name}


def offers_trials(benchmark: Benchmark, references: Iterable[TaskReferences]) -> bool:
    """Whether trial runs are accepted, which need no open phase.

    Args:
        benchmark: where to.
        references: of each task.
    """
    return any(row.n_by_split.get(DEVELOPMENT) for row in references) and not why_no_trials(benchmark)


def why_private_scores_leak(split: str, references: Iterable[TaskReferences]) -> str:
    """Why scores on a split would give away those on the private one.

    Args:
        split: that would count; `test` is the public and the private split together.
        references: of each task.

    Returns:
        A sentence; empty where they would not.
    """
    for row in references:
        if split == TEST and row.n_by_split.get(PUBLIC) and row.n_by_split.get(PRIVATE):
            return gettext(
                "The references of %(task)s have a public and a private split. From scores on both together and those "
                "on the public one, anyone could compute the private ones; so only a phase on the public split can "
                "take predictions."
            ) % {"task": row.task.name}
    return ""


def newest_of(benchmark: Benchmark) -> list[TaskReferences]:
    """The newest references of each task, with what is said of their splits alone."""
    rows = TaskReferences.objects.filter(task__benchmark=benchmark, task__is_archived=False).order_by("number")
    rows = rows.select_related("task").only("task__name", "task_id", "n_by_split", "metric", "number")
    return list({row.task_id: row for row in rows}.values())


def counted_split(phase: Phase | None) -> str:
    """The split whose scores are on the board: of this phase, or of a benchmark without phases.

    `test` means every instance that is not of the development split.
    """
    if phase is None:
        return TEST
    return PRIVATE if phase.went_private_at else phase.split


def phases_of(benchmark: Benchmark) -> list[Phase]:
    """All phases, in the order in which they open, each with this benchmark."""
    return list(benchmark.phases.all())


@transaction.atomic
def store_phase(benchmark: Benchmark, values: Mapping[str, Any], *, author: User, number: int | None = None) -> Phase:
    """Add a phase, or change one.

    Args:
        benchmark: whose.
        values: of `FIELDS`; what is left out stays.
        author: an owner.
        number: the primary key of the phase that is changed; None for a new one.

    Raises:
        ValidationError: a value is wrong, the phase would be open at the same time as another, what it has was not
            scored by split, or its scores would give private ones away.
        EvaluationError: there is no such phase, or there are too many.
    """
    lock_as_owner(benchmark.pk, author)
    phases = Phase.objects.filter(benchmark=benchmark)
    phase = Phase(benchmark=benchmark) if number is None else phases.filter(pk=number).first()
    if phase is None:
        raise EvaluationError(gettext("There is no such phase."))
    if number is None and phases.count() >= MAX_PHASES:
        raise EvaluationError(gettext("A benchmark has at most %(max_phases)s phases.") % {"max_phases": MAX_PHASES})
    before, split_before = ("", None) if number is None else (in_words(phase), phase.split)
    for name in FIELDS:
        if name in values:
            setattr(phase, name, values[name])
    if phase.went_private_at and {"private_at", "split"} & {*values}:
        raise EvaluationError(gettext("The board shows the private split already."))
    phase.full_clean(validate_constraints=False)
    _check_times(phase)
    phase.validate_constraints()  # of these only the name is left to check
    if phase.pk and phase.split != split_before and phase.split == Phase.Split.PUBLIC and _lacks_scores_by_split(phase):
        problem = gettext(
            "Your own program scored predictions of this phase without reporting scores by split; have them scored "
            "again first."
        )
        raise ValidationError({"split": problem})
    if phase.split != split_before and (why := why_private_scores_leak(phase.split, newest_of(benchmark))):
        raise ValidationError({"split": why})
    phase.save()
    _record(benchmark, before, in_words(phase), author)
    return phase


def _lacks_scores_by_split(phase: Phase) -> bool:
    """Whether the owners' own program scored predictions of a phase on all splits together alone."""
    files = PredictionFile.objects.filter(prediction_submission__phase=phase, prediction_submission__is_trial=False)
    files = files.filter(results__by__metric=EVALUATOR_KEY).exclude(results__has_key=PUBLIC)
    split_tasks = [row.task_id for row in newest_of(phase.benchmark) if row.n_by_split.get(PUBLIC)]
    return files.filter(task__in=split_tasks).exists()


def _check_times(phase: Phase) -> None:
    """Go on where a phase fits the other phases of its benchmark.

    Raises:
        ValidationError: it closes before it opens, would be open at the same time as another, or goes private too
            early.
    """
    if phase.closes_at is not None and phase.closes_at <= phase.opens_at:
        raise ValidationError({"closes_at": gettext("A phase closes after it opens.")})
    if phase.private_at and phase.split != Phase.Split.PUBLIC:
        raise ValidationError({"private_at": gettext("Only a phase on the public split goes over to the private one.")})
    if phase.private_at and (phase.closes_at is None or phase.private_at < phase.closes_at):
        raise ValidationError({"private_at": gettext("The private board can only appear when the phase has closed.")})
    others = Phase.objects.filter(benchmark=phase.benchmark_id).exclude(pk=phase.pk)
    meets = Q(closes_at=None) | Q(closes_at__gt=phase.opens_at)
    if phase.closes_at is not None:
        meets &= Q(opens_at__lt=phase.closes_at)
    if other := others.filter(meets).first():
        raise ValidationError(
            {"opens_at": gettext("It would be open at the same time as %(other)s.") % {"other": other.name}}
        )


@transaction.atomic
def delete_phase(benchmark: Benchmark, number: int, *, author: User) -> None:
    """Delete a phase in which no one submitted anything.

    Raises:
        EvaluationError: there is none, or there are predictions in it.
    """
    lock_as_owner(benchmark.pk, author)
    phase = Phase.objects.filter(benchmark=benchmark, pk=number).first()
    if phase is None:
        raise EvaluationError(gettext("There is no such phase."))
    if phase.prediction_submissions.exists():
        raise EvaluationError(gettext("Predictions were submitted in this phase, so it stays. You can close it."))
    before = in_words(phase)
    phase.delete()
    _record(benchmark, before, "", author)


@transaction.atomic
def use_ladder(benchmark: Benchmark, *, uses_ladder: bool, author: User) -> None:
    """Choose whether the board moves only if a paired test says so (`docs/ladder.md`).

    Raises:
        EvaluationError: no task has references.
    """
    lock_as_owner(benchmark.pk, author)
    if uses_ladder and not TaskReferences.objects.filter(task__benchmark=benchmark).exists():
        raise EvaluationError(
            gettext("Upload references of a task first: the Ladder has to know how each instance was scored.")
        )
    evaluation, _ = EvaluationMode.objects.get_or_create(benchmark=benchmark)
    if evaluation.uses_ladder == uses_ladder:
        return
    evaluation.uses_ladder = uses_ladder
    evaluation.save(update_fields=["uses_ladder"])
    change = Change(AuditEntry.Subject.SETTING, "ladder", "value", as_text(not uses_ladder), as_text(uses_ladder))
    record_changes(benchmark, [change], actor=author)


def has_ladder(benchmark: Benchmark) -> bool:
    """Whether the board moves only if a paired test says so."""
    return EvaluationMode.objects.filter(benchmark=benchmark, uses_ladder=True).exists()


def offered_quota(benchmark: Benchmark, error: float) -> dict[str, Any]:
    """How many submissions in all keep the gain by overfitting below an error, by the task with the fewest instances.

    Instances count by their weights (`effective_number`).

    Args:
        benchmark: with references.
        error: the largest gain that is accepted, as a share of the instances.

    Returns:
        `n_submissions`, and the `task` that it was computed from with `n_instances` and `n_effective`; for another
        metric than the accuracy, `task` and `metric` alone, because no quota is known; empty without references.
    """
    newest: dict[int, TaskReferences] = {}
    rows = TaskReferences.objects.filter(task__benchmark=benchmark, task__is_archived=False).order_by("number")
    for row in rows.select_related("task").only(*READ_FOR_QUOTA):
        newest[row.task_id] = row
    counted = []
    for row in newest.values():
        if row.metric not in KNOWN_QUOTA:
            metric = METRICS[row.metric].name if row.metric in METRICS else gettext("your own evaluator")
            return {"task": row.task.name, "metric": metric}
        split = PUBLIC if PUBLIC in row.n_by_split else TEST
        n = row.n_by_split.get(split, 0)
        counted.append((row.n_effective.get(split, n), n, row.task.name))
    if not counted:
        return {}
    n_effective, n_instances, name = min(counted)
    n_submissions = quota(n_effective, error)
    return {"n_submissions": n_submissions, "n_instances": n_instances, "n_effective": n_effective, "task": name}


def in_words(phase: Phase) -> str:
    """A phase in a line, for the audit trail."""
    texts = ((name, as_text(getattr(phase, name))) for name in FIELDS[1:])
    return f"{phase.name}: " + "; ".join(f"{name.replace('_', ' ')} {text}" for name, text in texts if text)


def _record(benchmark: Benchmark, before: str, after: str, author: User) -> None:
    if before != after:
        change = Change(AuditEntry.Subject.BENCHMARK, benchmark.key, "phase", before, after)
        record_changes(benchmark, [change], actor=author)
