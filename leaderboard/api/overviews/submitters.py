"""How many systems each submitter entered."""

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from leaderboard.api.protocol.base import BenchmarkView
from leaderboard.api.protocol.fields import Shape
from leaderboard.api.protocol.schema import reading
from leaderboard.boards.submitters.page import submitters_page

COUNTS = ("n_entered", "n_on_board", "n_replaced", "n_withdrawn", "n_rejected", "n_retracted", "n_waiting")


class SystemCountsSerializer(Shape):
    """Systems by what became of them; each is counted once."""

    n_entered = s.IntegerField()
    n_on_board = s.IntegerField(help_text="With an accepted submission that no later one replaced.")
    n_replaced = s.IntegerField(help_text="Accepted once, and replaced by a later submission of someone else.")
    n_withdrawn = s.IntegerField(help_text="Accepted once, and withdrawn.")
    n_rejected = s.IntegerField()
    n_retracted = s.IntegerField(help_text="Withdrawn by the submitter before a decision.")
    n_waiting = s.IntegerField(
        help_text="Without a decision, or approved until an embargo ends; 0 unless they are your own or you moderate."
    )


class SubmitterSerializer(SystemCountsSerializer):
    """A submitter."""

    name = s.CharField(help_text="The display name.")
    is_you = s.BooleanField()
    best = s.CharField(allow_null=True, help_text="The key of the best of their systems on the board.")
    rank = s.IntegerField(allow_null=True, help_text="Of it, under the default rule.")


class SubmittersSerializer(Shape):
    """Every submitter that you may know of."""

    only_own = s.CharField(allow_blank=True, help_text="Why you see your own systems only; empty if you see all.")
    n_others = s.IntegerField(help_text="Submitters who are not named: none of their submissions is on the board.")
    others = SystemCountsSerializer(help_text="Their counts together.")
    results = SubmitterSerializer(many=True)


class SubmittersView(BenchmarkView):
    """Submitters."""

    is_open_to_restricted = True

    @extend_schema(
        operation_id="submitters",
        summary="Read how many systems each submitter entered",
        tags=["submissions"],
        responses=reading(SubmittersSerializer),
    )
    def get(self, request: Request, key: str) -> HttpResponseBase:
        """How many systems each submitter entered, withdrew or kept off the board, those who entered most first.

        Readers see those who have a system on the board; where owners hide something, during an embargo, or where the
        owners do not show these counts, only their own.
        """
        page = submitters_page(self.audience, is_whole=True)
        content = {
            "only_own": page.disclosure.why_own_alone,
            "n_others": page.disclosure.n_others,
            "others": page.disclosure.others,
            "results": [
                {
                    **{name: getattr(row.submitter.counts, name) for name in COUNTS},
                    "name": row.submitter.name,
                    "is_you": row.submitter.is_viewer,
                    "best": row.best.key if row.best else None,
                    "rank": row.rank,
                }
                for row in page.rows
            ],
        }
        rendered = SubmittersSerializer.render(content)
        return self.answer_here(lambda: rendered)
