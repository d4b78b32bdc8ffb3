"""What the pages of an import send back to the site: what was recognised, and the files themselves, signed.

Between the page that shows what was recognised and its answer nothing is stored.
"""

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.conf import settings
from django.core import signing

from leaderboard.models import Benchmark, User
from ranking_engine.files.problems import InputError
from ranking_engine.importers.records import Instances
from ranking_engine.importers.results_table import FileColumn, Import

MAX_PACKED = 2_000_000  # characters; the page sends them back beside its other fields


def packed(results: Import, benchmark: Benchmark, user: User) -> str:
    """The import as a text that only this user can send back to this benchmark.

    Raises:
        InputError: it is too long for a form.
    """
    columns = [[c.task, c.split, c.subset, c.metric, c.higher_is_better, c.aside] for c in results.columns]
    names: dict[tuple[str, ...], int] = {}  # of instances, which many scores share
    for one in results.instances.values():
        names.setdefault(one.names, len(names))
    content = [
        results.format_name,
        results.systems,
        columns,
        results.cells,
        results.sources,
        results.notes,
        results.warnings,
        results.metadata,
        results.format_key,
        list(names),
        [
            [s, c, names[one.names], one.values.tolist(), list(one.clusters)]
            for (s, c), one in results.instances.items()
        ],
        [[s, c, word] for (s, c), word in results.missing.items()],
    ]
    text = signing.dumps(content, salt=_salt(benchmark, user), compress=True)
    if len(text) > MAX_PACKED:
        raise InputError.of("these files contain too many scores to show at once; import them in parts")
    return text


def unpacked(text: str, benchmark: Benchmark, user: User) -> Import | None:
    """What `packed` packed; None where it did not, or too long ago."""
    try:
        content: Any = signing.loads(text, salt=_salt(benchmark, user), max_age=settings.DRAFT_DAYS * 24 * 3600)
    except signing.BadSignature:
        return None
    name, systems, columns, cells, sources, notes, warnings, metadata, key, names, instances, missing = content
    return Import(
        name,
        [(system, revision) for system, revision in systems],
        [FileColumn(*column) for column in columns],
        [(s, c, value, error, n) for s, c, value, error, n in cells],
        [(source, raw_hash) for source, raw_hash in sources],
        notes,
        warnings,
        metadata,
        key,
        {
            (s, c): Instances(tuple(names[place]), np.array(values, float), *map(tuple, clusters))
            for s, c, place, values, *clusters in instances
        },
        {(s, c): word for s, c, word in missing},
    )


def packed_files(files: Sequence[tuple[str, bytes]], benchmark: Benchmark, user: User) -> str:
    """Files as a text that only this user can send back to this benchmark.

    Raises:
        InputError: it is too long for a form.
    """
    content = [[name, base64.b85encode(zlib.compress(data)).decode()] for name, data in files]
    text = signing.dumps(content, salt=f"files:{_salt(benchmark, user)}")
    if len(text) > MAX_PACKED:
        raise InputError.of(
            "it is not clear what the columns of this table are, and it is too large to ask; call the column with the "
            "systems `system`, and leave out what is no score"
        )
    return text


def unpacked_from_page(text: str, benchmark: Benchmark, user: User) -> list[tuple[str, bytes]] | None:
    """The files that `packed_files` packed; None where it did not, or too long ago."""
    max_age = settings.DRAFT_DAYS * 24 * 3600
    try:
        content: Any = signing.loads(text, salt=f"files:{_salt(benchmark, user)}", max_age=max_age)
    except signing.BadSignature:
        return None
    return [(name, zlib.decompress(base64.b85decode(packed_data))) for name, packed_data in content]


def _salt(benchmark: Benchmark, user: User) -> str:
    return f"import:{benchmark.pk}:{user.pk}"
