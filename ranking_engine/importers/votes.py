"""Votes on pairs of systems, as CSV, JSON lines or a JSON list: categories become tasks, ratings their scores.

The columns are those of Chatbot Arena's files, or of plain tables; see `ranking_engine.votes.columns`. A score is the
rating of Bradley and Terry's model in points, a tie as half a win, from all votes of the file in that category.
"""

import numpy as np

from ranking_engine.files.problems import InputError
from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import MAX_RECORDS, Collector, Record
from ranking_engine.votes.categories import category_scores
from ranking_engine.votes.columns import NEEDED, ONE_HOT, ROLES, column_key
from ranking_engine.votes.flips import fewest_votes
from ranking_engine.votes.reading import read_votes
from ranking_engine.votes.report import flip_report, flip_sentence

MAX_VOTES = 200_000
MAX_WORK = 400_000_000  # the sum over categories of the cube of the number of systems: 50 categories of 200 systems
HEAD = 20_000  # characters in which the names of columns have to be
LEAST_WORK = 2_000_000  # of a category, however few its systems
MAX_FLIP_SYSTEMS = 100  # for which it is said how few votes decide the first place
MIN_VOTES = 10  # of a system, for a standard error: few votes that agree look more certain than they are
METRIC = "points"


def recognise(files: list[SourceFile]) -> bool:
    """Whether it is one file, and its columns name two systems and who won."""
    if len(files) != 1 or files[0].kind not in ("table", "lines", "json"):
        return False
    file = files[0]
    head = file.text[:HEAD].lstrip()
    if file.kind == "table":
        line = head.split("\n", 1)[0].strip()
        mark = max(",;\t", key=line.count)
        names = [cell.strip().strip('"') for cell in line.split(mark)]
    else:
        # The first object; what is in it may be long, so that names are searched for and it is not parsed.
        names = [name for role in NEEDED for name in ROLES[role] if f'"{name}"' in head]
        names += [name for name in ONE_HOT if f'"{name}"' in head]
    keys = {column_key(name) for name in names}
    # Names such as `a` alone say too little: systems are named as systems or models.
    has_pair = any({f"{word}_a", f"{word}_b"} <= keys for word in ("model", "system"))
    return has_pair and bool(keys & {*ROLES["winner"]} or keys >= {*ONE_HOT})


def _read_file(collect: Collector, file: SourceFile) -> None:
    votes = read_votes(file.data, name=file.name, max_votes=MAX_VOTES, formats=("csv", "jsonl", "json"))
    work = n_ratings = 0
    for category in np.unique(votes.categories):
        is_in = votes.categories == category
        n_systems = len(np.unique(np.concatenate([votes.first[is_in], votes.second[is_in]])))
        n_ratings += n_systems
        work += max(LEAST_WORK, n_systems**3)
    if work > MAX_WORK or n_ratings > MAX_RECORDS:
        raise InputError.of(
            "too many systems and categories to rate at once; rate them with `plurank votes FILE --scores scores.csv`, "
            "and import scores.csv"
        )
    try:
        scores = category_scores(votes)
    except ValueError as error:
        raise InputError.of(str(error)) from error
    errors = scores.board_errors
    for t, task in enumerate(scores.matrix.task_names):
        for i, system in enumerate(scores.matrix.system_names):
            value, deviation = float(scores.matrix.values[i, t]), float(errors[i, t])
            if np.isnan(value):
                continue
            n_votes = int(scores.n_of_systems[i, t])
            collect.add(
                Record(
                    system=collect.label(system, "system", ""),
                    task=collect.label(task, "category", ""),
                    metric=METRIC,
                    value=value,
                    standard_error=deviation if n_votes >= MIN_VOTES and deviation > 0 else None,
                    n=n_votes,
                    higher_is_better=True,
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                )
            )
    n_ties = int((votes.outcomes >= 2).sum())
    collect.note(
        f"{votes.n_votes:,} votes, {n_ties:,} of them ties: scores are ratings in points (mean 1000, odds of 10 to 1 "
        "are 400) by the model of Bradley and Terry, a tie as half a win; the votes themselves are not kept"
    )
    if votes.n_systems <= MAX_FLIP_SYSTEMS:
        first_place = flip_report(fewest_votes(votes, max_tried=0), votes.system_names)
        collect.note(f"first place over all votes: {flip_sentence(first_place)}")
    for name, problem in scores.problems.items():
        collect.note(f"{name}: {problem}")


FORMAT = Format("votes", "Votes on pairs of systems", recognise, file_by_file(_read_file), takes_one_file=True)
