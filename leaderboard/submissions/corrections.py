"""Corrections: which submission may be corrected, by whom, and what of it a correction takes over.

A correction is a submission like any other that names the one it corrects. It stands in that one's place, so what it
does not mention stays as it was (`selectors.scores`, "in force").
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from leaderboard.access.audience import Audience
from leaderboard.models import Benchmark, InstanceScores, Score, Submission
from leaderboard.rankings.scores import WITHDRAWN, CurrentScore, InForce, current_scores, submissions_in_force
from leaderboard.submissions.instances.vectors import entry_of, unpack_names, unpack_vector
from ranking_engine.text.names import fold_name

NOT_YOURS = "no submission of this number stands here that you may correct"
SAY_WHY = "Say in the note what was wrong: a correction is shown with its reason."


@dataclass(frozen=True)
class Correctable:
    """A submission that may be corrected, as it stands."""

    submission: Submission
    is_blank: bool  # a withdrawn correction: its scores are missing until they are corrected
    scores: dict[str, CurrentScore] = field(default_factory=dict)  # the current ones that come from it, by task key
    newer: dict[str, CurrentScore] = field(default_factory=dict)  # those that a later submission brought


class HoldsNoMoreError(ValueError):
    """A submission that cannot be corrected, because it is not what holds; `holder` is, where anything is."""

    def __init__(self, holder: Submission | None) -> None:
        super().__init__("this submission holds no more: it was withdrawn, corrected already or replaced; "
                         "correct the one that holds now")  # fmt: skip
        self.holder = holder


def holding(benchmark: Benchmark, system_ids: Iterable[int]) -> dict[int, InForce]:
    """What holds of some systems on the latest board, by submission: where rows are replaced, the last of each."""
    revision = benchmark.revisions.order_by("-number").select_related("configuration").first()
    held = submissions_in_force(revision, system_ids) if revision else []
    if benchmark.replacement == Benchmark.Replacement.ROW:
        held = list({one.system_id: one for one in held}.values())
    return {one.submission_id: one for one in held}


def may_correct(audience: Audience, submission: Submission) -> bool:
    """Whether they may correct this submission, if it holds: its submitter and those who decide."""
    is_theirs = audience.viewer.is_authenticated and submission.batch.uploader_id == audience.viewer.pk
    return audience.may_read and audience.may_submit and (is_theirs or audience.may_moderate)


def correctable(audience: Audience, number: str) -> Correctable:
    """The submission of this number, for whoever may correct it.

    Raises:
        ValueError: there is none that they may correct.
        HoldsNoMoreError: it was withdrawn, corrected or replaced.
    """
    benchmark = audience.benchmark
    rows = Submission.objects.select_related("system", "batch", "benchmark")
    submission = rows.filter(benchmark=benchmark, uuid=number).first() if _is_uuid(number) else None
    if submission is None or not may_correct(audience, submission):
        raise ValueError(NOT_YOURS)
    in_force = holding(benchmark, [submission.system_id])
    held = in_force.get(submission.pk)
    if held is None:
        raise HoldsNoMoreError(_holder(submission, in_force))
    scores: dict[str, CurrentScore] = {}
    newer: dict[str, CurrentScore] = {}
    keys = dict(benchmark.tasks.values_list("pk", "key"))
    revision = benchmark.revisions.select_related("configuration").latest("number")
    for (_, task), score in current_scores(revision, [submission.system_id]).items():
        (scores if score.submission_id == submission.pk else newer)[keys[task]] = score
    return Correctable(submission, held.is_blank, scores, newer)


def _holder(submission: Submission, in_force: dict[int, InForce]) -> Submission | None:
    """The last submission that holds of the same system."""
    found = [one.submission_id for one in in_force.values() if one.system_id == submission.system_id]
    return Submission.objects.select_related("batch").get(pk=found[-1]) if found else None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def complete_row(found: Correctable, row: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """A checked row that corrects, with what it takes over; and what is wrong with it, as (place, message).

    Scores that it does not mention stay as they were. Of every task whose score is not changed, the standard error,
    the number of instances and the scores of single instances stay, unless it states others.
    """
    submission = found.submission
    if row["system"] and fold_name(row["system"]["name"]) != fold_name(submission.system.name):
        return row, [("system_name", f"the submission that it corrects is of {submission.system.name!r}")]
    problems = [
        (key, "a later submission brought the score that holds; correct that one")
        for key in row["scores"]
        if key in found.newer
    ]
    carried = {key: stored_cell(score) for key, score in found.scores.items() if key not in row["scores"]}
    measured_anew = row.get("instances", {})
    restated = {
        key: cell if key in measured_anew else _with_details(cell, found.scores.get(key))
        for key, cell in row["scores"].items()
    }
    scores = restated | carried
    instances = row.get("instances", {}) | _kept_instances(found, scores, set(row.get("instances", {})))
    done = row | {"scores": scores, "corrects": str(submission.uuid), "carried": sorted(carried)}
    stated = sorted(row.get("instances", {}))
    return done | {"instances": instances, "stated_instances": stated} if instances else done, problems


def stored_cell(score: CurrentScore) -> dict[str, Any]:
    """A current score as a checked row says it, with everything that is stored of it."""
    if score.value is None:
        return {"missing": score.missing_reason}
    details = {"standard_error": score.standard_error, "n_instances": score.n_instances}
    return {"value": score.value} | {name: told for name, told in details.items() if told is not None}


def _with_details(cell: dict[str, Any], before: CurrentScore | None) -> dict[str, Any]:
    """A stated score; where it is the one that holds, with the details that it does not state anew.

    A form says every score again, and asks for no details: these do not go because another score was wrong.
    """
    if before is None or not _is_same_score(cell, before):
        return cell
    return stored_cell(before) | cell


def _is_same_score(cell: dict[str, Any], before: CurrentScore) -> bool:
    return bool("value" in cell and cell["value"] == before.value)


def _kept_instances(found: Correctable, scores: dict[str, Any], stated: set[str]) -> dict[str, Any]:
    if found.is_blank:
        return {}
    rows = InstanceScores.objects.filter(submission=found.submission).select_related("task", "instance_set")
    known: set[str] = set()
    kept = {}
    for row in rows:
        key = row.task.key
        before = found.scores.get(key)
        if before is not None and key not in stated and _is_same_score(scores.get(key, {}), before):
            kept[key] = entry_of(unpack_names(row.instance_set.names), unpack_vector(row.values), known)
    return kept


def stated_scores(found: Correctable) -> dict[str, str]:
    """The current scores as a form states them, by task key: numbers, or why there is none."""
    stated = {}
    for key, score in found.scores.items():
        if score.value is not None:
            stated[key] = repr(score.value).removesuffix(".0")
        elif score.missing_reason not in (WITHDRAWN, Score.MissingReason.NOT_REPORTED):
            stated[key] = Score.MissingReason(score.missing_reason).label
    return stated


def corrected_by_number(benchmark: Benchmark, rows: list[dict[str, Any]]) -> dict[str, Submission]:
    """What checked rows correct, by number."""
    numbers = [row["corrects"] for row in rows if row.get("corrects")]
    found = Submission.objects.filter(benchmark=benchmark, uuid__in=numbers) if numbers else ()
    return {str(submission.uuid): submission for submission in found}
