"""What lists and feeds say of a published board, summed up once instead of read from its reports for each reader."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Exists, F, OuterRef

from leaderboard.common.language.engine import rule_name
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Benchmark, ListedBoard, Publication, Report
from leaderboard.rankings.reports import BOARD, RANKING
from leaderboard.rankings.verdict import Camp, camps_of

FILLED_AT_ONCE = 200


def store_listed_board(publication: Publication) -> None:
    """Sum up what is stored of a publication now. Call inside the transaction that wrote its reports."""
    row = _listed_boards_of([publication]).get(publication.pk)
    if row is not None:
        row.save()  # over the one that is stored, if any


def store_missing_listed_boards() -> int:
    """Sum up boards that were published by a version that did not, some at a time; how many were.

    Until then lists read the reports of the boards that they show.
    """
    has_reports = Report.objects.filter(
        revision=OuterRef("revision"), engine_version=OuterRef("engine_version"), kind=BOARD
    )
    pointed_at = Benchmark.objects.exclude(publication=None).values("publication")
    rows = Publication.objects.filter(Exists(has_reports), pk__in=pointed_at, listed_board=None).order_by("pk")
    made = _listed_boards_of(list(rows[:FILLED_AT_ONCE]))
    ListedBoard.objects.bulk_create(made.values(), ignore_conflicts=True)
    return len(made)


def with_listed_boards(publications: Iterable[Publication]) -> dict[int, ListedBoard]:
    """What is said of each board, by publication; of those that were not summed up yet from their reports.

    Args:
        publications: with `listed_board` selected.
    """
    stored: dict[int, ListedBoard] = {}
    missing: list[Publication] = []
    for publication in publications:
        row = getattr(publication, "listed_board", None)  # none is there where it raises
        if row is None:
            missing.append(publication)
        else:
            stored[publication.pk] = row
    return stored | (_listed_boards_of(missing) if missing else {})


def _listed_boards_of(publications: Sequence[Publication]) -> dict[int, ListedBoard]:
    """What is to be said of each board whose reports are there, by publication; nothing is stored."""
    wanted = {(one.revision_id, one.engine_version): one.pk for one in publications}
    reports: dict[int, list[Report]] = defaultdict(list)
    rows = Report.objects.filter(revision__in={revision for revision, _ in wanted}, kind__in=[BOARD, RANKING])
    annotated = rows.annotate(aggregation=F("revision__configuration__content__aggregation"))
    without_winner = set()  # two steps have none, and reports of earlier versions that of the tasks' own weights
    for report in annotated.defer("arrays", "parameters").order_by("pk"):
        if (pk := wanted.get((report.revision_id, report.engine_version))) is not None:
            reports[pk].append(report)
            if report.aggregation == TWO_STEP:
                without_winner.add(pk)
    boards = {}
    for pk, stored in reports.items():
        facts: dict[str, Any] | None = next((report.summary for report in stored if report.kind == BOARD), None)
        if facts is None:
            continue
        rankings = [report.summary for report in stored if report.kind == RANKING]
        boards[pk] = ListedBoard(
            publication_id=pk,
            n_systems=facts["n_systems"],
            n_tasks=facts["n_tasks"],
            condorcet_winner="" if pk in without_winner else facts.get("condorcet_winner") or "",
            winners=[[row["rule"], row["winner_names"], row["n_winners"]] for row in rankings if row["n_winners"]],
            updated_at=max(report.created_at for report in stored),
        )
    return boards


def elected_by(board: ListedBoard | None, rule: str) -> tuple[list[str], int]:
    """Names of the first systems that a rule elects, and how many it elects; none where it elects no one."""
    rows = board.winners if board else []
    return next(((names, n_winners) for key, names, n_winners in rows if key == rule), ([], 0))


def camps_of_winners(winners: Iterable[Sequence[Any]]) -> list[Camp]:
    """Who is elected by which rules, the largest camp first.

    Args:
        winners: as `ListedBoard` keeps them.
    """
    return camps_of([(rule_name(rule), names, n_winners) for rule, names, n_winners in winners])
