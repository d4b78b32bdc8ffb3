"""Processes of another engine version beside those of this one, and boards that an older version published."""

import copy
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import transaction

from leaderboard.models import (
    Batch,
    Benchmark,
    Job,
    Publication,
    Revision,
    Score,
    Submission,
    SubmissionEvent,
    System,
    SystemChange,
)
from tests.factories import Factory
from tests.running_site import RunningSite

OLDER = "0.0.9"
FOLDER = Path(__file__).parent / "another_version"
# Every table with a row of a board, those that others point to first. Configuration and tasks are shared by copies.
TABLES = {
    Benchmark: "pk",
    System: "benchmark",
    Batch: "benchmark",
    Submission: "benchmark",
    Revision: "benchmark",
    SubmissionEvent: "revision__benchmark",
    SystemChange: "revision__benchmark",
    Score: "submission__benchmark",
}


@contextmanager
def of_version(site: RunningSite, version: str) -> Iterator[None]:
    """What is started meanwhile takes itself for a release with that engine version."""
    own = dict(site.environment)
    path = os.pathsep.join([str(FOLDER), str(settings.ROOT)])
    site.environment |= {"PYTHONPATH": path, "ENGINE_VERSION": version}
    try:
        yield
    finally:
        site.environment = own


@transaction.atomic
def boards_of_older_version(make: Factory, n: int) -> Benchmark:
    """Have `n` boards that an older version published, their jobs long pruned, without reports.

    Returns:
        One of them, which takes submissions; all others are copies of it.
    """
    board = make.benchmark()
    Job.objects.filter(benchmark=board).delete()
    _copy_board(board, n - 1)
    revisions = Revision.objects.filter(number=1, benchmark__publication=None).order_by("benchmark")
    publications = Publication.objects.bulk_create(
        Publication(benchmark_id=r.benchmark_id, revision=r, engine_version=OLDER, is_pointer_moved=True)
        for r in revisions
    )
    for publication in publications:
        Benchmark.objects.filter(pk=publication.benchmark_id).update(
            publication=publication, published_number=1, published_engine_version=OLDER
        )
    return Benchmark.objects.get(pk=board.pk)


def _copy_board(board: Benchmark, n: int) -> None:
    rows = {model: list(model.objects.filter(**{path: board.pk})) for model, path in TABLES.items()}
    copies: dict[tuple[type, int, int], int] = {}  # new ids by table, number of the copy, and old id
    for model, originals in rows.items():
        foreign = [field for field in model._meta.concrete_fields if field.related_model in TABLES]
        made = []
        for number in range(1, n + 1):
            for original in originals:
                row = copy.copy(original)
                row.pk, row._state = None, copy.copy(original._state)
                for field in foreign:
                    of_original = getattr(original, field.attname)
                    setattr(row, field.attname, copies.get((field.related_model, number, of_original)))
                if hasattr(row, "uuid"):
                    row.uuid = uuid.uuid4()
                if model is Benchmark:
                    row.key, row.name = f"{board.key}-copy-{number}", f"{board.name}, copy {number}"
                made.append((number, original.pk, row))
        stored = model.objects.bulk_create([row for _, _, row in made], batch_size=500)
        for (number, original_pk, _), row in zip(made, stored, strict=True):
            copies[model, number, original_pk] = row.pk
