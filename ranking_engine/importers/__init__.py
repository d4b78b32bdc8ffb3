"""Result files of other programs, read into records of one shape: one module per format.

Reading stores nothing and needs no benchmark: `leaderboard.submissions.imports` compares the records with one, and
`plurank.read` makes a board from them.
"""

from collections.abc import Sequence
from typing import Protocol

from ranking_engine.files.problems import InputError
from ranking_engine.importers import (
    benchmark_folder,
    bigbench,
    csv_long,
    csv_wide,
    eval_results,
    helm_run,
    helm_table,
    lighteval,
    lm_eval,
    model_card,
    mteb,
    opencompass,
)
from ranking_engine.importers.documents import SourceFile, check_files
from ranking_engine.importers.records import (
    MAX_PROBLEMS,
    UNSHOWABLE,
    Recognised,
    Record,
    problem_in,
)

__all__ = ["FORMATS", "Recognised", "Record", "SourceFile", "read_results"]


class Format(Protocol):
    """What the module of a format offers."""

    KEY: str
    NAME: str

    def recognise(self, files: list[SourceFile]) -> bool:
        """Whether every file is of this format."""

    def read(self, files: list[SourceFile]) -> Recognised:
        """The scores of the files."""


# In the order in which they are tried: what says most of itself first, the plainest table last.
FORMATS: Sequence[Format] = (
    benchmark_folder,
    lighteval,
    lm_eval,
    helm_run,
    helm_table,
    mteb,
    bigbench,
    model_card,
    eval_results,
    opencompass,
    csv_long,
    csv_wide,
)


def read_results(files: Sequence[SourceFile], key: str = "") -> Recognised:
    """What the files say, whatever the format; all have to be of the same one.

    Args:
        files: with their names.
        key: of the one format that they are to be read as; the first that they are of where empty.

    Raises:
        InputError: they are of none, of several, not of the one that is asked for, or broken; it says where.
    """
    chosen = [SourceFile(UNSHOWABLE.sub("_", file.name)[-255:] or "file", file.data) for file in files]
    check_files(chosen)
    if key:
        file_format = next((one for one in FORMATS if key == one.KEY), None)
        if file_format is None:
            raise InputError.of(
                f"there is no importer {key[:40]!r}; the importers are {', '.join(f.KEY for f in FORMATS)}"
            )
        if not file_format.recognise(chosen):
            raise InputError.of(f"these files are not in the format {file_format.NAME}")
    else:
        file_format = _format_of(chosen)
    if file_format is not None:
        recognised = file_format.read(chosen)
        _check_twice(recognised)
        return recognised
    kinds = {}
    for file in chosen:
        alone = _format_of([file])
        if alone is None:
            raise file.refused("the format of these files is not supported")
        kinds[alone.NAME] = file.name
    listed = ", ".join(f"{name} reads as {kind}" for kind, name in kinds.items())
    raise InputError.of(f"these files are of several formats: {listed}; import them one after another")


def _format_of(files: list[SourceFile]) -> Format | None:
    return next((one for one in FORMATS if one.recognise(files)), None)


def _check_twice(recognised: Recognised) -> None:
    """Refuse two scores of one system on the same task, split, subset and metric, and directions at odds."""
    first: dict[tuple[str, ...], Record] = {}
    directions: dict[tuple[str, ...], bool] = {}
    problems = []
    for record in recognised.records:
        what = ", ".join(part for part in record.column if part)
        key = (record.system, record.revision, *record.column)
        if key in first:
            message = f"a second score of {record.system or 'the model'} on {what}; the first is in {first[key].source}"
            problems.append(problem_in(message, record.source))
        first.setdefault(key, record)
        better = record.higher_is_better
        if better is not None and directions.setdefault(record.column, better) != better:
            problems.append(problem_in(f"{what}: two files disagree whether higher is better", record.source))
    if problems:
        raise InputError(problems[:MAX_PROBLEMS])
