"""Systems and their scores."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import NamedSystem, Published
from leaderboard.models import Score
from leaderboard.selectors.scores import NOT_SUBMITTED

MISSING = [*Score.MissingReason.choices, (NOT_SUBMITTED, "not submitted")]


class SystemEntry(s.Serializer):
    """A system on the board."""

    system = s.CharField(help_text="Its key, which never changes.")
    name = s.CharField()
    organisation = s.CharField(allow_blank=True)
    url = s.CharField(allow_blank=True)
    description = s.CharField(allow_blank=True)
    tags = s.ListField(child=s.CharField())


class SystemPage(Published):
    """A page of systems, by key."""

    next = s.URLField(allow_null=True)
    results = SystemEntry(many=True)


class ScoreCell(s.Serializer):
    """One score, or why there is none."""

    value = s.FloatField(allow_null=True)
    missing = s.ChoiceField(choices=MISSING, allow_null=True)
    standard_error = s.FloatField(allow_null=True, help_text="As its submitter stated it.")
    n_instances = s.IntegerField(allow_null=True, help_text="On how many instances it was measured, where known.")
    submission = s.UUIDField(allow_null=True, help_text="The submission that it comes from.")


class SystemRank(s.Serializer):
    """A system under one rule."""

    rule = s.CharField()
    rank = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True, help_text="The rule's own score; higher is better.")
    interval = s.ListField(
        child=s.IntegerField(),
        allow_null=True,
        help_text="Least and greatest rank if the same tasks were drawn anew with replacement; of it by itself.",
    )
    simultaneous_interval = s.ListField(
        child=s.IntegerField(), allow_null=True, help_text="Likewise, wide enough to hold for all systems at once."
    )
    possibly_best = s.BooleanField(
        allow_null=True, help_text="Whether no other system is clearly ahead; null where that is not computed."
    )
    reason = s.CharField(allow_null=True, help_text="Why it has no rank.")


class SystemDetail(Published, SystemEntry):
    """A system: its scores by task key, and its rank under every rule."""

    scores = s.DictField(child=ScoreCell())
    ranks = SystemRank(many=True)


class ScoreRow(NamedSystem):
    """One system's scores by task key."""

    scores = s.DictField(child=ScoreCell())


class ScorePage(Published):
    """A page of the score matrix: rows are systems by key."""

    tasks = s.ListField(child=s.CharField(), help_text="The keys of the tasks, in the benchmark's order.")
    next = s.URLField(allow_null=True)
    results = ScoreRow(many=True)
