"""Predictions that compete for one place on the board, and which of them has it by the newest references.

Where the best submission counts, one that was skipped, or that a better one replaced, may be the best by corrected
references. So all of a contest are scored again, and decided on again in their order, as if these references had been
there from the start.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from leaderboard.evaluation.board_moves import decide_after
from leaderboard.evaluation.entering import enter, is_complete, problems_as_json, require_may_enter
from leaderboard.evaluation.notices import tell_of_entering
from leaderboard.evaluation.phases import has_ladder
from leaderboard.models import Benchmark, Phase, PredictionFile, PredictionSubmission, Submission
from leaderboard.rankings.scores import current_scores
from leaderboard.submissions.corrections import holding
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.queries import OFF_BOARD
from ranking_engine.files.problems import InputError, Problem
from ranking_engine.text.names import fold_name

State = PredictionSubmission.State


@dataclass(frozen=True)
class Contenders:
    """Scored predictions of one system, or with the Ladder of one team, in one phase.

    Attributes:
        rows: in the order in which they were decided on first; a later decision moves one to the end.
        on_board: those whose scores are on the board.
        is_open: whether others of them may get onto the board now. Not where all were withdrawn, nor while one waits
            for a decision.
    """

    rows: list[PredictionSubmission] = field(default_factory=list)
    on_board: list[PredictionSubmission] = field(default_factory=list)
    is_open: bool = False


def contests_of(benchmark: Benchmark) -> list[Contenders]:
    """All contests of a benchmark."""
    rows = PredictionSubmission.objects.filter(benchmark=benchmark, is_trial=False, state=State.SCORED)
    rows = rows.select_related("submission", "phase", "submitter", "benchmark").order_by("scored_at", "pk")
    uses_ladder = has_ladder(benchmark)
    contests: dict[tuple[object, ...], list[PredictionSubmission]] = {}
    for row in rows:
        whose = ("team", row.team_id) if row.team_id else ("person", row.submitter_id)
        name = "" if uses_ladder else fold_name(row.system_name)
        contests.setdefault((row.phase_id, *whose, name), []).append(row)
    held = holding(benchmark, {row.submission.system_id for row in rows if row.submission})
    contenders = []
    for among in contests.values():
        on_board = [row for row in among if row.submission_id in held]
        states = {row.submission.state for row in among if row.submission}
        is_open = states <= {Submission.State.ACCEPTED, *OFF_BOARD} and bool(on_board or not states)
        phase, kept = among[0].phase, among
        if phase and phase.counts == Phase.Counts.LAST and not uses_ladder:  # what was skipped had no score at all
            kept = [row for row in among if row.submission is None or row in on_board]
        elif not uses_ladder:  # what the Ladder said of a system stays said when that is withdrawn
            kept = [row for row in among if row.submission is None or row.submission.state not in OFF_BOARD]
        contenders.append(Contenders(kept, on_board, is_open))
    return contenders


def decide_again(benchmark: Benchmark, scored_again: Collection[int], unchanged: Collection[int]) -> None:
    """Enter what has a place on the board by the newest references. Call while the benchmark is locked.

    Args:
        benchmark: whose scores on the board are corrected already.
        scored_again: the primary keys of the predictions.
        unchanged: those of them whose scores on the board could not be corrected: their contests stay as they are.
    """
    uses_ladder = has_ladder(benchmark)
    for contest in contests_of(benchmark):
        if not contest.is_open or not any(row.pk in scored_again for row in contest.rows):
            continue
        files = {row.pk: list(row.files.select_related("task").defer("content")) for row in contest.rows}
        incomplete = {row.pk for row in contest.rows if not is_complete(row, files[row.pk])}
        if not any(row.pk in incomplete or row.pk in unchanged for row in contest.on_board):
            for row in contest.rows:
                row.benchmark = benchmark
            rows = [row for row in contest.rows if row.pk not in incomplete]
            _decide_in_order(benchmark, rows, files, uses_ladder=uses_ladder)


def _decide_in_order(
    benchmark: Benchmark,
    rows: list[PredictionSubmission],
    files: dict[int, list[PredictionFile]],
    *,
    uses_ladder: bool,
) -> None:
    """Decide on the submissions of a contest one after the other, and enter what counts and is not on the board.

    Args:
        benchmark: whose board.
        rows: in their order, scored against the newest references.
        files: of each.
        uses_ladder: whether a paired test decides.
    """
    moves = {}
    counted: list[PredictionSubmission] = []  # the newest first
    for row in rows:
        before = [files[one.pk] for one in counted]
        move = decide_after(row, files[row.pk], before, uses_ladder=uses_ladder)
        if move.scores is not None:
            moves[row.pk] = move.scores, move.sentence
            counted.insert(0, row)
        elif row.submission is None and row.outcome != move.sentence:
            PredictionSubmission.objects.filter(pk=row.pk).update(outcome=move.sentence)
    for row in _misplaced(benchmark, rows, counted, files):
        scores, row.outcome = moves[row.pk]
        try:
            with transaction.atomic():
                require_may_enter(row, files[row.pk])
                row.submission = enter(row, files[row.pk], scores)
        except InputError as error:
            problems = error.problems.listed
        except SubmissionError as error:
            problems = [Problem(str(error))]
        else:
            row.scored_at = timezone.now()
            row.save(update_fields=["submission", "scored_at", "outcome"])
            tell_of_entering(row)
            continue
        PredictionSubmission.objects.filter(pk=row.pk).update(problems=problems_as_json(problems))
        return
    # The Ladder compares with the newest of all systems of a team, whichever are on the board.
    newest = max((row for row in rows if row.submission), key=lambda row: (row.scored_at, row.pk), default=None)
    if counted and counted[0].submission and counted[0] != newest:
        PredictionSubmission.objects.filter(pk=counted[0].pk).update(scored_at=timezone.now())


def _misplaced(
    benchmark: Benchmark,
    rows: Iterable[PredictionSubmission],
    counted: Iterable[PredictionSubmission],
    files: dict[int, list[PredictionFile]],
) -> list[PredictionSubmission]:
    """What has to enter so that the board shows what counts, in the order in which it does.

    Args:
        benchmark: whose board.
        rows: of a contest.
        counted: those of them that move the board, the newest first.
        files: of each.
    """
    by_task = benchmark.replacement == Benchmark.Replacement.TASK
    providers: dict[str, list[PredictionSubmission]] = {}  # by system, the newest first
    places: dict[tuple[str, int], PredictionSubmission] = {}
    for row in counted:
        name = fold_name(row.system_name)
        tasks = [file.task_id for file in files[row.pk] if (name, file.task_id) not in places]
        if tasks and (by_task or name not in providers) and not (row.submission and row.submission.state in OFF_BOARD):
            providers.setdefault(name, []).append(row)
            places |= {(name, task): row for task in tasks}
    ours = {row.submission_id: row for row in rows if row.submission_id}
    systems = {row.submission.system_id: fold_name(row.system_name) for row in rows if row.submission}
    revision = benchmark.revisions.select_related("configuration").order_by("-number").first()
    current = {
        (systems[system], task): score.submission_id
        for (system, task), score in (current_scores(revision, systems) if systems and revision else {}).items()
    }
    wrong = {
        row.pk
        for place, row in places.items()
        if place not in current or (current[place] in ours and current[place] != row.submission_id)
    }
    entering: list[PredictionSubmission] = []
    for newest_first in providers.values():
        in_order = newest_first[::-1]
        first = next((k for k, row in enumerate(in_order) if row.pk in wrong), len(in_order))
        entering += in_order[first:]
    return sorted(entering, key=lambda row: (row.scored_at, row.pk))
