"""What changed between revisions, and how a system's rank went."""

from rest_framework import serializers as s

from leaderboard.api.shapes.parts import NamedSystem, Published
from leaderboard.api.shapes.systems import MISSING


class Renaming(s.Serializer):
    """A system that was renamed."""

    before = s.CharField()
    after = s.CharField()


class ScoreChangeEntry(NamedSystem):
    """A score that differs, of a system and a task that are in both revisions."""

    task = s.CharField(help_text="Its key.")
    before = s.FloatField(allow_null=True)
    before_missing = s.ChoiceField(choices=MISSING, allow_null=True)
    after = s.FloatField(allow_null=True)
    after_missing = s.ChoiceField(choices=MISSING, allow_null=True)


class RankChangeEntry(NamedSystem):
    """A rank that differs; null where the system has none."""

    before = s.IntegerField(allow_null=True)
    after = s.IntegerField(allow_null=True)


class RuleChangeEntry(s.Serializer):
    """What became of the ranks under one rule."""

    rule = s.CharField()
    name = s.CharField()
    first_before = s.CharField(allow_blank=True, help_text="Who was first, in words.")
    first_after = s.CharField(allow_blank=True)
    n_moved = s.IntegerField(help_text="Of those that have a rank at both.")
    n_common = s.IntegerField()


class Changes(s.Serializer):
    """Two revisions compared."""

    since = s.IntegerField(help_text="The older revision.")
    revision = s.IntegerField(help_text="The newer one.")
    sentence = s.CharField()
    joined = s.ListField(child=s.CharField(), help_text="Names of systems.")
    left = s.ListField(child=s.CharField())
    renamed = Renaming(many=True)
    configuration = s.ListField(child=s.CharField(), help_text="What of tasks and settings differs, in words.")
    scores = ScoreChangeEntry(many=True)
    rules = RuleChangeEntry(many=True)
    rule = s.CharField(help_text="Whose ranks `ranks` tells one by one.")
    ranks = RankChangeEntry(many=True)
    flips = s.CharField(allow_blank=True, help_text="Whether newcomers changed the order of others, where computed.")


class RankThen(s.Serializer):
    """A rank at one revision."""

    revision = s.IntegerField()
    rank = s.IntegerField(allow_null=True)


class SystemHistory(Published):
    """A system's rank under one rule over the revisions whose rankings are stored, oldest first."""

    system = s.CharField()
    name = s.CharField()
    rule = s.CharField()
    results = RankThen(many=True)


class BoardRule(s.Serializer):
    """A column of the board."""

    key = s.CharField()
    name = s.CharField()
    family = s.CharField()
    status = s.CharField()
    reason = s.CharField(allow_blank=True)


class BoardSystem(s.Serializer):
    """A row of the board."""

    key = s.CharField()
    name = s.CharField()
    n_scored = s.IntegerField()
    n_voting_tasks = s.IntegerField()
    least_rank = s.IntegerField(allow_null=True, help_text="Over all rules.")
    median_rank = s.FloatField(allow_null=True)
    greatest_rank = s.IntegerField(allow_null=True)
    ranks = s.DictField(child=s.IntegerField(allow_null=True), help_text="By rule.")
    changes = s.DictField(
        child=s.IntegerField(allow_null=True), help_text="Places better than under the reference rule, by rule."
    )
    scores = s.DictField(child=s.FloatField(allow_null=True), help_text="The rules' own scores.")


class BoardDetail(Published):
    """A view of the board: systems by rules."""

    benchmark = s.CharField(help_text="Its name.")
    verdict = s.CharField(allow_blank=True, help_text="Who is elected by which rules, in a sentence.")
    reference = s.CharField(help_text="The rule that changes are told against.")
    missing = s.CharField()
    aggregation = s.CharField()
    ties = s.CharField()
    condorcet_winner = s.CharField(allow_null=True)
    rules = BoardRule(many=True)
    next = s.URLField(allow_null=True)
    systems = BoardSystem(many=True)
