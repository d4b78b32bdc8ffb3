"""What the columns of a table are: which names the systems, which has scores, errors or counts, which is left out.

Told from names and cells together, for the tables that people export from leaderboards, trackers and data frames. What
could be read in two ways is a doubt, and people are asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ranking_engine.files.cell_messages import number_message
from ranking_engine.files.grids import Row
from ranking_engine.files.metadata import COLUMN_PREFIX
from ranking_engine.files.number_forms import NO_NUMBER, cell_number, mark_of
from ranking_engine.text.names import shorten

# Each with what a page calls it. `stderr` and `n` have behind a colon the column that they are about.
ROLES: Mapping[str, str] = {
    "system": "the systems’ names",
    "score": "scores: the column is a task",
    "stderr": "standard errors of the column",
    "n": "numbers of instances of the column",
    "ignored": "left out",
    "task": "the tasks’ names, one row per score",
    "metric": "names of metrics",
    "split": "names of splits",
    "subset": "names of subsets",
    "revision": "the systems’ revisions",
    "higher_is_better": "true where higher is better",
    "metadata": "what else is known of the systems",
    "repeat": "folds or seeds, whose mean is the score",
    "missing": "why a score is missing",
    "of_system": "scores: the column is a system",
}
LABELS = ("system", "task", "metric", "split", "subset", "revision", "higher_is_better", "repeat", "missing")
ABOUT = ("stderr", "n")
SPREADS = ("ignored", "stderr")
MAX_LOOKED_AT = 2_000  # rows whose cells are looked at
_SYSTEMS = (
    ("system", "model", "models", "systems", "systemname", "modelname"),
    ("teamname", "participantteam", "participantteamname", "team", "runname", "tagsmlflowrunname", "framework",
     "generator", "modelnameorpath", "method", "approach", "algorithm", "agent", "submission", "entry", "name",
     "participant", "username", "user", "classifier", "estimator", "fullname"),
)  # fmt: skip
_TASKS = ("task", "taskname", "dataset", "datasetname", "benchmark", "benchmarkname", "problem", "variable")
_SCORES = ("score", "value", "result", "metricvalue")
_LABELS = {
    "metric": "metric", "metricname": "metric", "split": "split", "subset": "subset", "revision": "revision",
    "higherisbetter": "higher_is_better", "fold": "repeat", "seed": "repeat", "missing": "missing",
}  # fmt: skip
_ERRORS = ("stderr", "standarderror", "stderror", "se", "sem")
_MAX_NAME = 200
_COUNTS = ("n", "ntotal", "ninstances", "numinstances", "numsamples", "nsamples", "numexamples")
_LEFT_OUT = re.compile(
    r"rank|position|place|id|.*id|index|unnamed\d*|.*date|.*time|created|updated|lastsubmission.*|entries|"
    r"submissioncount|teammember.*|.*url|link|license|licence|organi[sz]ation|state|status|notes|tags.*|user|sweep|"
    r"runtime|duration|.*duration|params.*|version|mode|constraint|type|info|utc|seed|appversion|modelscount|avglength|"
    r"artifacturi|votes|knowledgecutoff.*|.*(?:cilower|ciupper|ci95|95ci|ci)|std|stdev|sd|.*(?:std|stdev|stddev)|"
    r"rankub|submissionlink|submitted.*|#"
)
_ERROR_END = re.compile(r"^(.+?)[\s_.\-]*(?:\(?(?:std_?err(?:or)?|standard[\s_]?error|sem?)\)?)$", re.IGNORECASE)
_COUNT_END = re.compile(r"^(.+?)[\s_.]+(?:n|count|n_total|num_samples)$", re.IGNORECASE)
# Tables whose columns are known whole: the columns that tell them, and what is what beyond the general names.
_KNOWN_COLUMNS: Sequence[tuple[frozenset[str], Mapping[str, str]]] = (
    (  # AlpacaEval's leaderboard.csv
        frozenset({"win_rate", "standard_error", "n_total", "avg_length"}),
        {"win_rate": "score", "standard_error": "stderr:win_rate", "n_total": "n:win_rate",
         "length_controlled_winrate": "score", "lc_standard_error": "stderr:length_controlled_winrate",
         "": "system", "name": "system", "discrete_win_rate": "ignored", "n_wins": "ignored", "n_wins_base": "ignored",
         "n_draws": "ignored", "mode": "ignored", "avg_length": "ignored"},
    ),
    (  # results.csv of the AutoML benchmark
        frozenset({"task", "framework", "constraint", "fold", "result"}),
        {"framework": "system", "task": "task", "result": "score", "metric": "metric", "fold": "repeat"},
    ),
    (  # a public leaderboard of Kaggle
        frozenset({"TeamId", "TeamName", "Score"}),
        {"TeamName": "system", "Score": "score"},
    ),
    (  # LMArena's published leaderboards, a row a model and category
        frozenset({"model_name", "rating", "rating_lower", "rating_upper"}),
        {"model_name": "system", "rating": "score", "vote_count": "n:rating", "category": "task"},
    ),
    (  # runs of MLflow
        frozenset({"run_id", "experiment_id", "status"}),
        {"tags.mlflow.runName": "system"},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class TableColumns:
    """What the columns of a table are.

    Attributes:
        names: of the columns, each once.
        roles: of each column, a key of ROLES, for `stderr` and `n` with a column's name behind a colon.
        decimal: the decimal mark of its numbers; empty where that is not clear.
        spread: what a figure after ± or in parentheses is, one of SPREADS.
        doubts: what is not clear, in words; empty where all is.
        example: a number that could be read in two ways; empty where there is none.
    """

    names: Sequence[str]
    roles: Sequence[str]
    decimal: str = "."
    spread: str = "ignored"
    doubts: Sequence[str] = ()
    example: str = ""

    def places(self, role: str) -> list[int]:
        """The columns of a role, from 0."""
        return [place for place, given in enumerate(self.roles) if given.partition(":")[0] == role]

    @property
    def about(self) -> dict[int, dict[str, int]]:
        """By the place of a column with scores, those of its standard errors and counts."""
        of: dict[int, dict[str, int]] = {}
        for place, given in enumerate(self.roles):
            role, _, name = given.partition(":")
            if role in ABOUT and name in self.names:
                of.setdefault(self.names.index(name), {})[role] = place
        return of

    @property
    def is_long(self) -> bool:
        """Whether a column names the tasks."""
        return "task" in self.roles


@dataclass(frozen=True)
class ColumnChoices:
    """What someone said of a table's columns, over what its names and cells say.

    Attributes:
        roles: by the column's name, as in TableColumns.
        decimal: the decimal mark; empty where nothing was said.
        spread: one of SPREADS; empty where nothing was said.
        sheet: of a workbook; empty for the only one with cells.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    decimal: str = ""
    spread: str = ""
    sheet: str = ""

    def problems(self, names: Sequence[str]) -> list[str]:
        """What is wrong with it for a table with these columns."""
        known = set(names)
        listed = ", ".join(repr(shorten(name)) for name in names[:10])
        wrong = []
        for name, given in self.roles.items():
            role, _, of = given.partition(":")
            if name not in known:
                wrong.append(f"there is no column {shorten(name)!r}; there are {listed}")
            elif role not in ROLES:
                wrong.append(f"{shorten(name)!r} cannot be {shorten(given)!r}; expected one of {', '.join(ROLES)}")
            elif role in ABOUT and of not in known:
                wrong.append(
                    f"{shorten(name)!r}: write the column that it is about behind a colon, as {role}:{names[-1]}"
                )
            elif role not in ABOUT and of:
                wrong.append(f"{shorten(name)!r}: only {' and '.join(ABOUT)} are about another column")
        if self.decimal not in ("", ".", ","):
            wrong.append(f"the decimal mark is . or , and not {shorten(self.decimal)!r}")
        if self.spread not in ("", *SPREADS):
            wrong.append(f"figures after ± are one of {', '.join(SPREADS)}, and not {shorten(self.spread)!r}")
        return wrong

    def over(self, suggested: TableColumns) -> TableColumns:
        """What was said, and what was suggested where nothing was; who says what the columns are has no doubts."""
        roles = tuple(self.roles.get(name, role) for name, role in zip(suggested.names, suggested.roles, strict=True))
        columns = replace(
            suggested, roles=roles, decimal=self.decimal or suggested.decimal, spread=self.spread or suggested.spread
        )
        answered = _needed(suggested)  # what is still needed is asked again
        doubts = [] if self.roles else [doubt for doubt in suggested.doubts if doubt not in answered]
        return replace(columns, doubts=tuple(dict.fromkeys([*doubts, *_needed(columns)])))


def headed(rows: Sequence[Row]) -> tuple[list[str], list[Row]]:
    """Return the names of a table's columns, each once, and its other rows; a second line of names is joined to it."""
    header = [" ".join(cell.split()) for cell in rows[0][1]]
    rest = list(rows[1:])
    aggregates = {"mean", "std", "sem", "count", "median", "min", "max", "var", "size"}
    if len(rest) > 1 and (below := {cell.strip().casefold() for cell in rest[0][1][1:]} - {""}) and below <= aggregates:
        # Two lines of names, as data frames write them; below may be a line that names the index alone.
        second = [cell.strip() for cell in rest[0][1]]
        header = [" ".join(part for part in pair if part) for pair in zip(header, second, strict=False)]
        rest = rest[1:]
        if rest[0][1] and not any(cell.strip() for cell in rest[0][1][1:]):
            header[0] = rest[0][1][0].strip()
            rest = rest[1:]
    seen: dict[str, int] = {}
    names = []
    for name in header:
        seen[name] = seen.get(name, 0) + 1
        names.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return names, rest


def columns_of(names: Sequence[str], rows: Sequence[Row]) -> TableColumns:
    """Return what the columns of a table are, as far as names and cells say.

    Args:
        names: of the columns, each once.
        rows: below the header.
    """
    looked_at = [row for _, row in rows[:MAX_LOOKED_AT] if len(row) == len(names)]
    cells = [[row[place] for row in looked_at] for place in range(len(names))]
    are_numbers = []  # at least half of filled cells, with commas read either way; others are slips
    for column in cells:
        filled = [cell for cell in column if cell.strip().casefold() not in NO_NUMBER]
        n_numbers = sum((cell_number(cell) or cell_number(cell, ",")) is not None for cell in filled)
        are_numbers.append(2 * n_numbers >= len(filled))
    roles = _known_roles(names) or _named_roles(names, are_numbers, cells)
    scores = [place for place, role in enumerate(roles) if role in ("score", "of_system")]
    columns = TableColumns(names, roles, mark_of(cell for place in scores for cell in cells[place]))
    if not columns.decimal:
        either = (
            f"line {line}: {row[place].strip()[:20]!r}"
            for line, row in rows[:MAX_LOOKED_AT]
            for place in scores
            if place < len(row) and "," in row[place]
        )
        columns = replace(columns, example=next(either, "'1,250'"))
    doubts = [] if _known_roles(names) else _doubts_of(columns, are_numbers, rows[:MAX_LOOKED_AT])
    return replace(columns, doubts=(*doubts, *_needed(columns)))


def _named(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold()) or ("#" if name.strip() == "#" else "")


def _known_roles(names: Sequence[str]) -> list[str]:
    """The roles in a table of which all columns are known; empty for any other."""
    for telling, roles in _KNOWN_COLUMNS:
        if telling <= set(names):
            return [
                roles.get(name, "score" if name.startswith("metrics.") else "ignored") for name in names
            ]  # another one can be chosen by name
    return []


def _named_roles(names: Sequence[str], are_numbers: Sequence[bool], cells: Sequence[Sequence[str]]) -> list[str]:
    """Return the roles of columns by general names, and by where numbers are."""
    plain = [_named(name) for name in names]
    roles = [""] * len(names)
    for place, name in enumerate(names):
        if name[: len(COLUMN_PREFIX)].casefold() == COLUMN_PREFIX:
            roles[place] = "metadata"
    is_index = bool(plain and not plain[0] and cells[0] and not are_numbers[0] and all(map(str.strip, cells[0])))
    first = 0 if is_index else None  # the index of a data frame
    system = next((plain.index(name) for names_of in _SYSTEMS for name in names_of if name in plain), first)
    if system is not None:
        roles[system] = "system"
    task = next((plain.index(name) for name in _TASKS if name in plain), None)
    is_long = task is not None and task != system and not are_numbers[task]
    others = [place for place, role in enumerate(roles) if place not in (task, system) and role != "metadata"]
    if is_long and task is not None:
        roles[task] = "task"
        # A table with the tasks in its rows and a column for each system names no score.
        named_scores = [place for place in others if plain[place] in _SCORES]
        if system is None and not named_scores:
            return [
                role or ("of_system" if are_numbers[place] and not _LEFT_OUT.fullmatch(plain[place]) else "ignored")
                for place, role in enumerate(roles)
            ]
        for place in named_scores[:1]:
            roles[place] = "score"
        for place in others:
            if (role := _LABELS.get(plain[place])) and role not in roles:
                roles[place] = role
    folded = {name.casefold(): name for name in names}
    for place in others:
        if not roles[place]:
            role = about_role(names[place], plain[place], folded)
            if not role and is_long and any(name in _SCORES for name in plain):
                role = "ignored"  # the score has a column of its own
            is_score = are_numbers[place] and names[place] and not _LEFT_OUT.fullmatch(plain[place])
            roles[place] = role or ("score" if is_score else "ignored")
    # A column that is only called standard error is about the only one with scores, else about the one before it.
    for place, role in enumerate(roles):
        if role in ABOUT:
            before = [other for other, one in enumerate(roles[: place if not is_long else None]) if one == "score"]
            roles[place] = f"{role}:{names[before[-1]]}" if before else "ignored"
    return roles


def about_role(name: str, plain: str, folded: Mapping[str, str]) -> str:
    """The role of a column with errors or counts, with the column that they are about where its name says that."""
    if len(name) > _MAX_NAME:  # longer ones are refused; the patterns would take the square of their length
        return ""
    for end, role, alone in ((_ERROR_END, "stderr", _ERRORS), (_COUNT_END, "n", _COUNTS)):
        match = end.fullmatch(name)
        if match and (of := folded.get(match[1].casefold())) and of != name:
            return f"{role}:{of}"
        if plain in alone:
            return role
    return ""


def _doubts_of(columns: TableColumns, are_numbers: Sequence[bool], rows: Sequence[Row]) -> list[str]:
    """What has to be asked of a table that is not known whole.

    Of a column that may have scores, the first cell without a number is named: where it is a slip, that cell is wrong.
    """
    doubts = []
    names, system = columns.names, columns.places("system")
    plain = [_named(name) for name in names]
    if system and plain[system[0]] not in (*_SYSTEMS[0], ""):
        doubts.append(f"the column {shorten(names[system[0]])!r} may not be the systems")
    unsure = [
        place
        for place, role in enumerate(columns.roles)
        if role == "ignored" and (are_numbers[place] or not columns.is_long) and not plain[place].startswith("unnamed")
        and (names[place] or place)
    ]  # fmt: skip
    if unsure:
        listed = []
        for place in unsure[:5]:
            filled = (
                (line, row[place].strip())
                for line, row in rows
                if len(row) == len(names) and row[place].strip().casefold() not in NO_NUMBER
            )
            slip = next(
                (
                    f" (line {line}: {number_message(cell)})"
                    for line, cell in filled
                    if cell_number(cell) is None and cell_number(cell, ",") is None
                ),
                "",
            )
            listed.append(f"{shorten(names[place])!r}{slip}")
        count = f"{len(unsure)} column{'s' if len(unsure) > 1 else ''}"
        doubts.append(f"{count} may have scores or not: {', '.join(listed)}")
    about_nearest = [
        name for name, role in zip(names, columns.roles, strict=True)
        if role.startswith(ABOUT) and ":" in role and _named(name) in (*_ERRORS, *_COUNTS)
    ]  # fmt: skip
    if about_nearest and len(columns.places("score")) > 1:
        doubts.append(f"{shorten(about_nearest[0])!r} does not say which column it is about")
    scores = {names[place] for place in (*columns.places("score"), *columns.places("of_system"))}
    if repeated := [name for name in names if name in scores and f"{name} (2)" in scores]:
        doubts.append(f"two columns are called {shorten(repeated[0])!r}; the second is {shorten(repeated[0])} (2) here")
    return doubts


def _needed(columns: TableColumns) -> list[str]:
    """What no table can be read without."""
    doubts = []
    scores, by_system = columns.places("score"), columns.places("of_system")
    if not (scores or by_system):
        doubts.append("no column has scores")
    if scores and by_system:
        doubts.append("columns are either tasks or systems")
    doubts += [f"two columns have {ROLES[role]}" for role in LABELS if len(columns.places(role)) > 1]
    if scores and not columns.places("system") and not columns.is_long:
        doubts.append("no column names the systems")
    if by_system and (columns.places("system") or not columns.is_long):
        doubts.append("where columns are systems, one column has the tasks’ names and none the systems’")
    if not columns.decimal:
        doubts.append(f"{columns.example} may be a decimal number or a large one")
    return doubts
