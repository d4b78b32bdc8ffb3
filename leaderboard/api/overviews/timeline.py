"""Who led a board when."""

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.comparisons import ComparisonView
from leaderboard.api.protocol.base import NamedSystemSerializer, PublishedSerializer, stamp_of
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.problems import ApiError
from leaderboard.api.protocol.schema import REVISION, TABLE_FORMAT, error, reading
from leaderboard.boards.timeline.moments import MAX_LEADERS
from leaderboard.boards.timeline.page import time_export, time_page
from leaderboard.rankings.published import UnknownChoiceError

BY = OpenApiParameter(
    "by",
    {"type": "string", "maxLength": 200},
    description="Which dates: `meta.KEY` for a field of dates, such as `meta.released`; `joined`, when systems joined "
    "the board; `revision`, the board of every revision. Without it the release date, if there is one.",
)
RULE = OpenApiParameter(
    "rule", {"type": "string", "maxLength": 200}, description="The key of a rule; the default rule without it."
)


class MomentSerializer(Shape):
    """The board at one date."""

    date = s.CharField(
        source="moment.iso_text", help_text="A time, or the day, month or year that a field has: `2024-05`."
    )
    for_revision = s.IntegerField(
        source="moment.revision", help_text="The number of the revision; 0 where dates are not those of revisions."
    )
    n_ranked = s.IntegerField(source="moment.n_ranked")
    leaders = NamedSystemSerializer(many=True, help_text=f"At most the first {MAX_LEADERS}.")
    n_leaders = s.IntegerField(source="moment.n_leaders", help_text="How many are first.")
    leading_score = s.FloatField(source="moment.score", allow_null=True)
    ranks = s.DictField(
        child=s.IntegerField(allow_null=True),
        help_text="By key, of the first ten systems of the newest date; null where one had no rank.",
    )


class TimeSerializer(PublishedSerializer):
    """Who led when, under one rule."""

    rule = s.CharField()
    by = s.CharField()
    choices = s.ListField(child=s.CharField(), help_text="The possible values of `by`.")
    n_left_out = s.IntegerField(help_text="Systems with a rank and without such a date.")
    results = MomentSerializer(many=True)


class TimeView(ComparisonView):
    """Ranks and the leading score over time."""

    is_on_demand = True

    @extend_schema(
        operation_id="time",
        summary="Who led when",
        tags=["comparisons"],
        parameters=[BY, RULE, REVISION, TABLE_FORMAT],
        responses=reading(
            TimeSerializer,
            table="date, revision, n_ranked, leaders, n_leaders, leading_score, then `rank:KEY` of the first systems.",
        )
        | {400: error("There is no such rule, or there are no such dates.")},
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """Who was first at each date and with which score, oldest first.

        By revision, ranks and scores are those that each board showed. By any other date they are those of the
        present board, among the systems that were there by then.
        """
        self.benchmark.publication = publication = self.published()
        # Dates of systems change without a new revision: the answer depends on its content, not on the publication.
        by, rule = (request.query_params.get(name, "")[:200] for name in ("by", "rule"))
        try:
            page = time_page(self.audience, by=by, rule=rule)
        except UnknownChoiceError as problem:
            raise ApiError(400, str(problem)) from problem
        if page is None:
            raise ApiError(404, "This benchmark has no published board yet.")
        if self.file_format:
            table = time_export(page, self.origin(publication))
            return self.named_file(self.answer_here(lambda: self.written(table)), table.stem)
        content = TimeSerializer.render(
            {
                **stamp_of(publication),
                "rule": page.rule,
                "by": page.by,
                "choices": [choice for choice, _ in page.dates],
                "n_left_out": page.course.n_left_out,
                "results": [
                    {
                        "moment": moment,
                        "leaders": [{"system": system.key, "name": system.name} for system in moment.leaders],
                        "ranks": {system.key: ranks[k] for system, ranks in page.course.followed},
                    }
                    for k, moment in enumerate(page.course.moments)
                ],
            }
        )
        return self.answer_here(lambda: content)
