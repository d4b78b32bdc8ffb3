"""Systems held against each other, and rules: margins, any two systems, what can be told apart, agreement."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import payloads
from leaderboard.api.negotiation import TABLES
from leaderboard.api.openapi import PAGING, REVISION, TABLE_FORMAT, error, reading
from leaderboard.api.pagination import Window, cut_counted, cut_sorted, next_url, window
from leaderboard.api.problems import ApiError
from leaderboard.api.shapes import comparisons as shapes
from leaderboard.api.views.base import job_states
from leaderboard.api.views.figures import FigureView
from leaderboard.models import Publication
from leaderboard.selectors.reports import unpack_arrays
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.services.agreement import MOST_SYSTEMS
from leaderboard.services.agreement_page import kendall_taus, likeness_order
from leaderboard.services.columns import Column, PublishedBoard, published_board, separability_of
from leaderboard.services.margins import margins_between
from leaderboard.services.on_demand import TooLargeError
from leaderboard.services.pair_page import pair_of
from leaderboard.services.rank_rows import number
from leaderboard.services.separability_wording import FAMILIES
from leaderboard.services.sheets import VERDICTS, Origin, SheetError, margins_sheet
from leaderboard.services.significance import BASIS, inseparable_runs, is_outdated, neighbour_tests
from leaderboard.services.table_files import Heading, Sheet, Value

PAIRS_A_PAGE = 20_000
TOO_LARGE = {422: error("The board is too large for an answer on demand; the message says the limit.")}
RULE = OpenApiParameter("rule", str, description="The key of a rule; the benchmark's default rule without it.")


class ComparisonView(FigureView):
    """A view of pairs, of systems or of rules."""

    renderer_classes = TABLES

    def place_of(self, systems: Sequence[BoardSystem], name: str) -> int:
        """Where the system stands whose key the address gives under `name`.

        Raises:
            ApiError: it gives none.
            Http404: there is no such system.
        """
        key = self.request.query_params.get(name, "")
        if not key:
            raise ApiError(400, f"`{name}` is missing: the key of a system.")
        place = next((i for i, system in enumerate(systems) if system.key == key), None)
        if place is None:
            raise Http404(f"No system {key[:80]!r} is on the board.")
        return place

    def column(self, board: PublishedBoard) -> Column:
        """The column of the rule that the address names."""
        rule = self.request.query_params.get("rule", "") or self.benchmark.default_rule
        found = next((column for column in board.columns if column.rule == rule), None)
        if found is None:
            raise Http404(f"No rule {rule[:60]!r} is on this board.")
        return found

    def origin(self, publication: Publication) -> Origin:
        """What a file is of."""
        return Origin.of(self.benchmark, publication.revision)


class Margins(ComparisonView):
    """Margins between systems."""

    @extend_schema(
        operation_id="margins",
        summary="Read the margins head to head",
        tags=["comparisons"],
        parameters=[
            REVISION,
            OpenApiParameter("system", str, description="Only this system, by key, over all rivals."),
            TABLE_FORMAT,
            *PAGING,
        ],
        responses=reading(shapes.MarginPage, table="system, rival, ahead, behind, margin, verdict.") | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> Response:
        """Of every system and rival on how much of the weight either is ahead. A page has at most 20,000 pairs."""
        publication = self.published()
        wanted = window(request.query_params)
        only = request.query_params.get("system", "")
        try:
            if self.file_format:
                return self.table(publication, "margins", lambda: self.written(self._sheet(publication)))
            return self.figures(publication, lambda: self._page(publication, wanted, only))
        except (TooLargeError, SheetError) as problem:
            raise ApiError(422, str(problem)) from problem

    def _sheet(self, publication: Publication) -> Sheet:
        return margins_sheet(self.origin(publication), self.audience.level)

    def _page(self, publication: Publication, wanted: Window, only: str) -> dict[str, Any]:
        systems = systems_at(publication.revision)
        n = len(systems)
        chosen = [systems[self.place_of(systems, "system")]] if only else systems
        size = max(1, min(wanted.size, PAIRS_A_PAGE // max(1, n)))
        page = cut_sorted(chosen, Window(wanted.after, size), lambda system: system.key)
        places = {system.key: i for i, system in enumerate(systems)}
        rows = [places[system.key] for system in page.items]
        found = margins_between(
            publication.revision, rows, range(n), n_systems=n, audience_level=self.audience.level
        ) if rows else None  # fmt: skip
        return {
            **payloads.published(publication),
            "aggregation": publication.revision.configuration.content["aggregation"],
            "next": next_url(self.request, page, revision=publication.revision.number),
            "results": [_margin_row(found, k, systems[i], systems) for k, i in enumerate(rows)],
        }


def _margin_row(found: Any, k: int, system: BoardSystem, systems: Sequence[BoardSystem]) -> dict[str, Any]:  # noqa: ANN401
    return {
        "system": system.key,
        "name": system.name,
        "n_beaten": int(found.n_beaten[k]),
        "n_lost": int(found.n_lost[k]),
        "n_level": int(found.n_level[k]),
        "rivals": [
            {
                "system": systems[j].key,
                "name": systems[j].name,
                "ahead": float(found.ahead[k, j]),
                "behind": float(found.behind[k, j]),
                "verdict": VERDICTS[int(found.sign[k, j])],
            }
            for j in np.flatnonzero(found.is_compared[k]).tolist()
        ],
    }


class HeadToHead(ComparisonView):
    """Any two systems."""

    is_on_demand = True

    @extend_schema(
        operation_id="head_to_head",
        summary="Hold two systems against each other",
        tags=["comparisons"],
        parameters=[
            OpenApiParameter("a", str, required=True, description="The key of a system."),
            OpenApiParameter("b", str, required=True, description="The key of another system."),
            REVISION,
            TABLE_FORMAT,
        ],
        responses=reading(shapes.PairDetail, table="task, first, second, weight, ahead.") | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> Response:
        """Task by task who is ahead, by how much weight, and whether that could be luck; with the ranks of both."""
        publication = self.published()
        systems = systems_at(publication.revision)
        first, second = self.place_of(systems, "a"), self.place_of(systems, "b")
        if first == second:
            raise ApiError(400, "`a` and `b` are the same system; name two.")
        board = published_board(publication)
        try:
            pair = pair_of(publication, board, systems, (first, second), audience_level=self.audience.level)
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        if self.file_format:
            return self.table(publication, "pair", lambda: self.written(self._sheet(publication, pair)))
        return self.answer_here(lambda: payloads.published(publication) | _pair_content(pair))

    def _sheet(self, publication: Publication, pair: Any) -> Sheet:  # noqa: ANN401 -- a Pair
        ahead = {"first": pair.first.name, "second": pair.second.name}
        headings = [
            Heading("task", "Task", is_text=True), Heading("first", pair.first.name),
            Heading("second", pair.second.name), Heading("weight", "Weight"), Heading("ahead", "Ahead", is_text=True),
        ]  # fmt: skip
        rows: list[list[Value]] = [
            [task.name, task.first, task.second, task.weight, ahead.get(task.outcome, task.outcome)]
            for task in pair.tasks
        ]
        caption = f"{pair.first.name} and {pair.second.name} task by task."
        return self.origin(publication).sheet("pair", caption, headings, rows, first=pair.first.key,
                                              second=pair.second.key)  # fmt: skip


def _pair_content(pair: Any) -> dict[str, Any]:  # noqa: ANN401 -- a Pair
    return {
        "first": {"system": pair.first.key, "name": pair.first.name},
        "second": {"system": pair.second.key, "name": pair.second.name},
        "sentence": pair.sentence,
        "ahead": pair.ahead,
        "behind": pair.behind,
        "level": pair.level,
        "not_both": pair.not_both,
        "test": pair.test_sentence,
        "p_value": number(pair.p_value),
        "n_units": pair.n_units,
        "tasks": [
            {
                "task": task.key,
                "name": task.name,
                "first": task.first,
                "second": task.second,
                "ahead": task.outcome,
                "weight": task.weight,
            }
            for task in pair.tasks
        ],
        "ranks": [{"rule": rank.rule, "first": rank.first, "second": rank.second} for rank in pair.ranks],
    }


class Separability(ComparisonView):
    """What can be told apart."""

    @extend_schema(
        operation_id="separability",
        summary="Which systems can be told apart",
        tags=["comparisons"],
        parameters=[REVISION, RULE, TABLE_FORMAT, *PAGING],
        responses=reading(
            shapes.SeparabilityDetail, table="first, second, p_value, p_adjusted, verdict, is_separable."
        ),
    )
    def get(self, request: Request, key: str) -> Response:
        """Tests over tasks of systems of consecutive ranks under a rule, and runs among which none is told apart."""
        publication = self.published()
        wanted, jobs = window(request.query_params), job_states(publication)
        board, systems = published_board(publication), systems_at(publication.revision)
        column = self.column(board)
        tests = self._tests(board, column, systems)
        if self.file_format:
            keys = ("first", "second", "p_value", "p_adjusted", "verdict", "is_separable")
            texts = ("first", "second", "verdict")
            headings = [Heading(name, name.replace("_", " "), is_text=name in texts) for name in keys]
            rows: list[list[Value]] = [[test[name] for name in keys] for test in tests]
            caption = f"which neighbours under {column.name} can be told apart."
            sheet = self.origin(publication).sheet("separability", caption, headings, rows, rule=column.rule)
            return self.table(publication, "separability", lambda: self.written(sheet), jobs)

        def build() -> dict[str, Any]:
            page = cut_counted(tests, wanted)
            number_here = publication.revision.number
            return {
                **payloads.published(publication),
                **_separability_head(board, column, systems),
                "next": next_url(request, page, revision=number_here),
                "results": page.items,
            }

        return self.figures(publication, build, jobs)

    @staticmethod
    def _tests(board: PublishedBoard, column: Column, systems: Sequence[BoardSystem]) -> list[dict[str, Any]]:
        return [
            {
                "first": systems[test.first].key,
                "second": systems[test.second].key,
                "p_value": number(test.p_value),
                "p_adjusted": number(test.p_adjusted),
                "verdict": test.verdict,
                "is_separable": test.is_separable,
            }
            for test in neighbour_tests(unpack_arrays(board.test_arrays), column.rule)
        ]


def _separability_head(board: PublishedBoard, column: Column, systems: Sequence[BoardSystem]) -> dict[str, Any]:
    tests = board.tests or {}
    told = tests.get("rules", {}).get(column.rule)
    is_computing = board.tests is None or (told is not None and is_outdated(told))
    if is_computing:
        told = None
    can_tell = told is not None and told["every_pair"]["verdict"] == "some"
    runs = inseparable_runs(unpack_arrays(board.test_arrays), column.rule) if can_tell else []
    return {
        "rule": column.rule,
        "status": "computing" if is_computing else "there" if told else "undefined",
        "text": separability_of(board, column).text,
        "level": tests.get("level"),
        "null_hypothesis": tests.get("null_hypothesis"),
        **{name: told[name] if told else None for name in (*BASIS, *FAMILIES)},
        "runs": [[systems[i].key for i in run] for run in runs],
    }


class Agreement(ComparisonView):
    """How far rules agree."""

    @extend_schema(
        operation_id="agreement",
        summary="How far the rules agree",
        tags=["comparisons"],
        parameters=[REVISION, TABLE_FORMAT],
        responses=reading(shapes.AgreementDetail, table="rule, its tau with every rule, mean_with_others.")
        | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> Response:
        """Kendall's tau of every two rules; each rule stands beside the one most like it."""
        publication = self.published()
        board, jobs = published_board(publication), job_states(publication)
        if len(board.system_ids) > MOST_SYSTEMS:
            raise ApiError(422, f"Every pair of systems is compared for up to {MOST_SYSTEMS} systems.")
        columns = [column for column in board.columns if column.status == "ranked"]
        reference, rows = self._rows(publication, columns)
        if self.file_format:
            rules = [row["rule"] for row in rows]
            headings = [Heading("rule", "Rule", is_text=True), *(Heading(row["rule"], row["name"]) for row in rows)]
            lines: list[list[Value]] = [
                [row["rule"], *(row["kendall_tau"][rule] for rule in rules), row["mean_with_others"]] for row in rows
            ]
            sheet = self.origin(publication).sheet(
                "agreement", "Kendall’s tau between the rules.",
                [*headings, Heading("mean_with_others", "Mean with others")], lines,
            )  # fmt: skip
            return self.table(publication, "agreement", lambda: self.written(sheet), jobs)
        content = {**payloads.published(publication), "reference": reference, "results": rows}
        return self.figures(publication, lambda: content, jobs)

    def _rows(self, publication: Publication, columns: Sequence[Column]) -> tuple[str, list[dict[str, Any]]]:
        if not columns:
            return "", []
        tau = kendall_taus(publication, columns)
        default = (k for k, column in enumerate(columns) if column.rule == self.benchmark.default_rule)
        order = likeness_order(tau, next(default, 0))
        found = []
        for k in order:
            others = [tau[k, j] for j in order if j != k and not np.isnan(tau[k, j])]
            found.append(
                {
                    "rule": columns[k].rule,
                    "name": columns[k].name,
                    "kendall_tau": {columns[j].rule: number(float(tau[k, j])) for j in order},
                    "mean_with_others": float(np.mean(others)) if others else None,
                }
            )
        return columns[order[0]].rule, found
