"""A published board as one file, for webhooks that publish it elsewhere: what anyone may download, and no more."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser

from leaderboard.access.audience import audience_of
from leaderboard.boards.board import build_board
from leaderboard.boards.exports import board_json
from leaderboard.boards.query import BoardQuery
from leaderboard.common.files import json_text
from leaderboard.models import Benchmark, Publication
from leaderboard.notifications.posting import PostError
from leaderboard.rankings.tables import scores_csv


def published_file(publication: Publication, kind: str) -> bytes:
    """The scores of a published revision as CSV, or its board as JSON.

    Args:
        publication: of a benchmark of which all readers may see everything.
        kind: "csv" or "json".

    Raises:
        PostError: the file is too large to be posted.
    """
    benchmark = Benchmark.objects.get(pk=publication.benchmark_id)
    benchmark.publication = publication
    if kind == "csv":
        parts = scores_csv(publication.revision)
    else:
        board = build_board(audience_of(AnonymousUser(), benchmark), BoardQuery(), is_whole=True)
        empty = {"benchmark": benchmark.name, "revision": publication.revision.number, "systems": []}
        parts = iter([json_text(empty)]) if board is None else board_json(board, benchmark.name)
    file, size = [], 0
    for part in parts:
        file.append(part.encode())
        size += len(file[-1])
        if size > settings.UPLOAD_BYTES:
            raise PostError(f"The file of the board has more than {settings.UPLOAD_BYTES:,} bytes.")
    return b"".join(file)
