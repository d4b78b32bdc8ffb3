"""Files of votes that someone sends, read in a child process: what is in them may be made to take memory and time."""

from collections.abc import Mapping, Sequence

from ranking_engine.files.problems import InputError, Problems
from ranking_engine.votes.data import Votes
from ranking_engine.votes.reading import Labels, read_labelled_votes


def read_vote_file(
    data: bytes, columns: Mapping[str, str], covariates: Sequence[str], max_votes: int, max_bytes: int
) -> tuple[Votes, Labels] | Problems:
    """Return the votes of a file with what it calls voters and prompts, or what is wrong with it.

    Args:
        data: CSV, JSON lines, a JSON list or Parquet.
        columns: roles by column, where their names do not say them.
        covariates: columns that it must have.
        max_votes, max_bytes: larger files are refused.
    """
    try:
        return read_labelled_votes(
            data, name="the file", columns=columns, covariates=covariates, max_votes=max_votes, max_bytes=max_bytes
        )
    except InputError as error:
        return error.problems
