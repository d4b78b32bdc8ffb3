"""The tables of a frozen revision's archive: one row an observation, keys in place of names, every digit."""

from collections.abc import Callable
from dataclasses import replace

from django.utils.translation import gettext

from leaderboard.boards.revision_exports import (
    FIGURE_HEADINGS,
    PROSPECT_HEADINGS,
    RANK_HEADINGS,
    Origin,
    interval_cells,
    prospects_export,
    study_export,
)
from leaderboard.common.files import ColumnHead, ExportTable, Value
from leaderboard.common.language.numbers import localise
from leaderboard.models import Baseline, Benchmark, Publication
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import published_board, rank_rows
from leaderboard.rankings.scores import NOT_SUBMITTED, current_scores, systems_at
from leaderboard.rankings.systems import about_systems
from leaderboard.studies.prospects.stored import stored_prospects
from leaderboard.studies.states import study_states
from ranking_engine.files.benchmark_file import DIRECTION_NAMES

MAX_ROWS = 50_000  # of one table: 1,000 systems under 50 rules


class TooManyRowsError(ValueError):
    """A revision that is too large for one archive; the message says why."""


def _systems_table(benchmark: Benchmark, publication: Publication) -> ExportTable:
    """The systems of the board, with what is declared of them: a column `meta:KEY` for each metadata field."""
    fields = benchmark.fields_of_systems
    headings = [
        ColumnHead("key", "Key", is_text=True),
        ColumnHead("name", "Name", is_text=True),
        ColumnHead("organisation", "Organisation", is_text=True),
        ColumnHead("url", "URL", is_text=True),
        ColumnHead("baseline", "Baseline", is_text=True),
        *(ColumnHead(f"meta:{field.key}", field.name, is_text=True) for field in fields),
    ]
    systems = systems_at(publication.revision)
    about = about_systems([system.id for system in systems])
    rows: list[list[Value]] = []
    for system in systems:
        row = about[system.id]
        values = [row.metadata.get(field.key) for field in fields]
        rows.append([
            system.key, system.name, row.organisation or None, row.url or None,
            None if row.baseline == Baseline.NONE else str(row.baseline),
            *(None if value is None else str(value) for value in values),
        ])  # fmt: skip
    return Origin.of(benchmark, publication.revision).export("systems", "systems.", headings, rows)


def _tasks_table(benchmark: Benchmark, publication: Publication) -> ExportTable:
    """The tasks as they counted at the revision; weights and precisions are exact, and so are text."""
    texts = ("key", "name", "group", "group_weight", "metric", "unit", "direction", "weight", "precision", "cluster")
    keys = (*texts[:8], "minimum", "maximum", "chance", *texts[8:])
    headings = [ColumnHead(key, key.replace("_", " ").capitalize(), is_text=key in texts) for key in keys]
    configuration = configuration_of(publication.revision)
    weights = {group.key: group.weight for group in configuration.groups}
    rows: list[list[Value]] = [
        [
            task.key, task.name, task.group, weights.get(task.group or ""), task.metric or None, task.unit or None,
            DIRECTION_NAMES[task.direction], task.weight, task.minimum, task.maximum, task.chance, task.precision,
            task.cluster,
        ]
        for task in configuration.tasks
    ]  # fmt: skip
    return Origin.of(benchmark, publication.revision).export("tasks", "tasks.", headings, rows)


def _scores_table(benchmark: Benchmark, publication: Publication) -> ExportTable:
    """A line for each system and task: its score as reported, or why there is none."""
    headings = [
        ColumnHead("system", "System", is_text=True),
        ColumnHead("task", "Task", is_text=True),
        ColumnHead("value", "Score"),
        ColumnHead("standard_error", "Standard error"),
        ColumnHead("n_instances", "Instances"),
        ColumnHead("missing", "Why no score", is_text=True),
    ]
    revision = publication.revision
    scores, rows = current_scores(revision), list[list[Value]]()
    tasks = configuration_of(revision).tasks
    for system in systems_at(revision):
        for task in tasks:
            score = scores.get((system.id, task.id))
            if score is None:
                rows.append([system.key, task.key, None, None, None, NOT_SUBMITTED])
            else:
                reason = score.missing_reason if score.value is None else None
                rows.append([system.key, task.key, score.value, score.standard_error, score.n_instances, reason])
    return Origin.of(benchmark, revision).export("scores", "scores.", headings, rows)


def _rules_table(benchmark: Benchmark, publication: Publication) -> ExportTable:
    """The rules of the board, and what became of each."""
    headings = [
        ColumnHead("key", "Key", is_text=True),
        ColumnHead("name", "Name", is_text=True),
        ColumnHead("family", "Family", is_text=True),
        ColumnHead("status", "Status", is_text=True),
        ColumnHead("winners", "Winners"),
        ColumnHead("reason", "Why no ranking", is_text=True),
    ]
    rows: list[list[Value]] = [
        [column.rule, column.name, column.family, column.status, column.n_winners, column.reason or None]
        for column in published_board(publication).columns
    ]
    return Origin.of(benchmark, publication.revision).export("rules", "rules.", headings, rows)


def _ranks_table(benchmark: Benchmark, publication: Publication) -> ExportTable:
    """Every system under every rule that ranks, with its intervals; the name of a system is in `systems`."""
    headings = [ColumnHead("rule", "Rule", is_text=True), *(head for head in RANK_HEADINGS if head.key != "name")]
    systems, rows = systems_at(publication.revision), list[list[Value]]()
    for column in published_board(publication).columns:
        if not column.is_ranked:
            continue
        for row in rank_rows(column, systems):
            figures = [row["rank"], row["score"], *interval_cells(row), row["reason"], row["n_predicted"]]
            rows.append([column.rule, row["system"], *figures])
    return Origin.of(benchmark, publication.revision).export("ranks", "ranks under every rule.", headings, rows)


def prospects_table(benchmark: Benchmark, publication: Publication) -> ExportTable:
    """Who can win under which weights, with proofs; no line before that is computed."""
    stored, _ = stored_prospects(publication)
    table = prospects_export(Origin.of(benchmark, publication.revision), stored, all_tasks=False)
    kept = [k for k, heading in enumerate(PROSPECT_HEADINGS) if heading.key != "name"]
    rows = [[row[k] for k in kept] for row in table.rows]
    return replace(table, headings=[PROSPECT_HEADINGS[k] for k in kept], rows=rows)


def _studies_table(benchmark: Benchmark, publication: Publication) -> ExportTable:
    """The figures of every study that is done, a line each."""
    headings = [ColumnHead("study", "Study", is_text=True), *FIGURE_HEADINGS]
    headings[-1] = ColumnHead("value", "Value", is_text=True)  # of numbers, yes and no, and names
    origin = Origin.of(benchmark, publication.revision)
    rows = [
        [state.key, *row]
        for state in study_states(benchmark, publication)
        for row in study_export(origin, publication, state.key, state.name).rows
    ]
    return origin.export("studies", "figures of stability studies.", headings, rows)


Maker = Callable[[Benchmark, Publication], ExportTable]
# By name: what each is, for people, and what makes it.
TABLES: dict[str, tuple[str, Maker]] = {
    "systems": ("The systems of the board.", _systems_table),
    "tasks": ("The tasks, with the direction and the weight of each.", _tasks_table),
    "scores": ("The score of each system on each task, or why there is none.", _scores_table),
    "rules": ("The ranking rules, and what became of each.", _rules_table),
    "ranks": ("The rank of each system under each rule, with rank intervals.", _ranks_table),
    "prospects": ("Which systems can win under some weighting of the tasks, with weights or proofs.", prospects_table),
    "studies": ("Figures of the stability studies.", _studies_table),
}
KEYS = {
    "systems": ("key",),
    "tasks": ("key",),
    "rules": ("key",),
    "scores": ("system", "task"),
    "ranks": ("rule", "system"),
    "prospects": ("system",),
    "instances": ("system", "task", "instance"),
}
REFERENCES = {"system": "systems/key", "task": "tasks/key", "rule": "rules/key"}  # of columns to columns


def check_size(publication: Publication) -> None:
    """Refuse a revision whose tables are too long, before any of them is made.

    Raises:
        TooManyRowsError: it is.
    """
    board = published_board(publication)
    n_systems, n_tasks = len(board.system_ids), len(configuration_of(publication.revision).tasks)
    if n_systems * max(n_tasks, len(board.columns)) > MAX_ROWS:
        raise TooManyRowsError(
            gettext(
                "%(n_systems)s systems with %(n_tasks)s tasks and %(n_rules)s rules are more than the %(most)s rows "
                "that a table of an archive may have; the files of scores and ranks have them one by one"
            )
            % {
                "n_systems": localise(n_systems, ","),
                "n_tasks": localise(n_tasks, ","),
                "n_rules": localise(len(board.columns), ","),
                "most": localise(MAX_ROWS, ","),
            }
        )
