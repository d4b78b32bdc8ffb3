"""What comes in is checked here, row by row, whatever the door: which system is meant, and what its scores are."""

import math
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db.models import Exists, OuterRef
from django.utils import timezone

from leaderboard.access.audience import Audience
from leaderboard.common.language.numbers import localise
from leaderboard.common.language.stored import in_english
from leaderboard.common.names import LOOK_ALIKE, NameForms, NearMisses
from leaderboard.models import Benchmark, Score, Submission, System, Task, TaskReferences
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.submissions.corrections import complete_row, correctable
from leaderboard.submissions.instances.vectors import foreign_sets
from leaderboard.submissions.problems import PartlyReadError
from leaderboard.submissions.rows import CheckedRow, CheckedScore, CheckedSystem, SubmittedRow, measured_score
from ranking_engine.core.decimals import NUMBER, rounded_score
from ranking_engine.files.cell_messages import NOT_REPORTED
from ranking_engine.files.metadata import COLUMN_PREFIX, read_values
from ranking_engine.files.problems import InputError, Problems
from ranking_engine.text.characters import line_problem, lines_problem
from ranking_engine.text.names import fold_name, shorten

FOLDED_LENGTH = 2 * NAME_LENGTH
URL_LENGTH = 500
DESCRIPTION_LENGTH = 5000
MOST = sys.float_info.max
SECRET_REFUSALS = 5  # a user, benchmark and day, of names that are hidden from them
is_web_address = URLValidator(schemes=["http", "https"])
# What may be said in place of a score; "withdrawn" is what a withdrawal says.
MISSING_WORDS: dict[str, str] = {
    in_english(reason.label): reason.value for reason in Score.MissingReason if reason != Score.MissingReason.WITHDRAWN
}


def stated_reason(given: str | float | None) -> str | None:
    """The reason that is in place of a score, as it is stored; None where there is none of MISSING_WORDS."""
    words = re.sub(r"[\s_-]+", " ", given).strip().casefold() if isinstance(given, str) else ""
    return MISSING_WORDS.get(words)


LARGEST_SCORE = 1e100  # in size: squares and products of scores, which studies add up, must be numbers, too


def parse_score(given: str | float | None, task: Task) -> float | None:
    """A score from a text or a number, rounded to 12 significant digits; None where there is none.

    Raises:
        ValueError: it is not a number, beyond `LARGEST_SCORE`, or outside the task's stated range.
    """
    if given is None:
        return None
    text = given.strip() if isinstance(given, str) else repr(given).removesuffix(".0")
    if not text:
        return None
    if isinstance(given, str) and text.casefold() in NOT_REPORTED:
        raise ValueError(f"{text[:40]!r} is not a number; leave the field empty, or write: not reported")
    if isinstance(given, str) and not NUMBER.fullmatch(text):
        with_point = text.replace(",", ".", 1)
        example = with_point if NUMBER.fullmatch(with_point) else "71.3"
        raise ValueError(
            f"{text[:40]!r} is not a number; write {example}, or leave the field empty if there is no score"
        )
    try:
        value = float(given)
    except OverflowError:  # a whole number beyond the greatest float
        value = math.inf
    if not abs(value) <= LARGEST_SCORE:
        raise ValueError(f"{text[:40]!r} is too large to be a score; scores are between -1e100 and 1e100")
    if task.minimum is not None and value < task.minimum:
        raise ValueError(f"{text[:40]} is below {localise(task.minimum, 'g')}, the minimum score of {task.name}")
    if task.maximum is not None and value > task.maximum:
        raise ValueError(f"{text[:40]} is above {localise(task.maximum, 'g')}, the maximum score of {task.name}")
    return rounded_score(value)


def _shared_cause(given: str | float | None, task: Task) -> str:
    """Why many scores of a task are refused, as in "12 ..."; empty where the text of each says it."""
    if not isinstance(given, float) or not math.isfinite(given):
        return ""
    if task.maximum is not None and given > task.maximum:
        return f"scores are above {localise(task.maximum, 'g')}, the maximum score of {task.name}"
    if task.minimum is None:
        return ""
    return f"scores are below {localise(task.minimum, 'g')}, the minimum score of {task.name}"


class OnBoard:
    """The systems of the benchmark's latest revision, read once for everything that an upload is compared with."""

    def __init__(self, benchmark: Benchmark) -> None:
        revision = benchmark.revisions.order_by("-number").first()
        self.systems: list[BoardSystem] = systems_at(revision) if revision else []

    @cached_property
    def by_name(self) -> dict[str, BoardSystem]:
        """Each under its folded name."""
        return {fold_name(system.name): system for system in self.systems}

    @cached_property
    def by_key(self) -> dict[str, BoardSystem]:
        """Each under its key."""
        return {system.key: system for system in self.systems}


def check_rows(
    audience: Audience,
    rows: Sequence[SubmittedRow],
    *,
    on_board: OnBoard | None = None,
    forms: NameForms | None = None,
    suggests: bool = True,
    is_scored_here: bool = False,
) -> list[CheckedRow]:
    """The rows of an upload as a draft keeps them.

    Args:
        audience: who sends them, and where to.
        rows: one per system.
        on_board: the systems there are, where they were read already.
        forms: what names are compared by, where some of it is known already.
        suggests: whether a new name is told the known names that it may be a slip of the pen for.
        is_scored_here: whether the site computed the scores from predictions. No one else than moderators can bring
            scores of tasks whose references are hidden.

    Raises:
        InputError: something in them cannot be stored.
    """
    check = _Check(audience, rows, on_board or OnBoard(audience.benchmark), forms or NameForms(), suggests=suggests)
    if is_scored_here or audience.may_moderate:
        check.only_predicted = frozenset()
    checked = [check.row(row) for row in rows]
    if check.hides_names:
        _tell_of_secrets(check, is_guess=any(row["system"].get("key") is None for row in checked))
    if not rows:
        check.problems.add("rows", "there is no system; an upload needs at least one")
    if not check.problems:
        may_moderate, tells = audience.may_moderate, not audience.is_restricted
        for key, message, line in foreign_sets(audience.benchmark, checked, may_moderate=may_moderate, tells=tells):
            name = check.tasks[key].name
            sentence = message if line else f"{name}: {message}"
            check.problems.add(key, sentence, line=line, place_name=name if line else "")
    if check.problems:
        raise InputError(check.problems)
    return checked


def with_row_problems(audience: Audience, error: PartlyReadError) -> InputError:
    """All that is wrong with a table: what could not be read, and what is wrong with the rows that could."""
    problems = error.problems
    lines = {problem.line for problem in problems.listed}
    try:
        if error.rows:
            check_rows(audience, error.rows, suggests=False)
    except InputError as refusal:
        for problem in refusal.problems.listed:
            # A row whose only scores could not be read is not empty, and a name twice is told by the table.
            if problem.place != "scores" or (problem.line not in lines and 1 not in lines):
                problems.add(
                    problem.place,
                    problem.message,
                    line=problem.line,
                    place_name=problem.place_name,
                    cause=problem.cause,
                )
        problems.n_more += refusal.problems.n_more
    return InputError(problems)


def _tell_of_secrets(check: "_Check", *, is_guess: bool) -> None:
    """Refuse names of systems that are not to be known of: without saying which, and only so often a day.

    A name that is taken cannot be given twice, so that a refusal tells something; so few of them are had that no one
    finds out by guessing who is on the board.

    Args:
        check: with what was found.
        is_guess: whether there is a name in it that its owner brought nothing under before.
    """
    key = f"secret-names:{check.benchmark.pk}:{check.audience.user.pk}:{timezone.now():%Y-%m-%d}"
    is_over = cache.get(key, 0) >= SECRET_REFUSALS
    if check.is_secret_hit and not is_over:
        cache.add(key, 0, 2 * 24 * 3600)
        is_over = cache.incr(key) > SECRET_REFUSALS
    if is_over and (is_guess or check.is_secret_hit):
        check.problems.add("system_name", "too many names were rejected today; try again tomorrow")
    elif check.is_secret_hit:
        check.problems.add("system_name", "a name cannot be used here; choose another one")


class _Check:
    """What every row is compared with, read once."""

    def __init__(
        self, audience: Audience, rows: Sequence[SubmittedRow], on_board: OnBoard, forms: NameForms, *, suggests: bool
    ) -> None:
        self.audience, self.benchmark = audience, audience.benchmark
        self.problems = Problems()
        has_references = Exists(TaskReferences.objects.filter(task=OuterRef("pk")))
        tasks = Task.objects.filter(benchmark=self.benchmark, is_archived=False).annotate(is_predicted=has_references)
        self.tasks = {task.key: task for task in tasks}
        self.only_predicted = frozenset(task.key for task in tasks if task.is_predicted)
        self.least = {key: -MOST if task.minimum is None else task.minimum for key, task in self.tasks.items()}
        self.greatest = {key: MOST if task.maximum is None else task.maximum for key, task in self.tasks.items()}
        self.fields = self.benchmark.fields_of_systems
        self.on_board, self.forms = on_board, forms
        self.hides_names = not audience.sees_board
        self.suggests = suggests and not self.hides_names
        names = []
        for row in rows:
            with suppress(ValueError):  # what is no name is told with its row
                names.append(forms.checked(row.system_name)[1])
        # Systems that were on the board once; one that only waits for a moderator is not shown.
        once = System.objects.filter(benchmark=self.benchmark, changes__isnull=False, name_folded__among=names)
        self.once = dict(once.values_list("name_folded", "pk"))
        self.replaceable = Replaceable(audience)
        self.seen: set[str] = set()
        self.is_secret_hit = False  # whether a row names a system that its owner may not know of

    @cached_property
    def near_misses(self) -> NearMisses:
        """The names that a new one is compared with; comparing is dear, so that known systems do without."""
        known = [system.name for system in self.on_board.systems] if self.suggests else []
        return NearMisses(known, self.forms)

    def row(self, row: SubmittedRow) -> CheckedRow:
        """One row as a draft keeps it; what is wrong with it is noted."""
        system = self.system(row)
        scores: dict[str, CheckedScore] = {}
        n_before = len(self.problems.listed)
        for key, given in row.scores.items():
            task = self.tasks.get(key)
            if task is None:
                self.problems.add(key, f"{key!r} is not a task of {self.benchmark.name}", line=row.line)
                continue
            if key in self.only_predicted and given not in (None, ""):
                message = f"scores of {task.name} come from predictions, which you can submit; leave this score out"
                self.problems.add(key, message, line=row.line, place_name=task.name if row.line else "")
                continue
            if isinstance(given, float) and self.least[key] <= given <= self.greatest[key]:  # as nearly all are
                scores[key] = measured_score(rounded_score(given), *row.details.get(key, (None, None)))
                continue
            if reason := stated_reason(given):
                scores[key] = {"missing": reason}
                continue
            try:
                value = parse_score(given, task)
            except ValueError as error:
                name = task.name if row.line else ""
                self.problems.add(key, str(error), line=row.line, place_name=name, cause=_shared_cause(given, task))
                continue
            if value is None:
                scores[key] = {"missing": Score.MissingReason.NOT_REPORTED}
            else:
                scores[key] = measured_score(value, *row.details.get(key, (None, None)))
        for key in row.instances:
            if "missing" in scores.get(key, {}):
                name = self.tasks[key].name
                self.problems.add(key, f"{name} has scores of single instances but no score of its own", line=row.line)
        is_empty = not any("value" in score for score in scores.values()) and not row.corrects
        if is_empty and system["name"] and len(self.problems.listed) == n_before:
            self.problems.add("scores", "there are no scores; a submission needs at least one", line=row.line)
        checked: CheckedRow = {"system": system, "scores": scores, "line": row.line}
        if row.instances:
            checked["instances"] = dict(row.instances)
        return self.correction(row, checked) if row.corrects else checked

    def correction(self, row: SubmittedRow, checked: CheckedRow) -> CheckedRow:
        """The row with what it takes over from the submission that it corrects."""
        try:
            corrected = correctable(self.audience, row.corrects)
        except ValueError as error:
            self.problems.add("corrects", str(error), line=row.line)
            return checked
        done, problems = complete_row(corrected, checked)
        for place, message in problems:
            self.problems.add(place, message, line=row.line)
        return done

    def system(self, row: SubmittedRow) -> CheckedSystem:
        """Which system is meant: by name, then by key; else a new one, which is to be confirmed. Unnamed where it has
        no name that can be kept."""
        try:
            name, folded = self.forms.checked(row.system_name)
        except ValueError as problem:
            self.problems.add("system_name", str(problem), line=row.line)
            return {"name": ""}
        if len(folded) > FOLDED_LENGTH:  # a ligature is one letter of a name, and three when names are compared
            self.problems.add("system_name", f"the system name {shorten(name)!r} is too long", line=row.line)
            return {"name": ""}
        known = self.on_board.by_name.get(folded) or self.on_board.by_key.get(name)
        full = known.name if known else name
        full_folded = fold_name(full) if known else folded
        if full_folded in self.seen:
            # A key is no way to learn the name that belongs to it, where names are hidden.
            message = (
                f"{name if self.hides_names else full} appears more than once; there can be only one row per system"
            )
            self.problems.add("system_name", message, line=row.line)
        self.seen.add(full_folded)
        known_id = known.id if known else self.once.get(folded)
        if known_id and not self.replaceable(known_id) and self.hides_names:
            self.is_secret_hit = True
        elif not known and (twin := self.near_misses.double(name)):
            self.problems.add("system_name", f"{name!r} and {twin!r} {LOOK_ALIKE}", line=row.line)
        elif known_id and not self.replaceable(known_id):
            self.problems.add(
                "system_name",
                f"{known.name if known else name} was submitted by another account; only that account, a moderator or "
                f"an owner can replace its scores. Choose another name, or ask the benchmark's owners.",
                line=row.line,
                cause="systems were submitted by other accounts; only these, a moderator or an owner can replace their "
                "scores",
            )
        for place, text, most, problem_of in (
            ("organisation", row.organisation, NAME_LENGTH, line_problem),
            ("url", row.url, URL_LENGTH, line_problem),
            ("description", row.description, DESCRIPTION_LENGTH, lines_problem),
        ):
            if len(text) > most:
                self.problems.add(place, f"{len(text)} characters; the limit is {most}", line=row.line)
            elif wrong_text := problem_of(text):
                self.problems.add(place, f"it {wrong_text}", line=row.line)
        if row.url:  # pages make a link of it
            try:
                is_web_address(row.url)
            except ValidationError:
                message = f"{row.url[:40]!r} is not a URL that begins with http:// or https://"
                self.problems.add("url", message, line=row.line)
        metadata, wrong = read_values(self.fields, row.metadata)
        for label, message in wrong:
            self.problems.add(f"{COLUMN_PREFIX}{label}", message, line=row.line, place_name=f"{COLUMN_PREFIX}{label}")
        return {
            "key": known.key if known else None,
            "name": known.name if known else name,
            "organisation": row.organisation,
            "url": row.url,
            "description": row.description,
            "metadata": metadata,
            "near_misses": [] if known else self.near_misses.of(name),
        }


class Replaceable:
    """Whether a user may submit scores for a system that is, or was, on the board.

    Where a moderator decides about every submission and names are open, everyone may propose; else only who brought
    the system onto the board, moderators and owners replace its scores.
    """

    def __init__(self, audience: Audience) -> None:
        self.audience = audience
        is_moderated = audience.benchmark.submission_policy == Benchmark.SubmissionPolicy.MODERATED
        self.all = (is_moderated and audience.sees_board) or audience.may_moderate

    @cached_property
    def own(self) -> set[int]:
        """The systems that the user brought onto the board."""
        states = [Submission.State.ACCEPTED, Submission.State.WITHDRAWN]
        own = Submission.objects.filter(benchmark=self.audience.benchmark, state__in=states)
        return set(own.filter(batch__uploader=self.audience.user).values_list("system_id", flat=True))

    def __call__(self, system_id: int) -> bool:
        """Whether they may for this system."""
        return self.all or system_id in self.own
