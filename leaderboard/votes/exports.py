"""All accepted votes of a benchmark as a file, which `plurank votes` reads as it is."""

import io
from collections.abc import Iterator

import numpy as np

from leaderboard.access.audience import Audience
from leaderboard.common.files import spreadsheet_csv_lines
from leaderboard.models import VoteBatch, VoteSettings
from leaderboard.votes.queries import open_batches
from ranking_engine.votes.data import BOTH_BAD, FIRST, NO_CATEGORY, SECOND, TIE
from ranking_engine.votes.packing import PackedVotes, unpacked_votes

WINNERS = {FIRST: "model_a", SECOND: "model_b", TIE: "tie", BOTH_BAD: "tie (bothbad)"}
COLUMNS = ("model_a", "model_b", "winner", "category", "prompt_id", "time", "weight")
AT_ONCE = 10_000  # rows that are made to text together


def _stored_batches(audience: Audience) -> Iterator[PackedVotes]:
    """The accepted batches that are open to the reader, oldest first, one in memory at a time."""
    for pk in list(open_batches(audience).order_by("pk").values_list("pk", flat=True)):
        yield unpacked_votes(bytes(VoteBatch.objects.values_list("votes", flat=True).get(pk=pk)))


def column_names(audience: Audience) -> tuple[list[str], list[str]]:
    """The columns of the file, and which of them are covariates: the differences as they are fitted.

    Times and covariates are left out unless every vote has them: a cell without one could not be read again.
    """
    chosen = VoteSettings.objects.get(benchmark=audience.benchmark)
    shared = {"time", *chosen.covariates}
    for batch in _stored_batches(audience):
        own = {"time"} if batch.votes.times is not None else set()
        shared &= own | set(batch.votes.covariate_names)
    voters = ["voter"] if chosen.exports_voters else []
    covariates = [name for name in chosen.covariates if name in shared and name not in COLUMNS]
    return [*(name for name in COLUMNS if name != "time" or "time" in shared), *voters, *covariates], covariates


def columns_of(batch: PackedVotes, names: list[str], covariates: list[str]) -> list[list[object]]:
    """The votes of a batch, column by column; None where a vote does not say it."""
    votes = batch.votes
    n = votes.n_votes
    categories = [None if code == NO_CATEGORY else votes.category_names[code] for code in votes.categories.tolist()]
    columns: dict[str, list[object]] = {
        "model_a": [votes.system_names[i] for i in votes.first.tolist()],
        "model_b": [votes.system_names[i] for i in votes.second.tolist()],
        "winner": [WINNERS[outcome] for outcome in votes.outcomes.tolist()],
        "category": list(categories),
        "prompt_id": _ids(votes.prompts, batch.prompt_ids, n),
        "time": [None] * n if votes.times is None else votes.times.tolist(),
        "weight": votes.weights.tolist(),
        "voter": _ids(votes.voters, batch.voter_ids, n),
    }
    own = {name: votes.covariates[:, k].tolist() for k, name in enumerate(votes.covariate_names)}
    return [
        own.get(name, [None] * n) if name in covariates and name not in columns else columns[name] for name in names
    ]


def vote_lines(audience: Audience) -> Iterator[str]:
    """The votes as lines of CSV, their head first."""
    names, covariates = column_names(audience)
    yield from spreadsheet_csv_lines([names])
    for batch in _stored_batches(audience):
        columns = columns_of(batch, names, covariates)
        for start in range(0, batch.votes.n_votes, AT_ONCE):
            yield from spreadsheet_csv_lines(zip(*(column[start : start + AT_ONCE] for column in columns), strict=True))


def vote_parquet(audience: Audience) -> bytes:
    """The votes as a Parquet file, one group of rows a batch."""
    import pyarrow as pa  # noqa: PLC0415 -- takes 50 MB, which most processes never need
    from pyarrow import parquet  # noqa: PLC0415

    names, covariates = column_names(audience)
    numbers = {"time", "weight", *covariates}
    schema = pa.schema([(name, pa.float64() if name in numbers else pa.string()) for name in names])
    buffer = io.BytesIO()
    with parquet.ParquetWriter(buffer, schema) as writer:
        for batch in _stored_batches(audience):
            columns = columns_of(batch, names, covariates)
            arrays = [pa.array(column, schema.field(name).type) for name, column in zip(names, columns, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return buffer.getvalue()


def _ids(numbers: np.ndarray | None, ids: np.ndarray, n_votes: int) -> list[object]:
    """Hashes as hexadecimal texts; None where a vote has none."""
    if numbers is None:
        return [None] * n_votes
    texts = [f"{number:016x}" for number in ids.tolist()]
    return [texts[k] if k >= 0 else None for k in numbers.tolist()]
