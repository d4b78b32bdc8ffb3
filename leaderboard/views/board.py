"""The board page and its download."""

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.models import Benchmark, Job, User
from leaderboard.selectors.audience import SIGN_IN_FIRST, Audience, readable_benchmark
from leaderboard.selectors.history import show_revision
from leaderboard.selectors.jobs import board_job, jobs_of, own_system_ids
from leaderboard.services.agreement import agreements
from leaderboard.services.board import (
    Board,
    BoardQuery,
    Row,
    UnknownChoiceError,
    build_board,
    changed,
    interval_meaning,
)
from leaderboard.services.columns import Column, TooLargeError
from leaderboard.services.job_kinds import BOOTSTRAP, INSTANCES
from leaderboard.services.markdown import render_markdown
from leaderboard.services.masks import hidden_text
from leaderboard.services.wording import as_sentence, in_words
from ranking_engine import MISSING_POLICIES, RULES
from ranking_engine.aggregation import AGGREGATIONS
from ranking_engine.omission import native_sentence, policy_sentence

POLICY_NAMES = {
    "undefined": "No ranking",
    "drop_systems": "Incomplete systems unranked",
    "drop_tasks": "Incomplete tasks left out",
    "median": "Task median filled in",
    "worst": "Task's worst score filled in",
}

AGGREGATION_NAMES = {
    "basic": "tasks by their own weight",
    "weighted": "weighted by group",
    "balanced": "groups balanced",
    "two_step": "two steps",
}


@require_safe
def board(request: HttpRequest, key: str) -> HttpResponse:
    """Systems x rules of the published revision, as the address asks for it."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    query = read_query(request.GET)
    if query.revision:
        show_revision(benchmark, query.revision)
    try:
        found = build_board(benchmark, audience, query, own_system_ids(request.user, benchmark))
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return render(request, "leaderboard/too_large.html", {"benchmark": benchmark, "reason": error}, status=422)
    view = _Board(request.user, benchmark, audience, query, found)
    return render(request, "leaderboard/board.html", {"board": view})


@require_safe
def board_csv(request: HttpRequest, key: str) -> HttpResponse:
    """All rows of this view of the board as CSV: ranks and rule scores, one column each a rule."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    query = read_query(request.GET)
    if query.revision:
        show_revision(benchmark, query.revision)
    own = own_system_ids(request.user, benchmark) if audience.is_restricted else frozenset[int]()
    try:
        text = _csv(benchmark, audience, replace(query, scores=True, page=1), own)
    except UnknownChoiceError as error:
        raise BadRequest(str(error)) from error
    except TooLargeError as error:
        return HttpResponse(str(error), status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{benchmark.key}.csv"'
    return response


def _csv(benchmark: Benchmark, audience: Audience, query: BoardQuery, own: frozenset[int]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    page = build_board(benchmark, audience, query, own)
    if page is None:
        return ""
    rules = [column.rule for column in page.columns]
    writer.writerow(["system", *(f"{rule}_rank" for rule in rules), *(f"{rule}_score" for rule in rules)])
    places = {int(system): i for i, system in enumerate(page.published.system_ids)}
    number = 1
    while page is not None:
        for row in page.rows:
            i = places[row.id]
            scores = [column.scores[i] for column in page.columns]
            shown = ["" if score != score else repr(float(score)) for score in scores]  # noqa: PLR0124 -- NaN
            writer.writerow([row.name, *(cell.rank or "" for cell in row.cells), *shown])
        number += 1
        page = build_board(benchmark, audience, replace(query, page=number), own) if number <= page.n_pages else None
    return out.getvalue()


def read_query(parameters: Mapping[str, str]) -> BoardQuery:
    """What an address asks of a board; what it does not say has its default."""
    page, revision = parameters.get("page", "1"), parameters.get("revision", "0")
    return BoardQuery(
        sort=parameters.get("sort", "")[:60],
        reference=parameters.get("reference", "")[:60],
        policy=parameters.get("policy", "")[:60],
        aggregation=parameters.get("aggregation", "")[:60],
        q=parameters.get("q", "")[:200],
        complete_only=parameters.get("complete_only") == "1",
        scores=parameters.get("scores") == "1",
        revision=_number(revision, 0),
        page=_number(page, 1),
    )


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else otherwise


class _Board:
    """What the template reads: the board, and the links that change one thing about it."""

    def __init__(
        self,
        viewer: User | AnonymousUser,
        benchmark: Benchmark,
        audience: Audience,
        query: BoardQuery,
        found: Board | None,
    ) -> None:
        self._query, self._key, self._is_restricted = query, benchmark.key, audience.is_restricted
        self.hidden_text, self.sees_others = hidden_text(audience), audience.sees_others
        self.benchmark = _About(benchmark)
        self.latest_revision_number = benchmark.last_revision_number
        self.is_computing = benchmark.last_revision_number > benchmark.published_number
        self.job = board_job(benchmark) if self.is_computing else None
        # The whole text, with its traceback, is for those who operate the site.
        self.job_error = self.job.error.split("\n", 1)[0][:200] if self.job else ""
        # Whoever has not signed in yet is shown the way where everyone with an account may submit.
        is_open = audience.why_closed == SIGN_IN_FIRST and benchmark.submission_policy in {"open", "moderated"}
        self.submit_url = reverse("submit", args=[benchmark.key]) if audience.may_submit or is_open else ""
        self.revision_number = found.published.revision.number if found else None
        self.published_number = benchmark.published_number
        self.is_archived = benchmark.is_archived
        manage = "manage" if audience.may_administer else "manage_queue"
        self.manage_url = reverse(manage, args=[benchmark.key]) if audience.may_moderate else ""
        self.is_earlier = bool(query.revision) and query.revision != benchmark.published_number
        if found is None or benchmark.publication is None:
            return
        self._fill(benchmark, found)
        self.published_at = benchmark.publication.published_at
        kinds = [] if audience.is_restricted else [BOOTSTRAP, INSTANCES]
        jobs = jobs_of(benchmark.publication.revision_id, kinds) if kinds else {}
        self.has_instances = INSTANCES in jobs
        self.intervals = _intervals(found, jobs.get(BOOTSTRAP))

    def _fill(self, benchmark: Benchmark, found: Board) -> None:
        facts = found.published.facts
        self.sentence = found.sentence
        self.condorcet_winner_name = facts["condorcet_winner"]
        self.smith_names = found.smith_names
        self.n_systems, self.n_tasks = facts["n_systems"], facts["n_tasks"]
        self.n_voting_tasks, self.n_missing = facts["n_voting_tasks"], facts["n_missing"]
        self.n_shown = found.n_shown
        self.coverage_text = _coverage(found.columns, facts["n_systems"])
        self.reference = {"key": found.reference.rule, "name": found.reference.name}
        self.policy = self._policy(found.policy, is_active=True)
        native = [column.name for column in found.columns if not RULES[column.rule].needs_complete]
        self.native_text = native_sentence(native) if native else ""
        self.policies = [self._policy(policy, is_active=policy == found.policy) for policy in MISSING_POLICIES]
        configuration = found.published.revision.configuration.content
        self.has_groups = bool(configuration["groups"])
        self.aggregation = self._aggregation(found.aggregation, is_active=True)
        self.aggregations = [
            self._aggregation(key, is_active=key == found.aggregation) for key in AGGREGATIONS
        ]
        self.reference_choices = [
            {
                "key": column.rule,
                "name": column.name,
                "url": self._url(reference=column.rule),
                "is_active": column is found.reference,
            }
            for column in found.columns
            if column.status == "ranked" or column is found.reference
        ]
        self._agreements = agreements(found.columns, found.reference)
        self.columns = [self._column(column, found) for column in found.columns]
        self.undefined = [self._column(column, found) for column in found.undefined]
        self.rows = [
            replace(row, url=self._system_url(row)) for row in found.rows
        ]
        self.separability = found.separability
        self.show_scores = self._query.scores
        self.show_scores_url = self._url(scores=not self._query.scores)
        self.query = self._filter()
        self.pages = {
            "number": found.page,
            "n_pages": found.n_pages,
            "previous_url": self._url(page=found.page - 1) if found.page > 1 else "",
            "next_url": self._url(page=found.page + 1) if found.page < found.n_pages else "",
            "first_row": found.first_row,
            "last_row": found.last_row,
        }
        csv_url = reverse("board_csv", args=[benchmark.key]) + self._parameters(changed(self._query))
        self.download_urls = [{"label": "CSV", "url": csv_url}]

    def _system_url(self, row: Row) -> str:
        """The page of a system; restricted viewers have one of their own systems only."""
        return "" if self._is_restricted and not row.is_own else reverse("system", args=[self._key, row.key])

    def _url(self, **fields: Any) -> str:  # noqa: ANN401
        return reverse("board", args=[self._key]) + self._parameters(changed(self._query, **fields))

    @staticmethod
    def _parameters(query: BoardQuery) -> str:
        """The query as the end of an address: only what differs from the default."""
        default = asdict(BoardQuery())
        pairs = [(name, value) for name, value in asdict(query).items() if value != default[name]]
        return "?" + urlencode([(name, 1 if value is True else value) for name, value in pairs]) if pairs else ""

    def _policy(self, key: str, *, is_active: bool) -> dict[str, Any]:
        return {
            "key": key,
            "name": POLICY_NAMES[key],
            "text": f"{MISSING_POLICIES[key]} {policy_sentence(key)}",
            "url": self._url(policy=key),
            "is_active": is_active,
        }

    def _aggregation(self, key: str, *, is_active: bool) -> dict[str, Any]:
        return {
            "key": key,
            "name": AGGREGATION_NAMES[key],
            "text": AGGREGATIONS[key],
            "url": self._url(aggregation=key),
            "is_active": is_active,
        }

    def _column(self, column: Any, found: Board) -> dict[str, Any]:  # noqa: ANN401
        sorted_by = (self._query.sort_key or found.reference.rule) == column.rule
        is_down = sorted_by and self._query.is_descending
        state = "none" if not sorted_by else "descending" if is_down else "ascending"
        turned = f"-{column.rule}" if state == "ascending" else column.rule
        return {
            "key": column.rule,
            "name": column.name,
            "family": column.family,
            "summary": column.summary,
            "status": column.status,
            "reason": as_sentence(column.reason),
            "remark": column.remark,
            "agreement": self._agreements.get(column.rule),
            "winner_names": column.winner_names,
            "n_winners": column.n_winners,
            "n_ranked": column.n_ranked,
            "url": f"#rule-{column.rule}" if self._is_restricted else reverse("rule", args=[self._key, column.rule]),
            "sort_url": self._url(sort=turned),
            "sort_state": state,
            "is_reference": column is found.reference,
            "is_chosen": sorted_by,
        }

    def _filter(self) -> dict[str, Any]:
        kept = asdict(replace(self._query, q="", complete_only=False, page=1))
        default = asdict(BoardQuery())
        hidden = [(name, 1 if value is True else value) for name, value in kept.items() if value != default[name]]
        return {"q": self._query.q, "complete_only": self._query.complete_only, "hidden_fields": hidden}


class _About:
    """What the page says of the benchmark itself."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.key, self.name = benchmark.key, benchmark.name
        self.source_url, self.licence, self.citation = benchmark.source_url, benchmark.licence, benchmark.citation
        self.description_html = render_markdown(benchmark.description)


def _coverage(columns: list[Column], n_systems: int) -> str:
    """What a reader must know before comparing columns: which rules leave systems out, and how many."""
    by_count: dict[int, list[str]] = {}
    for column in columns:
        if column.status == "ranked" and column.n_ranked < n_systems:
            by_count.setdefault(column.n_ranked, []).append(column.name)
    parts = [
        f"{in_words(rules)} rank{'s' if len(rules) == 1 else ''} {n_ranked} of {n_systems} systems"
        for n_ranked, rules in sorted(by_count.items())
    ]
    return f"{'; '.join(parts)}; the others lack scores." if parts else ""


def _intervals(found: Board, job: Job | None) -> dict[str, Any]:
    """What the rank intervals of this view are, or why there are none, or how far they have come."""
    published, summary = found.published, found.published.study
    if summary is not None:
        if summary["status"] == "undefined":
            return {"state": "none", "text": f"No rank intervals: {summary['reason']}."}
        if not any(column.lower is not None for column in found.columns):
            text = "Rank intervals come with the benchmark’s own policy for missing scores only."
            return {"state": "none", "text": text}
        return {"state": "there", "text": interval_meaning(published)}
    state = job.state if job else "none"
    if job and state == "failed":
        why = f": {job.error.splitlines()[0][:200]}" if job.error else "."
        return {"state": "none", "text": f"The rank intervals of this revision could not be computed{why}"}
    texts = {
        "waiting": "Rank intervals of this revision are waiting for a worker.",
        "running": "Rank intervals of this revision are being computed:",
        "superseded": "Rank intervals come with the next revision.",
    }
    percent = round(100 * job.progress) if job and state == "running" else None
    return {"state": state, "text": texts.get(state, ""), "progress_percent": percent}
