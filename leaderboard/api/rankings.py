"""Rankings, under the revision's own weights or those that someone asks for."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from django.http import Http404, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.protocol.base import JobStateSerializer, NamedSystemSerializer, PublishedSerializer
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.protocol.pagination import cut_counted, page_links, window
from leaderboard.api.protocol.problems import ApiError, wrong_parameter
from leaderboard.api.protocol.renderers import TABLES
from leaderboard.api.protocol.schema import (
    AGGREGATION,
    FILTERS,
    GROUP_WEIGHTS,
    MISSING,
    PAGING,
    READING,
    REVISION,
    TABLE_FORMAT,
    WEIGHTS,
    error,
    reading,
)
from leaderboard.api.ranking_choice import WEIGHTS_EXAMPLE, RankingChoice, WeightsBodySerializer
from leaderboard.api.separability import IntervalsSerializer, UnderRuleSerializer
from leaderboard.boards.filters import left_by
from leaderboard.boards.query import BoardQuery
from leaderboard.boards.revision_exports import Origin, ranks_export
from leaderboard.common.text import whole_number
from leaderboard.models import Benchmark, Publication
from leaderboard.on_demand.budget import TooLargeError
from leaderboard.rankings.confidence.intervals import interval_figures
from leaderboard.rankings.confidence.significance import Separability
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.on_request import board_under
from leaderboard.rankings.published import (
    Column,
    PublishedBoard,
    published_board,
    rank_rows,
    separability_of,
)
from leaderboard.rankings.redaction import redacted
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.rankings.systems import ORGANISATION, described_systems_at
from leaderboard.rankings.verdict import camps_of, headline
from leaderboard.rankings.weights import WeightsError

STATUS = ["ranked", "winner_only", "no_winner", "undefined", "failed", "computing"]
TOO_LARGE = {422: error("The board is too large to be ranked on demand; the message says the limit.")}
ASKING = {
    400: error("There is no such choice, or the weights cannot be read, or leave nothing to rank."),
    **TOO_LARGE,
    **{status: answer for status, answer in READING.items() if status != 304},
}


class RankingHeadSerializer(Shape):
    """What a rule makes of the board as a whole."""

    rule = s.CharField()
    name = s.CharField()
    family = s.CharField()
    status = s.ChoiceField(choices=STATUS)
    reason = s.CharField(allow_blank=True, help_text="Why there is no ranking or no winner.")
    remark = s.CharField(allow_blank=True, help_text="Remarks on the ranks, such as a proof of optimality.")
    n_ranked = s.IntegerField()
    winners = NamedSystemSerializer(many=True)


class CountedSerializer(Shape):
    """How scores count in an answer."""

    missing = s.ChoiceField(
        choices=Benchmark.MissingPolicy.values,
        source="counting.policy",
        help_text="The policy for missing scores in force.",
    )
    aggregation = s.ChoiceField(
        choices=Benchmark.Aggregation.values,
        source="counting.aggregation",
        help_text="How tasks and groups count together.",
    )
    weights = s.DictField(child=s.CharField(), help_text="Of tasks: those that differ from the revision's own.")
    group_weights = s.DictField(child=s.CharField(), help_text="Of groups: those that differ from the revision's own.")

    def value_of_weights(self, content: dict[str, Any]) -> dict[str, str]:
        """Of tasks."""
        return dict(content["counting"].weights.tasks)

    def value_of_group_weights(self, content: dict[str, Any]) -> dict[str, str]:
        """Of groups."""
        return dict(content["counting"].weights.groups)


class RankingsSerializer(PublishedSerializer, CountedSerializer):
    """All rules of a revision."""

    verdict = s.CharField(allow_blank=True, help_text="Which systems win under which rules, in a sentence.")
    jobs = JobStateSerializer(many=True)
    results = RankingHeadSerializer(many=True)


class RankingRowSerializer(NamedSystemSerializer, UnderRuleSerializer):
    """One system under the rule."""

    inseparable = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="Ranks of the systems that do not differ significantly from it; null if none, or not tested.",
    )


class RankingDetailSerializer(PublishedSerializer, RankingHeadSerializer, CountedSerializer):
    """One rule's ranking: best first, unranked systems last."""

    jobs = JobStateSerializer(many=True)
    intervals = IntervalsSerializer(
        allow_null=True,
        help_text="Null while they are not computed, and if anything but the stored ranking was requested.",
    )
    separability = s.CharField(
        allow_null=True,
        help_text="Which systems differ significantly by sign-flip tests over tasks; null while not computed.",
    )
    count = s.IntegerField(help_text="Of all pages.")
    next = s.URLField(allow_null=True)
    results = RankingRowSerializer(many=True)


class RankedView(FigureView):
    """A view of what the rules say, under the revision's own weights or those that someone asks for."""

    is_open_to_restricted = True
    reads_by_post = True

    def seen_board(self, board: PublishedBoard, publication: Publication) -> tuple[PublishedBoard, list[BoardSystem]]:
        """A board and its systems, in its order, as anyone who asks may see them."""
        return redacted(board, systems_at(publication.revision), self.audience)

    def is_seen(self, system: BoardSystem) -> bool:
        """Whether anyone who asks may know of this system."""
        return self.audience.sees_others or system.id in self.own

    def board(self, publication: Publication, counting: RankingChoice) -> PublishedBoard:
        """What is published, or what was asked for in its place; nothing of it is hidden yet.

        Raises:
            ApiError: the board is too large for an answer on demand, nothing votes, or the owners hide scores, which
                other weights or policies would tell.
        """
        if not counting.is_stored and self.audience.is_restricted:
            raise ApiError(403, "Scores are hidden on this board, so rankings are shown only as its owners set them.")
        board = published_board(publication)
        names = [] if counting.is_stored else [system.name for system in systems_at(publication.revision)]
        if not names:
            return board
        try:
            other = board_under(
                board, counting.policy, counting.aggregation, names, self.audience.level, weights=counting.weights
            )
        except TooLargeError as problem:
            raise ApiError(422, str(problem)) from problem
        except WeightsError as problem:
            raise ApiError(400, str(problem)) from problem
        return replace(other, study=None)


class RankingsView(RankedView):
    """Every rule's verdict."""

    @extend_schema(
        operation_id="rankings",
        summary="Compare the rules",
        tags=["rankings"],
        parameters=[REVISION, MISSING, AGGREGATION, WEIGHTS, GROUP_WEIGHTS],
        responses=reading(RankingsSerializer) | TOO_LARGE,
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """All rules of the revision in the catalogue's order: status, reason, winners."""
        publication = self.published()
        counting = RankingChoice.of_address(request.query_params, configuration_of(publication.revision))
        jobs = self.job_states(publication)
        return self.answer_here(lambda: self._verdicts(publication, counting, jobs))

    @extend_schema(
        operation_id="rankings_under_weights",
        summary="Compare the rules under other weights",
        tags=["rankings"],
        parameters=[REVISION],
        request=WeightsBodySerializer,
        examples=[WEIGHTS_EXAMPLE],
        responses={(200, "application/json"): RankingsSerializer} | ASKING,
    )
    def post(self, request: Request, key: str) -> Response:
        """As GET with weights, which may be too many for a URL. Stored nowhere."""
        publication = self.published()
        counting = RankingChoice.of(WeightsBodySerializer.read(request.data), configuration_of(publication.revision))
        return Response(self._verdicts(publication, counting, self.job_states(publication)))

    def _verdicts(self, publication: Publication, counting: RankingChoice, jobs: list[Any]) -> dict[str, Any]:
        board, systems = self.seen_board(self.board(publication, counting), publication)
        elects = [column for column in board.columns if column.elects]
        camps = camps_of([(column.name, column.winner_names, column.n_winners) for column in elects])
        sentence = headline(
            camps,
            board.facts.get("condorcet_winner"),
            n_systems=board.facts["n_systems"],
            has_majority=board.has_majority,
            n_apart=board.n_apart,
            reason=board.why_nothing_ranked,
        )
        return RankingsSerializer.render(
            {
                **self.stamp(publication),
                "counting": counting,
                # Empty where not all of those that it names may be seen.
                "verdict": sentence if self.audience.sees_others else "",
                "jobs": jobs,
                "results": [_head(column, systems) for column in board.columns],
            }
        )


class RankingView(RankedView):
    """One rule's ranking."""

    renderer_classes = TABLES

    @extend_schema(
        operation_id="ranking",
        summary="Read a ranking",
        tags=["rankings"],
        parameters=[REVISION, MISSING, AGGREGATION, WEIGHTS, GROUP_WEIGHTS, *FILTERS, TABLE_FORMAT, *PAGING],
        responses=reading(RankingDetailSerializer, table="system, name, rank, score, intervals, reason.") | TOO_LARGE,
    )
    def get(self, request: Request, key: str, rule: str) -> HttpResponseBase:
        """Ranks, rule scores, reasons and rank intervals of every system, best first; a file has all on one page.

        An interval has the least and the greatest rank if the same tasks were drawn again with replacement: of each
        system by itself, and of all systems at once. `possibly_best` are the systems that no other is clearly ahead of.
        `measured_interval` is the same if the scores were measured again, each with its stated standard error.

        Where owners hide scores or names, others than moderators get what they see on the board's page.
        """
        publication = self.published()
        counting = RankingChoice.of_address(request.query_params, configuration_of(publication.revision))
        jobs, wanted, chosen = self.job_states(publication), window(self.request.query_params), self._filters()
        if self.file_format:

            def text() -> Iterator[str]:
                column, systems, board = self._column(publication, rule, counting)
                rows, origin = (
                    self._rows(column, systems, board, chosen),
                    Origin.of(self.benchmark, publication.revision),
                )
                table = ranks_export(origin, column, rows, policy=counting.policy, aggregation=counting.aggregation)
                return self.written(table)

            return self.table(publication, rule, text)

        def build() -> dict[str, Any]:
            head, rows = self._ranking(publication, rule, counting, chosen, jobs)
            page = cut_counted(rows, wanted)
            following = page_links(request, page, revision=publication.revision.number)
            return RankingDetailSerializer.render(head | {**following, "results": page.items})

        return self.answer_here(build)

    @extend_schema(
        operation_id="ranking_under_weights",
        summary="Rank under other weights",
        tags=["rankings"],
        parameters=[REVISION, *FILTERS],
        request=WeightsBodySerializer,
        examples=[WEIGHTS_EXAMPLE],
        responses={(200, "application/json"): RankingDetailSerializer} | ASKING,
    )
    def post(self, request: Request, key: str, rule: str) -> Response:
        """As GET with weights, which may be too many for a URL; all on one page. Stored nowhere."""
        publication = self.published()
        counting = RankingChoice.of(WeightsBodySerializer.read(request.data), configuration_of(publication.revision))
        head, rows = self._ranking(publication, rule, counting, self._filters(), self.job_states(publication))
        return Response(RankingDetailSerializer.render(head | {"count": len(rows), "next": None, "results": rows}))

    def _ranking(
        self,
        publication: Publication,
        rule: str,
        counting: RankingChoice,
        chosen: BoardQuery,
        jobs: list[dict[str, Any]],
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        column, systems, board = self._column(publication, rule, counting)
        separability = separability_of(board, column)
        head = {
            **self.stamp(publication),
            **_head(column, systems),
            "counting": counting,
            "jobs": jobs,
            "intervals": interval_figures(board, column),
            "separability": separability.text or None,
        }
        return head, self._rows(column, systems, board, chosen, separability)

    def _filters(self) -> BoardQuery:
        query = self.request.query_params
        top = query.get("top", "")
        if top and whole_number(top, 6) is None:
            raise wrong_parameter("top", f"`top` is {top[:40]!r}; expected a whole number.")
        organisation, tag = query.get("organisation", "").strip()[:200], query.get("tag", "").strip()[:80]
        return BoardQuery(
            q=query.get("q", "")[:200],
            tags=(tag,) if tag else (),
            meta=((ORGANISATION.key, organisation),) if organisation else (),
            complete_only=self.truth("complete"),
            top=whole_number(top, 6) or 0,
        )

    def _rows(
        self,
        column: Column,
        systems: list[BoardSystem],
        board: PublishedBoard,
        chosen: BoardQuery,
        separability: Separability | None = None,
    ) -> list[dict[str, Any]]:
        """The rows that are asked for, of the systems that anyone who asks may know of, under the names they may
        see."""
        # Where names are hidden, tags and organisations would tell them.
        is_looked_up = self.audience.sees_names and bool(chosen.tags or chosen.meta)
        about = described_systems_at(board.revision).about if is_looked_up else {}
        keep = set(left_by(chosen, board, systems, about, reference=column, fields=[ORGANISATION]))
        places = {system.key: i for i, system in enumerate(systems)}
        rows = rank_rows(column, systems, separability)
        return [row for row in rows if self.is_seen(systems[places[row["system"]]]) and places[row["system"]] in keep]

    def _column(
        self, publication: Publication, rule: str, counting: RankingChoice
    ) -> tuple[Column, list[BoardSystem], PublishedBoard]:
        board, systems = self.seen_board(self.board(publication, counting), publication)
        column = next((column for column in board.columns if column.rule == rule), None)
        if column is None:
            known = ", ".join(column.rule for column in board.columns) or "none"
            raise Http404(f"No rule {rule!r} is on this board; there are: {known}.")
        return column, systems, board


def _head(column: Column, systems: list[BoardSystem]) -> dict[str, Any]:
    """What a rule makes of the board as a whole, for `RankingHeadSerializer`."""
    return {
        "rule": column.rule,
        "name": column.name,
        "family": column.family,
        "status": column.status,
        "reason": column.reason,
        "remark": column.remark,
        "n_ranked": column.n_ranked,
        "winners": [
            {"system": systems[i].key, "name": systems[i].name} for i in np.flatnonzero(column.is_winner).tolist()
        ],
    }
