"""A revision's figures as files: tables in four formats, the tasks' orders for PrefLib, the whole as a folder."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.access.audience import Audience, readable_benchmark
from leaderboard.benchmarks.evaluation_records import records_zip
from leaderboard.benchmarks.folder_exports import FolderError, folder_zip
from leaderboard.boards.board import build_board
from leaderboard.boards.pareto.front import pareto_export, pareto_page
from leaderboard.boards.query import read_query
from leaderboard.boards.revision_exports import (
    ExportError,
    Origin,
    margins_export,
    orders_text,
    prospects_export,
    ranks_export,
    scores_export,
    studies_export,
    study_export,
)
from leaderboard.boards.timeline.page import time_export, time_page
from leaderboard.common.file_parts import file_response
from leaderboard.common.files import EXPORT_FORMATS, ExportTable
from leaderboard.common.parquet import CONTENT_TYPE as PARQUET, export_parquet
from leaderboard.common.text import as_sentence
from leaderboard.models import Benchmark, Publication
from leaderboard.on_demand.allowance import may_ask
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.configuration import has_rule
from leaderboard.rankings.published import UnknownChoiceError, rank_rows
from leaderboard.rankings.revision_parameter import publication_asked_for
from leaderboard.rankings.scores import systems_at
from leaderboard.studies.prospects.stored import stored_prospects
from leaderboard.studies.states import study_states
from ranking_engine.catalogue.variants import LONGEST_KEY

ZIP, PREFLIB = "application/zip", "text/x-preflib; charset=utf-8"


@dataclass(frozen=True)
class ExportSource:
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
        return self.request.GET.get(name, "")[:LONGEST_KEY] or default


@require_safe
def export(request: HttpRequest, key: str, table: str, extension: str) -> HttpResponseBase:
    """A table of TABLES as CSV, JSON, LaTeX, Markdown or Parquet; or `orders.preflib`, the orders of the tasks; or
    `folder.zip`, the whole benchmark as it can be imported again; or `records.zip`, the scores as Every Eval Ever has
    them."""
    benchmark, audience = readable_benchmark(request.user, key)
    is_parquet = extension == "parquet"
    is_table = table in TABLES and (extension in EXPORT_FORMATS or is_parquet)
    if not is_table and (table, extension) not in WHOLE:
        raise Http404(
            gettext("There is no file %(file)s; there are %(tables)s.")
            % {"file": f"{table[:40]}.{extension[:40]}", "tables": ", ".join(TABLES)}
        )
    needs_ranks = table not in OF_SCORES_ALONE
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""), needs_ranks=needs_ranks)
    if publication is None:
        raise Http404(gettext("This benchmark has no published board yet."))
    if not may_ask(request):
        text = gettext("Too many downloads in a minute. Try again later.")
        return HttpResponse(text, status=429, content_type="text/plain; charset=utf-8")
    source = ExportSource(request, benchmark, audience, publication)
    try:
        if is_table and is_parquet:
            rows = TABLES[table](source)
            response = _named(HttpResponse(export_parquet(rows), content_type=PARQUET), f"{rows.stem}.parquet")
        elif is_table:
            rows = TABLES[table](source)
            content_type, write = EXPORT_FORMATS[extension]
            response = _file(source, write(rows), f"{rows.stem}.{extension}", f"{content_type}; charset=utf-8")
        else:
            response = WHOLE[table, extension](source)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except (TooLargeError, ExportError, FolderError) as error:
        return HttpResponse(f"{as_sentence(str(error))}\n", status=422, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "private, no-store"
    return response


def _file(source: ExportSource, texts: Iterable[str], name: str, content_type: str) -> HttpResponseBase:
    return _named(file_response(source.request, texts, content_type), name)


def _named(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


def _scores(source: ExportSource) -> ExportTable:
    return scores_export(source.origin)


def _ranks(source: ExportSource) -> ExportTable:
    """The ranks under `?rule=`, as the board of this address has them: its policy, aggregation and filters."""
    rule = source.choice("rule", source.benchmark.default_rule)
    source.benchmark.publication = source.publication
    if not has_rule(source.benchmark, rule):
        raise Http404(gettext("There is no rule %(rule)s.") % {"rule": repr(rule)})
    query = replace(read_query(source.request.GET), sort="", reference=rule, rules=(rule,), families=(), pins=())
    board = build_board(source.audience, query, is_whole=True)
    if board is None:
        raise ExportError(gettext("No rule ranks here yet."))
    visible_keys = {row.key for row in board.rows}
    # Of a filtered view whose ranks are among what it shows, the columns have those systems alone.
    ranked_ids = set(board.published.system_ids.tolist())
    systems = [system for system in systems_at(source.publication.revision) if system.id in ranked_ids]
    rows = [row for row in rank_rows(board.reference, systems) if row["system"] in visible_keys]
    return ranks_export(source.origin, board.reference, rows, policy=board.policy, aggregation=board.aggregation)


def _margins(source: ExportSource) -> ExportTable:
    return margins_export(source.origin, source.audience.level)


def _prospects(source: ExportSource) -> ExportTable:
    stored, _ = stored_prospects(source.publication)
    return prospects_export(source.origin, stored, all_tasks=source.choice("all_tasks", "") == "1")


def _studies(source: ExportSource) -> ExportTable:
    """The state of every study; with `?study=` what one of them found."""
    study = source.choice("study", "")
    if not study:
        return studies_export(source.origin, source.benchmark, source.publication)
    names = {state.key: state.name for state in study_states(source.benchmark, source.publication)}
    if study not in names:
        raise Http404(gettext("There is no study %(study)s.") % {"study": repr(study)})
    return study_export(source.origin, source.publication, study, names[study])


def _pareto(source: ExportSource) -> ExportTable:
    """The systems of the page of the Pareto front, with `?x=`, `?y=` and `?better=` as there."""
    source.benchmark.publication = source.publication
    choices = {name: source.request.GET.get(name, "")[:200] for name in ("x", "y", "better")}
    page = pareto_page(source.audience, **choices)
    if page is None or page.field is None:
        raise ExportError(gettext("No system has a number or a date beside its scores."))
    return pareto_export(page, source.origin)


def _time(source: ExportSource) -> ExportTable:
    """Who led when, with `?by=` and `?rule=` as on the page."""
    source.benchmark.publication = source.publication
    page = time_page(source.audience, by=source.choice("by", ""), rule=source.choice("rule", ""))
    if page is None or not page.course.moments:
        raise ExportError(gettext("No rule ranks here yet, or no system has such a date."))
    return time_export(page, source.origin)


def _orders(source: ExportSource) -> HttpResponseBase:
    text, name = orders_text(source.origin)
    return _file(source, [text], name, PREFLIB)


def _folder(source: ExportSource) -> HttpResponseBase:
    revision = source.publication.revision
    packed = HttpResponse(folder_zip(revision), content_type=ZIP)
    return _named(packed, f"{source.benchmark.key}-r{revision.number}.zip")


def _records(source: ExportSource) -> HttpResponseBase:
    packed = HttpResponse(records_zip(source.publication.revision), content_type=ZIP)
    return _named(packed, f"{source.benchmark.key}-every-eval-ever-r{source.publication.revision.number}.zip")


TABLES: dict[str, Callable[[ExportSource], ExportTable]] = {
    "scores": _scores,
    "ranks": _ranks,
    "margins": _margins,
    "pareto": _pareto,
    "time": _time,
    "prospects": _prospects,
    "studies": _studies,
}
OF_SCORES_ALONE = {"scores", "margins", "orders", "folder", "records"}
WHOLE: dict[tuple[str, str], Callable[[ExportSource], HttpResponseBase]] = {
    ("orders", "preflib"): _orders,
    ("folder", "zip"): _folder,
    ("records", "zip"): _records,
}
