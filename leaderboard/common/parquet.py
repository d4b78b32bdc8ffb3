"""Tables as Parquet files."""

import io
from typing import Any

from leaderboard.common.files import ExportTable

CONTENT_TYPE = "application/vnd.apache.parquet"


def export_parquet(table: ExportTable) -> bytes:
    """The table under its keys: numbers as int64 or float64, yes and no as bool, whatever is mixed as text.

    The same rows give the same bytes with the same version of pyarrow.

    Args:
        table: what is written. Its rows are gone through once, and are in memory together.
    """
    import pyarrow as pa  # noqa: PLC0415 -- takes 50 MB, which most processes never need
    from pyarrow import parquet  # noqa: PLC0415

    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.headings)
    arrays = []
    for heading, values in zip(table.headings, columns, strict=True):
        kinds = {type(value) for value in values if value is not None}
        if heading.is_text or str in kinds or (bool in kinds and len(kinds) > 1):
            # As CSV writes them.
            texts = [str(value).lower() if isinstance(value, bool) else value if value is None else str(value)
                     for value in values]  # fmt: skip
            arrays.append(pa.array(texts, pa.string()))
        elif kinds == {bool}:
            arrays.append(pa.array(values, pa.bool_()))
        elif kinds == {int}:
            arrays.append(pa.array(values, pa.int64()))
        else:
            arrays.append(pa.array([None if value is None else float(value) for value in values], pa.float64()))
    buffer: Any = io.BytesIO()
    names = [heading.key for heading in table.headings]
    parquet.write_table(pa.Table.from_arrays(arrays, names=names), buffer)
    return bytes(buffer.getvalue())
