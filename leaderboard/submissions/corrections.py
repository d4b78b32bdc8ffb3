"""Corrections: which submission may be corrected, by whom, and what of it a correction takes over.

A correction is a submission like any other that names the one it corrects. It is in that one's place, so what it
does not mention stays as it was (`rankings.scores`, "in force").
"""

import base64
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Audience
from leaderboard.common.language.stored import in_english
from leaderboard.common.text import in_words, shortened
from leaderboard.models import Batch, Benchmark, InstanceScores, Score, Submission, SubmissionEvent
from leaderboard.rankings.instances import unpack_names
from leaderboard.rankings.scores import WITHDRAWN, CurrentScore, InForce, current_scores, submissions_in_force
from leaderboard.submissions.instances.vectors import entry_of, unpack_vector
from leaderboard.submissions.rows import CheckedRow, CheckedScore, measured_score
from ranking_engine.text.names import fold_name

_ACCEPTING = SubmissionEvent.Kind.ACCEPTED
SHOWN_REPLACED = 3  # systems that a sentence names
NOT_YOURS = "there is no submission of this number that you can correct"
SAY_WHY = gettext_noop("Explain in the note what was wrong: a correction is shown with its reason.")


@dataclass(frozen=True)
class Correctable:
    """A submission that may be corrected, as it is."""

    submission: Submission
    is_blank: bool  # a withdrawn correction: its scores are missing until they are corrected
    scores: dict[str, CurrentScore] = field(default_factory=dict)  # the current ones that come from it, by task key
    newer: dict[str, CurrentScore] = field(default_factory=dict)  # those that a later submission brought


class HoldsNoMoreError(ValueError):
    """A submission that cannot be corrected, because it is not what holds; `holder` is, where anything is."""

    def __init__(self, holder: Submission | None) -> None:
        super().__init__("this submission is no longer on the board: it was withdrawn, corrected or replaced; correct "
                         "the current one")  # fmt: skip
        self.holder = holder


def holding(benchmark: Benchmark, system_ids: Iterable[int]) -> dict[int, InForce]:
    """What holds of some systems on the latest board, by submission: where rows are replaced, the last of each."""
    revision = benchmark.revisions.order_by("-number").select_related("configuration").first()
    held = submissions_in_force(revision, system_ids) if revision else []
    if benchmark.replacement == Benchmark.Replacement.ROW:
        held = list({one.system_id: one for one in held}.values())
    return {one.submission_id: one for one in held}


class Replaced(NamedTuple):
    """An accepted submission of which a later one of the same system replaced all scores."""

    submission_id: int
    batch_id: int
    system_id: int
    revision_id: int  # that accepted the newest of the later ones


def replaced_among(submissions: QuerySet[Submission]) -> list[Replaced]:
    """Which of these submissions are accepted and replaced: as many steps as they and those of their systems are.

    Where submissions replace only the tasks that they mention, none is.
    """
    accepted, by_row = Submission.State.ACCEPTED, Benchmark.Replacement.ROW
    of_events = submissions.filter(state=accepted, benchmark__replacement=by_row, events__kind=_ACCEPTING)
    rows = list(of_events.order_by().values_list("pk", "batch_id", "system_id", "events__revision"))
    # A correction is in the place of what it corrects, and replaces nothing else.
    events = SubmissionEvent.objects.filter(
        kind=_ACCEPTING,
        submission__system_id__among=sorted({system for _, _, system, _ in rows}),
        submission__state=accepted,
        submission__corrects=None,
    )
    newest = dict(events.order_by().values_list("submission__system").annotate(last=Max("revision"))) if rows else {}
    return [
        Replaced(pk, batch, system, last)
        for pk, batch, system, revision in rows
        if (last := newest.get(system, 0)) > revision
    ]


def related_batches(batch: Batch, replaced: Collection[Replaced], *, names_others: bool) -> list[dict[str, Any]]:
    """What the submissions of a batch correct, and what corrected or replaced them since: a sentence, and the other.

    The page of the other says who may read it.

    Args:
        batch: with its submissions.
        replaced: those of them that are.
        names_others: whether the reader may know of the submissions of others; else only that they replaced it.
    """
    correcting = batch.submissions.exclude(corrects=None).select_related("corrects__system", "corrects__batch")
    corrected = Submission.objects.filter(corrects__batch=batch).select_related("corrects__system", "batch")
    past = {Submission.State.ACCEPTED, Submission.State.WITHDRAWN}
    lines = [
        {
            "text": gettext("It corrects earlier scores of %(system)s.") % {"system": row.system.name},
            "uuid": row.corrects.batch.uuid,
        }
        for row in correcting
        if row.corrects
    ]
    lines += [
        {
            "text": gettext("Its scores of %(system)s were corrected.") % {"system": row.corrects.system.name},
            "uuid": row.batch.uuid,
        }
        for row in corrected.order_by("pk")
        if row.corrects and row.state in past
    ]
    later = SubmissionEvent.objects.filter(
        kind=_ACCEPTING, submission__system_id__among=[one.system_id for one in replaced]
    ).filter(revision__in={one.revision_id for one in replaced})
    names: dict[UUID, list[str]] = defaultdict(list)
    for name, uuid in later.values_list("submission__system__name", "submission__batch__uuid") if replaced else ():
        names[uuid].append(shortened(name))
    lines += [
        {
            "text": gettext("Its scores of %(systems)s were replaced by a later submission.")
            % {"systems": in_words(some[:SHOWN_REPLACED], SHOWN_REPLACED, len(some))},
            "uuid": uuid if names_others else None,
        }
        for uuid, some in names.items()
    ]
    return lines


def corrections_of(submission: Submission) -> list[int]:
    """What corrects the submission, what corrects that, and so on, the newest last."""
    corrections: list[int] = []
    newest = [submission.pk]
    while newest:
        newest = list(Submission.objects.filter(corrects__in=newest).order_by("pk").values_list("pk", flat=True))
        corrections += newest
    return corrections


def may_correct(audience: Audience, submission: Submission) -> bool:
    """Whether they may correct this submission, if it holds: its submitter and those who decide."""
    is_theirs = audience.viewer.is_authenticated and submission.batch.uploader_id == audience.viewer.pk
    return audience.may_read and audience.may_submit and (is_theirs or audience.may_moderate)


def correctable(audience: Audience, submission_id: str) -> Correctable:
    """The submission of this number, for anyone who may correct it.

    Raises:
        ValueError: there is none that they may correct.
        HoldsNoMoreError: it was withdrawn, corrected or replaced.
    """
    benchmark = audience.benchmark
    rows = Submission.objects.select_related("system", "batch", "benchmark").filter(benchmark=benchmark)
    try:
        submission = rows.filter(uuid=UUID(submission_id)).first()
    except ValueError:
        submission = None
    if submission is None or not may_correct(audience, submission):
        raise ValueError(NOT_YOURS)
    in_force = holding(benchmark, [submission.system_id])
    held = in_force.get(submission.pk)
    if held is None:
        # The last submission of the same system that holds says more.
        held_ids = [one.submission_id for one in in_force.values() if one.system_id == submission.system_id]
        raise HoldsNoMoreError(Submission.objects.select_related("batch").get(pk=held_ids[-1]) if held_ids else None)
    scores: dict[str, CurrentScore] = {}
    newer: dict[str, CurrentScore] = {}
    keys = dict(benchmark.tasks.values_list("pk", "key"))
    revision = benchmark.revisions.select_related("configuration").latest("number")
    for (_, task), score in current_scores(revision, [submission.system_id]).items():
        (scores if score.submission_id == submission.pk else newer)[keys[task]] = score
    return Correctable(submission, held.is_blank, scores, newer)


def complete_row(corrected: Correctable, row: CheckedRow) -> tuple[CheckedRow, list[tuple[str, str]]]:
    """A checked row that corrects, with what it takes over; and what is wrong with it, as (place, message).

    Scores that it does not mention stay as they were. Of every task whose score is not changed, the standard error,
    the number of instances and the scores of single instances stay, unless it states others.
    """
    submission = corrected.submission
    if row["system"]["name"] and fold_name(row["system"]["name"]) != fold_name(submission.system.name):
        return row, [("system_name", f"the submission that it corrects is of {submission.system.name!r}")]
    problems = [
        (key, "the score on the board is from a later submission; correct that one")
        for key in row["scores"]
        if key in corrected.newer
    ]
    carried = {key: stored_cell(score) for key, score in corrected.scores.items() if key not in row["scores"]}
    measured_anew = row.get("instances", {})
    scores: dict[str, CheckedScore] = {}
    for key, cell in row["scores"].items():
        # A form says every score again, and asks for no details: these do not go because another score was wrong.
        before = corrected.scores.get(key)
        is_unchanged = before is not None and _is_same_score(cell, before) and key not in measured_anew
        scores[key] = stored_cell(before) | cell if before is not None and is_unchanged else cell
    scores |= carried
    done: CheckedRow = {**row, "scores": scores, "corrects": str(submission.uuid), "carried": sorted(carried)}
    instances = dict(measured_anew)
    if not corrected.is_blank:
        rows = InstanceScores.objects.filter(submission=submission).select_related("task", "instance_set")
        known: set[str] = set()
        for kept in rows:
            key = kept.task.key
            before = corrected.scores.get(key)
            if before is not None and key not in measured_anew and _is_same_score(scores.get(key, {}), before):
                instances[key] = entry_of(unpack_names(kept.instance_set.names), unpack_vector(kept.values), known)
                if kept.clusters is not None:
                    instances[key]["clusters"] = base64.b64encode(bytes(kept.clusters)).decode()
    if instances:
        done |= {"instances": instances, "stated_instances": sorted(measured_anew)}
    return done, problems


def stored_cell(score: CurrentScore) -> CheckedScore:
    """A current score as a checked row says it, with everything that is stored of it."""
    if score.value is None:
        return {"missing": score.missing_reason}
    return measured_score(score.value, score.standard_error, score.n_instances)


def _is_same_score(cell: CheckedScore, before: CurrentScore) -> bool:
    return bool("value" in cell and cell["value"] == before.value)


def stated_scores(scores: Mapping[str, CurrentScore | Score]) -> dict[str, str]:
    """Scores by task key as a form states them: numbers, or why there is none."""
    texts = {}
    for key, score in scores.items():
        if score.value is not None:
            texts[key] = repr(score.value).removesuffix(".0")
        elif score.missing_reason not in (WITHDRAWN, Score.MissingReason.NOT_REPORTED):
            texts[key] = in_english(Score.MissingReason(score.missing_reason).label)
    return texts


def corrected_by_number(benchmark: Benchmark, rows: list[CheckedRow]) -> dict[str, Submission]:
    """What checked rows correct, by number."""
    numbers = [row["corrects"] for row in rows if row.get("corrects")]
    submissions = Submission.objects.filter(benchmark=benchmark, uuid__in=numbers) if numbers else ()
    return {str(submission.uuid): submission for submission in submissions}
