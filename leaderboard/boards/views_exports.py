"""A revision's figures as files: tables in four formats, the tasks' orders for PrefLib, the whole as a folder."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from leaderboard.access.audience import Audience, readable_benchmark
from leaderboard.benchmarks.folder_exports import FolderError, folder_zip
from leaderboard.boards.board import build_board
from leaderboard.boards.query import read_query
from leaderboard.boards.sheets import (
    Origin,
    SheetError,
    margins_sheet,
    orders_text,
    prospects_sheet,
    ranks_sheet,
    scores_sheet,
    studies_sheet,
    study_sheet,
)
from leaderboard.common.file_parts import file_response
from leaderboard.common.files import SHEET_FORMATS, Sheet
from leaderboard.common.text import as_sentence
from leaderboard.computing.rankings import site_rules
from leaderboard.models import Benchmark, Publication
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.published import UnknownChoiceError, rank_rows
from leaderboard.rankings.scores import systems_at
from leaderboard.rankings.views import publication_asked_for
from leaderboard.studies.prospects.stored import stored_prospects
from leaderboard.studies.states import study_states

ZIP, PREFLIB = "application/zip", "text/x-preflib; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    """What an address asks a file of."""

    request: HttpRequest
    benchmark: Benchmark
    audience: Audience
    publication: Publication

    @property
    def origin(self) -> Origin:
        """What the file is of."""
        return Origin.of(self.benchmark, self.publication.revision)

    def choice(self, name: str, default: str) -> str:
        """A parameter of the address."""
        return self.request.GET.get(name, "")[:80] or default


@require_safe
def export(request: HttpRequest, key: str, table: str, extension: str) -> HttpResponseBase:
    """`scores`, `ranks`, `margins`, `prospects` or `studies` as CSV, JSON, LaTeX or Markdown; `orders.preflib`, the
    orders of the tasks; `folder.zip`, the whole benchmark as it can be imported again."""
    benchmark, audience = readable_benchmark(request.user, key)
    is_table = table in TABLES and extension in SHEET_FORMATS
    if not is_table and (table, extension) not in WHOLE:
        raise Http404(f"There is no file {table[:40]}.{extension[:40]}; there are {', '.join(TABLES)}.")
    needs_ranks = table not in OF_SCORES_ALONE
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""), needs_ranks=needs_ranks)
    if publication is None:
        raise Http404("Nothing is published here yet.")
    if not may_ask(request):
        return HttpResponse("Too many files in a minute; try again later.", status=429, content_type="text/plain")
    asked = Asked(request, benchmark, audience, publication)
    try:
        response: HttpResponseBase = _table(asked, table, extension) if is_table else WHOLE[table, extension](asked)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except (TooLargeError, SheetError, FolderError) as error:
        return HttpResponse(f"{as_sentence(str(error))}\n", status=422, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "private, no-store"
    return response


def _file(asked: Asked, texts: Iterable[str], name: str, content_type: str) -> HttpResponseBase:
    return _named(file_response(asked.request, texts, content_type), name)


def _named(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


def _table(asked: Asked, table: str, extension: str) -> HttpResponseBase:
    sheet = TABLES[table](asked)
    content_type, write = SHEET_FORMATS[extension]
    return _file(asked, write(sheet), f"{sheet.stem}.{extension}", f"{content_type}; charset=utf-8")


def _scores(asked: Asked) -> Sheet:
    return scores_sheet(asked.origin)


def _ranks(asked: Asked) -> Sheet:
    """The ranks under `?rule=`, as the board of this address has them: its policy, aggregation and filters."""
    rule = asked.choice("rule", asked.benchmark.default_rule)
    if rule not in site_rules():
        raise Http404(f"There is no rule {rule!r}.")
    query = replace(read_query(asked.request.GET), sort="", reference=rule, rules=(rule,), families=(), pins=())
    asked.benchmark.publication = asked.publication
    board = build_board(asked.audience, query, is_whole=True)
    if board is None:
        raise SheetError("No rule ranks here yet.")
    shown = {row.key for row in board.rows}
    rows = [row for row in rank_rows(board.reference, systems_at(asked.publication.revision)) if row["system"] in shown]
    return ranks_sheet(asked.origin, board.reference, rows, policy=board.policy, aggregation=board.aggregation)


def _margins(asked: Asked) -> Sheet:
    return margins_sheet(asked.origin, asked.audience.level)


def _prospects(asked: Asked) -> Sheet:
    stored, _ = stored_prospects(asked.publication)
    return prospects_sheet(asked.origin, stored, all_tasks=asked.choice("all_tasks", "") == "1")


def _studies(asked: Asked) -> Sheet:
    """Where every study stands; with `?study=` what one of them found."""
    study = asked.choice("study", "")
    if not study:
        return studies_sheet(asked.origin, asked.benchmark, asked.publication)
    names = {state.key: state.name for state in study_states(asked.benchmark, asked.publication)}
    if study not in names:
        raise Http404(f"There is no study {study!r}.")
    return study_sheet(asked.origin, asked.publication, study, names[study])


def _orders(asked: Asked) -> HttpResponseBase:
    text, name = orders_text(asked.origin)
    return _file(asked, [text], name, PREFLIB)


def _folder(asked: Asked) -> HttpResponseBase:
    revision = asked.publication.revision
    packed = HttpResponse(folder_zip(revision), content_type=ZIP)
    return _named(packed, f"{asked.benchmark.key}-r{revision.number}.zip")


TABLES: dict[str, Callable[[Asked], Sheet]] = {
    "scores": _scores,
    "ranks": _ranks,
    "margins": _margins,
    "prospects": _prospects,
    "studies": _studies,
}
OF_SCORES_ALONE = {"scores", "margins", "orders", "folder"}
WHOLE: dict[tuple[str, str], Callable[[Asked], HttpResponseBase]] = {
    ("orders", "preflib"): _orders,
    ("folder", "zip"): _folder,
}
